import { assert } from '../../base/assert.ts';
import type { Signalled } from './durable.ts';
import type { JournalEntry, NamedSignal } from './journal.ts';
import { lookUp, open, rejected, settled } from './memory-generation.ts';
import type { AskedSleep, AskedWait, Generation, Open, OpenWait } from './memory-generation.ts';
import { afterwards, whenKept } from './memory-keeping.ts';

/** Sleeps until a time that outlives the process. */
export function sleep(generation: Generation, asked: AskedSleep): Promise<void> {
  const { clock } = generation.host;
  const { position, delayMs } = asked;
  checkTime(generation, 'sleeps', delayMs);
  const found = lookUp(generation, asked, (entry) =>
    entry.type === 'sleep' && entry.isOver ? { result: undefined } : undefined,
  );
  if (found.type === 'answer') return found.promise;
  const begun = found.begun?.type === 'sleep' ? found.begun : undefined;
  const dueAtMs = begun?.dueAtMs ?? clock.wallMs() + Math.max(0, delayMs);
  const entry: JournalEntry = { type: 'sleep', position, delayMs, dueAtMs, isOver: false };
  if (leftOf(delayMs, dueAtMs - clock.wallMs()) <= 0) return settled(endSleep(generation, entry));
  generation.entries[position] = entry;
  if (begun !== undefined) return openSleep(generation, entry);
  // Its end must be known to the process that continues after a crash, or it would start it again.
  const kept = whenKept(generation, entry, entry);
  return kept instanceof Promise
    ? kept.then(() => openSleep(generation, entry))
    : openSleep(generation, entry);
}

type SleepEntry = Extract<JournalEntry, { type: 'sleep' }>;

function openSleep(generation: Generation, entry: SleepEntry): Promise<void> {
  const { clock } = generation.host;
  if (generation.stop?.type === 'cancelled') return rejected(generation.stop.error);
  const leftMs = leftOf(entry.delayMs, entry.dueAtMs - clock.wallMs());
  if (leftMs <= 0) return settled(endSleep(generation, entry));
  return open<void, Open<void>>(generation.sleeps, (item) => {
    item.release = clock.after(leftMs, () => {
      generation.sleeps.delete(item);
      item.resolve(endSleep(generation, entry));
    });
    return item;
  });
}

function endSleep(generation: Generation, begun: SleepEntry): undefined | Promise<undefined> {
  const entry: JournalEntry = { ...begun, isOver: true };
  generation.entries[begun.position] = entry;
  return whenKept(generation, entry, undefined);
}

/** What is left of a wait that may have begun before a crash. A wall clock that was set back must not lengthen it. */
function leftOf(wholeMs: number, leftMs: number): number {
  return Math.min(wholeMs, leftMs);
}

function checkTime(generation: Generation, verb: string, givenMs: number): void {
  const { runId } = generation;
  assert(Number.isFinite(givenMs), `Run "${runId}" ${verb} for ${givenMs} ms; it must be a finite number`);
}

/** Waits for an outside caller. */
export function waitFor(generation: Generation, asked: AskedWait): Promise<Signalled> {
  const { clock } = generation.host;
  const { signal, timeoutMs } = asked;
  if (timeoutMs !== undefined) checkTime(generation, `waits for "${signal}"`, timeoutMs);
  const found = lookUp(generation, asked, signalledIn);
  if (found.type === 'answer') return found.promise;
  // No person is asked for anything that a previous process of the run would not ask for.
  const { unkept } = generation;
  if (unkept !== undefined) return afterwards(unkept, () => waitFor(generation, asked));
  const arrived = generation.inbox.take(signal);
  if (arrived !== undefined) return settled(recordWait(generation, asked, signalledBy(arrived)));
  const begun = found.begun?.type === 'wait' ? found.begun.dueAtMs : undefined;
  const dueAtMs = begun ?? (timeoutMs === undefined ? undefined : clock.wallMs() + timeoutMs);
  const entry = waitEntry(asked, { dueAtMs });
  generation.entries[asked.position] = entry;
  // Only a wait that ends by itself has something to remember.
  const kept =
    dueAtMs === undefined || found.begun !== undefined ? entry : whenKept(generation, entry, entry);
  return kept instanceof Promise
    ? kept.then(() => openWait(generation, asked, dueAtMs))
    : openWait(generation, asked, dueAtMs);
}

function openWait(generation: Generation, asked: AskedWait, dueAtMs: number | undefined): Promise<Signalled> {
  const { clock } = generation.host;
  const { signal, timeoutMs } = asked;
  if (generation.stop?.type === 'cancelled') return rejected(generation.stop.error);
  const arrived = generation.inbox.take(signal);
  if (arrived !== undefined) return settled(recordWait(generation, asked, signalledBy(arrived)));
  const waiting = open<Signalled, OpenWait>(generation.waits, (item) => {
    const wait: OpenWait = { ...item, asked };
    if (timeoutMs === undefined || dueAtMs === undefined) return wait;
    wait.release = clock.after(Math.max(0, leftOf(timeoutMs, dueAtMs - clock.wallMs())), () => {
      generation.waits.delete(wait);
      wait.resolve(recordWait(generation, asked, { type: 'timed-out' }));
    });
    return wait;
  });
  asked.onWaiting?.();
  return waiting;
}

function signalledIn(entry: JournalEntry): { readonly result: Signalled } | undefined {
  return entry.type === 'wait' && entry.signalled !== undefined ? { result: entry.signalled } : undefined;
}

/** What came of a wait that a caller has ended. */
export function signalledBy({ id, payload }: NamedSignal): Signalled {
  return { type: 'signalled', id, payload };
}

/** The wait is over: that is kept, and then given. */
export function recordWait(
  generation: Generation,
  asked: AskedWait,
  signalled: Signalled,
): Signalled | Promise<Signalled> {
  const entry = waitEntry(asked, { signalled });
  generation.entries[asked.position] = entry;
  return whenKept(generation, entry, signalled);
}

function waitEntry(
  { position, signal, timeoutMs }: AskedWait,
  { dueAtMs, signalled }: { readonly dueAtMs?: number | undefined; readonly signalled?: Signalled },
): JournalEntry {
  return {
    type: 'wait',
    position,
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(dueAtMs === undefined ? {} : { dueAtMs }),
    ...(signalled === undefined ? {} : { signalled }),
  };
}
