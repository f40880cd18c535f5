import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { decisionsIn, eventsOf, expectType, watchEverything } from '../agent/scene.ts';
import { all, askedIn, chose, other, planOf, step, steps, trouble, usual } from './plan-stage.ts';
import type { PlanScene } from './plan-stage.ts';
import { expectUsage, setStage, statusesIn } from './stage.ts';

watchEverything();

// Severity is the route. Each saves a run here, and each bound is reached once.

const retrying = {
  about: { read: { retryPolicy: { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 60_000, jitter: 0 } } },
} as const;

describe('a step whose failure is retriable', () => {
  it('fails the plan when its own policy is used up, and the report names it', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      ...retrying,
      script: [all, usual],
      read: () => {
        throw trouble('retriable', 'the line is busy');
      },
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure).toMatchObject({
      context: { step: 'a', capability: 'read', severity: 'retriable' },
    });
    expect(outcome.failure.message).toBe('Step "a" (read) failed: the line is busy');
    expect(outcome.report.developer.text).toContain('Step "a" (read)');
    expect(statusesIn(outcome)).toEqual({ a: 'failed', b: 'not-reached' });
    expect(done).toEqual({ read: 3, guess: 0, tell: 0 });
    expect(model.calls).toHaveLength(2);
    expect(outcome.recoveries).toEqual([]);
  });

  it('is retried by its own policy, with its own pauses, and nobody is asked', async () => {
    const stage = setStage();
    const { made, model, done, told } = planOf(stage, {
      ...retrying,
      script: [all, usual, 'It is warm.'],
      read: (times) => {
        if (times < 3) throw trouble('retriable', 'the line is busy');
        return 21;
      },
    });
    const beganMs = stage.clock.wallMs();
    const outcome = expectType(await stage.run(made), 'completed');
    expect(outcome.text).toBe('It is warm.');
    expect(done).toEqual({ read: 3, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
    expect(eventsOf(stage.events, 'recovery').map(({ delayMs }) => delayMs)).toEqual([1000, 2000]);
    expect(stage.clock.wallMs() - beganMs).toBe(3000);
    expect(outcome.recoveries.map(({ recovery }) => recovery)).toEqual(['retry', 'retry']);
    expect(model.calls).toHaveLength(3);
  });

  it.each([
    { what: 'four times in all', limits: {}, times: 4 },
    { what: 'as often as any tool may be', limits: { maxToolAttempts: 2 }, times: 2 },
  ])('fails the plan when it was taken without a policy $what', async ({ limits, times }) => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, usual],
      limits,
      read: () => {
        throw trouble('retriable', 'the line is busy');
      },
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure.context).toMatchObject({ step: 'a', severity: 'retriable' });
    expect(done.read).toBe(times);
  });

  it.each([
    { what: 'only reads', effect: 'read' },
    { what: 'may be repeated', effect: 'idempotent' },
  ] as const)('is retried without a policy too, where it $what', async ({ effect }) => {
    const stage = setStage();
    const { made, done, told } = planOf(stage, {
      about: { read: { effect } },
      script: [all, usual, 'It is warm.'],
      read: (times) => {
        if (times < 4) throw trouble('retriable', 'the line is busy');
        return 21;
      },
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(done).toEqual({ read: 4, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
    expect(outcome.recoveries).toMatchObject(
      Array.from({ length: 3 }, () => ({ recovery: 'retry', failure: { code: 'TOOL_EXECUTION_ERROR' } })),
    );
  });

  it('is retried where a `once` step says that nothing has happened', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, usual, 'It is warm.'],
      about: { tell: { classifyError: () => ({ severity: 'retriable', sideEffect: 'none' }) } },
      tell: (times) => {
        if (times === 1) throw new Error('nobody took the call');
      },
    });
    expectType(await stage.run(made), 'completed');
    expect(done.tell).toBe(2);
  });

  it('is not retried where it may have happened: a `once` step is taken once', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, usual],
      tell: () => {
        throw trouble('retriable');
      },
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(done.tell).toBe(1);
    expect(outcome.failure.context).toMatchObject({ step: 'b', severity: 'retriable' });
  });
});

