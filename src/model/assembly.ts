import { unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { createTextBuilder } from '../base/text-builder.ts';
import type { TextBuilder } from '../base/text-builder.ts';
import type { Finish } from './finish.ts';
import type { AssistantPart, Signature } from './message.ts';
import type { StreamPart } from './stream-part.ts';
import type { Usage } from './usage.ts';

/** What a stream has come to so far. */
export interface Assembled {
  /** Whole parts, and text and reasoning as far as they came; never a tool call that was still being written. */
  readonly content: readonly AssistantPart[];
  readonly usage: Usage;
  readonly finish?: Finish | undefined;
  readonly responseId?: string | undefined;
  readonly servedBy?: string | undefined;
  /** Tool calls that were begun and not finished: dropped, and said so. */
  readonly unfinishedCalls: readonly string[];
}

/** Puts the parts of a stream together: the one place that does. */
export interface Assembly {
  readonly push: (part: StreamPart) => void;
  readonly read: () => Assembled;
}

/** A block that is still being written, or that was never closed. */
interface OpenText {
  readonly type: 'open';
  readonly kind: 'text' | 'reasoning';
  readonly builder: TextBuilder;
}

interface Call {
  readonly type: 'call';
  readonly callId: string;
  readonly name: string;
  readonly builder: TextBuilder;
  signature: Signature | undefined;
  isFinished: boolean;
}

type Slot = AssistantPart | OpenText | Call;

/** What has arrived. It changes in place: a copy per part would make long answers slow. */
interface Held {
  readonly slots: Slot[];
  readonly calls: Map<string, Call>;
  open: OpenText | undefined;
  usage: Usage;
  finish: Finish | undefined;
  responseId: string | undefined;
  servedBy: string | undefined;
}

/** Starts with nothing. Cost per part does not grow with what has arrived. */
export function createAssembly(): Assembly {
  const held: Held = {
    slots: [],
    calls: new Map(),
    open: undefined,
    usage: {},
    finish: undefined,
    responseId: undefined,
    servedBy: undefined,
  };
  return { push: (part) => push(held, part), read: () => read(held) };
}

function read({ slots, calls, usage, finish, responseId, servedBy }: Held): Assembled {
  const content: AssistantPart[] = [];
  for (const slot of slots) {
    const part = toPart(slot);
    if (part !== undefined) content.push(part);
  }
  const unfinishedCalls: string[] = [];
  for (const call of calls.values()) if (!call.isFinished) unfinishedCalls.push(call.name);
  return { content, usage, finish, responseId, servedBy, unfinishedCalls };
}

function push(held: Held, part: StreamPart): void {
  switch (part.type) {
    case 'text-delta':
      return append(held, 'text', part.text);
    case 'reasoning-delta':
      return append(held, 'reasoning', part.text);
    case 'text-finished':
      return close(held, 'text', defined({ signature: part.signature }));
    case 'reasoning-finished':
      return close(held, 'reasoning', defined({ signature: part.signature, isRedacted: part.isRedacted }));
    case 'tool-call-started':
      return startCall(held, part);
    case 'tool-call-delta': {
      const call = held.calls.get(part.callId);
      call?.builder.append(part.text);
      return undefined;
    }
    case 'tool-call-finished': {
      const call = held.calls.get(part.callId);
      if (call === undefined) return undefined;
      call.isFinished = true;
      call.signature = part.signature;
      return undefined;
    }
    case 'usage':
      held.usage = { ...held.usage, ...part.usage };
      return undefined;
    case 'started':
      held.responseId = part.responseId;
      held.servedBy = part.servedBy;
      return undefined;
    case 'finished':
      held.finish = part.finish;
      return undefined;
    default:
      return unreachable(part);
  }
}

function append(held: Held, kind: OpenText['kind'], text: string): void {
  if (held.open?.kind === kind) return held.open.builder.append(text);
  held.open = { type: 'open', kind, builder: createTextBuilder(text) };
  held.slots.push(held.open);
  return undefined;
}

/** Replaces the open block by its finished form; a block without deltas may still carry a signature. */
function close(held: Held, kind: OpenText['kind'], extra: object): void {
  const { open, slots } = held;
  const isOpen = open?.kind === kind;
  if (isOpen) slots.pop();
  const text = isOpen ? open.builder.read() : '';
  held.open = undefined;
  if (text === '' && Object.keys(extra).length === 0) return;
  slots.push({ type: kind, text, ...extra });
}

function startCall(held: Held, { callId, name }: { readonly callId: string; readonly name: string }): void {
  const call: Call = {
    type: 'call',
    callId,
    name,
    builder: createTextBuilder(),
    signature: undefined,
    isFinished: false,
  };
  held.open = undefined;
  held.calls.set(callId, call);
  held.slots.push(call);
}

function toPart(slot: Slot): AssistantPart | undefined {
  switch (slot.type) {
    case 'call': {
      if (!slot.isFinished) return undefined;
      const { callId, name, builder, signature } = slot;
      const part: AssistantPart = { type: 'tool-call', callId, name, argumentsText: builder.read() };
      return signature === undefined ? part : { ...part, signature };
    }
    case 'open': {
      const text = slot.builder.read();
      return text === '' && slot.kind === 'text' ? undefined : { type: slot.kind, text };
    }
    default:
      return slot;
  }
}
