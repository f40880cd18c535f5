import { describe, expect, it } from 'vitest';
import { createAgent, createFailure, RerailError } from '../../src/index.ts';
import type { RunEvent, RunOutcome, Tool } from '../../src/index.ts';
import type { Hook } from '../../src/agent/hooks/hook.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { replayRun } from '../../src/runtime/transfer/replay-run.ts';
import type { ReplayStep } from '../../src/runtime/transfer/replay-run.ts';
import { memoryStore, scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptStep } from '../../src/testing/index.ts';
import {
  calling,
  eventsOf,
  expectType,
  plainTool,
  setScene,
  watchedModel,
  watchEverything,
} from './scene.ts';
import type { SceneOptions } from './scene.ts';

watchEverything();

const burn = plainTool({
  name: 'burn',
  effect: 'read',
  onError: 'abort',
  execute: () => {
    throw new Error('the oven is on fire');
  },
});

const words = {
  summary: 'The oven burnt, so the run could not go on.',
  claims: [{ text: 'The run failed with TOOL_EXECUTION_ERROR.', facts: [1] }],
  nextSteps: ['fix-tool', 'resume'],
};
const answer = JSON.stringify(words);
const failing = calling('burn');

const tools: readonly Tool[] = [burn];
const scene = (
  script: SceneOptions['script'],
  options: Partial<SceneOptions> = {},
): ReturnType<typeof setScene> => setScene({ script, tools, explain: 'auto', ...options });

const explanationOf = (outcome: RunOutcome): unknown =>
  'report' in outcome ? outcome.report.explanation : 'no report';

/** The same run without the wish: what it comes to whatever becomes of the explanation. */
const plain = async (): Promise<Extract<RunOutcome, { type: 'failed' }>> =>
  expectType(await scene([failing], { explain: 'never' }).run('Do it.', { runId: 'one' }), 'failed');

describe('an explanation that cannot be had leaves the report as it is', () => {
  const cases: readonly { readonly what: string; readonly step: ScriptStep }[] = [
    { what: 'a model that fails', step: { failure: 'OVERLOADED' } },
    { what: 'a key that is refused', step: { failure: 'AUTHENTICATION_ERROR' } },
    {
      what: 'a model that throws',
      step: () => {
        throw new Error('boom');
      },
    },
    { what: 'a model that breaks off', step: { brokenAfter: answer.slice(0, 20) } },
    { what: 'a model that never answers', step: { text: answer, delayMs: Infinity } },
    { what: 'a model that answers too late', step: { text: answer, delayMs: 20_001 } },
    { what: 'a model that calls a tool', step: calling('burn') },
    { what: 'no words', step: ' ' },
    { what: 'words that are no JSON', step: 'The oven burnt.' },
    { what: 'JSON of another form', step: '{"summary": 1}' },
    {
      what: 'claims without facts',
      step: JSON.stringify({ ...words, claims: [{ text: 'It failed.', facts: [] }] }),
    },
    { what: 'an invented number', step: JSON.stringify({ ...words, summary: 'It failed 7 times.' }) },
    {
      what: 'an invented code',
      step: JSON.stringify({ ...words, claims: [{ text: 'It was a TIMEOUT.', facts: [1] }] }),
    },
    {
      what: 'an invented tool',
      step: JSON.stringify({ ...words, claims: [{ text: 'The tool "bake" failed.', facts: [1] }] }),
    },
    { what: 'an invented next step', step: JSON.stringify({ ...words, nextSteps: ['pay'] }) },
  ];

  it.each(cases)('$what', async ({ step }) => {
    const { run, events, model } = scene([failing, step]);
    const outcome = expectType(await run('Do it.', { runId: 'one' }), 'failed');
    const before = await plain();
    expect(outcome.failure.code).toBe('TOOL_EXECUTION_ERROR');
    expect(outcome.failure).toEqual(before.failure);
    expect(outcome.messages).toEqual(before.messages);
    expect(explanationOf(outcome)).toBeUndefined();
    expect(model.calls).toHaveLength(2);
    expect(eventsOf(events, 'explained')).toEqual([]);
    // Nobody hears of it: no failure, no recovery, no second try.
    const told = (given: typeof events): readonly string[] => given.map(({ type }) => type);
    expect(told(events)).toEqual(told(await eventsOfPlain()));
    expect(outcome.usage.elapsedMs).toBeLessThanOrEqual(before.usage.elapsedMs + 20_000);
  });

  it('a model that does not listen to the signal is not waited for', async () => {
    const clock = simulatedClock();
    const deaf: ScriptedModel = { ...watchedModel([failing]), name: 'deaf' };
    const { call } = deaf;
    const calls: number[] = [];
    const model = {
      ...deaf,
      call: ((...given: Parameters<typeof call>) => {
        calls.push(1);
        return calls.length === 1 ? call(...given) : new Promise(() => undefined);
      }) as unknown as typeof call,
    };
    const agent = createAgent({ model, tools, explain: 'auto', clock, gates: createGates({ clock }) });
    const outcome = expectType(await clock.runUntil(agent.run('Do it.')), 'failed');
    expect(explanationOf(outcome)).toBeUndefined();
    expect(outcome.usage).toMatchObject({ requests: 2, unknownUsage: 1 });
    expect(clock.monotonicMs()).toBeLessThanOrEqual(25_000);
  });

  async function eventsOfPlain(): Promise<ReturnType<typeof setScene>['events']> {
    const { run, events } = scene([failing], { explain: 'never' });
    await run('Do it.', { runId: 'one' });
    return events;
  }
});