describe('a step whose failure asks for another plan', () => {
  const brokenTell: PlanScene['tell'] = (times) => {
    if (times === 1) throw trouble('replanning', 'nobody is there');
  };

  it('fails the plan when that was made anew as often as it may be', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      script: [all, usual, steps(step('c', 'read')), steps(step('d', 'read'))],
      bounds: { maxReplans: 2 },
      read: () => {
        throw trouble('replanning', 'the sensor is broken');
      },
    });
    const { failure, report, recoveries, nodes } = expectType(await stage.run(made), 'failed');
    expect(failure).toMatchObject({
      code: 'REPLAN_LIMIT',
      context: { limit: 'maxReplans', maxReplans: 2, step: 'd', code: 'TOOL_EXECUTION_ERROR' },
    });
    expect(report.developer.text).toContain('the sensor is broken');
    expect(done.read).toBe(3);
    expect(model.calls).toHaveLength(4);
    expect(decisionsIn(stage.events)).toEqual(Array(2).fill('TOOL_EXECUTION_ERROR → replan'));
    // Nothing was overcome: the run failed of it.
    expect(recoveries).toEqual([]);
    expect(nodes?.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'failed'],
      ['c', 'failed'],
      ['d', 'failed'],
    ]);
  });

  it('is planned round: what is done stays done, with its values, and the difference is told', async () => {
    const stage = setStage();
    const { made, model, done, told } = planOf(stage, {
      script: [all, usual, steps(step('a', 'read'), step('c', 'tell', 'a')), 'It is warm.'],
      tell: brokenTell,
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 0, tell: 2 });
    expect(told).toEqual([21]);
    const asked = askedIn({ model }, 2);
    expect(asked).toContain('Step "b" (tell): nobody is there');
    expect(asked).toContain('Finished steps: a.');
    expect(asked).toMatch(/<finished>\na \(read\): .+\n<\/finished>/u);
    expect(asked).toContain('<value step="a" name="degrees">\n21\n</value>');
    const [, again] = eventsOf(stage.events, 'tool-started').filter(({ name }) => name === 'tell');
    expect(again?.input).toMatchObject({
      key: 'c',
      values: { degrees: 21 },
      difference: ['kept a (read)', 'removed b (tell)', 'added c (tell): Do c.'],
    });
    expect(outcome.nodes).toMatchObject([
      { name: 'b', status: 'failed', failure: { message: 'nobody is there' } },
      { name: 'a', status: 'succeeded', output: { degrees: 21 } },
      { name: 'c', status: 'succeeded' },
    ]);
    expectUsage(outcome, 4);
  });

  it('says in the plan that keeps a step where it was what became of it', async () => {
    const stage = setStage();
    const { made, done, told } = planOf(stage, {
      script: [all, usual, other, 'It is cool.'],
      read: () => {
        throw trouble('replanning', 'the sensor is broken');
      },
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 1, tell: 1 });
    expect(told).toEqual([18]);
    const [guess] = eventsOf(stage.events, 'tool-started').filter(({ name }) => name === 'guess');
    expect(guess?.input).toMatchObject({
      difference: [
        'removed a (read)',
        'changed b (tell): takes degrees from c instead of a',
        'added c (guess): Do c.',
      ],
    });
    expect(outcome.recoveries).toMatchObject([
      { recovery: 'replan', failure: { message: 'the sensor is broken' }, attempts: 1 },
    ]);
    expect(decisionsIn(stage.events)).toEqual(['TOOL_EXECUTION_ERROR → replan']);
  });

  it('by the table of codes too: values that do not fit ask for another plan', async () => {
    const stage = setStage();
    const { made, told } = planOf(stage, {
      script: [all, usual, other, 'It is cool.'],
      read: (_times, { fail }) => fail('no such place', { code: 'VALIDATION_ERROR' }),
    });
    expectType(await stage.run(made), 'completed');
    expect(told).toEqual([18]);
  });
});

