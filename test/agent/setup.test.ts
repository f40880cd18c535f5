import { describe, expect, it } from 'vitest';
import { createAgent, createWorker, replayRun, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, RunEvent, WorkerEvent } from '../../src/index.ts';
import { createFailure, RerailError, severityOf } from '../../src/errors/index.ts';
import { internalsOf } from '../../src/runtime/agent-internals.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { memoryStore, scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { MemoryStore, ScriptedModel, ScriptStep, SimulatedClock } from '../../src/testing/index.ts';

// What an agent needs before its first run takes its first step; a store in memory stands for the disk.

type SetUp = NonNullable<AgentOptions['setup']>;

interface Life {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly clock: SimulatedClock;
}

interface Given extends Omit<AgentOptions, 'model' | 'output'> {
  readonly clock?: SimulatedClock;
  readonly script?: readonly ScriptStep[];
}

function createLife(setup: SetUp, given: Given = {}): Life {
  const { clock = simulatedClock(), script = ['Hello.', 'Hello.', 'Hello.'], ...options } = given;
  const model = scriptedModel(script);
  const random = seededRandom(7);
  const agent = createAgent({
    name: 'clerk',
    random,
    gates: createGates({ clock }),
    ...options,
    setup,
    model,
    clock,
  });
  return { agent, model, clock };
}

