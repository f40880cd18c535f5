import { describe, expect, it } from 'vitest';
import { planDifference } from './plan-difference.ts';
import type { PlanStep } from './plan-types.ts';

function step(key: string, rest: Partial<PlanStep> = {}): PlanStep {
  return { key, capability: 'read', objective: `do ${key}`, inputs: {}, ...rest };
}

describe('planDifference()', () => {
  it.each([
    { what: 'kept', before: [step('a')], after: [step('a')], lines: ['kept a (read)'] },
    { what: 'removed', before: [step('a')], after: [], lines: ['removed a (read)'] },
    { what: 'added', before: [], after: [step('a')], lines: ['added a (read): do a'] },
    {
      what: 'another capability',
      before: [step('a')],
      after: [step('a', { capability: 'ask', objective: 'ask somebody' })],
      lines: ['changed a (read): read becomes ask; now: ask somebody'],
    },
    {
      what: 'other values',
      before: [step('c', { inputs: { x: 'a', y: 'a' } })],
      after: [step('c', { inputs: { x: 'b', z: 'b' } })],
      lines: ['changed c (read): takes x from b instead of a; takes no y any more; takes z from b'],
    },
    {
      what: 'the old order first',
      before: [step('a'), step('b')],
      after: [step('c'), step('b')],
      lines: ['removed a (read)', 'kept b (read)', 'added c (read): do c'],
    },
    {
      what: 'nothing that a terminal obeys',
      before: [],
      after: [step('a', { objective: 'x\u001b[2J' })],
      lines: ['added a (read): x<U+001B>[2J'],
    },
  ])('says $what', ({ before, after, lines }) => {
    expect(planDifference(before, after)).toEqual(lines);
  });
});
