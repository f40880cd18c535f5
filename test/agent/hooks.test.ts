import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/index.ts';
import type { Permission } from '../../src/model/tool.ts';
import type { Hook, HookPoint, RunEvent, RunOutcome } from '../../src/index.ts';
import { hookPoints, legalActions } from '../../src/agent/hooks/hook-rules.ts';
import type { HookKind, Moments } from '../../src/agent/hooks/hook.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { simulatedClock } from '../../src/testing/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchedModel,
  watchEverything,
} from './scene.ts';
import type { Scene } from './scene.ts';

watchEverything();

type Handler = (moment: never) => unknown;

let nameCount = 0;

/** A hook with one function. What it may answer is the business of the test. */
function hookAt(kind: HookKind, point: HookPoint, handle: Handler): Hook {
  nameCount += 1;
  const name = `${kind} ${nameCount} at ${point}`;
  return { name, kind, on: { [point]: handle } };
}

interface Stage extends Scene {
  readonly reached: readonly unknown[];
}

/** A run that passes every point: an overload, a call that asks, a result, an answer. */
const paying: readonly ScriptStep[] = [{ failure: 'OVERLOADED' }, calling('pay', { cents: 5 }), 'Paid.'];

function fullScene(
  hooks: readonly Hook[],
  script: readonly ScriptStep[] = paying,
  permission: Permission = 'ask',
): Stage {
  const reached: unknown[] = [];
  const pay = plainTool({
    name: 'pay',
    permission,
    input: z.object({ cents: z.number().max(100) }),
    execute: (input) => {
      reached.push(input);
      return 'paid';
    },
  });
  const scene = setScene({
    instructions: 'You pay.',
    tools: [pay],
    hooks,
    callbacks: { onApproval: () => true },
    script,
  });
  return { ...scene, reached };
}

/** What a consumer shows who goes by the rules for the text. */
function shownText(events: readonly RunEvent[]): string {
  let shown = '';
  for (const event of events) {
    if (event.type === 'turn-started') shown = '';
    if (event.type === 'text-delta') shown += event.text;
    if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
  }
  return shown;
}

const kinds: readonly HookKind[] = ['observer', 'transformer', 'guardrail'];
const places = hookPoints.flatMap((point) =>
  kinds.filter((kind) => legalActions(kind, point) !== null).map((kind) => ({ point, kind })),
);
const times: Readonly<Record<HookPoint, number>> = {
  'run-start': 1,
  'run-end': 1,
  'before-model': 2,
  'after-model': 2,
  'before-tool': 1,
  'after-tool': 1,
  failure: 1,
  recovery: 1,
  approval: 1,
};

