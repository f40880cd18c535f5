import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { expectType, watchEverything } from '../agent/scene.ts';
import { all, askedIn, asks, chose, other, planOf, step, steps, trouble, usual } from './plan-stage.ts';
import type { PlanScene } from './plan-stage.ts';
import { expectUsage, setStage, statusesIn } from './stage.ts';

watchEverything();

const hourMs = 3_600_000;
const never = (): Promise<never> => new Promise(() => undefined);

const failingTell =
  (failures: number): NonNullable<PlanScene['tell']> =>
  (times) => {
    if (times <= failures) throw trouble('critical', 'the phone is on fire');
  };

describe('a plan that failed', () => {
  const script = [all, usual, 'It is warm.'];

  it('is gone on with at the failed step only', async () => {
    const stage = setStage();
    const { made, model, done, told } = planOf(stage, { script, tell: failingTell(1) });
    expectType(await stage.run(made), 'failed');
    const outcome = expectType(await stage.resume(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 0, tell: 2 });
    expect(told).toEqual([21]);
    expect(model.calls).toHaveLength(3);
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded' });
    expectUsage(outcome, 3);
  });

  it('fails again where the step does, as often as somebody goes on with it', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, { script, tell: failingTell(3) });
    expectType(await stage.run(made), 'failed');
    expectType(await stage.resume(made), 'failed');
    expectType(await stage.resume(made), 'failed');
    expectType(await stage.resume(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 0, tell: 4 });
    expect(model.calls).toHaveLength(3);
  });

  it('is gone on with in another process, which repeats nothing', async () => {
    const first = setStage();
    expectType(await first.run(planOf(first, { script, tell: failingTell(1) }).made), 'failed');
    const second = first.die();
    const { made, model, done, told } = planOf(second, { script: ['It is warm.'] });
    const outcome = expectType(await second.resume(made), 'completed');
    expect(done).toEqual({ read: 0, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
    expect(model.calls).toHaveLength(1);
    expectUsage(outcome, 3);
  });

  it('of its bound has one more plan when it is gone on with', async () => {
    const stage = setStage();
    const { made, told } = planOf(stage, {
      script: [all, usual, 'It is warm.'],
      bounds: { maxReplans: 0 },
      read: (times) => {
        if (times === 1) throw trouble('replanning');
        return 21;
      },
    });
    expect(expectType(await stage.run(made), 'failed').failure.code).toBe('REPLAN_LIMIT');
    expectType(await stage.resume(made), 'completed');
    expect(told).toEqual([21]);
  });
});

describe('a plan whose capabilities are others when it is gone on with', () => {
  it('keeps what was done, and does it no second time', async () => {
    const first = setStage();
    const script = [all, steps(step('a', 'read'), step('b', 'tell', 'a'), step('c', 'guess'))];
    const begun = planOf(first, {
      script,
      guess: () => {
        throw trouble('critical');
      },
    });
    expectType(await first.run(begun.made), 'failed');
    expect(begun.told).toEqual([21]);
    const second = first.die();
    const house = planOf(second, { script: [] });
    const capabilities = house.capabilities.filter(({ name }) => name !== 'guess');
    const script2 = [chose('read', 'tell'), steps(), 'It is warm.'];
    const { made, model, done } = planOf(second, { script: script2, capabilities });
    const outcome = expectType(await second.resume(made), 'completed');
    expect(house.done).toEqual({ read: 0, guess: 0, tell: 0 });
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
    expect(askedIn({ model }, 1)).toContain('Finished steps: a, b.');
    expect(statusesIn(outcome)).toMatchObject({ a: 'succeeded', b: 'succeeded' });
  });
});

describe('without a store', () => {
  it('a plan that failed is gone on with in the same process', async () => {
    const stage = setStage();
    const { clock, random, gates } = stage.world as Required<typeof stage.world>;
    const world = { clock, random, gates };
    const { made, done } = planOf({ world }, { script: [all, usual, 'It is warm.'], tell: failingTell(1) });
    expectType(await stage.run(made), 'failed');
    expectType(await stage.resume(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 0, tell: 2 });
  });
});

describe('with SQLite', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'plan-lives-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('a plan that failed is gone on with as with any other store', async () => {
    const stage = setStage();
    const store = sqlite(path.join(folder, 'runs.db'));
    const world = { ...stage.world, store };
    const first = planOf({ world }, { script: [all, usual], tell: failingTell(1) });
    expectType(await stage.run(first.made), 'failed');
    const second = planOf({ world }, { script: ['It is warm.'] });
    expectType(await stage.resume(second.made), 'completed');
    expect(second.done).toEqual({ read: 0, guess: 0, tell: 1 });
    await store.close();
  });
});

