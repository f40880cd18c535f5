import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { stepIds, stepsFor, stepText } from './next-steps.ts';

const typing = { runId: 'a "b"' };
const failureOf = (code: (typeof failureCodes)[number]): ReturnType<typeof createFailure> =>
  createFailure(code, { message: 'no' });
const ids = (given: Parameters<typeof stepsFor>[0]): readonly string[] =>
  stepsFor(given, typing).map(({ id }) => id);

describe('stepsFor()', () => {
  it.each(failureCodes.map((code) => ({ code })))(
    'says what to do about $code, and how to go on',
    ({ code }) => {
      const found = ids({ failure: failureOf(code) });
      expect(found).toContain('resume');
      expect(new Set(found).size).toBe(found.length);
    },
  );

  it('never proposes to resume what was stopped', () => {
    const reasons = ['max-turns', 'budget', 'deadline', 'loop', 'rejected', 'guardrail', 'refused'] as const;
    const all = reasons.flatMap((reason) => stepsFor({ failure: failureOf('TIMEOUT'), reason }, typing));
    expect(all.filter(({ command }) => command?.includes('resume'))).toEqual([]);
    expect(all.map(({ id }) => id)).toContain('run-again');
  });

  it('has a person look first where an act may have taken effect', () => {
    const failure = createFailure('TIMEOUT', { message: 'no', sideEffect: 'possible' });
    expect(ids({ failure })[0]).toBe('look-outside');
    expect(ids({ failure: failureOf('UNKNOWN_OUTCOME') })[0]).toBe('look-outside');
  });

  it('names the limit that was reached, and no other text in its place', () => {
    const budget = (limit: string): string | undefined =>
      stepsFor(
        {
          failure: createFailure('BUDGET_EXCEEDED', { message: 'no', context: { limit } }),
          reason: 'budget',
        },
        typing,
      ).find(({ id }) => id === 'raise-limit')?.command;
    expect(budget('maxCostUsd')).toBe('createAgent({ limits: { maxCostUsd: … }, … })');
    expect(budget('x: process.exit() //')).toBe('createAgent({ limits: { maxTurns: … }, … })');
  });

  it('types calls of the API, or commands', () => {
    const failure = failureOf('QUOTA_EXCEEDED');
    expect(stepsFor({ failure }, typing).map(({ id, command }) => [id, command])).toEqual([
      ['add-credit', undefined],
      ['switch-model', 'createAgent({ model: [first, another], … })'],
      ['resume', String.raw`await agent.resume("a \"b\"")`],
      ['read-events', undefined],
    ]);
    const shell = (words: string): string => `rerail ${words.replace('<run>', 'one')}`;
    expect(stepsFor({ failure }, { ...typing, shell }).map(({ command }) => command)).toEqual([
      undefined,
      'rerail resume one --model <provider>:<model>',
      'rerail resume one',
      'rerail show one --events',
    ]);
  });

  it('has a text for every step', () => {
    expect(stepIds.map(stepText).filter((text) => text === '')).toEqual([]);
  });
});
