import type { Clock } from '../../base/clock.ts';
import { configError } from '../../errors/config-error.ts';
import type { Failure } from '../../errors/failure.ts';
import type { DurableProgram, Effect } from './durable.ts';
import type { RunEnd, RunSnapshot } from './journal.ts';
import type { Recorder } from './recorder.ts';

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
  /** `false` where its runs are handed over: then what must not happen twice is written down first. */
  readonly isVolatile?: boolean;
  /** For tests: whatever crosses the port is copied as JSON, and what JSON cannot hold breaks the run, with its path. */
  readonly checkJson?: boolean;
  /** Where runs outlive the process: everything is written down there before anybody acts on it. */
  readonly recorder?: Recorder;
  /** What happened to a run could not be written down: it is no longer carried here. Must not throw. */
  readonly onLetGo?: (runId: string, failure: Failure) => void;
  /** Notified once per end. Must not throw: the run has ended already. */
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

const defaultLimits: MemoryEngineLimits = {
  maxRuns: 10_000,
  maxEndedJournals: 100,
  maxSignals: 1000,
  cancelGraceMs: 1000,
  closeWaitMs: 5000,
};

/** The bounds, with their defaults. Throws a `ConfigError` for what is none. */
export function resolveMemoryLimits(given: Partial<MemoryEngineLimits> | undefined): MemoryEngineLimits {
  const limits = { ...defaultLimits, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isFinite(value) || value < 0)
      throw configError(`"${name}" of the memory engine must be a number from 0, got ${String(value)}`);
  }
  return limits;
}