describe('a process that dies', () => {
  it('while the plan is made anew loses nothing and doubles nothing', async () => {
    const first = setStage();
    const begun = planOf(first, {
      script: [all, usual, { text: other, delayMs: hourMs }],
      tell: (times) => {
        if (times === 1) throw trouble('replanning', 'nobody is there');
      },
    });
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    expect(begun.model.calls).toHaveLength(3);
    const second = first.die();
    const { made, model, done, told } = planOf(second, {
      script: [steps(step('a', 'read'), step('c', 'tell', 'a')), 'It is warm.'],
    });
    const outcome = expectType(await second.resume(made), 'completed');
    expect(begun.done).toEqual({ read: 1, guess: 0, tell: 1 });
    expect(done).toEqual({ read: 0, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
    expect(askedIn({ model }, 0)).toContain('nobody is there');
    expect(model.calls).toHaveLength(2);
    expect(outcome.recoveries).toMatchObject([{ recovery: 'replan' }]);
  });

  it('while somebody is asked about the plan leaves the question', async () => {
    const first = setStage();
    const begun = planOf(first, {
      script: [all, usual],
      approvePlan: true,
      callbacks: { onApproval: never },
    });
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    const second = first.die();
    const { made, model, told } = planOf(second, { script: ['It is warm.'], approvePlan: true });
    const waiting = expectType(await second.resume(made), 'suspended');
    expect(waiting.request).toMatchObject({ type: 'approval', tool: 'approve_plan' });
    expectType(await second.resume(made, { answer: true }), 'completed');
    expect(told).toEqual([21]);
    expect(model.calls).toHaveLength(1);
  });

  it('while the person is asked what they mean leaves the question', async () => {
    const first = setStage();
    const begun = planOf(first, { script: [all, asks('Which room?')], callbacks: { onApproval: never } });
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    const second = first.die();
    const { made, told } = planOf(second, { script: [usual, 'It is warm.'] });
    const waiting = expectType(await second.resume(made), 'suspended');
    expect(waiting).toMatchObject({ reason: 'clarification', request: { question: 'Which room?' } });
    expectType(await second.resume(made, { answer: 'The cellar.' }), 'completed');
    expect(told).toEqual([21]);
  });

  it('in a step that may be taken again has it taken again', async () => {
    const first = setStage();
    const begun = planOf(first, { script: [all, usual], read: never });
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    expect(begun.done.read).toBe(1);
    const second = first.die();
    const { made, done, told } = planOf(second, { script: ['It is warm.'] });
    expectType(await second.resume(made), 'completed');
    expect(done).toEqual({ read: 1, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
  });
});

describe('a `once` step of which nobody knows whether it was taken', () => {
  /** Dies in the step. */
  async function begin(scene: Partial<PlanScene> = {}): Promise<ReturnType<typeof setStage>> {
    const first = setStage();
    const { made, done } = planOf(first, { ...scene, script: [all, usual], tell: never });
    void made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    expect(done.tell).toBe(1);
    return first.die();
  }

  it.each([
    { answer: 'happened', tells: 0 },
    { answer: 'did-not-happen', tells: 1 },
  ] as const)('is asked about: $answer', async ({ answer, tells }) => {
    const stage = await begin();
    const { made, done } = planOf(stage, { script: ['It is warm.'] });
    const waiting = expectType(await stage.resume(made), 'suspended');
    expect(waiting).toMatchObject({ reason: 'in-doubt', request: { type: 'in-doubt', tool: 'tell' } });
    expect(statusesIn(waiting)).toEqual({ a: 'succeeded', b: 'waiting' });
    expect(done.tell).toBe(0);
    const outcome = expectType(await stage.resume(made, { answer }), 'completed');
    expect(done).toEqual({ read: 0, guess: 0, tell: tells });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded' });
  });

  it.each([
    { happened: true, tells: 0 },
    { happened: false, tells: 1 },
  ] as const)('is looked for by its own `verify`: $happened', async ({ happened, tells }) => {
    const verified: unknown[] = [];
    const verify = (values: unknown): { happened: typeof happened } => {
      verified.push(values);
      return { happened };
    };
    const scene = { about: { tell: { verify } } };
    const stage = await begin(scene);
    const { made, done } = planOf(stage, { ...scene, script: ['It is warm.'] });
    expectType(await stage.resume(made), 'completed');
    expect(verified).toEqual([{ degrees: 21 }]);
    expect(done.tell).toBe(tells);
  });

  it('is asked about also where its time ran out', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, usual, 'It is warm.'],
      tell: never,
      about: { tell: { timeoutMs: 1000 } },
    });
    const waiting = expectType(await stage.run(made), 'suspended');
    expect(waiting).toMatchObject({ reason: 'in-doubt', request: { tool: 'tell' } });
    expectType(await stage.resume(made, { answer: 'happened' }), 'completed');
    expect(done.tell).toBe(1);
  });

  const measuring = { about: { read: { effect: 'once', timeoutMs: 1000 } }, read: never } as const;

  it('goes on with the values that a person found', async () => {
    const stage = setStage();
    const { made, told } = planOf(stage, { ...measuring, script: [all, usual, 'It is cool.'] });
    expectType(await stage.run(made), 'suspended');
    const answer = { happened: true, result: { degrees: 17 } };
    expectType(await stage.resume(made, { answer }), 'completed');
    expect(told).toEqual([17]);
  });

  it('fails the plan for good where it happened and its values are lost', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, { ...measuring, script: [all, usual] });
    expectType(await stage.run(made), 'suspended');
    const { failure } = expectType(await stage.resume(made, { answer: 'happened' }), 'failed');
    expect(failure.message).toContain('has happened, but "degrees" of it is not known');
    expectType(await stage.resume(made), 'failed');
    expect(done.read).toBe(1);
  });

  it('fails the plan for good where nobody is to be asked: it is not taken again', async () => {
    const scene = { policy: { inDoubt: 'tell' } } as const;
    const stage = await begin(scene);
    const { made, model, done } = planOf(stage, { ...scene, script: [] });
    const { failure } = expectType(await stage.resume(made), 'failed');
    expect(failure).toMatchObject({ code: 'UNKNOWN_OUTCOME', context: { step: 'b' } });
    expectType(await stage.resume(made), 'failed');
    expect(done.tell).toBe(0);
    expect(model.calls).toHaveLength(0);
  });
});

