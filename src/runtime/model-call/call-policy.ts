import type { Clock, Random } from '../../base/clock.ts';
import { systemClock, systemRandom } from '../../base/system.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkTimeouts, completeTimeouts } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import type { LedgerLimits } from '../../resilience/ledger.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import type { LoopEvent, LoopOptions } from './call-target.ts';
import { processGates } from './gates.ts';
import type { Gates } from './gates.ts';

/** How a call goes about failures. Everything has a default. */
export interface CallPolicy {
  /** A preset (`none`, `quick`, `standard`, `patient`) or what differs from `standard`. */
  readonly retry?: RetryOption;
  /** The waits of one attempt. */
  readonly timeouts?: Partial<Timeouts>;
  /** Ask the next model also where one refused or filtered its answer. Off by default. */
  readonly fallBackOnFilter?: boolean;
  /** Bounds of the ledger: reached, they end the call instead of another attempt. */
  readonly limits?: LedgerLimits;
}

interface LoopWishes {
  readonly policy?: CallPolicy | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly gates?: Gates | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly onEvent?: ((event: LoopEvent) => void) | undefined;
}

/** Fills in what was not said. Throws a `ConfigError` for a policy that makes no sense. */
export function resolveLoopOptions({ policy = {}, signal, onEvent, ...wishes }: LoopWishes): LoopOptions {
  return {
    retry: resolveRetryPolicy(policy.retry),
    fallBackOnFilter: policy.fallBackOnFilter ?? false,
    limits: policy.limits ?? {},
    clock: wishes.clock ?? systemClock,
    random: wishes.random ?? systemRandom,
    gates: wishes.gates ?? processGates,
    signal,
    onEvent,
  };
}

/** Fills in what was not said. Throws a `ConfigError` for a bound that makes no sense. */
export function resolveTimeouts(given: Partial<Timeouts> | undefined): Timeouts {
  const failure = checkTimeouts(given);
  if (failure !== undefined) throw RerailError.from(failure);
  return completeTimeouts(given);
}
