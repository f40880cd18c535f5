import type { DecodeProblem } from '../../protocol.ts';
import { wireText } from '../decode-json.ts';
import { malformed } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { itemOf, mismatch } from './openai-responses-state.ts';
import type { Item, ResponsesState } from './openai-responses-state.ts';

interface CallItem {
  readonly id?: unknown;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly status?: unknown;
}

/** Announces a call as soon as its name is known, with the arguments that came before it. */
export function announceCall(state: ResponsesState, item: Item, call: CallItem): void {
  if (item.call !== undefined) return;
  const name = typeof call.name === 'string' ? call.name : '';
  const wireId = call.call_id ?? call.id;
  const callId = state.makeCallId(wireId);
  item.call = { callId, wireId: typeof wireId === 'string' ? wireId : callId };
  state.hasCalls = true;
  state.parts.push({ type: 'tool-call-started', callId, name });
  if (item.argumentsText !== '')
    state.parts.push({ type: 'tool-call-delta', callId, text: item.argumentsText });
}

/** Reads a piece of a call's arguments. */
export function readArgumentsDelta(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  const { delta } = event;
  if (typeof delta !== 'string') return malformed('"delta" must be text', event);
  writeArguments(state, itemOf(state, event), delta);
  return undefined;
}

/** Reads the end of a call's arguments. Whether the call is whole, its item says. */
export function readArgumentsDone(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  const item = itemOf(state, event);
  if (item.call !== undefined && !item.isDone) state.pendingCalls.add(item.call.callId);
  return settleArguments(state, item, event);
}

/** Reads the end of a call. One that the server does not call complete waits for the end of the response. */
export function finishCall(state: ResponsesState, item: Item, whole: Fields): DecodeProblem | undefined {
  announceCall(state, item, whole);
  const problem = settleArguments(state, item, whole);
  if (problem !== undefined || item.call === undefined) return problem;
  const { callId } = item.call;
  const { status }: CallItem = whole;
  state.pendingCalls.delete(callId);
  if (status === 'completed') state.parts.push({ type: 'tool-call-finished', callId });
  else if (status !== 'incomplete') state.pendingCalls.add(callId);
  return undefined;
}

/** Ends the calls that waited for a response that is complete. */
export function finishPendingCalls(state: ResponsesState): void {
  for (const callId of state.pendingCalls) state.parts.push({ type: 'tool-call-finished', callId });
  state.pendingCalls.clear();
}

/** What was streamed stands; the whole is taken only where nothing was, and otherwise must be the same. */
function settleArguments(state: ResponsesState, item: Item, source: Fields): DecodeProblem | undefined {
  const whole = source['arguments'];
  if (whole === undefined || whole === null || whole === '') return undefined;
  if (item.argumentsText === '')
    writeArguments(state, item, typeof whole === 'string' ? whole : wireText(whole));
  else if (typeof whole === 'string' && whole !== item.argumentsText) return mismatch('arguments', source);
  return undefined;
}

function writeArguments(state: ResponsesState, item: Item, text: string): void {
  if (text === '') return;
  item.argumentsText += text;
  if (item.call !== undefined) state.parts.push({ type: 'tool-call-delta', callId: item.call.callId, text });
}
