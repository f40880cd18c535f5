import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHooks } from '../../agent/hooks/check-hooks.ts';
import { hookRules } from '../../agent/hooks/hook-rules.ts';
import type {
  GuardrailPoint,
  Hook,
  HookKind,
  HookPoint,
  Moments,
  ObserverHook,
} from '../../agent/hooks/hook.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import { isRecord } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { maxNotesPerRun } from './hook-notes.ts';
import type { FailedHook } from './hook-notes.ts';
import { createHookRunner } from './hooks.ts';
import type { HookRunner } from './hooks.ts';
import { maxQueuedTellings } from '../watch/observers.ts';

const facts = { runId: 'run-1', agent: 'support', turn: 1 };
const failure = createFailure('RATE_LIMITED', { message: 'slow down' });
const call = { callId: 'c1', name: 'refund', input: { cents: 5 }, effect: 'once' } as const;
const end = {
  callId: 'c1',
  name: 'refund',
  type: 'ok',
  content: 'done',
  resultHash: 'h',
  durationMs: 1,
} as const;
const moments: Moments = {
  'run-start': { ...facts, input: [{ role: 'user', content: 'Hello' }] },
  'run-end': {
    ...facts,
    outcome: {
      type: 'completed',
      output: 'ok',
      text: 'ok',
      runId: 'run-1',
      messages: [],
      usage: { ...emptyLedger, toolCalls: 0, elapsedMs: 1 },
      turns: 1,
      recoveries: [],
    },
  },
  'before-model': { ...facts, request: { messages: [{ role: 'user', content: 'Hello' }], tools: [] } },
  'after-model': { ...facts, result: { text: 'Hi', toolCalls: [], usage: {} } },
  'before-tool': { ...facts, call },
  'after-tool': { ...facts, call, end },
  failure: { ...facts, failure },
  recovery: { ...facts, recovery: { failure, recovery: 'retry', reason: 'it may pass' } },
  approval: {
    ...facts,
    request: {
      type: 'approval',
      id: 'a1',
      tool: 'refund',
      input: {},
      hash: 'h',
      why: 'money',
      expiresAt: 0,
    },
  },
};

const points = Object.keys(moments) as readonly HookPoint[];
const guardedPoints = points.filter((point): point is GuardrailPoint => hookRules[point].guardrail !== null);
const transformedPoints = points.filter((point) => hookRules[point].transformer !== null);

interface Made {
  readonly kind: HookKind;
  readonly point: HookPoint;
  readonly handle: (moment: never, context: { readonly signal: AbortSignal }) => unknown;
  readonly name?: string;
  readonly timeoutMs?: number;
}

