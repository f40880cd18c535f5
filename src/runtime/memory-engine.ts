import type { Cancel, Clock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import type { DurableProgram, Effect, Engine, RunStatus, SignalMessage } from './durable.ts';
import { engineError } from './durable-errors.ts';
import type { JournalEntry, RunEnd, RunSnapshot } from './journal.ts';
import { createInbox } from './memory-inbox.ts';
import { beginRun, cancelRun, dropRun, endRun, snapshotOf, statusOf } from './memory-run.ts';
import type { Carrier, Run } from './memory-run.ts';
import { copyJson, deliver } from './memory-verbs.ts';
import { replayJournal } from './replay-journal.ts';
import type { Recording, Replayed } from './replay-journal.ts';

/** What an engine in memory is made of. */
export interface MemoryEngineOptions {
  readonly program: DurableProgram;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly clock: Clock;
  /** Of the program. A start that names another one is refused. */
  readonly version?: string;
  readonly limits?: Partial<MemoryEngineLimits>;
  /** Runs to carry on, as `handOver` of another engine gave them. */
  readonly runs?: readonly RunSnapshot[];
  /** `false` where somebody hands its runs over: then what must not happen twice is written down first. */
  readonly isVolatile?: boolean;
  /** For tests: whatever crosses the port is copied as JSON, and what JSON cannot hold breaks the run, with its path. */
  readonly checkJson?: boolean;
  /** Told once per end. Must not throw: the run has ended already. */
  readonly onEnded?: (runId: string, end: RunEnd) => void;
}

/** The bounds of an engine in memory. */
export interface MemoryEngineLimits {
  /** Live and ended ones together; the oldest ended ones go first. */
  readonly maxRuns: number;
  /** Journals of ended runs that are kept; of the others only the end is. */
  readonly maxEndedJournals: number;
  /** Untaken ones per run. */
  readonly maxSignals: number;
  /** How long an effect in progress may take to tell what came of it, once its run is cancelled. */
  readonly cancelGraceMs: number;
  /** How long `close` waits for the runs that it has cancelled. */
  readonly closeWaitMs: number;
}

/** Carries runs in this process. Nothing outlives it, unless it is handed over. */
export interface MemoryEngine extends Engine {
  /** What a run remembers, by position. Empty where the run, or its journal, is no longer kept. */
  readonly journalOf: (runId: string) => readonly JournalEntry[];
  /** Settles when the run ends; at once where it has, or is unknown. Never rejects. */
  readonly whenEnded: (runId: string) => Promise<RunStatus>;
  /** Runs the program against a journal alone: no effect is performed, no time passes. */
  readonly replay: (recording: Recording) => Promise<Replayed>;
  /** Lets go of all runs as a crash would, ending none, and gives what another engine needs to carry them on. `whenEnded` of a
   * run that was live never settles here. */
  readonly handOver: () => readonly RunSnapshot[];
}

const defaultLimits: MemoryEngineLimits = {
  maxRuns: 10_000,
  maxEndedJournals: 100,
  maxSignals: 1000,
  cancelGraceMs: 1000,
  closeWaitMs: 5000,
};

/**
 * The engine of the durable port that lives in memory.
 *
 * @example
 * const engine = createMemoryEngine({ program, effects: { charge }, clock: systemClock });
 * await engine.start({ orderId: 17 }, { runId: 'order-17', version: '1' });
 */
export function createMemoryEngine(options: MemoryEngineOptions): MemoryEngine {
  const held = hold(options);
  for (const snapshot of options.runs ?? []) carryOn(held, snapshot);
  return {
    start: promised((input: Json, wanted: Wanted) => start(held, input, wanted)),
    signal: promised((runId: string, name: string, message: SignalMessage) =>
      signal(findRun(held, runId, `take the signal "${name}"`), name, copyMessage(held, message)),
    ),
    cancel: promised((runId: string, reason: string) =>
      cancelRun(findRun(held, runId, 'be cancelled'), reason),
    ),
    status: promised((runId: string) => statusOf(held.runs.get(runId))),
    close: () => close(held),
    journalOf: (runId) =>
      held.runs.get(runId)?.generation?.entries.filter((entry) => entry !== undefined) ?? [],
    whenEnded: (runId) => whenEnded(held.runs.get(runId)),
    replay: (recording) => replayJournal(held.carrier, recording),
    handOver: () => handOver(held),
  };
}

interface Held {
  readonly carrier: Carrier;
  readonly limits: MemoryEngineLimits;
  readonly version: string | undefined;
  readonly runs: Map<string, Run>;
  /** Ids of ended runs, the one that ended first in front. */
  readonly ended: Set<string>;
  /** Of those, the ones whose journal is kept. */
  readonly journals: Set<string>;
  isClosed: boolean;
}

function hold(options: MemoryEngineOptions): Held {
  const limits = { ...defaultLimits, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isFinite(value) || value < 0)
      throw configError(`"${name}" of the memory engine must be a number from 0, got ${String(value)}`);
  }
  const { program, clock, checkJson = false, isVolatile = true, onEnded, version } = options;
  const host = {
    isVolatile,
    effects: new Map(Object.entries(options.effects)),
    clock,
    checkJson,
    cancelGraceMs: limits.cancelGraceMs,
  };
  const held: Held = {
    carrier: { program, host, onEnded: (run, end) => noteEnd(held, run, () => onEnded?.(run.runId, end)) },
    limits,
    version,
    runs: new Map(),
    ended: new Set(),
    journals: new Set(),
    isClosed: false,
  };
  return held;
}