describe('nobody is asked', () => {
  it.each([
    { what: 'unless it is wished', options: {} },
    { what: 'where it is never wished', options: { explain: 'never' as const } },
  ])('$what', async ({ options }) => {
    const { run, model } = setScene({ script: [failing, answer], tools, ...options });
    expect(explanationOf(await run())).toBeUndefined();
    expect(model.calls).toHaveLength(1);
  });

  it.each([
    { limit: { maxRequests: 1 } },
    { limit: { maxTokens: 16 } },
    { limit: { maxTokens: 1000 } },
    { limit: { maxCostUsd: 0.01 } },
  ])('where too little is left: $limit', async ({ limit }) => {
    const price = { inputUsd: 1000, outputUsd: 1000, asOf: '2026-01-01' };
    const { run, model } = scene([failing, answer], {
      limits: limit,
      explain: 'always',
      modelOptions: { price },
    });
    expect(explanationOf(await run())).toBeUndefined();
    expect(model.calls).toHaveLength(1);
  });

  it.each(['INTERNAL', 'INVALID_STATE'] as const)('of what is fatal: %s', async (code) => {
    const broken = createFailure(code, { origin: 'agent', message: 'a defect' });
    const { run, model } = scene([{ failure: broken }, answer], {
      explain: 'always',
      policy: { retry: 'none' },
    });
    const outcome = expectType(await run(), 'failed');
    expect(outcome.failure.code).toBe(code);
    expect(model.calls).toHaveLength(1);
    expect(explanationOf(outcome)).toBeUndefined();
  });

  it('of what a guardrail has kept from the model', async () => {
    const hooks: readonly Hook[] = [
      {
        name: 'no',
        kind: 'guardrail',
        on: { 'before-model': () => ({ action: 'halt', reason: 'private' }) },
      },
    ];
    const { run, model } = scene([answer], { hooks, explain: 'always' });
    expect(explanationOf(expectType(await run(), 'stopped'))).toBeUndefined();
    expect(model.calls).toEqual([]);
  });

  it('after a cancellation', async () => {
    const { agent, model, clock } = scene([{ text: 'late', delayMs: 60_000 }, answer], { explain: 'always' });
    const controller = new AbortController();
    const running = agent.run('Do it.', { signal: controller.signal });
    await clock.advance(1000);
    controller.abort();
    expectType(await clock.runUntil(running), 'cancelled');
    expect(model.calls).toHaveLength(1);
  });

  it('of a run that completed', async () => {
    const { run, model } = scene(['Done.', answer], { explain: 'always' });
    expectType(await run(), 'completed');
    expect(model.calls).toHaveLength(1);
  });

  it('of what was stopped, unless it is wished always', async () => {
    const script = [
      calling('look'),
      'Partly.',
      answer
        .replace('TOOL_EXECUTION_ERROR', 'MAX_ITERATIONS_EXCEEDED')
        .replace('run failed with', 'run was stopped with')
        .replace('fix-tool', 'rephrase')
        .replace('"resume"', '"run-again"'),
    ];
    const look = plainTool({ name: 'look', effect: 'read', execute: () => 'seen' });
    const options = { tools: [look], limits: { maxTurns: 1 } };
    const auto = scene(script, options);
    expect(explanationOf(expectType(await auto.run(), 'stopped'))).toBeUndefined();
    expect(auto.model.calls).toHaveLength(2);
    const always = scene(script, { ...options, explain: 'always' });
    expect(explanationOf(expectType(await always.run(), 'stopped'))).toMatchObject({
      summary: words.summary,
    });
  });
});