/** As somebody without types would write it. */
function hook({ kind, point, handle, name = kind, timeoutMs }: Made): Hook {
  const made = { name, kind, on: { [point]: handle }, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return made;
}

function runnerOf(hooks: readonly Hook[]) {
  const clock = simulatedClock();
  const failed: FailedHook[] = [];
  const runner: HookRunner = createHookRunner(checkHooks(hooks), {
    clock,
    onFailed: (one) => failed.push(one),
  });
  return { clock, failed, runner };
}

const boom = (): never => {
  throw new Error('boom');
};
const never = (): Promise<never> => new Promise(() => undefined);
const unreadable = new Proxy({}, { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom });

const faults = [
  { fault: 'threw', how: 'throws', handle: boom },
  { fault: 'threw', how: 'rejects', handle: () => Promise.reject(new Error('boom')) },
  { fault: 'threw', how: 'throws null', handle: () => Promise.reject(null) },
  { fault: 'threw', how: 'throws a hostile object', handle: () => Promise.reject(unreadable) },
  { fault: 'timed-out', how: 'hangs', handle: never },
] as const;
const nonsense = [
  { fault: 'nonsense', how: 'answers a number', handle: () => 42 },
  { fault: 'nonsense', how: 'answers null', handle: () => null },
  { fault: 'nonsense', how: 'answers false', handle: () => Promise.resolve(false) },
  { fault: 'nonsense', how: 'answers a list', handle: () => [{ action: 'continue' }] },
  { fault: 'nonsense', how: 'answers an unknown action', handle: () => ({ action: 'stop' }) },
  { fault: 'nonsense', how: 'answers an object without an action', handle: () => ({ allow: false }) },
] as const;
const hostile = [
  {
    fault: 'nonsense',
    how: 'answers an object that cannot be read',
    handle: () => ({
      get action() {
        return boom();
      },
    }),
  },
] as const;

describe('a guardrail that fails', () => {
  const cases = guardedPoints.flatMap((point) =>
    [...faults, ...nonsense, ...hostile].map((fault) => ({ ...fault, point })),
  );
  it.each(cases)('means no where it $how at $point', async ({ point, handle, fault }) => {
    const { clock, runner, failed } = runnerOf([hook({ kind: 'guardrail', point, handle })]);
    const verdict = await clock.runUntil(runner.run(point, moments[point]));
    expect(verdict).toMatchObject({
      type: 'halt',
      hook: 'guardrail',
      failure: { code: 'HOOK_FAILED', origin: 'hook', context: { hook: 'guardrail', point, fault } },
    });
    expect(failed).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it.each(['modify', 'skip'])('may not %s', async (action) => {
    const handle = () => ({ action, text: 'x', content: 'x', input: {} });
    const { runner } = runnerOf([hook({ kind: 'guardrail', point: 'before-tool', handle })]);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    expect(verdict).toMatchObject({ type: 'halt', failure: { code: 'HOOK_FAILED' } });
  });

  it('means no where it halts without a reason', async () => {
    const handle = () => ({ action: 'halt' });
    const { runner } = runnerOf([hook({ kind: 'guardrail', point: 'before-tool', handle })]);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    expect(verdict).toMatchObject({ type: 'halt', failure: { code: 'HOOK_FAILED' } });
  });
});

describe('a guardrail that answers anything at all', () => {
  it('lets pass by nothing and by continue alone', async () => {
    const answers = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }),
      fc.record({ action: fc.anything(), reason: fc.anything() }),
    );
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        fc.pre(answer !== undefined);
        const { runner } = runnerOf([
          hook({ kind: 'guardrail', point: 'before-tool', handle: () => answer }),
        ]);
        const verdict = await runner.run('before-tool', moments['before-tool']);
        const isPass = isRecord(answer) && answer['action'] === 'continue';
        expect(verdict.type).toBe(isPass ? 'continue' : 'halt');
      }),
    );
  });
});

