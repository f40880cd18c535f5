import { isRecord } from '../../../base/json.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { createCallIds } from '../made-call-ids.ts';
import type { CallIds } from '../made-call-ids.ts';
import { malformed } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';

/** What must be remembered of a response while it arrives. */
export interface ResponsesState {
  /** In the order in which they came. */
  readonly items: Item[];
  /** The same by output index and by id: servers give one or both, and not always the same with every event. */
  readonly itemByKey: Map<unknown, Item>;
  readonly makeCallId: CallIds;
  /** Calls whose arguments are there and whose end was not confirmed. */
  readonly pendingCalls: Set<string>;
  /** What the event at hand means; a new list for each. */
  parts: StreamPart[];
  phase: 'waiting' | 'answering' | 'closed';
  isRefused: boolean;
  hasCalls: boolean;
  /** The block of text that is being written. */
  latestText: Block | undefined;
}

/** One entry of the response's output. */
export interface Item {
  hasIndex: boolean;
  /** Text and refusals by content index. */
  readonly texts: Map<number, Block>;
  /** Reasoning by summary index, or by content index. */
  readonly thoughts: Map<number, Block>;
  /** A summary or the thoughts themselves: the first that comes is shown, never both. */
  thoughtKind: ThoughtKind | undefined;
  /** Known once both the call's id and its name are. */
  call: { readonly callId: string; readonly wireId: string } | undefined;
  argumentsText: string;
  isDone: boolean;
}

export type ThoughtKind = 'summary' | 'text';

/** A text while it arrives; kept to be compared with the whole that the server repeats at its end. */
export interface Block {
  text: string;
}

/** Nothing has arrived. */
export function createResponsesState(): ResponsesState {
  return {
    items: [],
    itemByKey: new Map(),
    makeCallId: createCallIds(),
    pendingCalls: new Set(),
    parts: [],
    phase: 'waiting',
    isRefused: false,
    hasCalls: false,
    latestText: undefined,
  };
}

interface ItemReference {
  readonly output_index?: unknown;
  readonly item_id?: unknown;
  readonly item?: unknown;
}

/** The item that an event speaks of; a new one where it is the first to do so. */
export function itemOf(state: ResponsesState, event: Fields): Item {
  const { output_index: index, item_id: itemId, item }: ItemReference = event;
  const byIndex = index === undefined ? undefined : state.itemByKey.get(index);
  if (byIndex !== undefined && !isAnotherCall(byIndex, item)) return byIndex;
  const id = itemId ?? (isRecord(item) ? item['id'] : undefined);
  const byId = state.itemByKey.get(id);
  // An item that is known by another index only has the same id.
  const isSame = byId !== undefined && (index === undefined || !byId.hasIndex);
  const found = isSame ? byId : addItem(state);
  if (!isSame) state.itemByKey.set(id, found);
  if (index !== undefined) {
    found.hasIndex = true;
    state.itemByKey.set(index, found);
  }
  return found;
}

/** Some servers give every call the same index: what comes after the end of one, with an id of its own, is another. */
function isAnotherCall({ isDone, call }: Item, item: unknown): boolean {
  const wireId = isRecord(item) ? item['call_id'] : undefined;
  return isDone && call !== undefined && typeof wireId === 'string' && wireId !== call.wireId;
}

function addItem(state: ResponsesState): Item {
  const item: Item = {
    hasIndex: false,
    texts: new Map(),
    thoughts: new Map(),
    thoughtKind: undefined,
    call: undefined,
    argumentsText: '',
    isDone: false,
  };
  state.items.push(item);
  return item;
}

/** An index inside an item; servers that know only one part leave it out. */
export function indexOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The problem of a whole that is not what was streamed. Neither is believed, for they cannot be put together. */
export function mismatch(what: string, event: Fields): DecodeProblem {
  return malformed(`The ${what} at the end is not the one that was streamed`, event);
}