describe('every point', () => {
  it.each(places)('$point is reached by a $kind in a real run', async ({ point, kind }) => {
    const moments: Moments[HookPoint][] = [];
    const { run, reached } = fullScene([hookAt(kind, point, (moment) => void moments.push(moment))]);
    const outcome = expectType(await run('Pay.', { runId: 'run-1' }), 'completed');
    expect(outcome.text).toBe('Paid.');
    expect(reached).toEqual([{ cents: 5 }]);
    expect(moments).toHaveLength(times[point]);
    expect(moments[0]).toMatchObject({ runId: 'run-1', agent: 'agent', turn: expect.any(Number) as unknown });
  });

  it.each(places)('$point takes the answer continue of a $kind', async ({ point, kind }) => {
    const { run, events } = fullScene([hookAt(kind, point, () => ({ action: 'continue' }))]);
    expectType(await run(), 'completed');
    expect(eventsOf(events, 'hook-failed')).toEqual([]);
  });

  it.each(
    hookPoints
      .flatMap((point) => kinds.map((kind) => ({ point, kind })))
      .filter(({ point, kind }) => legalActions(kind, point) === null),
  )('$point is refused to a $kind when the agent is made', ({ point, kind }) => {
    expect(() => fullScene([hookAt(kind, point, () => undefined)])).toThrow(point);
  });

  it('tells what the moment is about', async () => {
    const seen: Partial<Record<HookPoint, unknown>> = {};
    const watch = {
      name: 'watch',
      kind: 'observer',
      on: Object.fromEntries(
        hookPoints.map((point) => [point, (moment: unknown) => void (seen[point] ??= moment)]),
      ),
    } as unknown as Hook;
    const { run } = fullScene([watch]);
    await run('Pay.');
    expect(seen['run-start']).toMatchObject({ turn: 0, input: [{ role: 'user', content: 'Pay.' }] });
    expect(seen['before-model']).toMatchObject({
      turn: 1,
      request: { instructions: 'You pay.', tools: [{ name: 'pay' }] },
    });
    expect(seen['after-model']).toMatchObject({
      result: { toolCalls: [{ name: 'pay' }], usage: { inputTokens: 10 } },
    });
    expect(seen['before-tool']).toMatchObject({ call: { name: 'pay', input: { cents: 5 }, effect: 'once' } });
    expect(seen['after-tool']).toMatchObject({ end: { type: 'ok', content: 'paid' } });
    expect(seen.failure).toMatchObject({ failure: { code: 'OVERLOADED' } });
    expect(seen.recovery).toMatchObject({ recovery: { recovery: 'retry' } });
    expect(seen.approval).toMatchObject({ request: { type: 'approval', tool: 'pay' } });
    expect(seen['run-end']).toMatchObject({ outcome: { type: 'completed' } });
  });

  it('before-model is reached once per turn, however often the model is tried', async () => {
    const turns: number[] = [];
    const { run, model } = fullScene(
      [hookAt('transformer', 'before-model', ({ turn }: Moments['before-model']) => void turns.push(turn))],
      [{ failure: 'OVERLOADED' }, { failure: 'SERVER_ERROR' }, { failure: 'OVERLOADED' }, 'Done.'],
    );
    expectType(await run(), 'completed');
    expect(model.calls).toHaveLength(4);
    expect(turns).toEqual([1]);
  });
});

describe('the order of hooks', () => {
  it('is transformers, then guardrails, each as listed, and each sees what the one before made of it', async () => {
    const seen: string[] = [];
    const change = (letter: string): Hook =>
      hookAt('transformer', 'after-model', ({ result }: Moments['after-model']) => {
        seen.push(`${letter}: ${result.text}`);
        return { action: 'modify', text: `${result.text}${letter}` };
      });
    const look = hookAt(
      'guardrail',
      'after-model',
      ({ result }: Moments['after-model']) => void seen.push(`guard: ${result.text}`),
    );
    const watch = hookAt(
      'observer',
      'after-model',
      ({ result }: Moments['after-model']) => void seen.push(`watch: ${result.text}`),
    );
    const { run } = setScene({ hooks: [watch, look, change('b'), change('c')], script: ['a'] });
    const outcome = expectType(await run(), 'completed');
    expect(seen).toEqual(['b: a', 'c: ab', 'guard: abc', 'watch: abc']);
    expect(outcome.text).toBe('abc');
  });
});

