import { describe, expect, it } from 'vitest';
import { defaultLimits, resolveLimits } from './limits.ts';

function catchThrown(attempt: () => unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return error;
  }
}

describe('resolveLimits', () => {
  it.each([
    { given: { maxTurn: 3 }, says: 'There is no limit "maxTurn": did you mean "maxTurns"?' },
    { given: { zzzz: 3 }, says: /There is no limit "zzzz": known are maxTurns, / },
    { given: { maxTurns: 0 }, says: '"limits.maxTurns" must be a number above 0, got 0' },
    { given: { maxTurns: -1 }, says: '"limits.maxTurns" must be a number above 0, got -1' },
    { given: { maxTurns: 1.5 }, says: '"limits.maxTurns" must be a whole number, got 1.5' },
    { given: { maxTurns: Number.NaN }, says: '"limits.maxTurns" must be a number, got NaN' },
    { given: { maxTurns: '5' }, says: '"limits.maxTurns" must be a number, got 5' },
    { given: { maxTurns: null }, says: '"limits.maxTurns" must be a number, got null' },
    { given: { maxReasks: -1 }, says: '"limits.maxReasks" must be a number from 0, got -1' },
    { given: { timeoutMs: Infinity }, says: '"limits.timeoutMs" must be a number with an end, got Infinity' },
    {
      given: { maxToolAttempts: Infinity },
      says: '"limits.maxToolAttempts" must be a number with an end, got Infinity',
    },
    { given: { maxNudges: -Infinity }, says: '"limits.maxNudges" must be a number from 0, got -Infinity' },
    { given: { timeoutMs: 1e12 }, says: /"limits.timeoutMs" must be at most 31622400000 \(a year\)/ },
    { given: [], says: '"limits" must be an object, such as { maxTurns: 20 }' },
    { given: 7, says: '"limits" must be an object, such as { maxTurns: 20 }, got 7' },
    { given: null, says: '"limits" must be an object, such as { maxTurns: 20 }, got null' },
  ])('refuses $given', ({ given, says }) => {
    expect(() => resolveLimits(given as never)).toThrow(says);
  });

  it('names the field in a ConfigError', () => {
    const thrown = catchThrown(() => resolveLimits({ maxTurns: 0 }));
    expect(thrown).toMatchObject({ code: 'CONFIG_ERROR', failure: { context: { field: 'maxTurns' } } });
  });

  it.each([
    { given: { maxTurns: Infinity, maxTokens: Infinity, maxCostUsd: Infinity } },
    { given: { maxRequests: Infinity, maxToolCalls: Infinity } },
    { given: { maxReasks: 0, maxNudges: 0, maxContinuations: 0, maxToolCalls: 0 } },
    { given: { maxCostUsd: 0.005, timeoutMs: 0.5 } },
  ])('takes $given', ({ given }) => {
    expect(resolveLimits(given)).toEqual({ ...defaultLimits, ...given });
  });

  it('fills in what is not said, and takes undefined as not said', () => {
    expect(resolveLimits()).toEqual(defaultLimits);
    expect(resolveLimits({ maxTurns: undefined } as never)).toEqual(defaultLimits);
    expect(resolveLimits({ maxTurns: 7 })).toEqual({ ...defaultLimits, maxTurns: 7 });
  });

  it('has the defaults that are documented', () => {
    expect(defaultLimits).toMatchObject({
      maxTurns: 50,
      maxToolCalls: 500,
      timeoutMs: 3_600_000,
      modelTimeoutMs: 120_000,
    });
    expect(defaultLimits).toMatchObject({ maxTokens: Infinity, maxCostUsd: Infinity, maxRequests: Infinity });
  });

  it('hands out a copy, not the defaults themselves', () => {
    expect(resolveLimits()).not.toBe(defaultLimits);
  });
});
