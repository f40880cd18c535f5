import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { capability } from '../../src/flow/plan/capability.ts';
import { plan } from '../../src/flow/plan/plan.ts';
import { eventsOf, expectType, watchedModel, watchEverything } from '../agent/scene.ts';
import { all, askedIn, chose, next, other, planOf, step, steps, trouble, usual } from './plan-stage.ts';
import { expectUsage, setStage, statusesIn } from './stage.ts';

watchEverything();

describe('plan() that makes no sense throws when it is made', () => {
  const read = capability({ name: 'read', description: 'Reads.', execute: () => undefined });
  const model = watchedModel([]);
  it.each([
    { what: 'no capability', options: { capabilities: [] }, says: 'it has no capability' },
    {
      what: 'two of one name',
      options: { capabilities: [read, read] },
      says: 'two capabilities are called "read"',
    },
    {
      what: 'what is no capability',
      options: { capabilities: [{ name: 'read' }] },
      says: 'each made with capability(',
    },
    {
      what: 'an unknown mode',
      options: { capabilities: [read], mode: 'fast' },
      says: '"mode" of plan() must be',
    },
    {
      what: 'an unknown bound',
      options: { capabilities: [read], bounds: { maxReplan: 1 } },
      says: 'did you mean "maxReplans"?',
    },
    { what: 'an unknown option', options: { capabilities: [read], capabilites: [] }, says: 'capabilites' },
    {
      what: 'a value that nobody provides',
      options: {
        capabilities: [
          capability({
            name: 'tell',
            description: 'x',
            requires: { degrees: { type: 'number' } },
            execute: () => undefined,
          }),
        ],
      },
      says: 'capability "tell" requires the value "degrees", which none provides',
    },
  ])('$what', ({ options, says }) => {
    expect(() => plan({ model, ...(options as unknown as { capabilities: [] }) })).toThrow(says);
  });
});

describe('a plan that cannot be carried out', () => {
  const lost = steps(step('a', 'read'), step('b', 'tell', 'z'));

  it('is asked for as often as it may be, and then fails the run before anything is done', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, { script: [all, lost, lost, lost] });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure).toMatchObject({
      code: 'PLAN_INVALID',
      context: { node: 'make_plan', attempts: 3, limit: 'maxPlanAttempts' },
    });
    expect(outcome.failure.message).toContain(
      'takes the value "degrees" from step "z", which does not exist',
    );
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
    expect(model.calls).toHaveLength(4);
  });

  it('has one more try when the run is gone on with', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, { script: [all, lost, lost, lost, usual, 'It is warm.'] });
    expectType(await stage.run(made), 'failed');
    expect(expectType(await stage.resume(made), 'completed').text).toBe('It is warm.');
    expect(askedIn({ model }, 4)).toContain('which does not exist');
    expect(told).toEqual([21]);
  });

  it('for a wrong key is made again, with what was wrong', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, { script: [all, lost, usual, 'It is warm.'] });
    expectType(await stage.run(made), 'completed');
    expect(askedIn({ model }, 2)).toContain(
      'Your last answer could not be used: step "b" takes the value "degrees" from step "z", which does not exist: it is there in "a". Answer again.',
    );
    expect(told).toEqual([21]);
  });

  it('for a wrong capability has the capabilities chosen again', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      script: [chose('read', 'tell'), other, chose('guess', 'tell'), other, 'It is cool.'],
    });
    expectType(await stage.run(made), 'completed');
    const called = eventsOf(stage.events, 'tool-started').map(({ name }) => name);
    expect(called).toEqual(['classify', 'make_plan', 'classify', 'make_plan', 'guess', 'tell', 'respond']);
    expect(askedIn({ model }, 2)).toContain('step "c" needs capability "guess", which was not chosen');
    expect(told).toEqual([18]);
  });

  it('for a capability that does not exist, too; then it is asked for again, and then the run fails', async () => {
    const stage = setStage();
    const flying = steps(step('a', 'fly'));
    const { made, model } = planOf(stage, { script: [all, flying, all, flying, flying, flying] });
    const { failure } = expectType(await stage.run(made), 'failed');
    expect(failure).toMatchObject({ code: 'PLAN_INVALID' });
    expect(failure.message).toContain('names capability "fly", which does not exist');
    expect(model.calls).toHaveLength(6);
  });

  it('for its length is made again', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      script: [all, usual, steps(step('a', 'read')), 'It is warm.'],
      bounds: { maxSteps: 1 },
    });
    expectType(await stage.run(made), 'completed');
    expect(askedIn({ model }, 2)).toContain('at most 1 is allowed in all');
    expect(done).toEqual({ read: 1, guess: 0, tell: 0 });
  });
});