describe('a transformer', () => {
  it('at run-start changes what the run is asked', async () => {
    const messages = [{ role: 'user', content: 'Pay 7.' }] as const;
    const { run, model, events } = fullScene(
      [hookAt('transformer', 'run-start', () => ({ action: 'modify', messages }))],
      ['Done.'],
    );
    const outcome = await run('Pay 5.');
    expect(model.calls[0]?.request.messages.slice(1)).toEqual(messages);
    expect(outcome.messages[0]).toEqual(messages[0]);
    expect(eventsOf(events, 'run-started')).toMatchObject([{ input: messages }]);
  });

  it('at before-model changes one request, not the conversation, and every attempt at it', async () => {
    const hook = hookAt('transformer', 'before-model', ({ request }: Moments['before-model']) => ({
      action: 'modify',
      instructions: 'You are brief.',
      messages: [...request.messages, { role: 'user', content: 'Be brief.' }],
    }));
    const { run, model } = fullScene([hook], [{ failure: 'OVERLOADED' }, 'Done.']);
    const outcome = expectType(await run('Pay.'), 'completed');
    for (const { request } of model.calls) {
      expect(request.messages).toEqual([
        { role: 'system', content: 'You are brief.' },
        { role: 'user', content: 'Pay.' },
        { role: 'user', content: 'Be brief.' },
      ]);
    }
    expect(model.calls).toHaveLength(2);
    expect(JSON.stringify(outcome.messages)).not.toContain('Be brief');
  });

  it.each(['run-start', 'before-model'] as const)(
    'at %s cannot hand in a conversation that no provider takes',
    async (point) => {
      const dangling = { type: 'tool-call', callId: 'a', name: 'pay', argumentsText: '{}' };
      const messages = [
        { role: 'user', content: 'Pay.' },
        { role: 'assistant', content: [dangling] },
        { role: 'user', content: 'And?' },
      ];
      const { run, model } = fullScene([
        hookAt('transformer', point, () => ({ action: 'modify', messages })),
      ]);
      const outcome = expectType(await run(), 'failed');
      expect(outcome.failure).toMatchObject({ code: 'HOOK_FAILED' });
      expect(outcome.failure.message).toContain('no provider takes');
      expect(model.calls).toHaveLength(0);
    },
  );

  it('at before-model answers in the place of the model, who is not asked', async () => {
    const { run, model, events } = fullScene(
      [hookAt('transformer', 'before-model', () => ({ action: 'skip', text: 'From the cache.' }))],
      [],
    );
    const outcome = expectType(await run(), 'completed');
    expect(outcome.text).toBe('From the cache.');
    expect(model.calls).toHaveLength(0);
    expect(outcome.usage.requests).toBe(0);
    expect(shownText(events)).toBe(outcome.text);
  });

  it('at before-model answers in the form that was asked for', async () => {
    const agent = createAgent({
      model: watchedModel([]),
      gates: createGates(),
      output: z.object({ city: z.string() }),
      hooks: [hookAt('transformer', 'before-model', () => ({ action: 'skip', text: '{"city":"Oslo"}' }))],
    });
    const outcome = expectType(await agent.run('Where?'), 'completed');
    expect(outcome.output).toEqual({ city: 'Oslo' });
  });

  it('at after-model changes the answer, for whoever watches too', async () => {
    const { run, events } = fullScene(
      [hookAt('transformer', 'after-model', () => ({ action: 'modify', text: 'My number is [hidden].' }))],
      ['My number is 555.'],
    );
    const outcome = expectType(await run(), 'completed');
    expect(outcome.text).toBe('My number is [hidden].');
    expect(JSON.stringify(outcome.messages)).not.toContain('555');
    expect(shownText(events)).toBe(outcome.text);
  });

  it('at after-model changes what is held to the schema', async () => {
    const agent = createAgent({
      model: watchedModel(['{"city":"oslo"}']),
      gates: createGates(),
      output: z.object({ city: z.string() }),
      hooks: [hookAt('transformer', 'after-model', () => ({ action: 'modify', text: '{"city":"Oslo"}' }))],
    });
    const outcome = expectType(await agent.run('Where?'), 'completed');
    expect(outcome.text).toBe('{"city":"Oslo"}');
    expect(outcome.output).toEqual({ city: 'Oslo' });
  });

  it.each(['after-model', 'before-model'] as const)('at %s cannot answer with nothing', async (point) => {
    const action = point === 'after-model' ? 'modify' : 'skip';
    const { run } = setScene({
      hooks: [hookAt('transformer', point, () => ({ action, text: ' ' }))],
      script: ['a'],
    });
    const outcome = expectType(await run(), 'failed');
    expect(outcome.failure.code).toBe('HOOK_FAILED');
  });

  it('at before-tool changes the input, which is held to the schema again', async () => {
    const change = (cents: number): Hook =>
      hookAt('transformer', 'before-tool', () => ({ action: 'modify', input: { cents } }));
    const good = fullScene([change(1)], paying, 'allow');
    await good.run();
    expect(good.reached).toEqual([{ cents: 1 }]);
    const bad = fullScene([change(500)], paying, 'allow');
    const outcome = expectType(await bad.run(), 'completed');
    expect(bad.reached).toEqual([]);
    expect(resultsIn(outcome.messages)[0]).toContain('cents');
  });

  it('at before-tool may not change what a person has approved: the call is not run', async () => {
    const { run, reached } = fullScene([
      hookAt('transformer', 'before-tool', () => ({ action: 'modify', input: { cents: 99 } })),
    ]);
    const outcome = expectType(await run(), 'completed');
    expect(reached).toEqual([]);
    expect(resultsIn(outcome.messages)[0]).toContain('after a person approved them');
  });

  it('at before-tool is asked once per call, whatever the number of attempts', async () => {
    let asked = 0;
    let tried = 0;
    const flaky = plainTool({
      name: 'pay',
      effect: 'read',
      execute: (_input, { fail }) => {
        tried += 1;
        return tried < 3 ? fail('busy', { code: 'SERVER_ERROR', retryable: true }) : 'paid';
      },
    });
    const { run } = setScene({
      tools: [flaky],
      hooks: [hookAt('observer', 'before-tool', () => void (asked += 1))],
      script: [calling('pay', {}), 'Paid.'],
    });
    expectType(await run(), 'completed');
    expect([tried, asked]).toEqual([3, 1]);
  });

  it('at before-tool gives a result in the place of the tool', async () => {
    const { run, reached } = fullScene([
      hookAt('transformer', 'before-tool', () => ({ action: 'skip', content: 'paid yesterday' })),
    ]);
    const outcome = expectType(await run(), 'completed');
    expect(reached).toEqual([]);
    expect(resultsIn(outcome.messages)).toEqual(['paid yesterday']);
  });

  it('at after-tool changes what the model is told', async () => {
    const { run, reached, model } = fullScene([
      hookAt('transformer', 'after-tool', () => ({ action: 'modify', content: 'paid [number hidden]' })),
    ]);
    const outcome = expectType(await run(), 'completed');
    expect(reached).toHaveLength(1);
    expect(resultsIn(outcome.messages)).toEqual(['paid [number hidden]']);
    expect(resultsIn(model.calls.at(-1)?.request.messages ?? [])).toEqual(['paid [number hidden]']);
  });
});