describe('a transformer that fails', () => {
  const cases = transformedPoints.flatMap((point) =>
    [...faults, ...nonsense, ...hostile].map((fault) => ({ ...fault, point })),
  );
  it.each(cases)('ends its step where it $how at $point', async ({ point, handle, fault }) => {
    const { clock, runner } = runnerOf([hook({ kind: 'transformer', point, handle })]);
    const verdict = await clock.runUntil(runner.run(point, moments[point]));
    expect(verdict).toMatchObject({
      type: 'failed',
      hook: 'transformer',
      failure: { code: 'HOOK_FAILED', retryable: false, context: { point, fault } },
    });
    expect(clock.pending()).toBe(0);
  });

  it.each([
    { point: 'run-start', answer: { messages: [] } },
    { point: 'run-start', answer: { messages: [{ role: 'boss', content: 'x' }] } },
    { point: 'run-start', answer: {} },
    { point: 'before-model', answer: {} },
    { point: 'before-model', answer: { instructions: 5 } },
    { point: 'before-model', answer: { messages: [{ role: 'user', content: new Date(0) }] } },
    { point: 'after-model', answer: { text: ' ' } },
    { point: 'after-model', answer: { text: 'x'.repeat(1_000_001) } },
    { point: 'before-tool', answer: {} },
    { point: 'before-tool', answer: { input: new Map() } },
    { point: 'before-tool', answer: { input: { cents: Number.NaN } } },
    { point: 'before-tool', answer: { input: unreadable } },
    { point: 'after-tool', answer: { content: 5 } },
    { point: 'after-tool', answer: { content: [{ type: 'file' }] } },
  ] as const)('at $point with a change that makes no sense ends its step', async ({ point, answer }) => {
    const handle = () => ({ action: 'modify', ...answer });
    const { runner } = runnerOf([hook({ kind: 'transformer', point, handle })]);
    const verdict = await runner.run(point, moments[point]);
    expect(verdict).toMatchObject({ type: 'failed', failure: { context: { fault: 'nonsense' } } });
  });

  it.each([
    { point: 'run-start', answer: { action: 'skip', text: 'x' } },
    { point: 'after-tool', answer: { action: 'skip', content: 'x' } },
    { point: 'before-tool', answer: { action: 'halt', reason: 'x' } },
    { point: 'before-model', answer: { action: 'skip', text: '' } },
    { point: 'before-tool', answer: { action: 'skip' } },
  ] as const)('may not answer $answer.action at $point', async ({ point, answer }) => {
    const { runner } = runnerOf([hook({ kind: 'transformer', point, handle: () => answer })]);
    const verdict = await runner.run(point, moments[point]);
    expect(verdict).toMatchObject({ type: 'failed', failure: { code: 'HOOK_FAILED' } });
  });

  it('may not change the text of an answer that calls tools', async () => {
    const toolCalls = [{ type: 'tool-call', callId: 'c', name: 'n', argumentsText: '{}' }] as const;
    const moment = { ...facts, result: { text: 'a', toolCalls, usage: {} } };
    const handle = () => ({ action: 'modify', text: 'b' });
    const { runner } = runnerOf([hook({ kind: 'transformer', point: 'after-model', handle })]);
    const verdict = await runner.run('after-model', moment);
    expect(verdict).toMatchObject({ type: 'failed' });
  });
});

describe('an observer that fails (K01)', () => {
  const cases = points.flatMap((point) =>
    [...faults, ...hostile, { fault: 'nonsense', how: 'halts', handle: () => ({ action: 'halt' }) }].map(
      (fault) => ({ ...fault, point }),
    ),
  );
  it.each(cases)('is noted where it $how at $point', async ({ point, handle, fault }) => {
    const { clock, runner, failed } = runnerOf([hook({ kind: 'observer', point, handle })]);
    const verdict = await runner.run(point, moments[point]);
    expect(verdict).toEqual({ type: 'continue', moment: moments[point], modifiedBy: [] });
    await clock.runAll();
    expect(failed).toMatchObject([
      { runId: 'run-1', agent: 'support', hook: 'observer', point, failure: { code: 'HOOK_FAILED' } },
    ]);
    expect(failed[0]?.failure.context).toMatchObject({ fault });
  });

  it('may return whatever its last expression gives', async () => {
    const seen: unknown[] = [];
    const { runner, failed } = runnerOf([
      { name: 'o', kind: 'observer', on: { failure: (moment) => void seen.push(moment) } },
      hook({ kind: 'observer', point: 'failure', handle: (moment) => seen.push(moment) }),
    ]);
    await runner.run('failure', moments.failure);
    expect(seen).toEqual([moments.failure, moments.failure]);
    expect(failed).toEqual([]);
  });

  it('is told of at most twenty times per run', async () => {
    const { runner, failed } = runnerOf([hook({ kind: 'observer', point: 'failure', handle: boom })]);
    for (let index = 0; index < 50; index += 1) await runner.run('failure', moments.failure);
    await runner.run('failure', { ...moments.failure, runId: 'run-2' });
    expect(failed).toHaveLength(maxNotesPerRun + 1);
    expect(failed.at(-1)?.runId).toBe('run-2');
  });
});

