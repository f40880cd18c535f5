import { isRecord } from '../../../base/json.ts';
import type { Signature } from '../../../model/message.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import { createGeminiCallIds } from './gemini-call-ids.ts';
import type { GeminiCallIds } from './gemini-call-ids.ts';
import { jsonText } from '../json-text.ts';

/** What the parts of one answer need to know of those before. */
export interface GeminiParts {
  readonly callIds: GeminiCallIds;
  responseId: string | undefined;
  hasCalls: boolean;
  /** The block that the next text of the same kind continues. */
  open: Kind | undefined;
}

type Kind = 'text' | 'reasoning';
type Fields = Readonly<Record<string, unknown>>;

export function createGeminiParts(): GeminiParts {
  return { callIds: createGeminiCallIds(), responseId: undefined, hasCalls: false, open: undefined };
}

/** One part of a candidate; returns what is wrong with it, if anything is. */
export function readPart(state: GeminiParts, part: Fields, output: StreamPart[]): string | undefined {
  const { text, functionCall, thought, thoughtSignature } = part;
  const isSigned = typeof thoughtSignature === 'string' && thoughtSignature !== '';
  const signature: Signature | undefined = isSigned
    ? { protocol: 'gemini', value: thoughtSignature }
    : undefined;
  if (functionCall !== undefined && functionCall !== null)
    return readCall(state, { functionCall, signature }, output);
  const kind = thought === true ? 'reasoning' : 'text';
  if (typeof text === 'string') {
    readText(state, { kind, text, signature }, output);
    return undefined;
  }
  if (text !== undefined && text !== null) return 'The text of a part is not a text';
  // A part may hold nothing but a signature. Others hold images, code and its results: no part of our answer.
  const isBare = Object.keys(part).every((name) => name === 'thought' || name === 'thoughtSignature');
  if (isBare) readText(state, { kind, text: '', signature }, output);
  return undefined;
}

interface Spoken {
  readonly kind: Kind;
  readonly text: string;
  readonly signature: Signature | undefined;
}

/**
 * A signature belongs to the part that it came on and goes back on that part: a part with text of its own therefore stands
 * alone, and one without closes the block before it.
 */
function readText(state: GeminiParts, { kind, text, signature }: Spoken, output: StreamPart[]): void {
  if (text !== '') {
    if (signature !== undefined && state.open === kind) output.push({ type: `${kind}-finished` });
    output.push({ type: `${kind}-delta`, text });
    state.open = kind;
  }
  if (signature === undefined) return;
  output.push({ type: `${kind}-finished`, signature });
  state.open = undefined;
}

interface SignedCall {
  readonly functionCall: unknown;
  readonly signature: Signature | undefined;
}

/** By the protocol an object; some servers send the text of one. */
function argumentsText(args: unknown): string | undefined {
  if (args === undefined || args === null) return '';
  return typeof args === 'string' ? args : jsonText(args);
}

/** Calls come whole. */
function readCall(
  state: GeminiParts,
  { functionCall, signature }: SignedCall,
  output: StreamPart[],
): string | undefined {
  if (!isRecord(functionCall)) return 'A function call is not a JSON object';
  const { id, name, args, partialArgs, willContinue } = functionCall;
  if (partialArgs !== undefined || willContinue === true) {
    return 'The arguments of a function call come in pieces, which was not asked for';
  }
  const text = argumentsText(args);
  if (text === undefined) return 'The arguments of a function call are nested too deeply';
  const callId = state.callIds(id, state.responseId);
  state.hasCalls = true;
  state.open = undefined;
  output.push({ type: 'tool-call-started', callId, name: typeof name === 'string' ? name : '' });
  if (text !== '') output.push({ type: 'tool-call-delta', callId, text });
  output.push({ type: 'tool-call-finished', callId, ...(signature === undefined ? {} : { signature }) });
  return undefined;
}
