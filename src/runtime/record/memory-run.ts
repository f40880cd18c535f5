import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import type { DurableProgram, RunStatus } from './durable.ts';
import { cancelledError } from './durable-errors.ts';
import type { JournalEntry, RunEnd, RunSnapshot } from './journal.ts';
import { cancelGeneration, closeGeneration, createGeneration, findUnreached } from './memory-generation.ts';
import type { Generation, Host } from './memory-generation.ts';
import type { Inbox } from './memory-inbox.ts';
import type { BeginningRun } from './recorder.ts';
import { copyJson, durableOf } from './memory-verbs.ts';

/** A run over all its generations. */
export interface Run {
  readonly runId: string;
  readonly version: string;
  /** It was begun elsewhere. */
  readonly isTakenUp: boolean;
  readonly inbox: Inbox;
  /** The one that is carried, or the last one; dropped when its journal is. */
  generation: Generation | undefined;
  number: number;
  input: Json;
  cancelled: { readonly reason: string; readonly error: RerailError } | undefined;
  /** Absent while the run lives. */
  end: RunEnd | undefined;
  readonly onEnd: (() => void)[];
}

/** What executes runs: the same for all of them. */
export interface Carrier {
  readonly program: DurableProgram;
  readonly host: Host;
  readonly onEnded: (run: Run, end: RunEnd) => void;
  /** What happened could not be written down: the run is no longer carried here, and can be resumed from what is on record. */
  readonly onLetGo: (run: Run, failure: Failure) => void;
}

/** How a program left its generation. */
export type Settled =
  { readonly type: 'returned'; readonly result: Json } | { readonly type: 'threw'; readonly error: unknown };

/** Begins the run's current generation, from a journal or afresh. */
export function beginRun(carrier: Carrier, run: Run, journal: readonly JournalEntry[]): void {
  const generation = createGeneration(carrier.host, run, journal);
  run.generation = generation;
  if (run.cancelled !== undefined) cancelGeneration(generation, run.cancelled.error);
  void carry(carrier, run, generation);
}

async function carry(carrier: Carrier, run: Run, generation: Generation): Promise<void> {
  const settled = await perform(carrier.program, generation, run.input);
  // After a hand-over or a close nothing listens to the program any more.
  if (run.generation === generation) endRun(carrier, run, settled);
}

/** Runs a program over a generation. Never rejects. */
export async function perform(
  program: DurableProgram,
  generation: Generation,
  input: Json,
): Promise<Settled> {
  try {
    const result = await program(durableOf(generation), input);
    const { checkJson } = generation.host;
    return { type: 'returned', result: checkJson ? copyJson(result, 'the result of the program') : result };
  } catch (error) {
    return { type: 'threw', error };
  }
}

/** What the program's leaving comes to: the next generation, or the end. Does nothing for a run that has ended. */
export function endRun(carrier: Carrier, run: Run, settled: Settled): void {
  const { generation } = run;
  if (run.end !== undefined || generation === undefined) return;
  const { stop } = generation;
  const end = judge(generation, settled);
  closeGeneration(generation);
  if (end === 'let-go') return letGo(carrier, run, stop?.type === 'unrecorded' ? stop.error : undefined);
  if (end === 'restart' && stop?.type === 'restart') {
    run.number += 1;
    run.input = stop.state;
    return afterKeeping(carrier, run, {
      keep: carrier.host.recorder?.begin(beginningOf(run)),
      go: () => beginRun(carrier, run, []),
    });
  }
  if (end === 'restart') return;
  afterKeeping(carrier, run, {
    keep: carrier.host.recorder?.end(run.runId, end),
    go: () => {
      run.end = end;
      for (const tell of run.onEnd.splice(0)) tell();
      carrier.onEnded(run, end);
    },
  });
}

/** What a recorder gets of a generation that begins. */
export function beginningOf({ runId, version, number, input, cancelled }: Run): BeginningRun {
  const beginning = { runId, version, generation: number, input };
  return cancelled === undefined ? beginning : { ...beginning, cancelReason: cancelled.reason };
}

interface Keeping {
  /** Absent where nothing is written down. */
  readonly keep: Promise<void> | undefined;
  readonly go: () => void;
}

function afterKeeping(carrier: Carrier, run: Run, { keep, go }: Keeping): void {
  if (keep === undefined) return go();
  const { generation } = run;
  void keep.then(
    // The run may have been released meanwhile.
    () => (run.generation === generation ? go() : undefined),
    (error: unknown) => letGo(carrier, run, error),
  );
}

function letGo(carrier: Carrier, run: Run, error: unknown): void {
  if (run.generation === undefined) return;
  dropRun(run);
  carrier.onLetGo(run, classifyFailure(error, 'storage'));
}

/** How a generation ends. A program that catches a control error does not get round it. */
export function judge(generation: Generation, settled: Settled): RunEnd | 'restart' | 'let-go' {
  const { stop } = generation;
  if (stop?.type === 'unrecorded') return 'let-go';
  if (stop?.type === 'changed') return brokenBy(stop.error);
  // A cancelled program may take a shorter way.
  const unreached = stop?.type === 'cancelled' ? undefined : findUnreached(generation);
  if (unreached !== undefined) return brokenBy(unreached.error);
  if (stop?.type === 'restart') return 'restart';
  return settled.type === 'returned' ? { type: 'ended', result: settled.result } : brokenBy(settled.error);
}

/** Marks the run as cancelled, for this generation and, if it restarts, for the next. Does nothing for one that has ended. */
export function cancelRun(run: Run, reason: string): void {
  if (run.end !== undefined || run.cancelled !== undefined) return;
  const error = cancelledError(run.runId, reason);
  run.cancelled = { reason, error };
  if (run.generation !== undefined) cancelGeneration(run.generation, error);
}

/** What the host gets of a run. */
export function statusOf(run: Run | undefined): RunStatus {
  if (run === undefined) return { type: 'unknown' };
  if (run.end !== undefined)
    return run.end.type === 'ended' ? { ...run.end, generation: run.number } : run.end;
  const { announced } = run.generation ?? {};
  const said = announced === undefined ? {} : { announced };
  for (const { asked } of run.generation?.waits ?? [])
    return { type: 'waiting', signal: asked.signal, ...said };
  return { type: 'running', ...said };
}

/** Releases a run without ending it: its program stands still, its timers are called off. */
export function dropRun(run: Run): void {
  if (run.generation !== undefined) closeGeneration(run.generation);
  run.generation = undefined;
}

/** Everything that another engine needs to carry the run on. */
export function snapshotOf(run: Run): RunSnapshot {
  const { runId, version, number, input, inbox, generation, cancelled, end } = run;
  return {
    runId,
    version,
    generation: number,
    input,
    journal: generation?.entries.filter((entry) => entry !== undefined) ?? [],
    signals: inbox.all(),
    signalIds: inbox.ids(),
    ...(cancelled === undefined ? {} : { cancelReason: cancelled.reason }),
    ...(end === undefined ? {} : { end }),
  };
}

function brokenBy(error: unknown): RunEnd {
  return { type: 'broken', failure: classifyFailure(error, 'agent') };
}
