import type { AssistantPart, Message, ToolCallPart, ToolResultPart } from '../../model/message.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';

/** A call, and the result that belongs to it. */
export interface Slot {
  readonly call: ToolCallPart;
  /** Its place among the parts of its message. */
  readonly place: number;
  /** Unique among the calls of its message. */
  readonly callId: string;
  readonly hasBadArguments: boolean;
  /** Set when the result is found. */
  claim?: Claim;
}

/** A result with the call that it belongs to. */
export interface Claim {
  readonly type: 'claim';
  readonly slot: Slot;
  readonly result: ToolResultPart;
  /** The index of its message. */
  readonly at: number;
}

/** The calls of one answer, and their results in the order in which they came. */
export interface Turn {
  readonly slots: readonly Slot[];
  readonly claims: Claim[];
}

/** What a result is: that of a call, the same one again, or another one for a call that has its result. */
export type Link = Claim | { readonly type: 'same' | 'further' };

/** Finds for each result the call that it belongs to: the last one before it with its id. */
export function claimResults(messages: readonly Message[]): {
  readonly turns: ReadonlyMap<number, Turn>;
  /** By the index of the message, then by the place of the part. Nothing for a result without a call. */
  readonly links: ReadonlyMap<number, readonly (Link | undefined)[]>;
} {
  const turns = new Map<number, Turn>();
  const links = new Map<number, readonly (Link | undefined)[]>();
  const latest: Latest = new Map();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      const linked = message.content.map((result) => linkResult(latest, result, at));
      links.set(at, linked);
    }
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const turn: Turn = { slots: slotsOf(message.content), claims: [] };
    if (turn.slots.length === 0) continue;
    turns.set(at, turn);
    for (const slot of turn.slots) {
      const called = latest.get(slot.call.callId);
      if (called?.turn === turn) called.slots.push(slot);
      else latest.set(slot.call.callId, { slots: [slot], turn });
    }
  }
  return { turns, links };
}

/** By id, the calls of the last answer that used it. */
type Latest = Map<string, { readonly slots: Slot[]; readonly turn: Turn }>;

function linkResult(latest: Latest, result: ToolResultPart, at: number): Link | undefined {
  const called = latest.get(result.callId);
  if (called === undefined) return undefined;
  const open = called.slots.filter(({ claim }) => claim === undefined);
  const slot = open.find(({ call }) => call.name === result.name) ?? open[0];
  if (slot === undefined) {
    const isSame = called.slots.some(({ claim }) => claim !== undefined && saysTheSame(claim.result, result));
    return { type: isSame ? 'same' : 'further' };
  }
  const claim: Claim = { type: 'claim', slot, result, at };
  slot.claim = claim;
  called.turn.claims.push(claim);
  return claim;
}

function saysTheSame(one: ToolResultPart, other: ToolResultPart): boolean {
  return (
    one.name === other.name &&
    (one.isError === true) === (other.isError === true) &&
    JSON.stringify(one.content) === JSON.stringify(other.content)
  );
}

function slotsOf(content: readonly AssistantPart[]): readonly Slot[] {
  const slots: Slot[] = [];
  const wanted = new Set(content.map((part) => (part.type === 'tool-call' ? part.callId : undefined)));
  const given = new Map<string, number>();
  for (const [place, call] of content.entries()) {
    if (call.type !== 'tool-call') continue;
    let count = (given.get(call.callId) ?? 0) + 1;
    while (count > 1 && wanted.has(`${call.callId}-${count}`)) count += 1;
    given.set(call.callId, count);
    const callId = count === 1 ? call.callId : `${call.callId}-${count}`;
    wanted.add(callId);
    const hasBadArguments = parseToolArguments(call.argumentsText).type === 'invalid';
    slots.push({ call, place, callId, hasBadArguments });
  }
  return slots;
}
