import { defined } from '../base/defined.ts';
import { duration } from '../base/duration.ts';
import type { Failure } from '../errors/failure.ts';
import { retryDelay } from './backoff.ts';
import { hasUsedTimer, isQuickFailure, isShortage, maxRepeatsOf } from './failure-kind.ts';
import { recoveryRoutes } from './recovery-routes.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** What is known when an attempt has failed. Time and chance arrive as numbers, so that the same facts decide the same. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Attempts made at this model, this one included. */
  readonly attempts: number;
  /** Earlier failures of the same kind at this model: see `kindOf`. */
  readonly sameKindBefore: number;
  /** Earlier failures of the same pace at this model, by which waits grow; all earlier attempts where it is absent. */
  readonly samePaceBefore?: number | undefined;
  /** The model has answered somebody lately: it is not down. */
  readonly isAnswering?: boolean | undefined;
  /** What is left of the deadline. */
  readonly leftMs: number;
  /** In [0, 1). */
  readonly drawn: number;
  /** Whether the shared retry budget grants a retry. It is asked only when one is wanted. */
  readonly spendRetry: () => boolean;
  /** How long the attempt took. */
  readonly tookMs?: number | undefined;
  /** Another model can be asked, or asked again. */
  readonly hasNextModel: boolean;
  /** The same model can be asked with another key. */
  readonly hasNextKey?: boolean | undefined;
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
  | FallBack
  /** `resumeAfterMs`: the same call may be made again then, and not before. */
  | { readonly type: 'give-up'; readonly reason: string; readonly resumeAfterMs?: number };

/** The next model is asked. */
export interface FallBack {
  readonly type: 'fall-back';
  readonly reason: string;
  /** This model may be asked again then, and not before. */
  readonly resumeAfterMs?: number;
  /** The next one is the same model with another key. */
  readonly to?: 'next-key';
  /** This one is asked again where no other is left, after this long. */
  readonly returnAfterMs?: number;
  /** Where no other is left there is nothing to wait for: `returnAfterMs` only says who comes first. */
  readonly isAskable?: true;
}

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
  const { resumeAfterMs, returnAfterMs } = retry;
  const isOfKey = recoveryRoutes[failure.code].isOfKey === true;
  if (isOfKey && attempt.hasNextKey === true) {
    const reason = `${retry.reason}; the next key of the same model is asked`;
    return { type: 'fall-back', to: 'next-key', reason, ...defined({ resumeAfterMs, returnAfterMs }) };
  }
  const refusal = attempt.isAlone === true ? '' : noFallbackBecause(attempt, rules);
  if (refusal === undefined) {
    return { type: 'fall-back', reason: retry.reason, ...defined({ resumeAfterMs, returnAfterMs }) };
  }
  const reason = refusal === '' ? retry.reason : `${retry.reason}; ${refusal}`;
  return { type: 'give-up', reason, ...defined({ resumeAfterMs }) };
}

type RetryVerdict =
  | Extract<Decision, { type: 'retry' }>
  | ({ readonly type: 'no-retry' } & Pick<FallBack, 'reason' | 'resumeAfterMs' | 'returnAfterMs'>);

function decideRetry(attempt: FailedAttempt, policy: RetryPolicy): RetryVerdict {
  const { failure, attempts, leftMs } = attempt;
  const no = (reason: string, resumeAfterMs?: number): RetryVerdict =>
    resumeAfterMs === undefined ? { type: 'no-retry', reason } : { type: 'no-retry', reason, resumeAfterMs };

  if (!failure.retryable) return no(`${failure.code} would not be mended by asking again`);
  const maxRepeats = attempt.isByOwnPolicy === true ? Infinity : maxRepeatsOf(failure, attempt.isAnswering);
  if (attempt.sameKindBefore >= maxRepeats) return no(repeatedText(failure, maxRepeats));
  const isQuick = isQuickFailure(failure);
  const retry = (attempt.samePaceBefore ?? attempts - 1) + 1;
  const { delayMs, basis } = retryDelay(
    { retry, isQuick, retryAfterMs: failure.retryAfterMs, drawn: attempt.drawn },
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
  const usedUp = usedUpBy(attempt, policy);
  if (usedUp !== undefined) return no(usedUpText(usedUp), failure.retryAfterMs);
  if (delayMs >= leftMs) return no(`a wait of ${waitText} would pass the deadline`, failure.retryAfterMs);
  // Where another model could answer, half of the time is left for it.
  if (attempt.hasNextModel && delayMs > leftMs / 2)
    return no(`a wait of ${waitText} would leave the next model too little time`, failure.retryAfterMs);
  if (!attempt.spendRetry()) return no('the retry budget of this provider and key is spent');
  const first = whoIsFirst(attempt);
  if (first !== undefined) return { type: 'no-retry', reason: first, returnAfterMs: delayMs };
  const why = basis === 'asked' ? `a wait of ${waitText} was asked for` : `backoff of ${waitText}`;
  return { type: 'retry', delayMs, reason: `${why}, then attempt ${attempts + 1}` };
}

/** The bound that is reached, if one is. Quick accidents at a model that answers now and then are counted apart: they cost no time. */
function usedUpBy(
  { failure, attempts, samePaceBefore = attempts - 1, isAnswering = false }: FailedAttempt,
  { maxAttempts, maxQuickAttempts = maxAttempts }: RetryPolicy,
): number | undefined {
  // What this machine lacks for a moment costs nobody else anything.
  if (!isAnswering && !isShortage(failure)) return attempts >= maxAttempts ? maxAttempts : undefined;
  if (!isQuickFailure(failure) && !isShortage(failure) && samePaceBefore + 1 >= maxAttempts)
    return maxAttempts;
  const most = Math.max(maxAttempts, maxQuickAttempts);
  return attempts >= most ? most : undefined;
}

/** Why another one is asked before this one is asked again, though it may be. */
function whoIsFirst({ failure, tookMs = 0, ...chain }: FailedAttempt): string | undefined {
  const { isOfKey = false } = recoveryRoutes[failure.code];
  if (isOfKey && chain.hasNextKey === true) return `${failure.code} is about the key`;
  return hasUsedTimer(failure, tookMs) && chain.hasNextModel
    ? 'it used up its time, so the next model is asked first'
    : undefined;
}

function repeatedText({ code }: Failure, maxRepeats: number): string {
  return maxRepeats === 0 ? `${code} is not tried again by itself` : `${code} came ${maxRepeats + 1} times`;
}

function usedUpText(maxAttempts: number): string {
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
