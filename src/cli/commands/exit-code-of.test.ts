import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { exitCodes, failureTraits } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { exitCodeOf } from './exit-code-of.ts';

const outcome = (fields: object): RunOutcome => fields as RunOutcome; // Only its type, reason and failure are looked at.

describe('exitCodeOf()', () => {
  it.each([
    { code: 'RATE_LIMITED', exitCode: 12 },
    { code: 'AUTHENTICATION_ERROR', exitCode: 10 },
    { code: 'NETWORK_ERROR', exitCode: 13 },
    { code: 'TOOL_EXECUTION_ERROR', exitCode: 20 },
    { code: 'STORAGE_FULL', exitCode: 30 },
    { code: 'STORAGE_LOCKED', exitCode: 31 },
    { code: 'PATH_OUTSIDE_WORKSPACE', exitCode: 24 },
  ] as const)('ends a run that failed with $code with $exitCode, by its family', ({ code, exitCode }) => {
    const failure = createFailure(code, { message: 'It failed' });
    expect(exitCodeOf(outcome({ type: 'failed', failure }))).toBe(exitCode);
    expect(failureTraits[code].exitCode).toBe(exitCode);
  });

  it.each([
    { name: 'a limit', fields: { type: 'stopped', reason: 'max-turns' }, exitCode: 21 },
    { name: 'a deadline', fields: { type: 'stopped', reason: 'deadline' }, exitCode: 21 },
    { name: 'a person who said no', fields: { type: 'stopped', reason: 'rejected' }, exitCode: 22 },
    { name: 'a guardrail', fields: { type: 'stopped', reason: 'guardrail' }, exitCode: 22 },
    { name: 'a wait', fields: { type: 'suspended', reason: 'approval' }, exitCode: exitCodes.waiting },
    {
      name: 'a store that cannot be written',
      fields: { type: 'suspended', reason: 'storage' },
      exitCode: 30,
    },
    ...(
      [
        ['a wrong key', 'credentials', 'AUTHENTICATION_ERROR', 10],
        ['an empty account', 'credit', 'QUOTA_EXCEEDED', 11],
        ['a rate limit', 'long-wait', 'RATE_LIMITED', 12],
        ['an outage', 'long-wait', 'NETWORK_ERROR', 13],
        ['an unknown model', 'credentials', 'MODEL_NOT_FOUND', 14],
        ['a call in doubt', 'in-doubt', 'UNKNOWN_OUTCOME', 23],
      ] as const
    ).map(([name, reason, code, exitCode]) => ({
      name,
      fields: { type: 'suspended', reason, failure: createFailure(code, { message: 'It failed' }) },
      exitCode,
    })),
    {
      name: 'a content filter',
      fields: {
        type: 'stopped',
        reason: 'refused',
        failure: createFailure('CONTENT_FILTERED', { message: 'It failed' }),
      },
      exitCode: 15,
    },
    {
      name: 'a time that nothing failed about',
      fields: { type: 'suspended', reason: 'long-wait' },
      exitCode: 23,
    },
    { name: 'Ctrl-C', fields: { type: 'cancelled' }, exitCode: 130 },
    { name: 'an answer', fields: { type: 'completed' }, exitCode: 0 },
  ])('ends with $exitCode after $name', ({ fields, exitCode }) => {
    expect(exitCodeOf(outcome(fields))).toBe(exitCode);
  });

  it('distinguishes why a run cannot be resumed: unknown, ended, of another workspace, in use, denied', () => {
    const codes = ['STORAGE_NOT_FOUND', 'INVALID_STATE', 'PATH_OUTSIDE_WORKSPACE', 'STORAGE_LOCKED'] as const;
    const numbers = [
      ...codes.map((code) => failureTraits[code].exitCode),
      exitCodes.denied,
      exitCodes.waiting,
    ];
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('has a code for waiting that no failure has', () => {
    expect(Object.values(failureTraits).map((traits): number => traits.exitCode)).not.toContain(
      exitCodes.waiting,
    );
  });
});
