import type { Cancel } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { Engine, RunStatus, SignalMessage, Started, StartOptions } from './durable.ts';
import { engineError } from './durable-errors.ts';
import type { JournalEntry, NamedSignal, RunSnapshot } from './journal.ts';
import { createInbox } from './memory-inbox.ts';
import { obeyFirst } from './memory-keeping.ts';
import { resolveMemoryLimits } from './memory-options.ts';
import type { MemoryEngineLimits, MemoryEngineOptions } from './memory-options.ts';
import { beginRun, beginningOf, cancelRun, dropRun, endRun, snapshotOf, statusOf } from './memory-run.ts';
import type { Carrier, Run } from './memory-run.ts';
import { copyJson, deliver } from './memory-verbs.ts';
import { promised } from './promised.ts';
import type { Recorder } from './recorder.ts';
import { replayJournal } from './replay-journal.ts';
import type { Recording, Replayed } from './replay-journal.ts';

/** Executes runs in this process. Nothing outlives it, unless it is handed over. */
export interface MemoryEngine extends Engine {
  /** What a run remembers, by position. Empty where the run, or its journal, is no longer kept. */
  readonly journalOf: (runId: string) => readonly JournalEntry[];
  /** Settles when the run ends; at once where it has, or is unknown. Never rejects. */
  readonly whenEnded: (runId: string) => Promise<RunStatus>;
  /** Runs the program against a journal alone: no effect is performed, no time passes. */
  readonly replay: (recording: Recording) => Promise<Replayed>;
  /** Releases all runs as a crash would, and gives what another engine needs to carry them on; `whenEnded` never settles here. */
  readonly handOver: () => readonly RunSnapshot[];
  /** Continues a run from its record. Does nothing where it is running already. */
  readonly adopt: (snapshot: RunSnapshot) => void;
  /** Gives a run a signal that is on record already. Does nothing for a run that is not carried here. */
  readonly receive: (runId: string, signal: NamedSignal) => void;
  /** Releases one run without ending it: its program stands still, its timers are called off, its effects are aborted. */
  readonly letGo: (runId: string) => void;
  /** Whether it knows the run: one that is being taken from its record it does not know yet. */
  readonly carries: (runId: string) => boolean;
  /** The latest one; 0 of a run that is not here. */
  readonly generationOf: (runId: string) => number;
}

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
    start: promised((input: Json, wanted: StartOptions) => start(held, input, wanted)),
    signal: promised((runId: string, name: string, message: SignalMessage) =>
      signal(held, findRun(held, runId, `take the signal "${name}"`), {
        ...copyMessage(held, message),
        name,
      }),
    ),
    cancel: promised((runId: string, reason: string) => cancel(held, runId, reason)),
    status: promised((runId: string) => statusOf(held.runs.get(runId))),
    journal: promised((runId: string) => {
      const run = held.runs.get(runId);
      return run === undefined ? undefined : snapshotOf(run);
    }),
    close: () => close(held),
    journalOf: (runId) =>
      held.runs.get(runId)?.generation?.entries.filter((entry) => entry !== undefined) ?? [],
    whenEnded: (runId) => whenEnded(held.runs.get(runId)),
    replay: (recording) => replayJournal(held.carrier, recording),
    handOver: () => handOver(held),
    adopt: (snapshot) => {
      if (!held.runs.has(snapshot.runId)) carryOn(held, snapshot);
    },
    receive: (runId, named) => {
      const run = held.runs.get(runId);
      if (run !== undefined) receive(run, named, run.inbox.add(named));
    },
    letGo: (runId) => forget(held, runId),
    carries: (runId) => held.runs.has(runId),
    generationOf: (runId) => held.runs.get(runId)?.number ?? 0,
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
  const limits = resolveMemoryLimits(options.limits);
  const { program, clock, checkJson = false, onEnded, onLetGo, version, recorder } = options;
  const host = {
    isVolatile: options.isVolatile ?? recorder === undefined,
    effects: new Map(Object.entries(options.effects)),
    clock,
    checkJson,
    cancelGraceMs: limits.cancelGraceMs,
    recorder,
  };
  const held: Held = {
    carrier: {
      program,
      host,
      onEnded: (run, end) => noteEnd(held, run, () => onEnded?.(run.runId, end)),
      onLetGo: ({ runId }, failure) => {
        forget(held, runId);
        onLetGo?.(runId, failure);
      },
    },
    limits,
    version,
    runs: new Map(),
    ended: new Set(),
    journals: new Set(),
    isClosed: false,
  };
  return held;
}