/** Fails as often as told, then succeeds. */
function failing(times: number, error: () => unknown): { readonly setup: SetUp; calls: number } {
  const counted = {
    calls: 0,
    setup: () => {
      counted.calls += 1;
      if (counted.calls <= times) throw error();
    },
  };
  return counted;
}

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('a setup that fails', () => {
  it.each([
    { what: 'an error that says no more', error: () => new Error('no schema'), facts: { retryable: false } },
    { what: 'no error at all', error: () => undefined, facts: { retryable: false } },
    { what: 'a network that may come back', error: refused, facts: { retryable: true } },
    {
      what: 'a failure of ours, and what that asks for',
      error: () =>
        RerailError.from(createFailure('RATE_LIMITED', { message: 'Slow down', retryAfterMs: 5000 })),
      facts: { retryable: true, retryAfterMs: 5000 },
    },
  ])('with $what ends the run before anything is sent', async ({ error, facts }) => {
    const { agent, model } = createLife(failing(9, error).setup);
    const outcome = await agent.run('Hello');
    const context = { agent: 'clerk' };
    expect(outcome).toMatchObject({
      type: 'failed',
      failure: { code: 'INITIALIZATION_ERROR', origin: 'agent', context, ...facts },
    });
    expect(model.calls).toHaveLength(0);
  });

  it('keeps the cause, and says what to do', async () => {
    const { agent } = createLife(failing(9, refused).setup);
    const outcome = await agent.run('Hello');
    if (outcome.type !== 'failed') throw new Error(`It ended ${outcome.type}`);
    const { failure } = outcome;
    expect(failure.message).toBe('The setup of agent "clerk" failed: connect ECONNREFUSED');
    expect(failure.causes).toMatchObject([{ code: 'ECONNREFUSED' }]);
    expect(failure.context['because']).toBe('NETWORK_ERROR');
    expect(failure.hint).toContain('resume the run');
    expect(severityOf(failure)).toBe('retriable');
  });

  it('is tried again by the next run, and by a resume', async () => {
    const counted = failing(2, () => new Error('not yet'));
    const { agent, model } = createLife(counted.setup);
    expect(await agent.run('Hello', { runId: 'r1' })).toMatchObject({ type: 'failed' });
    expect(await agent.run('Hello', { runId: 'r2' })).toMatchObject({ type: 'failed' });
    expect(await agent.resume('r1')).toMatchObject({ type: 'completed', text: 'Hello.' });
    expect(await agent.resume('r2')).toMatchObject({ type: 'completed', text: 'Hello.' });
    expect([counted.calls, model.calls.length]).toEqual([3, 2]);
  });

  it('is one try for all who wait for it, and each of them fails', async () => {
    let calls = 0;
    const { agent, clock } = createLife(async ({ signal }) => {
      calls += 1;
      await new Promise((resolve) => clock.after(100, () => resolve(signal)));
      throw new Error('no schema');
    });
    const runs = [1, 2, 3].map((place) => agent.run('Hello', { runId: `r${place}` }));
    const outcomes = await clock.runUntil(Promise.all(runs));
    expect(outcomes.map(({ type }) => type)).toEqual(['failed', 'failed', 'failed']);
    expect(calls).toBe(1);
  });

  it('by taking too long is told so, and the run ends at its deadline', async () => {
    const reasons: unknown[] = [];
    const { agent, clock, model } = createLife(({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return never();
    });
    const startMs = clock.monotonicMs();
    const outcome = await clock.runUntil(agent.run('Hello'));
    expect(clock.monotonicMs() - startMs).toBe(30_000);
    expect(outcome).toMatchObject({
      type: 'failed',
      failure: {
        code: 'INITIALIZATION_ERROR',
        message: 'The setup of agent "clerk" did not end within 30000 ms',
        retryable: true,
      },
    });
    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
    expect([model.calls.length, clock.pending()]).toEqual([0, 0]);
  });

  it('is asked before the hooks of the run', async () => {
    const asked: string[] = [];
    const { agent } = createLife(failing(1, () => new Error('not yet')).setup, {
      hooks: [
        {
          name: 'rule',
          kind: 'guardrail',
          on: {
            'run-start': () => void asked.push('run-start'),
            'before-model': () => void asked.push('model'),
          },
        },
      ],
    });
    expect(await agent.run('Hello')).toMatchObject({
      type: 'failed',
      failure: { code: 'INITIALIZATION_ERROR' },
    });
    expect(asked).toEqual([]);
    expect(await agent.run('Hello')).toMatchObject({ type: 'completed' });
    expect(asked).toEqual(['run-start', 'model']);
  });
});

describe('a setup that succeeds', () => {
  it('is called when the first run begins, and never again', async () => {
    const counted = failing(0, refused);
    const { agent } = createLife(counted.setup);
    expect(counted.calls).toBe(0);
    await Promise.all([agent.run('Hello'), agent.run('Hello')]);
    await agent.run('Hello');
    expect(counted.calls).toBe(1);
  });

  it('keeps its signal: what it opened stays open', async () => {
    const signals: AbortSignal[] = [];
    const { agent } = createLife(({ signal }) => void signals.push(signal));
    await agent.run('Hello');
    await agent.run('Hello');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it('is called once for an agent that also works for others', async () => {
    const counted = failing(0, refused);
    const { agent } = createLife(counted.setup);
    await internalsOf(agent).make({}).run('Hello');
    await agent.run('Hello');
    await internalsOf(agent).make({}).run('Hello');
    expect(counted.calls).toBe(1);
  });

  it('is waited for, also beyond the default where that is allowed', async () => {
    const { agent, clock, model } = createLife(
      () => new Promise((resolve) => clock.after(90_000, () => resolve())),
      { setupTimeoutMs: 100_000 },
    );
    const run = agent.run('Hello');
    await clock.advance(89_999);
    expect(model.calls).toHaveLength(0);
    expect(await clock.runUntil(run)).toMatchObject({ type: 'completed', text: 'Hello.' });
  });

  it('too late is not heard: the next run has it tried again', async () => {
    let calls = 0;
    const { agent, clock } = createLife(
      () => {
        calls += 1;
        return new Promise((resolve) => clock.after(calls === 1 ? 2000 : 10, () => resolve()));
      },
      { setupTimeoutMs: 1000 },
    );
    expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ type: 'failed' });
    await clock.runAll();
    expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ type: 'completed' });
    expect(calls).toBe(2);
  });
});

