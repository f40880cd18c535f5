import type { DecodeProblem, DecodeResult } from '../protocol.ts';
import { wireText, parseEventData } from './decode-json.ts';

/** A JSON object from outside. */
export type Fields = Readonly<Record<string, unknown>>;

/** What OpenAI's servers and their many relatives send in place of an answer. */
interface ErrorFields {
  readonly error?: unknown;
  readonly object?: unknown;
  readonly type?: unknown;
  readonly choices?: unknown;
  readonly output?: unknown;
}

/** The error inside a response that began well, where there is one: `{"error":…}`, or an object that is one itself. */
export function findProviderError(value: Fields): DecodeProblem | undefined {
  const fields: ErrorFields = value;
  const { error } = fields;
  if (error !== undefined && error !== null && error !== '' && error !== false) {
    // Fields beside the error (a status, a kind) are evidence too, but an answer beside it is not.
    const isAlone = fields.choices === undefined && fields.output === undefined;
    return isAlone ? { type: 'provider-error', body: wireText(value) } : providerError(error);
  }
  // vLLM: {"object":"error","message":…}; Responses: {"type":"error","code":…}.
  return fields.object === 'error' || fields.type === 'error' ? providerError(value) : undefined;
}

/** The problem for an event that is named `error`, whatever its data is. */
export function problemOfErrorEvent(data: string): DecodeProblem {
  const parsed = parseEventData(data);
  if (parsed.type === 'problem') return providerError({ message: data });
  return findProviderError(parsed.value) ?? providerError(parsed.value);
}

/** Hands an error to the classifier in the form in which OpenAI sends it with a status. */
export function providerError(error: unknown): DecodeProblem {
  return { type: 'provider-error', body: wireText({ error }) };
}

/** The problem for an object that lacks what the protocol promises. */
export function malformed(reason: string, value: unknown): DecodeProblem {
  return { type: 'malformed', reason, data: wireText(value) };
}

/** What was decoded, with the problem that ended it. */
export function problemResult(problem: DecodeProblem): DecodeResult {
  return { type: 'problem', problem, parts: [] };
}

/** Nothing to say about an event. */
export const nothing: DecodeResult = { type: 'parts', parts: [] };