describe('five hooks of which one fails (K05)', () => {
  it.each([0, 1, 2, 3, 4])('all other observers still run when number %i throws', async (broken) => {
    const order: number[] = [];
    const hooks = [0, 1, 2, 3, 4].map((index) =>
      hook({
        kind: 'observer',
        name: `o${index}`,
        point: 'before-tool',
        handle: () => (index === broken ? boom() : order.push(index)),
      }),
    );
    const { runner, failed } = runnerOf(hooks);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    expect(verdict.type).toBe('continue');
    expect(order).toEqual([0, 1, 2, 3, 4].filter((index) => index !== broken));
    expect(failed.map((one) => one.hook)).toEqual([`o${broken}`]);
  });

  it('tells the observers also where a transformer fails or a guardrail says no', async () => {
    const seen: string[] = [];
    const watch = hook({ kind: 'observer', point: 'before-tool', handle: () => seen.push('seen') });
    for (const kind of ['transformer', 'guardrail'] as const) {
      const { runner } = runnerOf([watch, hook({ kind, point: 'before-tool', handle: boom })]);
      await runner.run('before-tool', moments['before-tool']);
    }
    expect(seen).toEqual(['seen', 'seen']);
  });

  it('a hanging observer holds up neither the run nor the others', async () => {
    const seen: string[] = [];
    const { clock, runner, failed } = runnerOf([
      hook({ kind: 'observer', name: 'deaf', point: 'failure', handle: never }),
      hook({ kind: 'observer', name: 'well', point: 'failure', handle: () => seen.push('well') }),
    ]);
    await runner.run('failure', moments.failure);
    await runner.run('failure', moments.failure);
    expect(seen).toEqual(['well', 'well']);
    await clock.runAll();
    expect(failed.map(({ hook: name }) => name)).toEqual(['deaf', 'deaf']);
    expect(clock.monotonicMs()).toBe(10_000);
  });

  it('drops what a deaf observer can never hear, and counts it', async () => {
    const deaf: Hook = { name: 'deaf', kind: 'observer', on: {}, onEvent: never };
    const { runner } = runnerOf([deaf]);
    const event: RunEvent = { type: 'text-delta', turn: 1, text: 'x' };
    for (let index = 0; index < maxQueuedTellings + 101; index += 1) runner.tellEvent(event, facts);
    expect(runner.dropped()).toBe(100);
  });
});