describe('a failure of the models themselves', () => {
  const chain = async (
    scripts: readonly (readonly ScriptStep[])[],
    explain: 'auto' | 'always' = 'auto',
  ): Promise<{ readonly outcome: RunOutcome; readonly models: readonly ScriptedModel[] }> => {
    const clock = simulatedClock();
    const models = scripts.map((script, index) =>
      watchedModel(script, { provider: `p${index}`, name: `m${index}` }),
    );
    const agent = createAgent({
      model: models,
      explain,
      clock,
      gates: createGates({ clock }),
      random: seededRandom(1),
      policy: { retry: 'none' },
    });
    return { outcome: await clock.runUntil(agent.run('Do it.')), models };
  };
  const said = JSON.stringify({
    ...words,
    claims: [{ text: 'The run failed.', facts: [1] }],
    nextSteps: ['resume'],
  });

  it('is not explained by the one that failed', async () => {
    const { outcome, models } = await chain([[{ failure: 'SERVER_ERROR' }, said]]);
    expect(explanationOf(expectType(outcome, 'failed'))).toBeUndefined();
    expect(models[0]?.calls).toHaveLength(1);
  });

  it('is not explained where all of the chain failed', async () => {
    const { models } = await chain([
      [{ failure: 'SERVER_ERROR' }, said],
      [{ failure: 'NETWORK_ERROR' }, said],
    ]);
    expect(models.map(({ calls }) => calls.length)).toEqual([1, 1]);
  });

  it('is explained by another one of the chain that still works', async () => {
    const bad = createFailure('INVALID_REQUEST', { origin: 'model', message: 'no such field' });
    const { outcome, models } = await chain([[{ failure: 'SERVER_ERROR' }], [{ failure: bad }, said]]);
    expect(explanationOf(expectType(outcome, 'failed'))).toMatchObject({ model: 'p1/m1' });
    expect(models.map(({ calls }) => calls.length)).toEqual([1, 2]);
  });

  it('is tried all the same where an explanation is wished always', async () => {
    const { outcome } = await chain([[{ failure: 'SERVER_ERROR' }, said]], 'always');
    expect(explanationOf(expectType(outcome, 'failed'))).toMatchObject({ model: 'p0/m0' });
  });
});

