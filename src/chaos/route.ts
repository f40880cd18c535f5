import { isRecord } from '../base/json.ts';
import type { ChaosProtocol } from './wire/wire-answer.ts';

/** Whose body shapes and headers an answer takes. */
export type Family = 'openai' | 'anthropic' | 'gemini' | 'ollama';

/** What a request asks for. */
export type Route =
  | {
      readonly type: 'answer';
      readonly family: Family;
      readonly protocol: ChaosProtocol;
      readonly model: string;
      /** `list`: Gemini's stream without `alt=sse` is one JSON list, sent piece by piece. */
      readonly framing: 'json' | 'sse' | 'list';
    }
  | {
      readonly type: 'embeddings';
      readonly family: Family;
      readonly model: string;
      readonly shape: 'openai' | 'gemini-one' | 'gemini-batch' | 'ollama';
    }
  | { readonly type: 'tokens'; readonly family: Family; readonly model: string }
  | { readonly type: 'models'; readonly family: Family; readonly model: string }
  | { readonly type: 'unknown'; readonly family: Family; readonly model: string };

/** What the route is read from. */
export interface RouteInput {
  readonly method: string;
  /** Without the origin; with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Parsed, where it was JSON. */
  readonly body: unknown;
}

/** Whatever stands before the last words of the path is somebody's base URL and does not matter. */
export function routeOf(input: RouteInput): Route {
  const [pathname = '', query = ''] = input.path.split('?', 2);
  const path = decoded(pathname).replace(/\/+$/, '');
  if (input.method === 'GET' || input.method === 'HEAD') return readRoute(path, input);
  const gemini = /\/models\/([^/:]+):(\w+)$/.exec(path);
  if (gemini !== null) {
    const [, model = '', action = ''] = gemini;
    return geminiRoute(action, { model, isSse: new URLSearchParams(query).get('alt') === 'sse' });
  }
  const model = fieldOf(input.body, 'model') ?? '';
  const framing = isRecord(input.body) && input.body['stream'] === true ? 'sse' : 'json';
  if (path.endsWith('/chat/completions')) {
    return { type: 'answer', family: 'openai', protocol: 'openai-chat', model, framing };
  }
  if (path.endsWith('/responses')) {
    return { type: 'answer', family: 'openai', protocol: 'openai-responses', model, framing };
  }
  if (path.endsWith('/messages')) {
    return { type: 'answer', family: 'anthropic', protocol: 'anthropic', model, framing };
  }
  if (path.endsWith('/messages/count_tokens')) return { type: 'tokens', family: 'anthropic', model };
  if (path.endsWith('/api/embed')) return { type: 'embeddings', family: 'ollama', model, shape: 'ollama' };
  if (path.endsWith('/embeddings')) return { type: 'embeddings', family: 'openai', model, shape: 'openai' };
  return { type: 'unknown', family: familyOf(path, input), model };
}

function geminiRoute(
  action: string,
  { model, isSse }: { readonly model: string; readonly isSse: boolean },
): Route {
  const family = 'gemini';
  switch (action) {
    case 'generateContent':
      return { type: 'answer', family, protocol: 'gemini', model, framing: 'json' };
    case 'streamGenerateContent':
      return { type: 'answer', family, protocol: 'gemini', model, framing: isSse ? 'sse' : 'list' };
    case 'embedContent':
      return { type: 'embeddings', family, model, shape: 'gemini-one' };
    case 'batchEmbedContents':
      return { type: 'embeddings', family, model, shape: 'gemini-batch' };
    case 'countTokens':
      return { type: 'tokens', family, model };
    default:
      return { type: 'unknown', family, model };
  }
}

function readRoute(path: string, input: RouteInput): Route {
  const family = familyOf(path, input);
  if (path.endsWith('/api/tags')) return { type: 'models', family: 'ollama', model: '' };
  const found = /\/models(?:\/([^/]+))?$/.exec(path);
  if (found === null) return { type: 'unknown', family, model: '' };
  return { type: 'models', family, model: found[1] ?? '' };
}

/** A path from outside need not be one that can be decoded. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // Then it is no path of ours, and is refused under the name it came with.
  }
}

function familyOf(path: string, { headers }: RouteInput): Family {
  if (headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined) return 'anthropic';
  if (headers['x-goog-api-key'] !== undefined || /\/v1(?:beta|alpha)\d*\//.test(`${path}/`)) return 'gemini';
  return path.includes('/api/') ? 'ollama' : 'openai';
}

/** A text field of a body from outside. */
function fieldOf(body: unknown, name: string): string | undefined {
  const value = isRecord(body) ? body[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
