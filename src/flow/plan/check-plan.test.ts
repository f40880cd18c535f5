import { describe, expect, it } from 'vitest';
import { checkPlan } from './check-plan.ts';
import type { PlanBounds } from './check-plan.ts';
import type { PlanStep } from './plan-types.ts';

const bounds: PlanBounds = {
  capabilities: [
    { name: 'read_sensor', requires: [], provides: ['degrees'] },
    { name: 'find_city', requires: [], provides: ['city'] },
    { name: 'report', requires: ['degrees', 'city'], provides: ['text'] },
    { name: 'send', requires: ['text'], provides: [] },
  ],
  chosen: ['read_sensor', 'find_city', 'report'],
  values: {},
  finished: [],
  maxSteps: 4,
};

function step(key: string, capability: string, inputs: PlanStep['inputs'] = {}): PlanStep {
  return { key, capability, objective: `do ${key}`, inputs };
}

const [read, find] = [step('a', 'read_sensor'), step('b', 'find_city')];
const done: PlanBounds = { ...bounds, finished: [read], values: { a: { degrees: 3 } } };

describe('checkPlan()', () => {
  it.each([
    { why: 'nothing', steps: [], problem: 'the plan has no step' },
    { why: 'a key twice', steps: [read, { ...find, key: 'a' }], problem: 'two steps have the key "a"' },
    {
      why: 'a strange key',
      steps: [step('__proto__', 'read_sensor')],
      problem: 'the key "__proto__" cannot be used',
    },
    {
      why: 'a long plan',
      steps: ['a', 'b', 'c', 'd', 'e'].map((key) => step(key, 'read_sensor')),
      problem: 'the plan has 5 steps to do; at most 4 are allowed in all',
    },
    {
      why: 'a value that is not bound',
      steps: [read, find, step('c', 'report', { degrees: 'a' })],
      problem: 'step "c" requires the value "city" and does not say from which step: it is there in "b"',
    },
    {
      why: 'a wrong context key',
      steps: [read, step('c', 'report', { degrees: 'a', city: 'z' })],
      problem:
        'step "c" takes the value "city" from step "z", which does not exist: no step before it provides it',
    },
    {
      why: 'a key that provides something else',
      steps: [read, find, step('c', 'report', { degrees: 'b', city: 'b' })],
      problem:
        'step "c" takes the value "degrees" from step "b", which does not provide it: it is there in "a"',
    },
    {
      why: 'a forward reference',
      steps: [read, step('c', 'report', { degrees: 'a', city: 'b' }), find],
      problem: 'from step "b", which comes later',
    },
    {
      why: 'a step that needs itself',
      steps: [step('c', 'report', { degrees: 'c', city: 'c' })],
      problem: 'from step "c", which is itself',
    },
    {
      why: 'a value that is not asked for',
      steps: [step('a', 'read_sensor', { city: 'b' })],
      problem: 'step "a" is given "city", and capability "read_sensor" takes no value',
    },
    {
      why: 'a name of every object',
      steps: [read, step('c', 'report', { degrees: 'constructor', city: 'toString' })],
      problem: 'from step "constructor", which does not exist',
    },
  ])('plans again for $why', ({ steps, problem }) => {
    expect(checkPlan(steps, bounds)).toEqual({
      type: 'problem',
      problem: expect.stringContaining(problem) as string,
      route: 'replan',
    });
  });

  it.each([
    { capability: 'read_senzor', problem: 'which does not exist: did you mean "read_sensor"?' },
    { capability: 'fly', problem: 'which does not exist: there are "read_sensor", "find_city", "report"' },
    { capability: 'send', problem: 'step "a" needs capability "send", which was not chosen' },
  ])('chooses again for the capability $capability', ({ capability, problem }) => {
    expect(checkPlan([step('a', capability)], bounds)).toEqual({
      type: 'problem',
      problem: expect.stringContaining(problem) as string,
      route: 'reclassify',
    });
  });

  it.each([
    {
      why: 'is given again for something else',
      steps: [step('a', 'find_city')],
      problem: 'step "a" is done already',
    },
    {
      why: 'counts',
      steps: ['b', 'c', 'd', 'e'].map((key) => step(key, 'find_city')),
      problem: '4 steps to do, and 1 is done already; at most 4',
    },
  ])('plans again where a finished step $why', ({ steps, problem }) => {
    expect(checkPlan(steps, done)).toMatchObject({ problem: expect.stringContaining(problem) as string });
  });

  it('lets a plan through that can be carried out', () => {
    const steps = [read, find, step('c', 'report', { degrees: 'a', city: 'b' })];
    expect(checkPlan(steps, bounds)).toEqual({ type: 'ok', open: steps });
  });

  it('takes values of finished steps, and keeps those that are listed again', () => {
    const last = step('c', 'report', { degrees: 'a', city: 'b' });
    expect(checkPlan([find, last], done)).toEqual({ type: 'ok', open: [find, last] });
    expect(checkPlan([{ ...read, objective: 'said otherwise' }, find, last], done)).toEqual({
      type: 'ok',
      open: [find, last],
    });
  });

  it('has nothing left to do where all is done', () => {
    expect(checkPlan([], done)).toEqual({ type: 'ok', open: [] });
  });
});