describe('a plan that is cancelled', () => {
  it.each([
    {
      what: 'in a question',
      script: [all, { text: usual, delayMs: hourMs }, usual, 'It is warm.'],
      read: () => 21,
      reads: 1,
    },
    { what: 'in a step', script: [all, usual, 'It is warm.'], read: slowOnce, reads: 2 },
  ])('$what is left there, and gone on with from there', async ({ script, read, reads }) => {
    const stage = setStage();
    const { made, done, told } = planOf(stage, { script, read });
    const running = made.run('Do it.', { runId: 'r1' });
    await stage.clock.advance(1000);
    await stage.clock.runUntil(made.cancel('r1'));
    expectType(await running, 'cancelled');
    expect(Object.values(await stage.statuses())).not.toContain('running');
    expectType(await stage.resume(made), 'completed');
    expect(done).toEqual({ read: reads, guess: 0, tell: 1 });
    expect(told).toEqual([21]);
  });

  function slowOnce(times: number, { signal }: { readonly signal: AbortSignal }): unknown {
    if (times > 1) return 21;
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  }

  it('while it waits for a person waits no more', async () => {
    const stage = setStage();
    const { made } = planOf(stage, { script: [all, asks('Which room?')] });
    expectType(await stage.run(made), 'suspended');
    await stage.clock.runUntil(made.cancel('r1'));
    expect(await stage.statuses()).toMatchObject({ r1: 'cancelled' });
  });
});

describe('the limits of the whole', () => {
  it.each([
    { limits: { maxTokens: 20 }, reason: 'budget', code: 'BUDGET_EXCEEDED', tells: 0, asked: 2 },
    { limits: { maxRequests: 2 }, reason: 'budget', code: 'BUDGET_EXCEEDED', tells: 0, asked: 2 },
    { limits: { timeoutMs: 5000 }, reason: 'deadline', code: 'TIMEOUT', tells: 1, asked: 3 },
  ])('stop a plan: $limits', async ({ limits, reason, code, tells, asked }) => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, {
      script: [all, { text: usual, delayMs: 4000 }, { text: 'It is warm.', delayMs: 4000 }],
      limits,
    });
    const outcome = expectType(await stage.run(made), 'stopped');
    expect(outcome).toMatchObject({ reason, failure: { code } });
    expect(done.tell).toBe(tells);
    expect(model.calls).toHaveLength(asked);
  });

  it('are those of the steps too: the second slow one has only what is left', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, steps(step('a', 'read'), step('c', 'read'), step('b', 'tell', 'c'))],
      limits: { timeoutMs: 5000 },
      read: () => new Promise((resolve) => void stage.clock.after(4000, () => resolve(21))),
    });
    const outcome = expectType(await stage.run(made), 'stopped');
    expect(outcome.reason).toBe('deadline');
    expect(done).toEqual({ read: 2, guess: 0, tell: 0 });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', c: 'failed', b: 'not-reached' });
  });
});
