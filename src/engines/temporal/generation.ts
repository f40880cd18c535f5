import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { cancelledError } from '../../runtime/record/durable-errors.ts';
import type { Signalled } from '../../runtime/record/durable.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import type { Inbox } from '../../runtime/record/memory-inbox.ts';
import type { Begin, FreshEntry } from './messages.ts';
import type { Sandbox } from './sandbox.ts';

/** One generation of a run while the workflow runs it. It changes in place. */
export interface Generation {
  readonly sandbox: Sandbox;
  readonly begin: Begin;
  readonly inbox: Inbox;
  /** The journal in the order in which it came about. */
  readonly entries: KeptEntry[];
  readonly waits: Set<OpenWait>;
  /** Sleeps, and waits with a time, that have begun: by position. */
  readonly begun: Map<number, JournalEntry>;
  /** Must learn that the run is stopped. */
  readonly stops: Set<() => void>;
  next: number;
  /** Why no verb does anything any more. */
  stop: RerailError | undefined;
  /** So many entries are known to the worker at `queue`; none where that is not known. */
  known: number | undefined;
  queue: string | undefined;
  announced: { readonly value: Json } | undefined;
  /** What the next generation begins with. */
  nextInput: { readonly value: Json } | undefined;
}

export interface KeptEntry {
  readonly entry: JournalEntry | Extract<FreshEntry, { type: 'cancelled' }>;
  /** By which the worker that gave this outcome knows it. */
  readonly token?: string;
}

export interface OpenWait {
  readonly signal: string;
  readonly end: (signalled: Signalled) => void;
}

/** Notes the cancel request of a caller. */
export function cancelRun(generation: Generation, reason: string): void {
  const { begin, sandbox, entries } = generation;
  if (generation.stop !== undefined) return;
  const { runId, generation: number } = begin;
  entries.push({ entry: { type: 'cancelled', reason } });
  sandbox.tell({ type: 'cancelled', runId, generation: number, reason });
  stopRun(generation, cancelledError(runId, reason));
}

/** From here on every verb rejects with this. */
export function stopRun(generation: Generation, error: RerailError): void {
  generation.stop ??= error;
  for (const tell of generation.stops) tell();
}

/** Throws where the run is stopped, or where its history would grow too long. */
export function checkRoom(generation: Generation): void {
  const { stop, sandbox, begin } = generation;
  if (stop !== undefined) throw stop;
  const { events, bytes } = sandbox.history();
  const { maxHistoryEvents, maxHistoryBytes } = begin.limits;
  if (events < maxHistoryEvents && bytes < maxHistoryBytes) return;
  throw stopFull(
    generation,
    `its history has ${events} events and ${bytes} bytes, at most ${maxHistoryEvents} and ${maxHistoryBytes} are kept`,
  );
}

/** Throws where a value is larger than Temporal takes. */
export function checkSize(generation: Generation, value: Json, what: string): void {
  const fault = sizeFault(generation, value, what);
  if (fault !== undefined) throw fault;
}

/** What is to be said where a value is larger than Temporal takes. The run is stopped by it. */
export function sizeFault(generation: Generation, value: Json, what: string): RerailError | undefined {
  const { maxValueBytes } = generation.begin.limits;
  const text = JSON.stringify(value) ?? '';
  // A unit of a text takes at most three bytes: most need not be counted.
  if (text.length * 3 <= maxValueBytes) return undefined;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= maxValueBytes) return undefined;
  return stopFull(generation, `${what} takes ${bytes} bytes, at most ${maxValueBytes} are kept`);
}

/** What the worker has to learn: all of it where it may know nothing. */
export function freshFor({ entries, known }: Generation): {
  readonly base: number;
  readonly fresh: readonly FreshEntry[];
} {
  if (known === undefined) return { base: 0, fresh: entries.map(({ entry }) => entry) };
  const fresh = entries
    .slice(known)
    .map(({ entry, token }): FreshEntry =>
      token === undefined || entry.type !== 'call'
        ? entry
        : { type: 'kept', position: entry.position, token },
    );
  return { base: known, fresh };
}

function stopFull(generation: Generation, why: string): RerailError {
  const failure = createFailure('HISTORY_LIMIT', {
    origin: 'durable',
    message: `Run "${generation.begin.runId}" cannot continue: ${why}`,
    context: { runId: generation.begin.runId, generation: generation.begin.generation },
  });
  const error = RerailError.from(failure);
  stopRun(generation, error);
  return error;
}