describe('the ways to plan', () => {
  it('begin with the task, where a model is to find it in the conversation', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      script: [JSON.stringify({ task: 'Tell the shift how warm it is.' }), all, usual, 'It is warm.'],
      extractTask: true,
    });
    const input = [
      { role: 'user', content: 'The heating is new.' },
      { role: 'assistant', content: 'I see.' },
      { role: 'user', content: 'How warm is it now?' },
    ] as const;
    const outcome = expectType(await stage.run(made, { input }), 'completed');
    expect(askedIn({ model }, 0)).toContain('The heating is new.');
    expect(askedIn({ model }, 1)).toContain('<task>\nTell the shift how warm it is.\n</task>');
    expect(told).toEqual([21]);
    expectUsage(outcome, 4);
    expect(await stage.statuses()).toMatchObject({
      r1: 'completed',
      'r1/extract_task-node-1-0': 'completed',
    });
  });

  it('may take one step at a time: the next is asked for when the last is done', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      mode: 'step-by-step',
      script: [all, next(step('a', 'read')), next(step('b', 'tell', 'a')), next(), 'It is warm.'],
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(told).toEqual([21]);
    expect(askedIn({ model }, 2)).toContain('Finished steps: a.');
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded' });
    expect(model.calls).toHaveLength(5);
  });

  it('may replan between two steps', async () => {
    const stage = setStage();
    const { made, told, done } = planOf(stage, {
      mode: 'step-by-step',
      script: [
        all,
        next(step('a', 'read')),
        next(step('c', 'guess')),
        next(step('b', 'tell', 'c')),
        next(),
        'Ok.',
      ],
      read: () => {
        throw trouble('replanning');
      },
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 1, tell: 1 });
    expect(told).toEqual([18]);
    expect(outcome.recoveries).toMatchObject([{ recovery: 'replan' }]);
  });

  it('may ask about each capability, side by side', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      classify: 'each',
      script: [
        ...Array.from({ length: 3 }, () => ({
          text: JSON.stringify({ isNeeded: true }),
          delayMs: 1000,
        })),
        usual,
        'It is warm.',
      ],
    });
    const beganMs = stage.clock.wallMs();
    const outcome = expectType(await stage.run(made), 'completed');
    expect(stage.clock.wallMs() - beganMs).toBe(1000);
    const subjects = [0, 1, 2].map((index) => /the capability "(\w+)"/u.exec(askedIn({ model }, index))?.[1]);
    expect(subjects).toEqual(['read', 'guess', 'tell']);
    expect(told).toEqual([21]);
    expectUsage(outcome, 5);
  });
});

describe('a question to the model', () => {
  it('is retried like any other call of a model', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      script: [{ failure: 'OVERLOADED' }, all, { failure: 'SERVER_ERROR' }, usual, 'It is warm.'],
    });
    expectType(await stage.run(made), 'completed');
    expect(model.calls).toHaveLength(5);
    expect(told).toEqual([21]);
  });

  it('that no retry saves fails the plan, which asks only that again when it is gone on with', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      script: [all, { failure: 'INVALID_REQUEST' }, usual, 'It is warm.'],
    });
    const outcome = expectType(await stage.run(made), 'failed');
    expect(outcome.failure.message).toContain('"make_plan" of the plan failed');
    expect(outcome.nodes).toMatchObject([{ name: 'make_plan', status: 'failed' }]);
    expectType(await stage.resume(made), 'completed');
    expect(model.calls).toHaveLength(4);
    expect(told).toEqual([21]);
  });

  it('that has no answer, for nothing fits, asks the person once and then fails the run', async () => {
    const stage = setStage();
    const nothing = JSON.stringify({ capabilities: [], none: 'It cannot cook.' });
    const { made, model } = planOf(stage, { script: [nothing, nothing] });
    const waiting = expectType(await stage.run(made), 'suspended');
    expect(waiting.request).toMatchObject({ type: 'question' });
    const { failure } = expectType(await stage.resume(made, { answer: 'Cook something.' }), 'failed');
    expect(failure).toMatchObject({ code: 'PLAN_INVALID' });
    expect(failure.message).toContain('It cannot cook');
    expect(askedIn({ model }, 1)).toContain('Cook something.');
  });
});

describe('assist() in a capability', () => {
  it('asks the model of the plan, on the budget of its run', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, {
      script: [all, usual, '{"degrees":19}', 'It is warm.'],
      read: async (_times, { assist }) =>
        (await assist('How warm is it?', z.object({ degrees: z.number() }))).degrees,
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(askedIn({ model }, 2)).toContain('How warm is it?');
    expect(told).toEqual([19]);
    expectUsage(outcome, 4);
  });

  it('fails as the model does, with its code, and moves on to the next model of the chain', async () => {
    const stage = setStage();
    const codes: string[] = [];
    const gone = { failure: 'MODEL_NOT_FOUND' } as const;
    const first = watchedModel([all, usual, { failure: 'INVALID_REQUEST' }, gone, gone]);
    const second = watchedModel(['20', 'It is warm.'], { name: 'second' });
    const helped = capability({
      name: 'read',
      description: 'Reads.',
      provides: { degrees: z.number() },
      effect: 'read',
      execute: async (_values, { assist }) => {
        const failed = await assist('How warm?').catch((error: unknown) => error);
        codes.push(RerailError.isInstance(failed) ? failed.code : String(failed));
        return { degrees: Number(await assist('How warm is it?')) };
      },
    });
    const { capabilities } = planOf(stage, { script: [] });
    const others = capabilities.filter(({ name }) => name !== 'read');
    const made = plan({
      ...stage.world,
      extractTask: false,
      capabilities: [helped, ...others],
      model: [first, second],
    });
    expectType(await stage.run(made), 'completed');
    expect(codes).toEqual(['INVALID_REQUEST']);
    expect(JSON.stringify(second.calls[0]?.request.messages)).toContain('How warm is it?');
  });
});