/** A verb that throws rejects instead: whoever calls it has one way to be told. */
function promised<Given extends readonly unknown[], T>(
  verb: (...given: Given) => T,
): (...given: Given) => Promise<T> {
  return (...given) => {
    try {
      return Promise.resolve(verb(...given));
    } catch (error) {
      return Promise.reject<T>(error);
    }
  };
}

interface Wanted {
  readonly runId: string;
  readonly version: string;
}

function start(held: Held, given: Json, { runId, version }: Wanted): void {
  if (held.isClosed)
    throw engineError(`Cannot start run "${runId}": the engine is closed`, { retryable: false });
  if (held.version !== undefined && version !== held.version) {
    const sides = `version "${held.version}", not "${version}"`;
    throw engineError(`Cannot start run "${runId}": this engine carries ${sides}`, { retryable: false });
  }
  const known = held.runs.get(runId);
  if (known !== undefined && known.end === undefined) return;
  const input = held.carrier.host.checkJson ? copyJson(given, `the input of run "${runId}"`) : given;
  if (known !== undefined) held.runs.delete(runId);
  else makeRoom(held, runId);
  held.ended.delete(runId);
  held.journals.delete(runId);
  const run: Run = {
    runId,
    version,
    inbox: known?.inbox ?? createInbox(held.limits.maxSignals),
    generation: undefined,
    number: (known?.number ?? 0) + 1,
    input,
    cancelled: undefined,
    end: undefined,
    onEnd: known?.onEnd ?? [],
  };
  held.runs.set(runId, run);
  beginRun(held.carrier, run, []);
}

function makeRoom({ runs, ended, journals, limits }: Held, runId: string): void {
  if (runs.size < limits.maxRuns) return;
  for (const oldest of ended) {
    ended.delete(oldest);
    journals.delete(oldest);
    runs.delete(oldest);
    return;
  }
  const message = `Cannot start run "${runId}": ${runs.size} runs are live, at most ${limits.maxRuns} may be`;
  throw engineError(message, { retryable: true });
}

function noteEnd(held: Held, run: Run, tell: () => void): void {
  const { ended, journals, limits, runs } = held;
  ended.add(run.runId);
  journals.add(run.runId);
  for (const oldest of journals) {
    if (journals.size <= limits.maxEndedJournals) break;
    journals.delete(oldest);
    const kept = runs.get(oldest);
    if (kept !== undefined) kept.generation = undefined;
  }
  try {
    tell();
  } catch {
    // The run has ended and its end stands, whatever the listener makes of it; `whenEnded` and `status` tell it too.
  }
}

function findRun({ runs }: Held, runId: string, deed: string): Run {
  const run = runs.get(runId);
  if (run !== undefined) return run;
  throw engineError(`Run "${runId}" cannot ${deed}: there is no such run`, { retryable: false });
}

function copyMessage({ carrier }: Held, message: SignalMessage): SignalMessage {
  return carrier.host.checkJson ? copyJson(message, `the signal "${message.id}"`) : message;
}

function signal(run: Run, name: string, { id, payload }: SignalMessage): void {
  const added = run.inbox.add({ name, id, payload });
  if (added === 'full') {
    const waiting = run.inbox.all().length;
    const message = `Run "${run.runId}" cannot take the signal "${name}": ${waiting} wait that nobody has taken`;
    throw engineError(message, { retryable: true });
  }
  if (added === 'added' && run.end === undefined && run.generation !== undefined)
    deliver(run.generation, name);
}

function whenEnded(run: Run | undefined): Promise<RunStatus> {
  if (run === undefined || run.end !== undefined) return Promise.resolve(statusOf(run));
  return new Promise((resolve) => run.onEnd.push(resolve));
}

async function close(held: Held): Promise<void> {
  held.isClosed = true;
  const { clock } = held.carrier.host;
  const live = [...held.runs.values()].filter(({ end }) => end === undefined);
  if (live.length === 0) return;
  for (const run of live) cancelRun(run, 'the engine is closing');
  let stopTimer: Cancel = () => undefined;
  const isLate = new Promise<void>((resolve) => {
    stopTimer = clock.after(held.limits.closeWaitMs, resolve);
  });
  await Promise.race([Promise.all(live.map(whenEnded)), isLate]);
  stopTimer();
  // Whoever has caught the cancellation and goes on has had his time.
  for (const run of live) endRun(held.carrier, run, { type: 'threw', error: run.cancelled?.error });
}

function handOver(held: Held): readonly RunSnapshot[] {
  held.isClosed = true;
  const snapshots = [...held.runs.values()].map((run) => {
    const snapshot = snapshotOf(run);
    dropRun(run);
    return snapshot;
  });
  // A signal that came here now would be lost, so its sender is told that there is no such run.
  for (const collection of [held.runs, held.ended, held.journals]) collection.clear();
  return snapshots;
}

function carryOn(held: Held, snapshot: RunSnapshot): void {
  const { runId, version, generation, input, journal, cancelReason, end } = snapshot;
  const run: Run = {
    runId,
    version,
    inbox: createInbox(held.limits.maxSignals, snapshot),
    generation: undefined,
    number: generation,
    input,
    cancelled: undefined,
    end,
    onEnd: [],
  };
  held.runs.set(runId, run);
  if (end !== undefined) return void held.ended.add(runId);
  if (cancelReason !== undefined) cancelRun(run, cancelReason);
  beginRun(held.carrier, run, journal);
}
