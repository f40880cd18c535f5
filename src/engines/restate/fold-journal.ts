import type { Json } from '../../base/json.ts';
import type { Signalled } from '../../runtime/record/durable.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import type { Inbox } from '../../runtime/record/memory-inbox.ts';
import type { Fact } from './journal-rows.ts';
import type { CarryMessage, Mail, WhyAnswer } from './messages.ts';
import { cancelledInRestate, graceName, isCall, positionOf, readRecord } from './record.ts';
import type { CallRecord, StepRecord } from './record.ts';

/** What the rows of a generation come to. */
export interface FoldedJournal {
  readonly begun: CarryMessage;
  /** Ordered by position. */
  readonly journal: readonly JournalEntry[];
  readonly cancelReason: string | undefined;
}

/**
 * Makes entries of the port out of Restate's rows, in the order in which Restate has written them: in this order the program was
 * given them, the code that carried it (see `pump.ts`). Which wait a signal ended is in no row; it follows from the order.
 */
export function foldJournal(facts: readonly Fact[]): FoldedJournal | undefined {
  const [first, ...rest] = facts;
  if (first?.type !== 'begun') return undefined;
  const begun = first.message as CarryMessage; // What the desk began it with.
  const inbox = createInbox(Number.MAX_SAFE_INTEGER, { ...begun, signalIds: [], journal: [] });
  const folding: Folding = {
    inbox,
    names: new Map(),
    delaysMs: new Map(),
    entries: new Map(),
    stop: begun.cancelReason === undefined ? 'none' : 'cancelled',
    cancelReason: begun.cancelReason,
  };
  for (const fact of rest) {
    // What came after the program had ended was not received.
    if (isEnd(fact)) break;
    apply(folding, fact);
  }
  const journal = [...folding.entries.values()].toSorted((a, b) => a.position - b.position);
  return { begun, journal, cancelReason: folding.cancelReason };
}

function isEnd(fact: Fact): boolean {
  if (fact.type === 'over') return true;
  return fact.type === 'step-ended' && readRecord(fact.record).type === 'end';
}

interface Folding {
  readonly inbox: Inbox;
  /** Of steps and timers, by the number under which Restate reports their end. */
  readonly names: Map<number, string>;
  /** Of sleeps, by position. */
  readonly delaysMs: Map<number, number>;
  /** By position, in the order in which they were made. */
  readonly entries: Map<number, JournalEntry>;
  /** A cancelled program receives only what its effects came to, and after the grace nothing. */
  stop: 'none' | 'cancelled' | 'deaf';
  cancelReason: string | undefined;
}

function apply(folding: Folding, fact: Fact): void {
  switch (fact.type) {
    case 'begun':
      return;
    case 'step-begun':
      return void folding.names.set(fact.completion, fact.name);
    case 'step-ended':
      return endStep(folding, fact.completion, readRecord(fact.record));
    case 'timer-begun':
      folding.names.set(fact.completion, fact.name);
      return beginTimer(folding, positionOf(fact.name), fact.dueAtMs);
    case 'timer-ended':
      return endTimer(folding, folding.names.get(fact.completion) ?? '');
    case 'mail-came':
      return takeMail(folding, fact.mail as Mail | WhyAnswer); // What the desk sends.
    default:
      // The program continues until it has asked why.
      folding.cancelReason ??= cancelledInRestate;
  }
}

function endStep(folding: Folding, completion: number, record: StepRecord): void {
  const position = positionOf(folding.names.get(completion) ?? '');
  if (position === undefined || folding.stop === 'deaf') return;
  if (isCall(record)) return endCall(folding, position, record);
  if (folding.stop !== 'none') return;
  const { entries, inbox } = folding;
  if (record.type === 'sleep' && record.delayMs <= 0)
    entries.set(position, { ...record, position, dueAtMs: 0, isOver: true });
  // Any other sleep counts from the moment at which it has a time to end at.
  if (record.type === 'sleep') folding.delaysMs.set(position, record.delayMs);
  if (record.type !== 'wait') return;
  const arrived = inbox.take(record.signal);
  const entry: WaitEntry = { ...record, position };
  entries.set(position, arrived === undefined ? entry : over(entry, signalledBy(arrived)));
}

function endCall({ entries, inbox }: Folding, position: number, record: CallRecord): void {
  const { effect, input, took } = record;
  const outcome =
    record.type === 'done'
      ? ({ type: 'done', value: record.value } as const)
      : ({ type: 'failed', failure: record.failure } as const);
  if (took !== undefined) inbox.remove(took);
  const taken = took === undefined ? {} : { took };
  entries.set(position, { type: 'call', position, effect, input, outcome, ...taken });
}

function beginTimer(folding: Folding, position: number | undefined, dueAtMs: number): void {
  if (position === undefined) return;
  const { entries, delaysMs } = folding;
  const entry = entries.get(position);
  if (entry?.type === 'wait') return void entries.set(position, { ...entry, dueAtMs });
  const delayMs = delaysMs.get(position);
  if (delayMs !== undefined)
    entries.set(position, { type: 'sleep', position, delayMs, dueAtMs, isOver: false });
}

function endTimer(folding: Folding, name: string): void {
  const { entries } = folding;
  if (name === graceName) folding.stop = 'deaf';
  const position = positionOf(name);
  if (position === undefined || folding.stop !== 'none') return;
  const entry = entries.get(position);
  if (entry?.type === 'sleep') entries.set(position, { ...entry, isOver: true });
  if (entry?.type === 'wait' && entry.signalled === undefined)
    entries.set(position, over(entry, { type: 'timed-out' }));
}

function takeMail(folding: Folding, mail: Mail | WhyAnswer): void {
  if ('cancelReason' in mail) return cancel(folding, mail.cancelReason);
  if (folding.stop !== 'none') return;
  for (const signal of mail.signals) {
    folding.inbox.add(signal);
    deliver(folding, signal.name);
  }
}

function deliver({ entries, inbox }: Folding, name: string): void {
  let first: WaitEntry | undefined;
  for (const entry of entries.values()) {
    if (entry.type !== 'wait' || entry.signal !== name || entry.signalled !== undefined) continue;
    if (first === undefined || entry.position < first.position) first = entry;
  }
  const signal = first === undefined ? undefined : inbox.take(name);
  if (first !== undefined && signal !== undefined)
    entries.set(first.position, over(first, signalledBy(signal)));
}

function cancel(folding: Folding, reason: string): void {
  if (folding.stop !== 'none') return;
  folding.stop = 'cancelled';
  folding.cancelReason = reason;
}

type WaitEntry = Extract<JournalEntry, { type: 'wait' }>;

/** Only a wait that still waits has a time at which it is due. */
function over({ dueAtMs: _, ...entry }: WaitEntry, signalled: Signalled): WaitEntry {
  return { ...entry, signalled };
}

function signalledBy({ id, payload }: { readonly id: string; readonly payload: Json }): Signalled {
  return { type: 'signalled', id, payload };
}
