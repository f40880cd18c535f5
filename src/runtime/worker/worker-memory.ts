import type { RunRow, StoredSignal, WaitingRun } from '../../model/store/store.ts';

/**
 * What a worker remembers of runs it has had in hand, so that it neither tries the same thing in vain again and again nor
 * misses a moment. It may forget any of it at any time: then a run is tried once more, or found by the next poll.
 */
export interface WorkerMemory {
  /** By run, the longest unchanged first. */
  readonly withheld: Map<string, Withheld>;
  /** Runs that wait for a moment, by run. */
  readonly dues: Map<string, Due>;
}

export type Why = WaitingRun['why'];

/** A run that is not to be resumed as it is. */
export interface Withheld {
  /** As it was left: while it is so, taking it up for one of these reasons would do nothing new. */
  readonly mark: RunMark | undefined;
  readonly forWhys: readonly Why[];
  /** In vain, one after the other. */
  readonly tries: number;
  /** Not before, whatever has changed. Of the monotonic clock. */
  readonly notBeforeMs: number;
}

/** What distinguishes a run that has changed from one that has not. */
export interface RunMark {
  readonly row: string;
  /** Absent where it was not read. */
  readonly signals?: string;
}

/** A moment that a run waits for, by both clocks: the wall clock may be set back, and the run must not wait for it twice. */
export interface Due {
  readonly resumeAtMs: number;
  /** Of the monotonic clock. */
  readonly dueMs: number;
}

const maxWithheld = 10_000;
const maxDues = 1000;

/** Nothing yet. */
export function createWorkerMemory(): WorkerMemory {
  return { withheld: new Map(), dues: new Map() };
}

/** Remembers that a run is not to be resumed as it is. */
export function withhold({ withheld }: WorkerMemory, runId: string, entry: Withheld): void {
  withheld.delete(runId);
  withheld.set(runId, entry);
  if (withheld.size <= maxWithheld) return;
  const [oldest] = withheld.keys();
  if (oldest !== undefined) withheld.delete(oldest);
}

/** Remembers when a run will be due. One too many is found by the poll, as every run is whose worker has ended. */
export function rememberDue({ dues }: WorkerMemory, runId: string, due: Due): void {
  if (dues.size < maxDues || dues.has(runId)) dues.set(runId, due);
}

/** The earliest moment that a run waits for. Of the monotonic clock. */
export function earliestDueMs({ dues }: WorkerMemory): number {
  let earliestMs = Infinity;
  for (const { dueMs } of dues.values()) earliestMs = Math.min(earliestMs, dueMs);
  return earliestMs;
}

/** All reasons to take a run up: one that was answered may be due as well. */
export function whysOf({ row, why }: WaitingRun, wallMs: number): readonly Why[] {
  const isDue = row.resumeAtMs !== undefined && row.resumeAtMs <= wallMs;
  return isDue && why === 'signalled' ? [why, 'due'] : [why];
}

/** What shows whether a run is as it was. */
export function markRow({ status, headSeq, resumeAtMs }: RunRow): string {
  return `${status} ${headSeq} ${resumeAtMs ?? 'never'}`;
}

/** The same for the signals that wait for it. */
export function markSignals(signals: readonly StoredSignal[]): string {
  return `${signals.length} ${signals.at(-1)?.id ?? 'none'}`;
}