describe('a step whose failure asks for other capabilities', () => {
  const wrongOne: PlanScene['read'] = () => {
    throw trouble('reclassification', 'there is no sensor in this house');
  };

  it('fails the plan when they were chosen anew as often as they may be', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      script: [chose('read', 'tell'), usual, chose('read', 'tell'), steps(step('c', 'read'))],
      bounds: { maxReclassifications: 1 },
      read: wrongOne,
    });
    const { failure } = expectType(await stage.run(made), 'failed');
    expect(failure).toMatchObject({
      code: 'REPLAN_LIMIT',
      context: { limit: 'maxReclassifications', maxReclassifications: 1, step: 'c' },
    });
    expect(done.read).toBe(2);
    expect(model.calls).toHaveLength(4);
  });

  it('is left for what is chosen then', async () => {
    const stage = setStage();
    const { made, model, done, told } = planOf(stage, {
      script: [chose('read', 'tell'), usual, chose('guess', 'tell'), other, 'It is cool.'],
      read: wrongOne,
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 1, tell: 1 });
    expect(told).toEqual([18]);
    expect(askedIn({ model }, 2)).toContain('there is no sensor in this house');
    expect(askedIn({ model }, 3)).not.toContain('- read:');
    expect(decisionsIn(stage.events)).toEqual(['TOOL_EXECUTION_ERROR → reclassify']);
    expect(outcome.recoveries).toMatchObject([{ recovery: 'reclassify' }]);
  });
});

describe('a step whose failure is critical', () => {
  const burning: PlanScene['tell'] = () => {
    throw trouble('critical', 'the phone is on fire');
  };

  it('fails the plan with a report that names it, and with what was done before', async () => {
    const stage = setStage();
    const { made, model } = planOf(stage, { script: [all, usual], tell: burning });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'Step "b" (tell) failed: the phone is on fire',
      context: { step: 'b', capability: 'tell', severity: 'critical' },
    });
    expect(outcome.report.developer.text).toContain('Step "b" (tell) failed');
    // A question to a model changes nothing: nobody is told to look after it.
    expect(outcome.report.person.text).not.toContain('may have changed something');
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'failed' });
    expect(model.calls).toHaveLength(2);
    expect(decisionsIn(stage.events)).toEqual([]);
  });

  it('is explained by the model of the plan where that is wished for', async () => {
    const stage = setStage();
    const summary = 'The phone burnt, so nobody was told.';
    const claims = [{ text: 'The run failed with TOOL_EXECUTION_ERROR.', facts: [1] }];
    const { made, model } = planOf(stage, {
      script: [all, usual, JSON.stringify({ summary, claims, nextSteps: [] })],
      explain: 'always',
      tell: burning,
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.report.explanation).toMatchObject({ summary });
    expect(outcome.report.developer.text).toContain('Step "b" (tell) failed');
    expect(model.calls).toHaveLength(3);
  });
});

describe('a step whose failure is fatal', () => {
  it.each([
    { what: 'that it says itself', thrown: trouble('fatal', 'memory is corrupt') },
    {
      what: 'by its code',
      thrown: RerailError.from(
        createFailure('INTERNAL', { origin: 'agent', message: 'memory is corrupt', sideEffect: 'none' }),
      ),
    },
  ])('ends the run at once, $what: no model is asked any more', async ({ thrown }) => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      script: [all, usual],
      explain: 'auto',
      read: () => {
        throw thrown;
      },
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure).toMatchObject({ context: { step: 'a', severity: 'fatal' } });
    expect(outcome.report.developer.text).toContain('memory is corrupt');
    expect(done).toEqual({ read: 1, guess: 0, tell: 0 });
    expect(model.calls).toHaveLength(2);
    expect(outcome.report.explanation).toBeUndefined();
  });
});
