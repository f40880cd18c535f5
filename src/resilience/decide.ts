import { duration } from '../base/duration.ts';
import type { Failure } from '../errors/failure.ts';
import { retryDelay } from './backoff.ts';
import { maxRepeatsOf } from './failure-kind.ts';
import { recoveryRoutes } from './recovery-routes.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** What is known when an attempt has failed. Time and chance arrive as numbers, so that the same facts decide the same. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Attempts made at this model, this one included. */
  readonly attempts: number;
  /** Earlier failures of the same kind at this model: see `kindOf`. */
  readonly sameKindBefore: number;
  /** What is left of the deadline. */
  readonly leftMs: number;
  /** In [0, 1). */
  readonly drawn: number;
  /** Whether the shared retry budget grants a retry. It is asked only when one is wanted. */
  readonly spendRetry: () => boolean;
  readonly hasNextModel: boolean;
  /** There is no chain of models, as for a tool: nothing need be said of others. */
  readonly isAlone?: boolean | undefined;
  /** Whoever wrote the policy knows what it is about, as for a node that is gone on with: it alone says how often. */
  readonly isByOwnPolicy?: boolean | undefined;
  /** Something of the answer was handed on and cannot be taken back: another attempt would be glued to it. */
  readonly isFinal?: boolean | undefined;
  /** A bound of the ledger that is reached, if one is. */
  readonly spentLimit?: string | undefined;
}

/** What to do about it, and why, in words for the journal. */
export type Decision =
  | { readonly type: 'retry'; readonly delayMs: number; readonly reason: string }
  /** `resumeAfterMs`: this model may be asked again then, and not before. */
  | { readonly type: 'fall-back'; readonly reason: string; readonly resumeAfterMs?: number }
  /** `resumeAfterMs`: the same call may be made again then, and not before. */
  | { readonly type: 'give-up'; readonly reason: string; readonly resumeAfterMs?: number };

/** What may be decided besides the policy of retries. */
export interface DecisionRules {
  readonly retry: RetryPolicy;
  /** Ask the next model also where this one refused or filtered. */
  readonly fallBackOnFilter: boolean;
}

/** Retry inside fallback inside deadline: the one place that decides what follows a failed attempt. */
export function decideNext(attempt: FailedAttempt, rules: DecisionRules): Decision {
  const { failure } = attempt;
  if (failure.code === 'CANCELLED') return { type: 'give-up', reason: 'the caller cancelled it' };
  if (attempt.spentLimit !== undefined)
    return { type: 'give-up', reason: `the bound ${attempt.spentLimit} is reached` };
  if (attempt.isFinal === true) {
    return { type: 'give-up', reason: 'part of the answer was handed on and cannot be taken back' };
  }
  if (attempt.leftMs <= 0) return { type: 'give-up', reason: 'the deadline has passed' };

  const retry = decideRetry(attempt, rules.retry);
  if (retry.type === 'retry') return retry;
  const refusal = attempt.isAlone === true ? '' : noFallbackBecause(attempt, rules);
  const { resumeAfterMs } = retry;
  const type = refusal === undefined ? 'fall-back' : 'give-up';
  const reason = refusal === undefined || refusal === '' ? retry.reason : `${retry.reason}; ${refusal}`;
  return resumeAfterMs === undefined ? { type, reason } : { type, reason, resumeAfterMs };
}

type RetryVerdict =
  | Extract<Decision, { type: 'retry' }>
  | { readonly type: 'no-retry'; readonly reason: string; readonly resumeAfterMs?: number };

function decideRetry(attempt: FailedAttempt, policy: RetryPolicy): RetryVerdict {
  const { failure, attempts, leftMs } = attempt;
  const no = (reason: string, resumeAfterMs?: number): RetryVerdict =>
    resumeAfterMs === undefined ? { type: 'no-retry', reason } : { type: 'no-retry', reason, resumeAfterMs };

  if (!failure.retryable) return no(`${failure.code} would not be mended by asking again`);
  const maxRepeats = attempt.isByOwnPolicy === true ? Infinity : maxRepeatsOf(failure);
  if (attempt.sameKindBefore >= maxRepeats) return no(repeatedText(failure, maxRepeats));
  const { delayMs, basis } = retryDelay(
    { retry: attempts, retryAfterMs: failure.retryAfterMs, drawn: attempt.drawn },
    policy,
  );
  const askedMs = failure.retryAfterMs ?? 0;
  const waitText = duration(basis === 'asked' ? askedMs : delayMs);
  if (askedMs > policy.maxWaitMs) {
    return no(
      `a wait of ${waitText} was asked for, longer than maxWaitMs (${duration(policy.maxWaitMs)})`,
      failure.retryAfterMs,
    );
  }
  if (attempts >= policy.maxAttempts) return no(usedUpText(policy), failure.retryAfterMs);
  if (delayMs >= leftMs) return no(`a wait of ${waitText} would pass the deadline`, failure.retryAfterMs);
  if (!attempt.spendRetry()) return no('the retry budget of this provider and key is spent');
  const why = basis === 'asked' ? `a wait of ${waitText} was asked for` : `backoff of ${waitText}`;
  return { type: 'retry', delayMs, reason: `${why}, then attempt ${attempts + 1}` };
}

function repeatedText({ code }: Failure, maxRepeats: number): string {
  return maxRepeats === 0 ? `${code} is not tried again by itself` : `${code} came ${maxRepeats + 1} times`;
}

function usedUpText({ maxAttempts }: RetryPolicy): string {
  return maxAttempts === 1 ? 'the only attempt is used up' : `all ${maxAttempts} attempts are used up`;
}

function noFallbackBecause(
  { failure, hasNextModel }: FailedAttempt,
  rules: DecisionRules,
): string | undefined {
  const { fallback } = recoveryRoutes[failure.code];
  if (fallback === 'never') return 'another model would fail the same way';
  if (fallback === 'if-allowed' && !rules.fallBackOnFilter) return 'to ask another model was not allowed';
  return hasNextModel ? undefined : 'there is no further model';
}
