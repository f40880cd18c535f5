import { isRecord } from '../../../base/json.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { malformed } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { announceCall, finishCall } from './openai-responses-calls.ts';
import { finishReasoning } from './openai-responses-reasoning.ts';
import { itemOf } from './openai-responses-state.ts';
import type { Item, ResponsesState } from './openai-responses-state.ts';
import { finishMessage } from './openai-responses-text.ts';

/** Reads the beginning of an item. Only a call has something to say yet. */
export function readItemAdded(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  const added = event['item'];
  if (!isRecord(added)) return malformed('The event holds no item', event);
  const item = itemOf(state, event);
  const hasName = typeof added['name'] === 'string' && added['name'] !== '';
  if (added['type'] === 'function_call' && hasName) announceCall(state, item, added);
  return undefined;
}

/** Reads the end of an item, which repeats it whole. */
export function readItemDone(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  const done = event['item'];
  if (!isRecord(done)) return malformed('The event holds no item', event);
  return finishItem(state, itemOf(state, event), done);
}

/** Ends an item by its whole. Kinds that we did not ask for are passed over. */
export function finishItem(state: ResponsesState, item: Item, whole: Fields): DecodeProblem | undefined {
  const finish = finishers.get(whole['type']);
  if (finish === undefined || item.isDone) return undefined;
  item.isDone = true;
  return finish(state, item, whole);
}

type Finisher = (state: ResponsesState, item: Item, whole: Fields) => DecodeProblem | undefined;

const finishers: ReadonlyMap<unknown, Finisher> = new Map<unknown, Finisher>([
  ['message', finishMessage],
  ['reasoning', finishReasoning],
  ['function_call', finishCall],
]);
