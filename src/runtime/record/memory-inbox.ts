import type { SignalMessage } from './durable.ts';
import type { JournalEntry, NamedSignal } from './journal.ts';
import { signalsTakenBy } from './journal.ts';

/** Signals of one run: kept in order until the program takes them, each taken once, however often it is sent. */
export interface Inbox {
  readonly add: (signal: NamedSignal) => 'added' | 'duplicate' | 'full';
  /** Removes and gives the oldest of this name. */
  readonly take: (name: string) => NamedSignal | undefined;
  readonly remove: (ids: readonly string[]) => void;
  /** Those of this name that are not taken yet, the oldest first. */
  readonly pending: (name: string) => readonly SignalMessage[];
  readonly all: () => readonly NamedSignal[];
  readonly ids: () => readonly string[];
}

/** What came before, for a run that is carried on. */
export interface InboxHistory {
  readonly signals: readonly NamedSignal[];
  readonly signalIds: readonly string[];
  readonly journal: readonly JournalEntry[];
}

/** Long past every sender that repeats itself, and small enough to keep for each run. */
const maxRememberedIds = 10_000;
const nothing: readonly SignalMessage[] = [];
const noSignals: readonly NamedSignal[] = [];

/** An empty inbox, or one that continues from what a run had. */
export function createInbox(maxSignals: number, history?: InboxHistory): Inbox {
  // Made for the first signal: most runs never get one, and ended runs are kept for a while.
  let ids: Set<string> | undefined;
  let waiting: readonly NamedSignal[] = noSignals;
  if (history !== undefined) {
    const taken = new Set(history.journal.flatMap(signalsTakenBy));
    waiting = history.signals.filter(({ id }) => !taken.has(id));
    for (const id of [...history.signalIds, ...taken, ...waiting.map((signal) => signal.id)]) remember(id);
  }

  function remember(id: string): void {
    ids ??= new Set();
    ids.add(id);
    if (ids.size <= maxRememberedIds) return;
    for (const oldest of ids) return void ids.delete(oldest);
  }

  function add(signal: NamedSignal): 'added' | 'duplicate' | 'full' {
    if (ids?.has(signal.id) === true) return 'duplicate';
    if (waiting.length >= maxSignals) return 'full';
    remember(signal.id);
    waiting = [...waiting, signal];
    return 'added';
  }

  function take(name: string): NamedSignal | undefined {
    const found = waiting.find((signal) => signal.name === name);
    if (found !== undefined) waiting = waiting.filter((signal) => signal !== found);
    return found;
  }

  function pending(name: string): readonly SignalMessage[] {
    if (waiting.length === 0) return nothing;
    return waiting.flatMap((signal) =>
      signal.name === name ? [{ id: signal.id, payload: signal.payload }] : [],
    );
  }

  return {
    add,
    take,
    pending,
    remove: (gone) => {
      waiting = waiting.filter(({ id }) => !gone.includes(id));
    },
    all: () => waiting,
    ids: () => [...(ids ?? [])],
  };
}