describe('a run that is cancelled during setup', () => {
  it('ends at once, and so does the setup that nobody else waits for', async () => {
    const reasons: unknown[] = [];
    const { agent, clock, model } = createLife(({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return reasons.length === 0 ? never() : undefined;
    });
    const controller = new AbortController();
    const run = agent.run('Hello', { runId: 'r1', signal: controller.signal });
    await clock.advance(5);
    controller.abort();
    expect(await run).toMatchObject({ type: 'cancelled' });
    expect(reasons).toHaveLength(1);
    expect([model.calls.length, clock.pending()]).toEqual([0, 0]);
    expect(await agent.resume('r1')).toMatchObject({ type: 'completed', text: 'Hello.' });
  });

  it('does not end the setup of another', async () => {
    let calls = 0;
    const ends: boolean[] = [];
    const { agent, clock, model } = createLife(async ({ signal }) => {
      calls += 1;
      await new Promise<void>((resolve) => clock.after(100, () => resolve()));
      ends.push(signal.aborted);
    });
    const first = agent.run('Hello', { runId: 'r1' });
    const second = agent.run('Hello', { runId: 'r2' });
    await clock.advance(5);
    await agent.cancel('r1');
    expect(await first).toMatchObject({ type: 'cancelled' });
    await clock.advance(90);
    expect(model.calls).toHaveLength(0);
    expect(await clock.runUntil(second)).toMatchObject({ type: 'completed' });
    expect([calls, ends]).toEqual([1, [false]]);
  });
});

interface World {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  readonly payments: string[];
  /** Another process. */
  readonly live: (setup: SetUp) => Life & { readonly store: MemoryStore };
}

const step: ScriptStep = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Paid.' : { toolCalls: [{ name: 'pay', arguments: {} }] };

/** An agent whose payments must not happen twice, and are asked for. */
function createWorld(): World {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const payments: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} },
    effect: 'once',
    permission: 'ask',
    execute: (_input, { idempotencyKey }) => {
      payments.push(idempotencyKey);
      return 'paid';
    },
  });
  const live: World['live'] = (setup) => {
    const handle = store.reopen();
    const script = [step, step, step];
    return { ...createLife(setup, { clock, script, tools: [pay], store: handle }), store: handle };
  };
  return { clock, store, payments, live };
}

async function suspendedWorld(): Promise<World> {
  const world = createWorld();
  const first = world.live(() => undefined);
  const asked = await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
  expect(asked).toMatchObject({ type: 'suspended', reason: 'approval' });
  first.store.kill();
  return world;
}