describe('an explanation', () => {
  it('follows the report, is told before the end, and counts in what was used up', async () => {
    const { run, events, model } = scene([failing, answer]);
    const outcome = expectType(await run('Do it.', { runId: 'one' }), 'failed');
    const before = await plain();
    const { report } = outcome;
    expect(report.explanation).toEqual({
      summary: words.summary,
      claims: [
        {
          text: 'The run failed with TOOL_EXECUTION_ERROR.',
          facts: [{ number: 1, text: expect.stringContaining('the oven is on fire') as unknown }],
        },
      ],
      nextSteps: [
        { id: 'fix-tool', text: 'fix the tool or what it depends on, then resume' },
        {
          id: 'resume',
          text: 'resume after the last finished turn, once the cause is fixed',
          command: 'await agent.resume("one")',
        },
      ],
      text: expect.stringMatching(/^The oven burnt/) as unknown,
      model: 'scripted/scripted',
    });
    const { text, markdown } = report.person;
    expect(text.startsWith('The work could not be finished.')).toBe(true);
    expect(text.indexOf('Run: one')).toBeLessThan(text.indexOf('The same in the words of scripted/scripted'));
    expect(text).toContain('await agent.resume("one")');
    expect(markdown).toContain('The oven burnt, so the run could not go on.');
    expect(outcome.usage.requests).toBe(before.usage.requests + 1);
    expect(outcome.usage.inputTokens).toBeGreaterThan(before.usage.inputTokens);
    expect(outcome.messages).toEqual(before.messages);
    const types = events.map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['explained', 'run-finished']);
    const request = model.calls[1]?.request;
    expect(request).toMatchObject({ maxOutputTokens: 500 });
    expect(request?.tools).toBeUndefined();
    expect(JSON.stringify(request).length).toBeLessThan(16_000);
  });

  it('never carries a secret to the model', async () => {
    const secret = `sk-ant-api03-${'A1b2C3d4E5'.repeat(9)}AA`;
    const leak = plainTool({
      name: 'burn',
      effect: 'read',
      onError: 'abort',
      execute: () => {
        throw new Error(`Bearer ${secret}`);
      },
    });
    const { run, model } = scene([failing, answer], { tools: [leak] });
    await run(`Use the key ${secret}`);
    expect(JSON.stringify(model.calls[1]?.request)).not.toContain(secret);
  });

  it('does not carry past hooks what they may have changed', async () => {
    const hooks: readonly Hook[] = [
      { name: 'mask', kind: 'transformer', on: { 'before-model': () => undefined } },
    ];
    const told = async (options: Partial<SceneOptions>): Promise<string> => {
      const { run, model } = scene([failing, answer], options);
      await run('My number is private-word.');
      return JSON.stringify(model.calls[1]?.request);
    };
    expect(await told({ hooks })).not.toContain('private-word');
    expect(await told({})).toContain('private-word');
  });

  it('is given up at once when somebody wishes the end, and the outcome stays what it was', async () => {
    const { agent, model, clock } = scene([failing, { text: answer, delayMs: 15_000 }]);
    const running = agent.run('Do it.', { runId: 'one' });
    await clock.advance(5000);
    expect(model.calls).toHaveLength(2);
    const cancelling = agent.cancel('one');
    const outcome = expectType(await clock.runUntil(running), 'failed');
    await cancelling;
    expect(explanationOf(outcome)).toBeUndefined();
    expect(outcome.failure.code).toBe('TOOL_EXECUTION_ERROR');
    expect(clock.monotonicMs()).toBeLessThan(5500);
  });

  it('is not begun where somebody wishes the end of what has just failed', async () => {
    const { agent, model, clock } = scene([failing, answer]);
    const onEvent = ({ type }: RunEvent): void => {
      if (type === 'failure') void agent.cancel('one');
    };
    const outcome = await clock.runUntil(agent.run('Do it.', { runId: 'one', onEvent }));
    expect(expectType(outcome, 'failed').failure.code).toBe('TOOL_EXECUTION_ERROR');
    expect(model.calls).toHaveLength(1);
  });

  it('does not outlast the deadline of a run by more than its own bound', async () => {
    const script = [
      { text: 'late', delayMs: 60_000 },
      { text: answer, delayMs: Infinity },
    ];
    const { run, clock } = scene(script, {
      explain: 'always',
      limits: { timeoutMs: 5000 },
      policy: { salvage: false },
    });
    const startMs = clock.monotonicMs();
    expect(explanationOf(await run())).toBeUndefined();
    expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(5000 + 20_000 + 100);
  });

  it('does not keep a failed run from going on', async () => {
    const { run, resume } = scene([failing, answer, 'Done.']);
    await run('Do it.', { runId: 'one' });
    const outcome = expectType(await resume('one'), 'completed');
    expect(outcome.usage.requests).toBe(3);
    expect(JSON.stringify(outcome.messages)).not.toContain('oven burnt');
  });
});

