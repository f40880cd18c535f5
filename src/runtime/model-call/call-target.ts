import type { Clock, Random } from '../../base/clock.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Asked } from '../../resilience/call-failures.ts';
import type { Charge, RecoveryEvent } from '../../resilience/call-progress.ts';
import type { CallReport } from '../../resilience/call-report.ts';
import type { LedgerLimits } from '../../resilience/ledger.ts';
import type { RetryPolicy } from '../../resilience/retry-policy.ts';
import type { Gates } from './gates.ts';

/** Something that can be tried: a model, distinguished from the way it is spoken to. */
export interface CallTarget<Value> extends Asked {
  /** One attempt. Must not reject, and must end within `leftMs`. */
  readonly attempt: (context: AttemptContext) => Promise<Attempted<Value>>;
}

export interface AttemptContext {
  /** From 1, over all targets. */
  readonly attempt: number;
  /** What is left of the deadline. */
  readonly leftMs: number;
  /** A model stands by that was not asked yet, so a silent one need not be waited for as long. */
  readonly hasFallback: boolean;
}

/** The end of one attempt. `canSplice`: the next attempt at the same target can continue where this one broke off. */
export type Attempted<Value> = {
  readonly value: Value;
  readonly charge: Charge;
} & (
  | { readonly type: 'success' }
  | {
      readonly type: 'failure';
      readonly failure: Failure;
      readonly canSplice: boolean;
      /** Something of the answer was handed on to a caller that cannot take it back. */
      readonly isFinal?: boolean;
    }
);

/** What happens between attempts, with the reason for each decision. */
export type LoopEvent =
  | {
      readonly type: 'attempt-started';
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      /** The one request that finds out whether a model or an account works again. */
      readonly isProbe: boolean;
    }
  | { readonly type: 'failure'; readonly attempt: number; readonly failure: Failure }
  | RecoveryEvent
  | {
      readonly type: 'breaker-changed';
      readonly provider: string;
      readonly from: string;
      readonly to: string;
    }
  | { readonly type: 'breaker-awaited'; readonly provider: string; readonly model: string };

export interface LoopOptions {
  readonly retry: RetryPolicy;
  readonly fallBackOnFilter: boolean;
  readonly limits: LedgerLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly gates: Gates;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: LoopEvent) => void) | undefined;
}

export type LoopResult<Value> = { readonly report: CallReport } & (
  | { readonly type: 'success'; readonly value: Value }
  | { readonly type: 'failure'; readonly failure: Failure; readonly value: Value | undefined }
);
