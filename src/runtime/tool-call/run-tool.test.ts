import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import type { Clock } from '../../base/clock.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { InputCheck, Tool, ToolContext, ToolEffect } from '../../model/tool.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createLeftBehind } from './left-behind.ts';
import type { LeftBehind } from './left-behind.ts';
import { runTool, verifyTool } from './run-tool.ts';
import type { LateEnd, ToolProgress, ToolRun, ToolRunOptions } from './run-tool.ts';

const effects: readonly ToolEffect[] = ['read', 'idempotent', 'once'];

type Execute = (input: unknown, context: ToolContext) => unknown;

function makeTool(execute: Execute, rest: Partial<Tool> = {}): Tool {
  return {
    name: 'probe',
    description: 'For tests.',
    parameters: { type: 'object' },
    effect: 'read',
    timeoutMs: 1000,
    permission: 'allow',
    maxResultCharacters: 10_000,
    parse: (value) => ({ type: 'valid', value }),
    execute,
    ...rest,
  };
}

interface Watched {
  readonly run: ToolRun;
  readonly options: ToolRunOptions;
  readonly late: LateEnd[];
  readonly progress: ToolProgress[];
  readonly background: unknown[];
  readonly abort: (reason: unknown) => void;
}

type Given = Partial<ToolRun> & { readonly clock?: Clock; readonly leftBehind?: LeftBehind };

function watch(tool: Tool, rest: Given = {}): Watched {
  const { clock = simulatedClock(), leftBehind = createLeftBehind(), ...fields } = rest;
  const controller = new AbortController();
  const [late, progress, background]: [LateEnd[], ToolProgress[], unknown[]] = [[], [], []];
  return {
    run: {
      tool,
      callId: 'call-1',
      input: { a: 1 },
      runId: 'run-1',
      turn: 1,
      attempt: 1,
      idempotencyKey: 'key-1',
      leftMs: 60_000,
      ...fields,
    },
    options: {
      clock,
      leftBehind,
      owner: { onStray: () => 'taken' },
      signal: controller.signal,
      onProgress: (report) => progress.push(report),
      onLate: (report) => late.push(report),
      assist: () => Promise.reject(RerailError.from(createFailure('OVERLOADED', { message: 'busy' }))),
      onBackground: (label, work) => background.push([label, work]),
    },
    late,
    progress,
    background,
    abort: (reason) => controller.abort(reason),
  };
}

function runWatched({ run, options }: Watched): Promise<ToolEnd> {
  return Promise.resolve(runTool(run, options)) as Promise<ToolEnd>; // None of these tools asks a person.
}

function runOnce(execute: Execute, rest: Partial<Tool> = {}): Promise<ToolEnd> {
  return runWatched(watch(makeTool(execute, rest)));
}

const throwing =
  (thrown: unknown): Execute =>
  () => {
    throw thrown;
  };
const rejecting =
  (thrown: unknown): Execute =>
  () =>
    Promise.reject(thrown);