describe('run()', () => {
  it('goes on at every point where nobody stands', async () => {
    const { runner } = runnerOf([]);
    for (const point of points) {
      expect(runner.has(point)).toBe(false);
      expect(await runner.run(point, moments[point])).toMatchObject({ type: 'continue' });
    }
    expect(runner.hearsEvents).toBe(false);
  });

  it.each(guardedPoints)('lets a guardrail pass at %s by continue and by nothing', async (point) => {
    const { runner } = runnerOf([
      hook({ kind: 'guardrail', point, handle: () => ({ action: 'continue' }) }),
      hook({ kind: 'guardrail', point, handle: () => Promise.resolve() }),
    ]);
    expect(runner.has(point)).toBe(true);
    expect(await runner.run(point, moments[point])).toMatchObject({ type: 'continue', modifiedBy: [] });
  });

  it.each(guardedPoints)('gives the reason of a guardrail that halts at %s', async (point) => {
    const handle = () => ({ action: 'halt', reason: 'No refunds on Sundays' });
    const { runner } = runnerOf([hook({ kind: 'guardrail', point, handle })]);
    expect(await runner.run(point, moments[point])).toMatchObject({
      type: 'halt',
      failure: { code: 'HOOK_TERMINATED', message: 'No refunds on Sundays', context: { point } },
    });
  });

  it.each([
    {
      point: 'run-start',
      answer: { messages: [{ role: 'user', content: 'Bye' }] },
      expected: { input: [{ role: 'user', content: 'Bye' }] },
    },
    {
      point: 'before-model',
      answer: { instructions: 'Be short' },
      expected: { request: { ...moments['before-model'].request, instructions: 'Be short' } },
    },
    {
      point: 'before-model',
      answer: { messages: [{ role: 'user', content: 'Bye' }] },
      expected: { request: { messages: [{ role: 'user', content: 'Bye' }], tools: [] } },
    },
    { point: 'after-model', answer: { text: 'Ho' }, expected: { result: { text: 'Ho' } } },
    { point: 'before-tool', answer: { input: { cents: 4 } }, expected: { call: { input: { cents: 4 } } } },
    { point: 'before-tool', answer: { input: null }, expected: { call: { input: null } } },
    { point: 'after-tool', answer: { content: 'cut' }, expected: { end: { type: 'ok', content: 'cut' } } },
    {
      point: 'after-tool',
      answer: { content: [{ type: 'text', text: 'cut' }] },
      expected: { end: { content: [{ type: 'text', text: 'cut' }] } },
    },
  ] as const)('takes in a change at $point: $answer', async ({ point, answer, expected }) => {
    const handle = () => ({ action: 'modify', ...answer });
    const { runner } = runnerOf([hook({ kind: 'transformer', name: 't', point, handle })]);
    const verdict = await runner.run(point, moments[point]);
    expect(verdict).toMatchObject({ type: 'continue', moment: { ...facts, ...expected }, modifiedBy: ['t'] });
  });

  it.each([
    { point: 'before-model', standIn: { text: 'From the cache' } },
    { point: 'before-tool', standIn: { content: 'From the cache' } },
  ] as const)('lets a transformer stand in at $point', async ({ point, standIn }) => {
    const later: string[] = [];
    const { runner } = runnerOf([
      hook({ kind: 'transformer', name: 't', point, handle: () => ({ action: 'skip', ...standIn }) }),
      hook({ kind: 'transformer', name: 'later', point, handle: () => void later.push('asked') }),
    ]);
    expect(await runner.run(point, moments[point])).toEqual({ type: 'skip', hook: 't', standIn });
    expect(later).toEqual([]);
  });

  it('asks guardrails also where the step is skipped', async () => {
    const { runner } = runnerOf([
      hook({ kind: 'guardrail', point: 'before-tool', handle: () => ({ action: 'halt', reason: 'no' }) }),
      hook({
        kind: 'transformer',
        point: 'before-tool',
        handle: () => ({ action: 'skip', content: 'x' }),
      }),
    ]);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    expect(verdict).toMatchObject({ type: 'halt' });
  });

  it('asks transformers in order and shows guardrails and observers what they made', async () => {
    const seen: unknown[] = [];
    const add = (cents: number): Hook => ({
      name: `add-${cents}`,
      kind: 'transformer',
      on: {
        'before-tool': ({ call: { input } }) => ({
          action: 'modify',
          input: { cents: (input as { cents: number }).cents * 10 + cents },
        }),
      },
    });
    const { runner } = runnerOf([
      {
        name: 'o',
        kind: 'observer',
        on: { 'before-tool': ({ call: { input } }) => void seen.push(['o', input]) },
      },
      {
        name: 'g',
        kind: 'guardrail',
        on: { 'before-tool': ({ call: { input } }) => void seen.push(['g', input]) },
      },
      add(1),
      add(2),
    ]);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    expect(verdict).toMatchObject({ modifiedBy: ['add-1', 'add-2'] });
    expect(seen).toEqual([
      ['g', { cents: 512 }],
      ['o', { cents: 512 }],
    ]);
  });

  it('takes a copy of a change, so that the hook cannot alter it later', async () => {
    const input = { cents: 1 };
    const { runner } = runnerOf([
      hook({ kind: 'transformer', point: 'before-tool', handle: () => ({ action: 'modify', input }) }),
    ]);
    const verdict = await runner.run('before-tool', moments['before-tool']);
    input.cents = 1_000_000;
    expect(verdict).toMatchObject({ moment: { call: { input: { cents: 1 } } } });
  });

  it.each(['transformer', 'guardrail'] as const)(
    'ends at once when the run is cancelled while a %s hangs',
    async (kind) => {
      const controller = new AbortController();
      const signals: AbortSignal[] = [];
      const { clock, runner } = runnerOf([
        hook({
          kind,
          point: 'before-tool',
          handle: (_moment, { signal }) => {
            signals.push(signal);
            return never();
          },
        }),
      ]);
      const verdict = runner.run('before-tool', moments['before-tool'], { signal: controller.signal });
      controller.abort(new Error('enough'));
      expect(await verdict).toEqual({ type: 'aborted' });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(clock.pending()).toBe(0);
      const after = await runner.run('before-tool', moments['before-tool'], { signal: controller.signal });
      expect(after).toEqual({ type: 'aborted' });
      expect(signals).toHaveLength(1);
    },
  );

  it('tells a hook whose time is over to stop, and does not hear what comes after', async () => {
    const heard: unknown[] = [];
    const { clock, runner } = runnerOf([
      hook({
        kind: 'guardrail',
        point: 'before-tool',
        timeoutMs: 50,
        handle: (_moment, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              heard.push((signal.reason as Error).name);
              reject(new Error('late'));
            });
          }),
      }),
    ]);
    const verdict = await clock.runUntil(runner.run('before-tool', moments['before-tool']));
    expect(verdict).toMatchObject({ failure: { context: { fault: 'timed-out' } } });
    expect(heard).toEqual(['TimeoutError']);
    expect(clock.monotonicMs()).toBe(50);
  });
});

