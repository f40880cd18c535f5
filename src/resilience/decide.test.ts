import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureCodes, failureTraits } from '../errors/codes.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import { decideNext } from './decide.ts';
import type { FailedAttempt } from './decide.ts';
import { recoveryRoutes } from './recovery-routes.ts';
import { resolveRetryPolicy } from './retry-policy.ts';

const rules = { retry: resolveRetryPolicy('standard'), fallBackOnFilter: false } as const;

function failed(
  code: FailureCode,
  change: Partial<FailedAttempt> & { readonly details?: Partial<FailureDetails> } = {},
): FailedAttempt {
  const { details, ...rest } = change;
  return {
    failure: createFailure(code, { message: 'it failed', ...details }),
    attempts: 1,
    sameKindBefore: 0,
    leftMs: 600_000,
    drawn: 0.5,
    spendRetry: () => true,
    hasNextModel: false,
    ...rest,
  };
}

describe('decideNext()', () => {
  it.each<[string, FailedAttempt, string, RegExp]>([
    ['the deadline has passed', failed('OVERLOADED', { leftMs: 0 }), 'give-up', /deadline/],
    ['a wait would pass the deadline', failed('OVERLOADED', { leftMs: 500 }), 'give-up', /pass the deadline/],
    ['the caller cancelled', failed('CANCELLED', { hasNextModel: true }), 'give-up', /cancelled/],
    ['a bound is reached', failed('OVERLOADED', { spentLimit: 'maxCostUsd' }), 'give-up', /maxCostUsd/],
    ['the budget is spent', failed('OVERLOADED', { spendRetry: () => false }), 'give-up', /budget/],
    [
      'the budget is spent, with another model',
      failed('OVERLOADED', { spendRetry: () => false, hasNextModel: true }),
      'fall-back',
      /budget/,
    ],
    ['all attempts are made', failed('OVERLOADED', { attempts: 4 }), 'give-up', /all 4 attempts/],
    [
      'it is of a kind that is not asked again',
      failed('TOOL_EXECUTION_ERROR', { details: { retryable: true }, isAlone: true }),
      'give-up',
      /^TOOL_EXECUTION_ERROR is not tried again by itself$/,
    ],
    [
      'it is of such a kind, but has a policy of its own',
      failed('TOOL_EXECUTION_ERROR', { details: { retryable: true }, isAlone: true, isByOwnPolicy: true }),
      'retry',
      /then attempt 2/,
    ],
    [
      'it may be asked again',
      failed('OVERLOADED', { attempts: 3 }),
      'retry',
      /backoff of 4\.0 s, then attempt 4/,
    ],
    [
      'a wait was asked for',
      failed('RATE_LIMITED', { details: { retryAfterMs: 20_000 } }),
      'retry',
      /^a wait of 20\.0 s was asked for, then attempt 2$/,
    ],
    [
      'too long a wait was asked for',
      failed('RATE_LIMITED', { details: { retryAfterMs: 7_200_000 } }),
      'give-up',
      /^a wait of 2 h was asked for, longer than maxWaitMs \(\d+ min\)/,
    ],
    ['it came twice', failed('EMPTY_RESPONSE', { sameKindBefore: 1 }), 'give-up', /came 2 times/],
    [
      'the failure knows better',
      failed('NETWORK_ERROR', { details: { retryable: false } }),
      'give-up',
      /not be mended/,
    ],
  ])('where %s', (_name, attempt, ...[type, reason]) => {
    const decision = decideNext(attempt, rules);
    expect(decision.type).toBe(type);
    expect(decision.reason).toMatch(reason);
  });

  it('counts one attempt as one', () => {
    const { reason } = decideNext(failed('OVERLOADED', { isAlone: true }), {
      ...rules,
      retry: resolveRetryPolicy('none'),
    });
    expect(reason).toBe('the only attempt is used up');
  });

  it('does not take from the budget for a retry that is not made', () => {
    let spent = 0;
    const spendRetry = (): boolean => {
      spent += 1;
      return true;
    };
    decideNext(failed('QUOTA_EXCEEDED', { spendRetry }), rules);
    decideNext(failed('OVERLOADED', { spendRetry, attempts: 4 }), rules);
    decideNext(failed('OVERLOADED', { spendRetry, leftMs: 10 }), rules);
    decideNext(failed('RATE_LIMITED', { spendRetry, details: { retryAfterMs: 1e9 } }), rules);
    expect(spent).toBe(0);
  });

  it.each(failureCodes)('has a route for %s that agrees with the table of codes', (code) => {
    const { retryable, origins } = failureTraits[code];
    // What a model call can end in and the table calls retryable is tried again at least once, and nothing else is.
    const isOfModels = origins.some((origin) => origin === 'model');
    expect(recoveryRoutes[code].retries !== 0).toBe(retryable && isOfModels);
  });

  it('never retries what is not retryable, never before what was asked, never beyond its bounds', () => {
    const attempts = fc.record({
      code: fc.constantFrom(...failureCodes),
      retryable: fc.boolean(),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 1e10 }), { nil: undefined }),
      attempts: fc.integer({ min: 1, max: 10 }),
      leftMs: fc.integer({ min: -10, max: 1_000_000 }),
      drawn: fc.double({ min: 0, max: 0.999, noNaN: true }),
      hasNextModel: fc.boolean(),
    });
    fc.assert(
      fc.property(attempts, ({ code, retryable, retryAfterMs, ...rest }) => {
        const details = retryAfterMs === undefined ? { retryable } : { retryable, retryAfterMs };
        const decision = decideNext(failed(code, { ...rest, details }), rules);
        expect(decision.reason).not.toBe('');
        const isRetry = decision.type === 'retry';
        const delayMs = isRetry ? decision.delayMs : (retryAfterMs ?? 0);
        expect(isRetry && (!retryable || code === 'CANCELLED')).toBe(false);
        expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        expect(isRetry && delayMs >= rest.leftMs).toBe(false);
        expect(isRetry && delayMs > Math.max(rules.retry.maxWaitMs, rules.retry.maxDelayMs)).toBe(false);
        expect(isRetry && rest.attempts >= rules.retry.maxAttempts).toBe(false);
        expect(decision.type === 'fall-back' && !rest.hasNextModel).toBe(false);
      }),
    );
  });
});
