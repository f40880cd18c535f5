import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { ladder, recover } from './ladder.ts';
import type { LadderHistory, LadderPolicy } from './ladder.ts';

const policy: LadderPolicy = { maxNudges: 2, maxContinuations: 3, maxReasks: 3 };
const fresh: LadderHistory = {
  nudges: 0,
  continuations: 0,
  reasks: 0,
  compactions: 0,
  hasText: true,
  hasCalls: false,
  hasOutput: false,
  canCompact: true,
  isChainRefused: false,
  maxCompactions: 6,
  isUnbelievable: false,
};
const spent: LadderHistory = {
  nudges: 2,
  continuations: 3,
  reasks: 3,
  compactions: 1,
  hasText: false,
  hasCalls: false,
  hasOutput: false,
  canCompact: false,
  isChainRefused: false,
  maxCompactions: 6,
  isUnbelievable: false,
};

function take(code: (typeof failureCodes)[number], history: LadderHistory): string {
  return recover(createFailure(code, { message: 'It failed' }), history, policy).type;
}

describe('the ladder', () => {
  it('has rungs for every code, and the last of them ends the run', () => {
    const endings = new Set(['fail', 'cancel', 'stop: refused']);
    expect(Object.keys(ladder).toSorted()).toEqual([...failureCodes].toSorted());
    expect(failureCodes.filter((code) => !endings.has(ladder[code].at(-1) ?? ''))).toEqual([]);
  });

  it('takes no rung twice in one ladder', () => {
    expect(failureCodes.filter((code) => new Set(ladder[code]).size !== ladder[code].length)).toEqual([]);
  });

  it.each(failureCodes)('answers %s with a reason, whatever was tried', (code) => {
    for (const history of [fresh, spent, { ...fresh, resumeAtMs: 5 }, { ...spent, resumeAtMs: 5 }]) {
      const recovery = recover(createFailure(code, { message: 'It failed' }), history, policy);
      expect(recovery.reason).not.toBe('');
    }
  });

  it.each(failureCodes.filter((code) => !ladder[code].some((rung) => rung.startsWith('suspend:'))))(
    'ends %s where every rung is used up',
    (code) => {
      expect(['fail', 'cancel', 'stop']).toContain(take(code, spent));
    },
  );

  it.each([
    { what: 'says nothing', code: 'EMPTY_RESPONSE', history: fresh, type: 'nudge' },
    {
      what: 'says nothing once more',
      code: 'EMPTY_RESPONSE',
      history: { ...fresh, nudges: 1 },
      type: 'nudge',
    },
    {
      what: 'says nothing too often',
      code: 'EMPTY_RESPONSE',
      history: { ...fresh, nudges: 2 },
      type: 'fail',
    },
    { what: 'writes no call', code: 'TOOL_CALL_INVALID', history: fresh, type: 'nudge' },
    { what: 'is cut off', code: 'OUTPUT_TRUNCATED', history: fresh, type: 'continue' },
    {
      what: 'is cut off too often',
      code: 'OUTPUT_TRUNCATED',
      history: { ...fresh, continuations: 3 },
      type: 'nudge',
    },
    {
      what: 'is cut off in a call',
      code: 'OUTPUT_TRUNCATED',
      history: { ...fresh, hasCalls: true },
      type: 'nudge',
    },
    {
      what: 'is cut off in JSON',
      code: 'OUTPUT_TRUNCATED',
      history: { ...fresh, hasOutput: true },
      type: 'nudge',
    },
    {
      what: 'is cut off at once',
      code: 'OUTPUT_TRUNCATED',
      history: { ...fresh, hasText: false },
      type: 'nudge',
    },
    { what: 'is cut off for ever', code: 'OUTPUT_TRUNCATED', history: spent, type: 'fail' },
    { what: 'misses the form', code: 'OUTPUT_PARSE_ERROR', history: { ...fresh, reasks: 2 }, type: 're-ask' },
    {
      what: 'never finds the form',
      code: 'OUTPUT_PARSE_ERROR',
      history: { ...fresh, reasks: 3 },
      type: 'fail',
    },
    { what: 'is given too much', code: 'CONTEXT_LENGTH_EXCEEDED', history: fresh, type: 'compact' },
    {
      what: 'is given too much again',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      history: { ...fresh, compactions: 5 },
      type: 'compact',
    },
    {
      what: 'is given too much for ever',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      history: { ...fresh, compactions: 6 },
      type: 'fail',
    },
    {
      what: 'is given too much twice in a run that knows one rung',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      history: { ...fresh, compactions: 1, maxCompactions: 1 },
      type: 'fail',
    },
    {
      what: 'refuses what surely fits',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      history: { ...fresh, canCompact: false, isUnbelievable: true },
      type: 'retry',
    },
    {
      what: 'is down after another refused the length',
      code: 'NETWORK_ERROR',
      history: { ...fresh, isChainRefused: true },
      type: 'compact',
    },
    {
      what: 'was cancelled after another refused the length',
      code: 'CANCELLED',
      history: { ...fresh, isChainRefused: true },
      type: 'cancel',
    },
    {
      what: 'is given only what is needed',
      code: 'REQUEST_TOO_LARGE',
      history: { ...fresh, canCompact: false },
      type: 'fail',
    },
    {
      what: 'asks for a long wait',
      code: 'RATE_LIMITED',
      history: { ...fresh, resumeAtMs: 5 },
      type: 'suspend',
    },
    { what: 'is only busy', code: 'RATE_LIMITED', history: fresh, type: 'fail' },
    { what: 'is not paid', code: 'QUOTA_EXCEEDED', history: fresh, type: 'suspend' },
    { what: 'does not know the key', code: 'AUTHENTICATION_ERROR', history: fresh, type: 'suspend' },
    { what: 'will not answer', code: 'CONTENT_FILTERED', history: fresh, type: 'stop' },
    { what: 'is told to stop', code: 'CANCELLED', history: fresh, type: 'cancel' },
    { what: 'meets our own bug', code: 'INTERNAL', history: fresh, type: 'fail' },
  ] as const)('takes "$type" where the model $what', ({ code, history, type }) => {
    expect(take(code, history)).toBe(type);
  });

  it('comes back at the moment that was asked for, and to the person who can mend it', () => {
    const history = { ...fresh, resumeAtMs: 1234 };
    const failure = createFailure('OVERLOADED', { message: 'Busy' });
    expect(recover(failure, history, policy)).toMatchObject({ suspend: 'long-wait', resumeAtMs: 1234 });
    const unpaid = createFailure('QUOTA_EXCEEDED', { message: 'Pay' });
    expect(recover(unpaid, fresh, policy)).toMatchObject({ suspend: 'credit' });
    const unknown = createFailure('MODEL_NOT_FOUND', { message: 'Which?' });
    expect(recover(unknown, fresh, policy)).toMatchObject({ suspend: 'credentials' });
  });
});
