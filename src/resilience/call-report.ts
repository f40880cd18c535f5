import type { Failure } from '../errors/failure.ts';
import type { Ledger } from './ledger.ts';

/** What was done about a failure within a call. `next-key`: the same model with another key of its pool. */
export type CallRecovery = 'retry' | 'splice' | 'next-key' | 'fall-back';

/** A failure that was overcome. */
export interface RecoveryRecord {
  readonly failure: Failure;
  readonly recovery: CallRecovery;
  /** The number of the attempt that failed, counted over all models. */
  readonly attempts: number;
  /** From the start of the failed attempt to the start of the next one. */
  readonly lostMs: number;
  /** Tokens that are known to have been spent on it. */
  readonly lostTokens: number;
}

/** One try at one model. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly provider: string;
  readonly model: string;
  readonly isProbe: boolean;
  readonly durationMs: number;
  /** Absent where it succeeded. */
  readonly failure?: Failure;
}

/** How a call came to its end. */
export interface CallReport {
  /** At most the last hundred. */
  readonly attempts: readonly AttemptRecord[];
  /** Empty unless the call succeeded: only then was anything overcome. */
  readonly recoveries: readonly RecoveryRecord[];
  readonly ledger: Ledger;
  readonly elapsedMs: number;
  /** Milliseconds since 1970: the other side asked not to be called before. */
  readonly resumeAtMs?: number;
}
