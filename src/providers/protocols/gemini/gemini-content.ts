import { unreachable } from '../../../base/assert.ts';
import { defined } from '../../../base/defined.ts';
import { textOf } from '../../../model/message.ts';
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Signature,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../model/message.ts';
import { toToolName } from '../../../model/tool-name.ts';
import type { Turn } from '../conversation.ts';
import { isMadeCallId } from './gemini-call-ids.ts';
import type { GeminiDialect } from './gemini-dialect.ts';
import { toolInput } from '../tool-input.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The contents of one turn. Results of tools stand in a content of their own, for Gemini counts them against the calls
 * before; images among them follow with the person's words, since not every model takes them inside a result.
 */
export function turnContents(turn: Turn, dialect: GeminiDialect): readonly Fields[] {
  if (turn.role === 'assistant') return content('model', modelParts(turn.parts, dialect));
  const results = turn.results.map((part) => functionResponse(part, dialect));
  const images = turn.results.flatMap(resultImages);
  return [
    ...content('user', results),
    ...content('user', [...images, ...turn.parts.flatMap((part) => userParts(part))]),
  ];
}

/** A content with these parts, or none: Gemini refuses an empty one. */
export function content(role: 'user' | 'model', parts: readonly Fields[]): readonly Fields[] {
  return parts.length === 0 ? [] : [{ role, parts }];
}

/** Text that is not empty: Gemini refuses an empty part. */
export function textParts(text: string): readonly Fields[] {
  return text === '' ? [] : [{ text }];
}

function userParts(part: UserPart): readonly Fields[] {
  return part.type === 'text' ? textParts(part.text) : [mediaPart(part)];
}

function mediaPart({ mediaType: mimeType, source }: ImagePart | FilePart): Fields {
  if (source.type === 'url') return { fileData: { mimeType, fileUri: source.url } };
  return { inlineData: { mimeType, data: source.data } };
}

/**
 * What Google documents for calls that another model made: a newer model refuses the first call of a turn without a
 * signature, and after a fallback there is none.
 */
const foreignCallSignature = 'skip_thought_signature_validator';

function modelParts(parts: readonly AssistantPart[], dialect: GeminiDialect): readonly Fields[] {
  const calls = parts.filter((part) => part.type === 'tool-call');
  const isForeign = calls.every(({ signature }) => ownSignature(signature) === undefined);
  const firstForeign = dialect.isThirdGeneration && isForeign ? calls[0] : undefined;
  return parts.flatMap((part) => {
    if (part === firstForeign)
      return [{ ...callPart(part, dialect), thoughtSignature: foreignCallSignature }];
    return modelPart(part, dialect);
  });
}

function modelPart(part: AssistantPart, dialect: GeminiDialect): readonly Fields[] {
  const thoughtSignature = ownSignature(part.signature);
  switch (part.type) {
    case 'text':
      return thoughtSignature === undefined ? textParts(part.text) : [{ text: part.text, thoughtSignature }];
    case 'reasoning':
      // Gemini reads nothing from thoughts without its signature.
      return thoughtSignature === undefined ? [] : [{ text: part.text, thought: true, thoughtSignature }];
    case 'tool-call':
      return [{ ...callPart(part, dialect), ...defined({ thoughtSignature }) }];
    default:
      return unreachable(part);
  }
}

function ownSignature(signature: Signature | undefined): string | undefined {
  return signature?.protocol === 'gemini' ? signature.value : undefined;
}

function callPart({ callId, name, argumentsText }: ToolCallPart, dialect: GeminiDialect): Fields {
  return {
    functionCall: { ...wireId(callId, dialect), name: wireName(name), args: toolInput(argumentsText) },
  };
}

function functionResponse(part: ToolResultPart, dialect: GeminiDialect): Fields {
  const { callId, name } = part;
  const text = typeof part.content === 'string' ? part.content : textOf(part.content);
  const response = part.isError === true ? { error: text } : { result: text };
  return { functionResponse: { ...wireId(callId, dialect), name: wireName(name), response } };
}

function resultImages({ name, content: parts }: ToolResultPart): readonly Fields[] {
  if (typeof parts === 'string') return [];
  const images = parts.filter((part) => part.type === 'image').map(mediaPart);
  return images.length === 0 ? [] : [{ text: `From the result of the tool "${wireName(name)}":` }, ...images];
}

/** Gemini wants a letter or an underscore first. */
function wireName(name: string): string {
  const legal = toToolName(name);
  return /^[A-Za-z_]/.test(legal) ? legal : toToolName(`_${legal}`);
}

function wireId(callId: string, { sendsCallIds }: GeminiDialect): Fields {
  return sendsCallIds && !isMadeCallId(callId) ? { id: callId } : {};
}