describe('a run that is taken up in another process', () => {
  it('waits for the setup of that process, and an approved call stays approved where it fails', async () => {
    const world = await suspendedWorld();
    const second = world.live(failing(9, refused).setup);
    expect(await world.clock.runUntil(second.agent.resume('r1', { answer: true }))).toMatchObject({
      type: 'failed',
      runId: 'r1',
      failure: { code: 'INITIALIZATION_ERROR', retryable: true },
      messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }],
    });
    expect([world.payments.length, second.model.calls.length]).toEqual([0, 0]);
    // The answer is on record, the failure is not, and nobody holds the run.
    const row = await world.store.runs.find('r1');
    expect([row?.status, row?.owner]).toEqual(['running', undefined]);
    const counted = failing(1, refused);
    const third = world.live(counted.setup);
    expect(await world.clock.runUntil(third.agent.resume('r1'))).toMatchObject({ type: 'failed' });
    expect(await world.clock.runUntil(third.agent.resume('r1'))).toMatchObject({
      type: 'completed',
      text: 'Paid.',
    });
    expect([counted.calls, world.payments.length]).toEqual([2, 1]);
  });

  it('in the middle of several calls ends once, and none of them is lost', async () => {
    const clock = simulatedClock();
    const store = memoryStore({ clock });
    const handle = store.reopen();
    const looked: number[] = [];
    const look = tool({
      name: 'look',
      description: 'Looks.',
      input: { type: 'object', properties: { at: { type: 'number' } } },
      effect: 'read',
      execute: ({ at }) => {
        looked.push(at as number);
        if (looked.length === 2) handle.kill();
        return 'seen';
      },
    });
    const toolCalls = [1, 2].map((at) => ({ name: 'look', arguments: { at } }));
    const script: readonly ScriptStep[] = [{ toolCalls }, 'Seen.'];
    const common = { clock, tools: [look] };
    const first = createLife(() => undefined, { ...common, script, store: handle });
    void first.agent.run('Look', { runId: 'r1' });
    await clock.advance(60_000);
    const second = createLife(failing(1, refused).setup, {
      ...common,
      script: ['Seen.'],
      store: store.reopen(),
    });
    const told: string[] = [];
    const onEvent = ({ type }: RunEvent): void => void told.push(type);
    expect(await clock.runUntil(second.agent.resume('r1', { onEvent }))).toMatchObject({
      type: 'failed',
      failure: { code: 'INITIALIZATION_ERROR' },
    });
    await clock.advance(10);
    expect(told.filter((type) => type === 'run-finished')).toHaveLength(1);
    expect(looked).toHaveLength(2);
    expect(await clock.runUntil(second.agent.resume('r1'))).toMatchObject({
      type: 'completed',
      text: 'Seen.',
    });
    expect(looked).toEqual([1, 2, 1, 2]);
  });

  it('can be cancelled meanwhile', async () => {
    const world = await suspendedWorld();
    const second = world.live(never);
    const resuming = second.agent.resume('r1', { answer: true });
    await world.clock.advance(5);
    await world.clock.runUntil(second.agent.cancel('r1'));
    expect(await resuming).toMatchObject({ type: 'cancelled' });
    expect(await world.store.runs.find('r1')).toMatchObject({ status: 'cancelled' });
    expect(world.payments).toEqual([]);
  });

  it('is stopped without any setup', async () => {
    const world = await suspendedWorld();
    const counted = failing(9, refused);
    const second = world.live(counted.setup);
    await world.clock.runUntil(second.agent.cancel('r1'));
    expect(await world.store.runs.find('r1')).toMatchObject({ status: 'cancelled' });
    expect(counted.calls).toBe(0);
  });

  it('after it failed by its setup fails on record again, then completes', async () => {
    const world = createWorld();
    const first = world.live(failing(9, refused).setup);
    expect(await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }))).toMatchObject({
      type: 'failed',
    });
    expect(await world.store.runs.find('r1')).toMatchObject({ status: 'failed' });
    const steps: unknown[] = [];
    for await (const { outcome } of replayRun({ store: world.store, runId: 'r1' })) steps.push(outcome);
    expect(steps.at(-1)).toMatchObject({ type: 'failed', failure: { code: 'INITIALIZATION_ERROR' } });
    first.store.kill();
    const second = world.live(failing(1, refused).setup);
    expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject({ type: 'failed' });
    expect(await world.store.runs.find('r1')).toMatchObject({ status: 'failed' });
    expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject({ type: 'suspended' });
    expect(await world.clock.runUntil(second.agent.resume('r1', { answer: true }))).toMatchObject({
      type: 'completed',
    });
    expect(world.payments).toHaveLength(1);
  });

  it('by a worker is tried again after a while', async () => {
    const world = createWorld();
    const handle = world.store.reopen();
    const dying = createLife(() => undefined, {
      clock: world.clock,
      store: handle,
      script: [() => (handle.kill(), 'Lost.')],
    });
    void dying.agent.run('Hello', { runId: 'r1' });
    await world.clock.advance(120_000);
    const counted = failing(2, () => new Error('no schema'));
    const { agent } = createLife(counted.setup, { clock: world.clock, store: world.store.reopen() });
    const events: WorkerEvent[] = [];
    const worker = createWorker([agent], world.store.reopen(), {
      clock: world.clock,
      signals: false,
      onEvent: (event) => void events.push(event),
    });
    await worker.start();
    await world.clock.advance(600_000);
    await world.clock.runUntil(worker.stop());
    const ends = events.flatMap((event) => (event.type === 'run-finished' ? [event.outcome.type] : []));
    expect(ends).toEqual(['failed', 'failed', 'completed']);
  });
});

describe('the options', () => {
  it.each([
    { options: { setup: 'open it' }, message: '"setup" of createAgent() must be a function of { signal }' },
    {
      options: { setupTimeoutMs: 0 },
      message: '"setupTimeoutMs" of createAgent() must be a number of milliseconds',
    },
    { options: { setupTimeoutMs: Number.NaN }, message: '"setupTimeoutMs" of createAgent() must be' },
  ])('refuse $options', ({ options, message }) => {
    const given = { model: scriptedModel(['Hi.']), ...options } as unknown as AgentOptions;
    expect(() => createAgent(given)).toThrow(message);
  });
});
