import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelay } from './backoff.ts';
import { resolveRetryPolicy } from './retry-policy.ts';

const policy = resolveRetryPolicy('standard');

describe('retryDelay()', () => {
  it.each([
    ['doubles', { retry: 3, drawn: 0.5 }, { delayMs: 4000, basis: 'own' }],
    ['is bounded', { retry: 30, drawn: 0.999_999 }, { delayMs: 10_000, basis: 'own' }],
    ['is spread downwards by a fifth', { retry: 1, drawn: 0 }, { delayMs: 800, basis: 'own' }],
    ['takes zero for silence', { retry: 1, retryAfterMs: 0, drawn: 0.5 }, { delayMs: 1000, basis: 'own' }],
    [
      'keeps what was asked for',
      { retry: 1, retryAfterMs: 5000, drawn: 0 },
      { delayMs: 5000, basis: 'asked' },
    ],
    [
      'does not go below the floor',
      { retry: 1, retryAfterMs: 6, drawn: 0 },
      { delayMs: 100, basis: 'asked' },
    ],
  ])('%s', (_name, facts, expected) => {
    const delay = retryDelay(facts, policy);
    expect(delay.basis).toBe(expected.basis);
    expect(delay.delayMs).toBeCloseTo(expected.delayMs, 0);
  });

  it('never undercuts what was asked for, and never exceeds its own bound', () => {
    const facts = fc.record({
      retry: fc.integer({ min: 1, max: 10_000 }),
      retryAfterMs: fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }), { nil: undefined }),
      drawn: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const { delayMs, basis } = retryDelay(given, policy);
        expect(delayMs).toBeGreaterThanOrEqual(policy.minDelayMs);
        const isAsked = basis === 'asked';
        expect(delayMs).toBeGreaterThanOrEqual(isAsked ? (given.retryAfterMs ?? Infinity) : 0);
        expect(delayMs).toBeLessThanOrEqual(isAsked ? Infinity : policy.maxDelayMs);
      }),
    );
  });
});