describe('a guardrail that halts', () => {
  const halt = { action: 'halt', reason: 'Not on Sundays' } as const;

  it.each([
    { point: 'run-start', requests: 0, paid: 0 },
    { point: 'before-model', requests: 0, paid: 0 },
    { point: 'after-model', requests: 2, paid: 0 },
  ] as const)('at $point stops the run after $requests requests', async ({ point, requests, paid }) => {
    const { run, model, reached } = fullScene([hookAt('guardrail', point, () => halt)]);
    const outcome = expectType(await run(), 'stopped');
    expect(outcome).toMatchObject({
      reason: 'guardrail',
      failure: { code: 'HOOK_TERMINATED', message: 'Not on Sundays' },
    });
    expect(outcome.report.developer.text).toContain('Not on Sundays');
    expect(model.calls).toHaveLength(requests);
    expect(reached).toHaveLength(paid);
  });

  it.each([
    { point: 'before-tool', paid: 0 },
    { point: 'after-tool', paid: 1 },
    { point: 'approval', paid: 0 },
  ] as const)('at $point denies the call, and the run goes on', async ({ point, paid }) => {
    const { run, reached } = fullScene([hookAt('guardrail', point, () => halt)]);
    const outcome = expectType(await run(), 'completed');
    expect(reached).toHaveLength(paid);
    expect(resultsIn(outcome.messages)).toEqual([expect.stringContaining('Not on Sundays')]);
    expect(JSON.stringify(outcome.messages)).not.toContain('"paid"');
  });

  it('at one of two calls leaves the other alone', async () => {
    const { run, reached } = fullScene(
      [
        hookAt('guardrail', 'before-tool', ({ call }: Moments['before-tool']) =>
          JSON.stringify(call.input).includes('7') ? halt : undefined,
        ),
      ],
      [callingAll(['pay', { cents: 7 }], ['pay', { cents: 8 }]), 'Done.'],
    );
    expectType(await run(), 'completed');
    expect(reached).toEqual([{ cents: 8 }]);
  });
});