function start(held: Held, given: Json, wanted: StartOptions): Started | Promise<Started> {
  const { runId, version, after = 0 } = wanted;
  if (held.isClosed)
    throw engineError(`Cannot start run "${runId}": the engine is closed`, { retryable: false });
  if (held.version !== undefined && version !== held.version) {
    const sides = `version "${held.version}", not "${version}"`;
    throw engineError(`Cannot start run "${runId}": this engine runs ${sides}`, { retryable: false });
  }
  const known = held.runs.get(runId);
  if (known !== undefined && (known.end === undefined || known.number > after)) return 'known';
  const input = held.carrier.host.checkJson ? copyJson(given, `the input of run "${runId}"`) : given;
  if (known !== undefined) held.runs.delete(runId);
  else makeRoom(held, runId);
  held.ended.delete(runId);
  held.journals.delete(runId);
  const run: Run = {
    runId,
    version,
    isTakenUp: false,
    inbox: known?.inbox ?? createInbox(held.limits.maxSignals),
    generation: undefined,
    number: after + 1,
    input,
    cancelled: undefined,
    end: undefined,
    onEnd: known?.onEnd ?? [],
  };
  held.runs.set(runId, run);
  const { recorder } = held.carrier.host;
  if (recorder !== undefined) return beginRecorded(held, run, recorder);
  beginRun(held.carrier, run, []);
  return 'begun';
}

async function beginRecorded(held: Held, run: Run, recorder: Recorder): Promise<Started> {
  const { runId } = run;
  try {
    await recorder.begin(beginningOf(run));
  } catch (error) {
    forget(held, runId);
    throw error;
  }
  if (held.runs.get(runId) === run) beginRun(held.carrier, run, []);
  return 'begun';
}

/** As if it had never been here. */
function forget(held: Held, runId: string): void {
  const run = held.runs.get(runId);
  if (run === undefined) return;
  dropRun(run);
  held.runs.delete(runId);
  held.ended.delete(runId);
  held.journals.delete(runId);
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

function signal(held: Held, run: Run, named: NamedSignal): void | Promise<void> {
  const { recorder } = held.carrier.host;
  if (recorder === undefined) return receive(run, named, run.inbox.add(named));
  return recorder
    .signal(run.runId, named)
    .then((kept) => receive(run, named, kept === 'full' ? kept : run.inbox.add(named)));
}

function receive(run: Run, { name }: NamedSignal, added: 'added' | 'duplicate' | 'full'): void {
  if (added === 'full') {
    const waiting = run.inbox.all().length;
    const why = `${waiting} are waiting already`;
    throw engineError(`Run "${run.runId}" cannot take the signal "${name}": ${why}`, { retryable: true });
  }
  if (added === 'added' && run.end === undefined && run.generation !== undefined)
    deliver(run.generation, name);
}

function cancel(held: Held, runId: string, reason: string): void | Promise<void> {
  const run = findRun(held, runId, 'be cancelled');
  if (run.end !== undefined || run.cancelled !== undefined) return undefined;
  const { recorder } = held.carrier.host;
  const obey = (): void => cancelRun(run, reason);
  // Where the cancel request cannot be written down, it is obeyed all the same.
  if (recorder === undefined) return obey();
  return obeyFirst(run.generation, recorder.cancel(runId, reason).then(obey, obey));
}

function whenEnded(run: Run | undefined): Promise<RunStatus> {
  if (run === undefined || run.end !== undefined) return Promise.resolve(statusOf(run));
  return new Promise((resolve) => run.onEnd.push(() => resolve(statusOf(run))));
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
  // A program that has caught the cancellation and continues has had its time.
  for (const run of live) endRun(held.carrier, run, { type: 'threw', error: run.cancelled?.error });
}

function handOver(held: Held): readonly RunSnapshot[] {
  held.isClosed = true;
  const snapshots = [...held.runs.values()].map((run) => {
    const snapshot = snapshotOf(run);
    dropRun(run);
    return snapshot;
  });
  // A signal that came here now would be lost, so its sender is informed that there is no such run.
  for (const collection of [held.runs, held.ended, held.journals]) collection.clear();
  return snapshots;
}

function carryOn(held: Held, snapshot: RunSnapshot): void {
  const { runId, version, generation, input, journal, cancelReason, end } = snapshot;
  const run: Run = {
    runId,
    version,
    isTakenUp: true,
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
