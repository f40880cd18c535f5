import type { SpecificationVersion } from '../../src/providers/ai-sdk/language-model.ts';
import { apiCallError, finishPart, streamOf, textParts } from './fake-model.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One answer: an error instead of it, or its parts; an `Error` among them breaks it there, `hang` never goes on. */
export type Script = Error | readonly (Fields | Error | 'hang')[];

/** A language model of the AI SDK that gives one answer after the other, by either method. */
export interface ScriptedModel {
  readonly specificationVersion: SpecificationVersion;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: PromiseLike<Fields> | Fields;
  readonly doStream: (options: Fields) => Promise<Fields>;
  readonly doGenerate: (options: Fields) => Promise<Fields>;
  readonly calls: readonly { readonly atMs: number; readonly options: Fields }[];
  /** How many streams were let go of before their end. */
  readonly cancelled: () => number;
}

interface ScriptedOptions {
  readonly version?: SpecificationVersion;
  readonly provider?: string;
  readonly modelId?: string;
  readonly supportedUrls?: PromiseLike<Fields> | Fields;
  readonly now?: () => number;
}

/** Plays the list, whose last answer is given again and again. */
export function scriptedModel(scripts: readonly Script[], options: ScriptedOptions = {}): ScriptedModel {
  const { version = 'v3', provider = 'fake.chat', modelId = 'fake-1', now = () => 0 } = options;
  const calls: { atMs: number; options: Fields }[] = [];
  let cancelled = 0;
  const next = (callOptions: Fields): Script => {
    calls.push({ atMs: now(), options: callOptions });
    return scripts[Math.min(calls.length, scripts.length) - 1] ?? [];
  };
  return {
    specificationVersion: version,
    provider,
    modelId,
    supportedUrls: options.supportedUrls ?? {},
    calls,
    cancelled: () => cancelled,
    doStream: (callOptions) => {
      const script = next(callOptions);
      if (script instanceof Error) return Promise.reject(script);
      const stream = streamOf(script, () => (cancelled += 1));
      return Promise.resolve({ ...facts(calls.length), stream });
    },
    doGenerate: (callOptions) => {
      const script = next(callOptions);
      const broken = [script].flat().find((part) => part instanceof Error);
      if (broken !== undefined) return Promise.reject(broken);
      const parts = script as readonly (Fields | 'hang')[]; // An error was seen above.
      if (parts.includes('hang')) return new Promise(() => undefined);
      return Promise.resolve({ ...facts(calls.length), ...generated(parts as readonly Fields[]) });
    },
  };
}

function facts(call: number): Fields {
  return { request: { body: `body ${call}` }, response: { headers: { 'x-call': String(call) } } };
}

function generated(parts: readonly Fields[]): Fields {
  const { finishReason, usage, providerMetadata } = parts.find(({ type }) => type === 'finish') ?? {};
  const content = parts.flatMap((part) => {
    if (part['type'] === 'text-delta') return [{ type: 'text', text: part['delta'] }];
    if (part['type'] === 'reasoning-delta') return [{ type: 'reasoning', text: part['delta'] }];
    return part['type'] === 'tool-call' ? [part] : [];
  });
  return { content, warnings: [], finishReason, usage, providerMetadata };
}

/** A whole answer that says this. */
export function whole(text: string, version: SpecificationVersion = 'v3'): readonly Fields[] {
  return [{ type: 'stream-start', warnings: [] }, ...textParts(text), finishPart(version)];
}

/** What a provider package throws for a status. */
export function refused(statusCode: number, headers: Fields = {}, responseBody = ''): Error {
  return apiCallError({
    message: `status ${statusCode}`,
    statusCode,
    responseHeaders: headers,
    responseBody,
  });
}

/** What a package throws when the connection goes. */
export function reset(): Error {
  return Object.assign(new TypeError('terminated'), {
    cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
  });
}