const hang = (): Promise<never> => new Promise(() => undefined);
const faults: readonly { readonly fault: string; readonly handle: () => unknown }[] = [
  {
    fault: 'throws',
    handle: () => {
      throw new Error('broken hook');
    },
  },
  { fault: 'rejects', handle: () => Promise.reject(new Error('broken hook')) },
  { fault: 'hangs', handle: hang },
  { fault: 'answers nonsense', handle: () => ({ action: 'explode' }) },
];
const failing = places.flatMap((place) => faults.map((fault) => ({ ...place, ...fault })));

describe('a hook that fails', () => {
  it.each(failing.filter(({ kind }) => kind === 'observer'))(
    'as an observer at $point ($fault) is noted, and the run goes on',
    async ({ point, handle }) => {
      const { run, events, clock } = fullScene([hookAt('observer', point, handle)]);
      const outcome = expectType(await run(), 'completed');
      expect(outcome.text).toBe('Paid.');
      await clock.advance(10_000);
      if (point === 'run-end') return; // The last event has been told by then: nobody hears of more.
      const [noted] = eventsOf(events, 'hook-failed');
      expect(noted).toMatchObject({ point, failure: { code: 'HOOK_FAILED', origin: 'hook' } });
    },
  );

  const ends: Readonly<Record<string, RunOutcome['type']>> = {
    'transformer run-start': 'failed',
    'transformer before-model': 'failed',
    'transformer after-model': 'failed',
    'transformer before-tool': 'completed',
    'transformer after-tool': 'completed',
    'guardrail run-start': 'stopped',
    'guardrail before-model': 'stopped',
    'guardrail after-model': 'stopped',
    'guardrail before-tool': 'completed',
    'guardrail after-tool': 'completed',
    'guardrail approval': 'completed',
  };

  it.each(failing.filter(({ kind }) => kind !== 'observer'))(
    'as a $kind at $point ($fault) ends its step or means no',
    async ({ point, kind, handle }) => {
      const { run, reached } = fullScene([hookAt(kind, point, handle)]);
      const outcome = await run();
      expect(outcome.type).toBe(ends[`${kind} ${point}`]);
      const failure = 'failure' in outcome ? outcome.failure : undefined;
      expect(failure?.code).toBe(outcome.type === 'completed' ? undefined : 'HOOK_FAILED');
      expect(reached).toHaveLength(point === 'after-tool' ? 1 : 0);
    },
  );

  it('as a slow observer delays nothing', async () => {
    const watch = { name: 'slow', kind: 'observer', on: {}, onEvent: hang } as unknown as Hook;
    const { run, clock } = setScene({
      hooks: [watch, hookAt('observer', 'run-start', hang)],
      script: ['Fine.'],
    });
    expectType(await run(), 'completed');
    expect(clock.monotonicMs()).toBe(0);
  });

  it('is held to its own time', async () => {
    const clock = simulatedClock();
    const hook = {
      name: 'slow',
      kind: 'guardrail',
      timeoutMs: 50,
      on: { 'run-start': hang },
    } as unknown as Hook;
    const { run } = setScene({ clock, hooks: [hook], script: [] });
    const outcome = expectType(await run(), 'stopped');
    expect(clock.monotonicMs()).toBe(50);
    expect(outcome.failure?.message).toContain('50 ms');
  });
});
