import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { Finish, FinishReason } from '../../../model/finish.ts';
import { readCount } from '../../../model/usage.ts';
import type { Usage } from '../../../model/usage.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { malformed, providerError } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { finishPendingCalls } from './openai-responses-calls.ts';
import { finishItem } from './openai-responses-items.ts';
import { itemOf } from './openai-responses-state.ts';
import type { Item, ResponsesState } from './openai-responses-state.ts';

interface WireResponse {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly status?: unknown;
  readonly output?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
  readonly incomplete_details?: unknown;
}

/** How a response can end; a stream says it by the name of its last event too. */
export type EndStatus = 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** Tells who answers, once. */
export function startResponse(state: ResponsesState, response: Fields): void {
  if (state.phase !== 'waiting') return;
  const { id, model }: WireResponse = response;
  state.phase = 'answering';
  const responseId = typeof id === 'string' ? id : undefined;
  const servedBy = typeof model === 'string' ? model : undefined;
  state.parts.push({ type: 'started', ...defined({ responseId, servedBy }) });
}

/** Reads the closing event, which repeats the whole response. */
export function readEnd(expected: EndStatus) {
  return (state: ResponsesState, event: Fields): DecodeProblem | undefined => {
    const { response } = event;
    if (isRecord(response)) return finishResponse(state, response, endStatusOf(response) ?? expected);
    if (expected === 'failed' || expected === 'cancelled') return problemOfStatus(expected, {});
    return malformed('The closing event holds no response', event);
  };
}

/** The status of a response that has ended. */
export function endStatusOf({ status }: WireResponse): EndStatus | undefined {
  return endStatuses.find((known) => known === status);
}

const endStatuses: readonly EndStatus[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/** Says how the response ended, and whatever was not said before. */
export function finishResponse(
  state: ResponsesState,
  response: Fields,
  status: EndStatus,
): DecodeProblem | undefined {
  if (status === 'failed' || status === 'cancelled') return problemOfStatus(status, response);
  startResponse(state, response);
  const { output, usage, incomplete_details: details }: WireResponse = response;
  const problem = readOutput(state, Array.isArray(output) ? output : []);
  if (problem !== undefined) return problem;
  pushUsage(state, usage);
  const finish = status === 'completed' ? finishOf(state) : cutOf(details);
  if (status === 'completed') finishPendingCalls(state);
  state.phase = 'closed';
  state.parts.push({ type: 'finished', finish });
  return undefined;
}

function problemOfStatus(status: 'failed' | 'cancelled', { error }: WireResponse): DecodeProblem {
  if (error !== undefined && error !== null) return providerError(error);
  return providerError({
    type: 'server_error',
    message: `The server reports that the response was ${status}`,
  });
}

/**
 * Some servers tell of their items, or of the end of a call, only here. Items that were seen are left alone: their places
 * in this list need not be those of the stream.
 */
function readOutput(state: ResponsesState, output: readonly unknown[]): DecodeProblem | undefined {
  const open = openCalls(state);
  const isSilent = state.items.every(isEmpty);
  for (const [index, whole] of output.entries()) {
    if (!isRecord(whole)) continue;
    const item = isSilent ? itemOf(state, { output_index: index, item: whole }) : open.get(whole['call_id']);
    const problem = item === undefined ? undefined : finishItem(state, item, whole);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The calls without an end, by the id that the server gave them; the first where two share one. */
function openCalls({ items }: ResponsesState): ReadonlyMap<unknown, Item> {
  const open = new Map<unknown, Item>();
  for (const item of items) {
    if (item.call !== undefined && !item.isDone && !open.has(item.call.wireId))
      open.set(item.call.wireId, item);
  }
  return open;
}

function isEmpty({ texts, thoughts, call, argumentsText, isDone }: Item): boolean {
  return texts.size === 0 && thoughts.size === 0 && call === undefined && argumentsText === '' && !isDone;
}

function finishOf({ isRefused, hasCalls }: ResponsesState): Finish {
  if (isRefused) return { reason: 'refused', raw: 'completed' };
  return { reason: hasCalls ? 'tool-calls' : 'stop', raw: 'completed' };
}

/** An answer that is not complete was cut, for whatever reason: it must never pass for a whole one. */
function cutOf(details: unknown): Finish {
  const reason = isRecord(details) ? details['reason'] : undefined;
  const raw = typeof reason === 'string' ? reason : 'incomplete';
  const word: FinishReason = raw === 'content_filter' ? 'filtered' : 'length';
  return { reason: word, raw };
}

interface WireUsage {
  readonly input_tokens?: unknown;
  readonly output_tokens?: unknown;
  readonly input_tokens_details?: unknown;
  readonly output_tokens_details?: unknown;
}

function pushUsage(state: ResponsesState, value: unknown): void {
  if (!isRecord(value)) return;
  const wire: WireUsage = value;
  const input = isRecord(wire.input_tokens_details) ? wire.input_tokens_details : {};
  const output = isRecord(wire.output_tokens_details) ? wire.output_tokens_details : {};
  const usage: Usage = defined({
    inputTokens: readCount(wire.input_tokens),
    outputTokens: readCount(wire.output_tokens),
    reasoningTokens: readCount(output['reasoning_tokens']),
    cacheReadTokens: readCount(input['cached_tokens']),
  });
  state.parts.push({ type: 'usage', usage });
}