describe('tellEvent() and drain()', () => {
  const event: RunEvent = { type: 'text-delta', turn: 1, text: 'x' };
  const told = (onEvent: ObserverHook['onEvent'] & {}, name = 'o'): Hook => ({
    name,
    kind: 'observer',
    on: {},
    onEvent,
  });

  it('notes an observer that throws, and never in a circle', () => {
    const failed: FailedHook[] = [];
    const runner: HookRunner = createHookRunner(checkHooks([told(boom)]), {
      clock: simulatedClock(),
      onFailed: (one) => {
        failed.push(one);
        runner.tellEvent(
          { type: 'hook-failed', hook: one.hook, point: one.point, failure: one.failure },
          facts,
        );
      },
    });
    runner.tellEvent(event, facts);
    expect(failed).toMatchObject([{ hook: 'o', point: 'event', failure: { code: 'HOOK_FAILED' } }]);
  });

  it('tells every observer every event, in order, with the run it belongs to', async () => {
    const seen: unknown[] = [];
    const slow = told(async (heard, about) => {
      await Promise.resolve();
      seen.push(['slow', heard.type, about.runId]);
    });
    const { runner, clock } = runnerOf([
      slow,
      told((heard, about) => void seen.push(['quick', heard.type, about.runId])),
    ]);
    expect(runner.hearsEvents).toBe(true);
    runner.tellEvent(event, facts);
    runner.tellEvent({ type: 'tool-restored', turn: 1, name: 't' }, { ...facts, runId: 'run-2' });
    await runner.drain({ maxMs: 1000 });
    expect(seen).toEqual([
      ['quick', 'text-delta', 'run-1'],
      ['quick', 'tool-restored', 'run-2'],
      ['slow', 'text-delta', 'run-1'],
      ['slow', 'tool-restored', 'run-2'],
    ]);
    expect(clock.pending()).toBe(0);
  });

  it('drain() ends after its time, and at once when told to', async () => {
    const { runner, clock } = runnerOf([told(never)]);
    await runner.drain({ maxMs: 1000 });
    runner.tellEvent(event, facts);
    await clock.runUntil(runner.drain({ maxMs: 1000 }));
    expect(clock.monotonicMs()).toBe(1000);
    await runner.drain({ maxMs: 1000, signal: AbortSignal.abort() });
    expect(clock.monotonicMs()).toBe(1000);
  });
});