describe('the journal of a run that was explained', () => {
  const stage = (
    model: ScriptedModel,
    store: ReturnType<typeof memoryStore>,
    explain: 'auto' | 'never' = 'auto',
  ) => {
    const clock = simulatedClock();
    const agent = createAgent({
      model,
      tools,
      store,
      explain,
      clock,
      gates: createGates({ clock }),
      random: seededRandom(3),
    });
    return { agent, clock };
  };

  it.each([
    { what: 'with the same wish', explain: 'auto' as const },
    { what: 'with another wish', explain: 'never' as const },
  ])('gives the same explanation again without asking, $what', async ({ explain }) => {
    const store = memoryStore();
    const first = stage(watchedModel([failing, answer]), store);
    const outcome = expectType(
      await first.clock.runUntil(first.agent.run('Do it.', { runId: 'one' })),
      'failed',
    );
    const silent = watchedModel([]);
    const second = stage(silent, store, explain);
    const events: string[] = [];
    const again = await second.clock.runUntil(
      second.agent.run('Do it.', { runId: 'one', onEvent: ({ type }) => void events.push(type) }),
    );
    expect(explanationOf(again)).toEqual(outcome.report.explanation);
    expect(again.usage).toEqual(outcome.usage);
    expect(silent.calls).toEqual([]);
    expect(events).toEqual(['run-finished']);
  });

  it('is not asked again about a run that ended before anybody wished it', async () => {
    const store = memoryStore();
    const first = stage(watchedModel([failing]), store, 'never');
    await first.clock.runUntil(first.agent.run('Do it.', { runId: 'one' }));
    const silent = watchedModel([]);
    const second = stage(silent, store);
    const again = await second.clock.runUntil(second.agent.run('Do it.', { runId: 'one' }));
    expectType(again, 'failed');
    expect(silent.calls).toEqual([]);
  });

  it('replays to the same outcome, event by event', async () => {
    const store = memoryStore();
    const { agent, clock } = stage(watchedModel([failing, answer]), store);
    const outcome = await clock.runUntil(agent.run('Do it.', { runId: 'one' }));
    const steps = await stepsIn(store);
    expect(explanationOf(steps.at(-1)?.outcome as RunOutcome)).toEqual(explanationOf(outcome));
    expect(steps.flatMap(({ events }) => events.map(({ type }) => type))).toContain('explained');
  });

  it('replays a run whose explanation was broken off', async () => {
    const store = memoryStore();
    const { agent, clock } = stage(watchedModel([failing, { text: answer, delayMs: 15_000 }]), store);
    const running = agent.run('Do it.', { runId: 'one' });
    await clock.advance(5000);
    await Promise.all([agent.cancel('one'), clock.runUntil(running)]);
    const steps = await stepsIn(store);
    expect(steps.at(-1)?.outcome?.type).toBe('failed');
    const second = stage(watchedModel([]), store);
    const again = await second.clock.runUntil(second.agent.run('Do it.', { runId: 'one' }));
    expectType(again, 'failed');
  });

  it('replays a run whose end was wished for when it had just failed', async () => {
    const store = memoryStore();
    const model = watchedModel([failing, answer]);
    const { agent, clock } = stage(model, store);
    const onEvent = ({ type }: RunEvent): void => {
      if (type === 'failure') void agent.cancel('one');
    };
    const outcome = await clock.runUntil(agent.run('Do it.', { runId: 'one', onEvent }));
    expect(explanationOf(expectType(outcome, 'failed'))).toBeUndefined();
    expect(model.calls).toHaveLength(1);
    expect((await stepsIn(store)).at(-1)?.outcome?.type).toBe('failed');
    const second = stage(watchedModel([]), store);
    expectType(await second.clock.runUntil(second.agent.run('Do it.', { runId: 'one' })), 'failed');
  });

  it('is asked for again where the process vanished in the middle of it', async () => {
    const store = memoryStore();
    const first = stage(watchedModel([failing, { text: answer, delayMs: 15_000 }]), store);
    const running = first.agent.run('Do it.', { runId: 'one' });
    await first.clock.advance(5000);
    await first.agent.release('one');
    expect(expectType(await running, 'failed').report.explanation).toBeUndefined();
    const model = watchedModel([answer]);
    const second = stage(model, store);
    const outcome = await second.clock.runUntil(second.agent.run('Do it.', { runId: 'one' }));
    expect(explanationOf(outcome)).toMatchObject({ summary: words.summary });
    expect(model.calls).toHaveLength(1);
  });

  it('that cannot be written down takes nothing from the outcome', async () => {
    const store = memoryStore();
    const { append } = store.runs;
    const full = createFailure('STORAGE_FULL', { origin: 'storage', message: 'no space' });
    const broken: typeof append = (lease, addition) =>
      JSON.stringify(addition.events).includes('"explain"')
        ? Promise.reject(RerailError.from(full))
        : append(lease, addition);
    const model = watchedModel([failing, answer]);
    const { agent, clock } = stage(model, { ...store, runs: { ...store.runs, append: broken } });
    const outcome = expectType(await clock.runUntil(agent.run('Do it.', { runId: 'one' })), 'failed');
    expect(outcome.failure.code).toBe('TOOL_EXECUTION_ERROR');
    expect(outcome.report.explanation).toBeUndefined();
    expect(outcome.unsaved?.code).toBe('STORAGE_FULL');
  });

  it('goes on after it from the store', async () => {
    const store = memoryStore();
    const first = stage(watchedModel([failing, answer]), store);
    await first.clock.runUntil(first.agent.run('Do it.', { runId: 'one' }));
    const second = stage(watchedModel(['Done.']), store);
    const outcome = expectType(await second.clock.runUntil(second.agent.resume('one')), 'completed');
    expect(outcome.usage.requests).toBe(3);
  });
});

async function stepsIn(store: ReturnType<typeof memoryStore>): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for await (const step of replayRun({ store, runId: 'one' })) steps.push(step);
  return steps;
}

describe('the option', () => {
  it('is checked when the agent is made', () => {
    expect(() => createAgent({ model: scriptedModel([]), explain: 'sometimes' as 'auto' })).toThrow(
      '"explain" of createAgent() must be "auto", "always" or "never"',
    );
  });
});