function textOf({ content }: ToolEnd): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
const forever = (): Promise<never> => new Promise(() => undefined);
const untilAborted: Execute = (_input, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

// Whatever happens in this file, no rejection may be left to nobody: that ends a process.
const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeAll(() => process.on('unhandledRejection', note));
afterAll(() => {
  process.off('unhandledRejection', note);
});

const circularError = new Error('round and round');
circularError.cause = circularError;
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const trap = (): never => {
  throw new Error('do not touch');
};

describe('runTool(), when a tool throws', () => {
  const hostile: readonly { readonly what: string; readonly thrown: unknown; readonly says: string }[] = [
    { what: 'an error', thrown: new Error('no such table'), says: 'no such table' },
    { what: 'null', thrown: null, says: 'null was thrown' },
    { what: 'undefined', thrown: undefined, says: 'undefined was thrown' },
    { what: 'a text', thrown: 'out of paper', says: 'out of paper' },
    { what: 'a symbol', thrown: Symbol('odd'), says: 'Symbol(odd)' },
    { what: 'a frozen object', thrown: Object.freeze({ message: 'cold' }), says: 'cold' },
    {
      what: 'an object with a getter that throws',
      thrown: Object.defineProperty({}, 'message', { get: trap }),
      says: 'without a message was thrown',
    },
    {
      what: 'a Proxy that throws',
      thrown: new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap }),
      says: 'without a message was thrown',
    },
    { what: 'a revoked Proxy', thrown: revoked.proxy, says: 'without a message was thrown' },
    { what: 'an error that causes itself', thrown: circularError, says: 'round and round' },
    {
      what: 'an aggregate',
      thrown: new AggregateError([new Error('first door shut'), 'second door shut'], 'all doors'),
      says: 'all doors (first door shut; second door shut)',
    },
  ];

  it.each(hostile)('fails typed for $what, thrown or rejected with', async ({ thrown, says }) => {
    for (const execute of [throwing(thrown), rejecting(thrown)]) {
      const end = await runOnce(execute);
      expect(end).toMatchObject({
        callId: 'call-1',
        name: 'probe',
        type: 'failed',
        failure: { code: 'TOOL_EXECUTION_ERROR', origin: 'tool', context: { tool: 'probe' } },
      });
      expect(end.failure?.message).toContain(says);
      expect(end.content).toContain(says);
      expect(() => JSON.stringify(end)).not.toThrow();
    }
  });

  it('tells the model neither stack nor secret, and not more than 2,000 characters', async () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(24)}`;
    const end = await runOnce(throwing(new Error(`refused ${key} ${'x '.repeat(5000)}`)), { effect: 'once' });
    expect(end.content).not.toContain(key);
    expect(end.content).not.toContain('run-tool.test.ts');
    expect(end.content.length).toBeLessThanOrEqual(2000);
    expect(end.content).toMatch(/It may have taken effect: check before calling it again\.$/);
  });

  it.each([
    { effect: 'read', sideEffect: 'none' },
    { effect: 'idempotent', sideEffect: 'possible' },
    { effect: 'once', sideEffect: 'possible' },
  ] as const)(
    'says of a $effect tool that its side effect is $sideEffect',
    async ({ effect, sideEffect }) => {
      const end = await runOnce(throwing(new Error('broke')), { effect });
      expect(end.failure).toMatchObject({ sideEffect });
      expect(textOf(end).includes('may have taken effect')).toBe(effect === 'once');
    },
  );

  it('keeps what the tool says of itself', async () => {
    const end = await runOnce(
      (_input, { fail }) =>
        fail('the file is gone', { code: 'NOT_FOUND', sideEffect: 'none', retryable: true, retryAfterMs: 5 }),
      { effect: 'once' },
    );
    expect(end).toMatchObject({
      type: 'failed',
      content: 'Not found: the file is gone. Look up the right name before trying again.',
      failure: {
        code: 'NOT_FOUND',
        retryable: true,
        retryAfterMs: 5,
        sideEffect: 'none',
        classifiedBy: 'declared',
      },
    });
  });

  it('takes nonsense that a tool says of itself for what it is', async () => {
    const details = {
      code: 'NO_SUCH_CODE',
      retryAfterMs: Number.NaN,
      sideEffect: 'huge',
      context: new Proxy({}, { ownKeys: trap }),
    };
    const end = await runOnce((_input, { fail }) => fail('odd', details as never));
    expect(end.failure).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'odd',
      sideEffect: 'none',
      context: { tool: 'probe', unknownCode: 'NO_SUCH_CODE' },
    });
  });

  it('asks the tool to classify its own errors first', async () => {
    const end = await runOnce(throwing(new Error('slow down')), {
      classifyError: () => ({ code: 'RATE_LIMITED', retryAfterMs: 500, message: 'the shop is busy' }),
    });
    expect(end.failure).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterMs: 500,
      message: 'the shop is busy',
      causes: [{ message: 'slow down' }],
    });
  });

  it.each([
    {
      what: 'throws',
      classifyError: throwing(new Error('classifier broke')),
      why: 'it threw: classifier broke',
    },
    {
      what: 'answers nonsense',
      classifyError: () => 7,
      why: 'its answer is no verdict',
    },
  ])('ignores a classifier that $what, and notes it', async ({ classifyError, why }) => {
    const end = await runOnce(throwing(new Error('the real fault')), {
      classifyError: classifyError as never,
    });
    expect(end.failure).toMatchObject({ message: 'the real fault', context: { classifyError: why } });
  });

  it('goes its own way where the classifier does not know the error', async () => {
    const thrown = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const end = await runOnce(throwing(thrown), { classifyError: () => undefined });
    expect(end.failure).toMatchObject({ code: 'NETWORK_ERROR', classifiedBy: 'errno' });
  });

  it('keeps the failure of a RerailError, with the name of the tool', async () => {
    const failure = createFailure('RATE_LIMITED', { origin: 'tool', message: 'busy', sideEffect: 'none' });
    const end = await runOnce(throwing(RerailError.from(failure)), { effect: 'once' });
    expect(end.failure).toMatchObject({
      code: 'RATE_LIMITED',
      sideEffect: 'none',
      context: { tool: 'probe' },
    });
  });
});

describe('runTool(), when a tool asks for a retry', () => {
  const asking: readonly { readonly how: string; readonly execute: Execute }[] = [
    { how: 'at once', execute: (_input, { retry }) => retry('use a shorter name') },
    {
      how: 'after a wait',
      execute: async (_input, { retry }) => {
        await Promise.resolve();
        retry('use a shorter name');
      },
    },
    {
      how: 'wrapped by a library',
      execute: (_input, { retry }) => {
        try {
          return retry('use a shorter name');
        } catch (error) {
          throw new Error('query failed', { cause: error });
        }
      },
    },
    {
      how: 'by returning what was thrown',
      execute: (_input, { retry }) => {
        try {
          return retry('use a shorter name');
        } catch (error) {
          return error;
        }
      },
    },
  ];
  it.each(asking)('hands the hint to the model: $how', async ({ execute }) => {
    const end = await runOnce(execute, { effect: 'once' });
    expect(end).toMatchObject({ type: 'retry', content: 'use a shorter name' });
    expect(end).not.toHaveProperty('failure');
  });
});

describe('runTool(), when a tool does not end in time', () => {
  it.each([
    { effect: 'read', type: 'failed', code: 'TIMEOUT', sideEffect: 'none' },
    { effect: 'idempotent', type: 'failed', code: 'TIMEOUT', sideEffect: 'possible' },
    { effect: 'once', type: 'unknown', code: 'UNKNOWN_OUTCOME', sideEffect: 'possible' },
  ] as const)('ends a $effect call as $type', async ({ effect, type, ...failure }) => {
    const clock = simulatedClock();
    // Only what has stopped can be tried again without being done twice.
    for (const { execute, durationMs, isRunning } of [
      { execute: untilAborted, durationMs: 1000, isRunning: false },
      { execute: forever, durationMs: 1250, isRunning: true },
    ]) {
      const watched = watch(makeTool(execute, { effect }), { clock });
      const end = await clock.runUntil(runWatched(watched));
      const retryable = effect !== 'once' && !isRunning;
      expect(end).toMatchObject({
        type,
        durationMs,
        failure: { ...failure, retryable, origin: 'tool', context: { timeoutMs: 1000, tool: 'probe' } },
      });
      expect(end.failure?.context['stillRunning']).toBe(isRunning ? true : undefined);
      expect(clock.pending()).toBe(0);
    }
  });

  it('gives it no more than what is left of the run, and does not begin with nothing left', async () => {
    const clock = simulatedClock();
    const short = watch(makeTool(forever), { clock, leftMs: 50 });
    expect(await clock.runUntil(runWatched(short))).toMatchObject({ durationMs: 50 });
    let wasCalled = false;
    const none = watch(
      makeTool(() => (wasCalled = true), { effect: 'once' }),
      { clock, leftMs: 0 },
    );
    expect(await runWatched(none)).toMatchObject({
      type: 'failed',
      failure: { code: 'TIMEOUT', sideEffect: 'none', retryable: false },
    });
    expect(wasCalled).toBe(false);
  });

  it('aborts its signal, also where it asks for it only later', async () => {
    const clock = simulatedClock();
    const seen: ToolContext[] = [];
    const early: AbortSignal[] = [];
    const watched = watch(
      makeTool((_input, context) => {
        seen.push(context);
        early.push(context.signal);
        return forever();
      }),
      { clock },
    );
    const other = watch(
      makeTool((_input, context) => {
        seen.push(context);
        return forever();
      }),
      { clock },
    );
    await clock.runUntil(Promise.all([runWatched(watched), runWatched(other)]));
    expect(early.map(({ aborted }) => aborted)).toEqual([true]);
    expect(seen.map(({ signal }) => (signal.reason as Error).name)).toEqual(['TimeoutError', 'TimeoutError']);
  });

  const lateOnes: readonly {
    readonly what: string;
    readonly execute: (clock: Clock) => Execute;
    readonly late: object;
  }[] = [
    {
      what: 'returns',
      execute: (clock) => () => new Promise((resolve) => clock.after(5000, () => resolve({ paid: true }))),
      late: { settled: 'returned', afterMs: 5000, summary: '{"paid":true}' },
    },
    {
      what: 'throws',
      execute: (clock) => () =>
        new Promise((_, reject) => clock.after(5000, () => reject(new Error('too late')))),
      late: { settled: 'threw', afterMs: 5000, summary: 'too late' },
    },
    {
      what: 'throws null',
      execute: (clock) => () => new Promise((_, reject) => clock.after(5000, () => reject(null))),
      late: { settled: 'threw', afterMs: 5000, summary: 'null was thrown' },
    },
    {
      what: 'asks for a retry',
      execute:
        (clock) =>
        (_input, { retry }) =>
          new Promise((resolve) => clock.after(5000, () => resolve(1))).then(() => retry('again')),
      late: { settled: 'threw', afterMs: 5000, summary: 'again' },
    },
  ];
  it.each(lateOnes)('reports a tool that $what afterwards, as evidence only', async ({ execute, late }) => {
    const clock = simulatedClock();
    const watched = watch(makeTool(execute(clock), { effect: 'once' }), { clock });
    expect(await clock.runUntil(runWatched(watched))).toMatchObject({ type: 'unknown' });
    expect(watched.late).toEqual([]);
    await clock.runAll();
    expect(watched.late).toEqual([late]);
  });

  it('bounds and redacts what comes late, and survives a listener that throws', async () => {
    const clock = simulatedClock();
    const key = `sk-ant-api03-${'a1B2'.repeat(24)}`;
    const execute: Execute = () =>
      new Promise((resolve) => clock.after(5000, () => resolve(`${key} ${'x'.repeat(90_000)}`)));
    const watched = watch(makeTool(execute), { clock });
    const broken = watch(makeTool(execute), { clock });
    const ends = Promise.all([runWatched(watched), runTool(broken.run, { ...broken.options, onLate: trap })]);
    await clock.runUntil(ends);
    await clock.runAll();
    expect(watched.late[0]?.summary.length).toBeLessThanOrEqual(500);
    expect(watched.late[0]?.summary).not.toContain(key);
  });

  it('counts the calls of the tool that still run although their wait has ended', async () => {
    const clock = simulatedClock();
    const leftBehind = createLeftBehind();
    const tool = makeTool(forever);
    const ends = await clock.runUntil(
      (async () => {
        const first = await runWatched(watch(tool, { clock, leftBehind }));
        const second = await runWatched(watch(tool, { clock, leftBehind, input: { a: 2 } }));
        return [first, second];
      })(),
    );
    expect(ends.map(({ failure }) => failure?.context['leftBehind'])).toEqual([undefined, 2]);
  });

  it('forgets the oldest of a thousand calls that never settle', async () => {
    const clock = simulatedClock();
    const leftBehind = createLeftBehind();
    const tool = makeTool(forever);
    const calls = Array.from({ length: 1001 }, (_, a) => watch(tool, { clock, leftBehind, input: { a } }));
    await clock.runUntil(Promise.all(calls.map(runWatched)));
    expect(leftBehind.count(tool)).toBe(1000);
    expect(leftBehind.find(watch(tool, { input: { a: 0 } }).run)).toBeUndefined();
    expect(leftBehind.find(watch(tool, { input: { a: 1 } }).run)).toBe('same-call');
  });

  it('never begins a call whose input took too long to check', async () => {
    const clock = simulatedClock();
    let wasCalled = false;
    const parse = (): Promise<InputCheck> =>
      new Promise((resolve) => clock.after(3000, () => resolve({ type: 'valid', value: 1 })));
    const tool = makeTool(() => (wasCalled = true), { effect: 'once', parse });
    const end = await clock.runUntil(runWatched(watch(tool, { clock })));
    await clock.runAll();
    expect(end).toMatchObject({ type: 'failed', failure: { code: 'TIMEOUT', sideEffect: 'none' } });
    expect(wasCalled).toBe(false);
  });

  it('ends a stream without end that yields slowly', async () => {
    const clock = simulatedClock();
    async function* slow(): AsyncGenerator<string> {
      for (;;) {
        await new Promise<void>((resolve) => clock.after(300, resolve));
        yield 'tick';
      }
    }
    const watched = watch(makeTool(slow), { clock });
    expect(await clock.runUntil(runWatched(watched))).toMatchObject({ failure: { code: 'TIMEOUT' } });
    await clock.runAll();
    expect(watched.late).toMatchObject([{ settled: 'returned', afterMs: 1200 }]);
  });
});

describe('runTool(), when the run is cancelled', () => {
  it.each([
    { effect: 'read', type: 'failed', code: 'CANCELLED', sideEffect: 'none' },
    { effect: 'idempotent', type: 'failed', code: 'CANCELLED', sideEffect: 'possible' },
    { effect: 'once', type: 'unknown', code: 'UNKNOWN_OUTCOME', sideEffect: 'possible' },
  ] as const)('ends a deaf $effect call at once as $type', async ({ effect, type, ...failure }) => {
    const clock = simulatedClock();
    const reasons: unknown[] = [];
    const tool = makeTool(
      (_input, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return forever();
      },
      { effect },
    );
    const watched = watch(tool, { clock });
    const ending = runWatched(watched);
    watched.abort('stop it');
    expect(await ending).toMatchObject({ type, failure });
    expect(reasons).toEqual(['stop it']);
    expect(clock.pending()).toBe(0);
  });

  it.each(effects)('does not begin a %s call any more', async (effect) => {
    let wasCalled = false;
    const watched = watch(makeTool(() => (wasCalled = true), { effect }));
    watched.abort('stop it');
    expect(await runWatched(watched)).toMatchObject({
      type: 'failed',
      failure: { code: 'CANCELLED', sideEffect: 'none' },
    });
    expect(wasCalled).toBe(false);
  });

  it('ends a call that cancels its own run', async () => {
    const tool = makeTool(() => {
      watched.abort('myself');
      return forever();
    });
    const watched: Watched = watch(tool);
    expect(await runWatched(watched)).toMatchObject({ failure: { code: 'CANCELLED' } });
  });

  it('keeps one listener on a signal that a hundred calls share, and none after them', async () => {
    const clock = simulatedClock();
    const { signal } = new AbortController();
    const tool = makeTool(() => new Promise((resolve) => clock.after(10, () => resolve(1))));
    const ends = Array.from({ length: 100 }, () => {
      const { run, options } = watch(tool, { clock });
      return Promise.resolve(runTool(run, { ...options, signal }));
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await clock.runUntil(Promise.all(ends));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('runTool(), when all goes well', () => {
  async function* twoPieces(): AsyncGenerator<string> {
    yield await Promise.resolve('do');
    yield 'ne';
  }

  it('needs no timer for a tool that returns at once', async () => {
    const timers: number[] = [];
    const simulated = simulatedClock();
    const clock: Clock = {
      ...simulated,
      after: (delayMs, callback) => {
        timers.push(delayMs);
        return simulated.after(delayMs, callback);
      },
    };
    expect(
      await runWatched(
        watch(
          makeTool((input) => input),
          { clock },
        ),
      ),
    ).toMatchObject({
      type: 'ok',
      content: '{"a":1}',
      durationMs: 0,
    });
    expect(timers).toEqual([]);
  });

  it.each([
    { what: 'a promise', execute: () => Promise.resolve('done') },
    { what: 'a promise of a promise', execute: async () => Promise.resolve(Promise.resolve('done')) },
    // oxlint-disable-next-line unicorn/no-thenable -- what some libraries return
    { what: 'a thenable', execute: () => ({ then: (go: (text: string) => void) => go('done') }) },
    {
      what: 'a stream',
      execute: twoPieces,
    },
  ])('takes the value of $what', async ({ execute }) => {
    expect(await runOnce(execute)).toMatchObject({ type: 'ok', content: 'done' });
  });

  it('gives the tool what the schema made of its input, and who it is', async () => {
    const parse = (): InputCheck => ({ type: 'valid', value: { when: new Date(0) } });
    const end = await runOnce(
      (input, { runId, callId, idempotencyKey, attempt, signal }) => [
        input,
        runId,
        callId,
        idempotencyKey,
        attempt,
        signal.aborted,
      ],
      { parse },
    );
    expect(JSON.parse(textOf(end))).toEqual([
      { when: '1970-01-01T00:00:00.000Z' },
      'run-1',
      'call-1',
      'key-1',
      1,
      false,
    ]);
  });

  it('keeps the key and the signal in a copy of the context, as somebody makes who wraps a tool', async () => {
    const end = await runOnce((_input, context) => {
      const copy = { ...context };
      return [copy.idempotencyKey, copy.signal === context.signal, Object.keys(copy).toSorted()];
    });
    const names = ['ask', 'assist', 'attempt', 'background', 'callId', 'fail', 'idempotencyKey', 'progress'];
    expect(JSON.parse(textOf(end))).toEqual([
      'key-1',
      true,
      [...names, 'recall', 'remember', 'retry', 'runId', 'signal'],
    ]);
  });

  it('passes progress on while somebody waits: bounded, redacted, numbers only', async () => {
    const clock = simulatedClock();
    const watched = watch(
      makeTool(async (_input, { progress }) => {
        progress('x'.repeat(9000), { done: 1, total: Number.NaN });
        progress(7 as never, 'nonsense' as never);
        await new Promise<void>((resolve) => clock.after(5000, resolve));
        progress('nobody hears this');
      }),
      { clock },
    );
    await clock.runUntil(runWatched(watched));
    await clock.runAll();
    expect(watched.progress).toHaveLength(2);
    expect(watched.progress[0]?.message.length).toBeLessThanOrEqual(500);
    expect(watched.progress[0]).toMatchObject({ done: 1 });
    expect(watched.progress[0]).not.toHaveProperty('total');
  });

  it('adds up what assist used', async () => {
    const { run, options } = watch(
      makeTool(async (_input, { assist }) => `${await assist('one')} and ${await assist('two')}`),
    );
    const charge = { ...emptyLedger, requests: 1, inputTokens: 10 };
    const assist: ToolRunOptions['assist'] = (prompt) => Promise.resolve({ value: prompt, charge });
    expect(await runTool(run, { ...options, assist })).toMatchObject({
      content: 'one and two',
      charge: { requests: 2, inputTokens: 20 },
    });
  });

  it('fails with the failure of assist where the tool lets it through, and not at all where nobody waits for it', async () => {
    expect(await runOnce((_input, { assist }) => assist('help'))).toMatchObject({
      type: 'failed',
      failure: { code: 'OVERLOADED' },
    });
    expect(
      await runOnce((_input, { assist }) => {
        void assist('help');
        return 'went on';
      }),
    ).toMatchObject({ type: 'ok', content: 'went on' });
  });

  it('hands background work over, and still tells it when the run is cancelled', async () => {
    const signals: AbortSignal[] = [];
    const watched = watch(
      makeTool((_input, { background, signal }) => {
        signals.push(signal);
        background('index', forever());
        background('broken', Promise.reject(new Error('in the background')));
        return 'started';
      }),
    );
    expect(await runWatched(watched)).toMatchObject({ type: 'ok', content: 'started' });
    expect(watched.background).toMatchObject([
      ['index', expect.any(Promise)],
      ['broken', expect.any(Promise)],
    ]);
    expect(signals[0]?.aborted).toBe(false);
    watched.abort('stop it');
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('runTool(), when the input or the result does not fit', () => {
  it('does not begin with an input that the schema refuses', async () => {
    let wasCalled = false;
    const parse = (): InputCheck => ({
      type: 'invalid',
      issues: [
        { path: 'limit', message: 'must be at most 50, got 500' },
        { path: '', message: 'unknown field "x"' },
      ],
    });
    const end = await runOnce(() => (wasCalled = true), { parse, effect: 'once' });
    expect(end).toMatchObject({
      type: 'failed',
      failure: { code: 'VALIDATION_ERROR', sideEffect: 'none' },
      content: expect.stringContaining('limit: must be at most 50, got 500; unknown field "x"') as unknown,
    });
    expect(textOf(end)).not.toContain('may have taken effect');
    expect(wasCalled).toBe(false);
  });

  it.each([
    { effect: 'read', sideEffect: 'none' },
    { effect: 'once', sideEffect: 'certain' },
  ] as const)(
    'fails where the result of a $effect tool has no text, its effect $sideEffect',
    async ({ effect, sideEffect }) => {
      const end = await runOnce(() => revoked.proxy, { effect });
      expect(end).toMatchObject({
        type: 'failed',
        failure: { code: 'SERIALIZATION_ERROR', sideEffect, context: { tool: 'probe' } },
      });
    },
  );

  it('says how long a result was that it cut', async () => {
    const end = await runOnce(() => 'x'.repeat(50_000));
    expect(end).toMatchObject({ type: 'ok', totalCharacters: 50_000 });
    expect(end.content.length).toBeLessThanOrEqual(10_000);
  });
});

describe('verifyTool()', () => {
  const verifying = (verify: Execute | undefined): Tool =>
    makeTool(() => 'not called', { effect: 'once', ...(verify === undefined ? {} : { verify }) });

  it.each([
    { what: 'is absent', verify: undefined, says: 'it has no verify' },
    { what: 'throws', verify: throwing(new Error('no line')), says: 'verify threw: no line' },
    { what: 'rejects with null', verify: rejecting(null), says: 'verify threw: null was thrown' },
    {
      what: 'asks for a retry',
      verify: (_: unknown, { retry }: ToolContext) => retry('x'),
      says: 'verify threw: x',
    },
    { what: 'answers nothing', verify: () => undefined, says: 'happened of type undefined' },
    { what: 'answers a text', verify: () => ({ happened: 'yes' }), says: 'happened "yes"' },
    { what: 'answers a revoked Proxy', verify: () => revoked.proxy, says: 'happened of type undefined' },
    {
      what: 'cannot tell',
      verify: () => ({ happened: 'unknown' }),
      says: 'verify cannot determine it either',
    },
    { what: 'hangs', verify: forever, says: 'verify did not answer within 1000 ms' },
  ])('stays unknown where verify $what', async ({ verify, says }) => {
    const clock = simulatedClock();
    const { run, options } = watch(verifying(verify), { clock, leftMs: 10 });
    expect(await clock.runUntil(verifyTool(run, options))).toMatchObject({
      type: 'unknown',
      failure: {
        code: 'UNKNOWN_OUTCOME',
        sideEffect: 'possible',
        message: expect.stringContaining(says) as unknown,
        context: { tool: 'probe' },
      },
    });
  });

  it('stays unknown when the run is cancelled meanwhile, or was before', async () => {
    const watched = watch(verifying(forever));
    const found = verifyTool(watched.run, watched.options);
    watched.abort('stop it');
    expect(await found).toMatchObject({ type: 'unknown' });
    expect(await verifyTool(watched.run, watched.options)).toMatchObject({ type: 'unknown' });
  });

  it.each([
    { what: 'a result', answer: { happened: true, result: { id: 7 } }, content: '{"id":7}' },
    { what: 'no result', answer: { happened: true }, content: 'It has happened. Its result is not known.' },
    {
      what: 'a result without a text',
      answer: { happened: true, result: () => 1 },
      content: 'It has happened. Its result cannot be shown as text.',
    },
  ])('says that it happened, with $what', async ({ answer, content }) => {
    const { run, options } = watch(verifying(() => Promise.resolve(answer)));
    expect(await verifyTool(run, options)).toMatchObject({ type: 'happened', end: { type: 'ok', content } });
  });

  it('says that it did not happen', async () => {
    const { run, options } = watch(verifying(() => ({ happened: false })));
    expect(await verifyTool(run, options)).toEqual({ type: 'did-not-happen' });
  });
});

// The last of the file: it speaks of all before it.
describe('all of these calls together', () => {
  it('leave no rejection to nobody', async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
  });
});

describe('what a tool remembers', () => {
  it.each([
    { what: 'fails', execute: () => Promise.reject(new Error('no')) },
    {
      what: 'asks for another try',
      execute: (_input: unknown, { retry }: ToolContext) => retry('differently'),
    },
  ])('is lost with a call that $what', async ({ execute }) => {
    const tool = makeTool((input, context) => {
      context.remember('a', '1');
      return execute(input, context);
    });
    expect(await runWatched(watch(tool))).not.toHaveProperty('remembered');
  });

  it.each([
    { what: 'a text that is too long', name: 'a', text: 'x'.repeat(1001) },
    { what: 'a name that is too long', name: 'x'.repeat(1001), text: '1' },
    { what: 'something else than a text', name: 'a', text: 1 as unknown as string },
  ])('cannot be $what', async ({ name, text }) => {
    const end = await runWatched(watch(makeTool((_input, { remember }) => remember(name, text))));
    expect(end).toMatchObject({ type: 'failed', failure: { code: 'TOOL_EXECUTION_ERROR' } });
    expect(end.failure?.message).toContain('at most 1000 characters');
  });

  it('cannot be more than a run keeps', async () => {
    const tool = makeTool((_input, { remember }) => {
      for (let index = 0; index <= 500; index += 1) remember(`n${index}`, 'x');
    });
    expect((await runWatched(watch(tool))).failure?.message).toContain('at most 500 texts');
  });

  it('comes with its result, each name once, and is recalled at once', async () => {
    const tool = makeTool((_input, { remember, recall }) => {
      remember('a', '1');
      remember('a', '2');
      return `${recall('a')}, ${recall('b')}, ${recall('c')}`;
    });
    const end = await runWatched(
      watch(tool, { recall: (name) => (name === 'c' ? undefined : `${name} of before`) }),
    );
    expect(end).toMatchObject({ type: 'ok', content: '2, b of before, undefined' });
    expect(end.remembered).toEqual([{ name: 'a', text: '2' }]);
  });
});
