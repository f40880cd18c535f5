import * as valibot from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RerailError, tool } from '../../src/index.ts';
import type { ToolContext, ToolEffect } from '../../src/index.ts';
import type { Schema } from '../../src/model/tool.ts';
import { simulatedClock } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  decisionsIn,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';

watchEverything();

const json = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7 } },
  required: ['city', 'days'],
} as const;

describe('the input of a tool', () => {
  const schemas: readonly {
    readonly kind: string;
    readonly input: Schema;
    readonly parameters?: typeof json;
  }[] = [
    { kind: 'zod', input: z.object({ city: z.string(), days: z.number().int().max(7) }) },
    {
      kind: 'valibot with parameters',
      input: valibot.object({
        city: valibot.string(),
        days: valibot.pipe(valibot.number(), valibot.maxValue(7)),
      }),
      parameters: json,
    },
    { kind: 'JSON Schema', input: json },
  ];

  it.each(schemas)(
    'of $kind holds the model to it and tells it what to change',
    async ({ input, parameters }) => {
      const reached: unknown[] = [];
      const forecast = tool({
        name: 'forecast',
        description: 'The weather of the next days.',
        input,
        ...(parameters === undefined ? {} : { parameters }),
        effect: 'read',
        execute: (given) => {
          reached.push(given);
          return 'snow';
        },
      });
      const { run, model } = setScene({
        tools: [forecast],
        script: [
          calling('forecast', { city: 'Oslo', days: 30 }),
          calling('forecast', { city: 'Oslo', days: 3 }),
          'It snows.',
        ],
      });
      const outcome = expectType(await run(), 'completed');
      expect(reached).toEqual([{ city: 'Oslo', days: 3 }]);
      const [refused, result] = resultsIn(outcome.messages);
      expect(refused).toContain('days');
      expect(result).toBe('snow');
      expect(model.calls[0]?.request.tools?.[0]?.parameters).toMatchObject({
        type: 'object',
        required: ['city', 'days'],
      });
    },
  );

  it('reaches the code as the schema made it', async () => {
    const reached: unknown[] = [];
    const wait = tool({
      name: 'wait',
      description: 'Waits.',
      input: z.object({ minutes: z.string().transform(Number).default(5) }),
      execute: ({ minutes }) => void reached.push(minutes),
    });
    const { run } = setScene({
      tools: [wait],
      script: [calling('wait', { minutes: '7' }), calling('wait'), 'Done.'],
    });
    await run();
    expect(reached).toEqual([7, 5]);
  });

  it.each([
    { effect: 'once' as const, reaches: [] },
    { effect: 'idempotent' as const, reaches: [{ n: 1 }] },
    { effect: 'read' as const, reaches: [{ n: 1 }] },
  ])('that is almost JSON is read where the effect is $effect: $reaches', async ({ effect, reaches }) => {
    const reached: unknown[] = [];
    const note = plainTool({ name: 'note', effect, execute: (given) => void reached.push(given) });
    const { run, events } = setScene({
      tools: [note],
      script: [{ toolCalls: [{ name: 'note', argumentsText: '{"n": 1,}' }] }, 'Done.', 'Done.'],
    });
    expectType(await run(), 'completed');
    expect(reached).toEqual(reaches);
    expect(eventsOf(events, 'arguments-repaired')).toHaveLength(reaches.length);
  });

  it('of an async schema is waited for', async () => {
    const reached: unknown[] = [];
    const input = z.object({
      id: z.string().refine(async (id) => Promise.resolve(id !== '0'), 'there is no order 0'),
    });
    const find = tool({
      name: 'find',
      description: 'Finds.',
      input,
      execute: (given) => void reached.push(given),
    });
    const { run } = setScene({
      tools: [find],
      script: [calling('find', { id: '0' }), calling('find', { id: '1' }), 'Done.'],
    });
    const { messages } = await run();
    expect(reached).toEqual([{ id: '1' }]);
    expect(resultsIn(messages)[0]).toContain('there is no order 0');
  });
});

describe('a failure of a tool', () => {
  const rows: readonly {
    readonly effect?: ToolEffect;
    readonly retryable: boolean;
    readonly executions: number;
    readonly decision: string;
  }[] = [
    { effect: 'read', retryable: true, executions: 2, decision: 'SERVER_ERROR → retry' },
    { effect: 'idempotent', retryable: true, executions: 2, decision: 'SERVER_ERROR → retry' },
    { effect: 'once', retryable: true, executions: 1, decision: 'SERVER_ERROR → tell-model' },
    { retryable: true, executions: 1, decision: 'SERVER_ERROR → tell-model' },
    { effect: 'read', retryable: false, executions: 1, decision: 'SERVER_ERROR → tell-model' },
    { effect: 'idempotent', retryable: false, executions: 1, decision: 'SERVER_ERROR → tell-model' },
  ];

  it.each(rows)(
    'that classifyError calls retryable ($retryable) of an effect ($effect) is tried $executions times by us',
    async ({ effect, retryable, executions, decision }) => {
      const seen: Pick<ToolContext, 'attempt' | 'idempotencyKey'>[] = [];
      const flaky = plainTool({
        name: 'flaky',
        ...(effect === undefined ? {} : { effect }),
        classifyError: (error) =>
          error instanceof RangeError ? { code: 'SERVER_ERROR', retryable } : undefined,
        execute: (_input, { attempt, idempotencyKey }) => {
          seen.push({ attempt, idempotencyKey });
          if (seen.length === 1) throw new RangeError('the other side restarts');
          return 'fine';
        },
      });
      const { run, events } = setScene({ tools: [flaky], script: [calling('flaky'), 'Done.'] });
      expectType(await run(), 'completed');
      expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2].slice(0, executions));
      expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      expect(decisionsIn(events)).toEqual([decision]);
    },
  );

  it('is retried as often as the limit says, then told', async () => {
    let executions = 0;
    const down = plainTool({
      name: 'down',
      effect: 'read',
      execute: (_input, { fail }) => {
        executions += 1;
        return fail('The service is down', { code: 'SERVER_ERROR', retryable: true });
      },
    });
    const { run, events } = setScene({
      tools: [down],
      limits: { maxToolAttempts: 3 },
      script: [calling('down'), 'I could not reach it.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(executions).toBe(3);
    expect(decisionsIn(events)).toEqual([
      'SERVER_ERROR → retry',
      'SERVER_ERROR → retry',
      'SERVER_ERROR → tell-model',
    ]);
    expect(resultsIn(outcome.messages)[0]).toContain('The service is down');
    expect(outcome.recoveries.map(({ recovery }) => recovery)).toEqual(['tell-model']);
  });

  it('is told as fail() says it, with the hint and without the stack', async () => {
    const pay = plainTool({
      name: 'pay',
      execute: (_input, { fail }) =>
        fail('No such account', { code: 'NOT_FOUND', hint: 'Ask for the number.', sideEffect: 'none' }),
    });
    const { run, events } = setScene({ tools: [pay], script: [calling('pay'), 'There is none.'] });
    const { messages } = await run();
    expect(resultsIn(messages)).toEqual([expect.stringContaining('No such account')]);
    expect(resultsIn(messages)[0]).not.toContain('tools.test.ts');
    expect(
      eventsOf(events, 'failure').map(({ failure }) => [failure.code, failure.hint, failure.sideEffect]),
    ).toEqual([['NOT_FOUND', 'Ask for the number.', 'none']]);
  });

  it('waits as long as the tool asks for, never less', async () => {
    const clock = simulatedClock();
    const startsMs: number[] = [];
    const limited = plainTool({
      name: 'limited',
      effect: 'read',
      execute: (_input, { fail }) => {
        startsMs.push(clock.monotonicMs());
        if (startsMs.length === 1)
          fail('Too many', { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 7000 });
        return 'fine';
      },
    });
    const { run } = setScene({ clock, tools: [limited], script: [calling('limited'), 'Done.'] });
    const outcome = expectType(await run(), 'completed');
    const [first = 0, second = 0] = startsMs;
    expect(second - first).toBeGreaterThanOrEqual(7000);
    expect(outcome.recoveries).toMatchObject([{ recovery: 'retry', failure: { code: 'RATE_LIMITED' } }]);
    expect(outcome.usage.elapsedMs).toBeGreaterThanOrEqual(7000);
  });

  it('that asks for a longer wait than anybody has is told at once', async () => {
    const limited = plainTool({
      name: 'limited',
      effect: 'read',
      execute: (_input, { fail }) =>
        fail('Too many', { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 3_600_000 }),
    });
    const { run, clock, events } = setScene({ tools: [limited], script: [calling('limited'), 'Later.'] });
    expectType(await run(), 'completed');
    expect(decisionsIn(events)).toEqual(['RATE_LIMITED → tell-model']);
    expect(clock.monotonicMs()).toBe(0);
  });

  it('ends the run where onError says so, with a report', async () => {
    const fatal = plainTool({
      name: 'fatal',
      onError: 'abort',
      execute: () => {
        throw new Error('the disk is gone');
      },
    });
    const { run, model, events } = setScene({ tools: [fatal], script: [calling('fatal'), 'Never said.'] });
    const outcome = expectType(await run(), 'failed');
    expect(outcome.failure).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining('the disk is gone') as unknown,
    });
    expect(outcome.report.person.text).not.toBe('');
    expect(model.calls).toHaveLength(1);
    expect(decisionsIn(events).at(-1)).toBe('TOOL_EXECUTION_ERROR → fail');
  });

  it('that takes the whole process down takes nothing down', async () => {
    const leave = plainTool({ name: 'leave', execute: () => process.exit(3) });
    const { run } = setScene({ tools: [leave], script: [calling('leave'), 'It would have left.'] });
    const outcome = expectType(await run(), 'completed');
    expect(resultsIn(outcome.messages)[0]).toContain('process.exit');
  });
});

describe('retry(hint)', () => {
  it('tells the model what to change, and counts as no failure', async () => {
    const find = tool({
      name: 'find',
      description: 'Finds.',
      input: z.object({ name: z.string() }),
      effect: 'read',
      execute: ({ name }, { retry }) => (name.includes(' ') ? 'found' : retry('Give the full name')),
    });
    const { run, events } = setScene({
      tools: [find],
      script: [calling('find', { name: 'Ann' }), calling('find', { name: 'Ann Lee' }), 'Found.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['Give the full name', 'found']);
    expect(eventsOf(events, 'failure')).toEqual([]);
  });

  it('is bounded: a tool that always wants something else is withdrawn', async () => {
    let executions = 0;
    const picky = plainTool({
      name: 'picky',
      effect: 'read',
      execute: (_input, { retry }) => {
        executions += 1;
        return retry(`No, not ${executions}`);
      },
    });
    const { run, events, model } = setScene({
      tools: [picky, plainTool({ name: 'other', execute: () => 'ok' })],
      limits: { maxToolFailures: 3 },
      script: (_request, index) => (index < 5 ? calling('picky', { try: index }) : 'I give up.'),
    });
    const outcome = expectType(await run(), 'completed');
    expect(executions).toBe(3);
    expect(eventsOf(events, 'tool-withdrawn').map(({ name, untilMs }) => [name, untilMs])).toEqual([
      ['picky', undefined],
    ]);
    expect(model.calls[3]?.request.tools?.map(({ name }) => name)).toEqual(['other']);
    expect(JSON.stringify(outcome.messages)).toContain('The tool \\"picky\\" is not available');
  });
});

describe('what a tool tells while it runs', () => {
  it('arrives as progress events in order', async () => {
    const copy = plainTool({
      name: 'copy',
      execute: (_input, { progress }) => {
        progress('half', { done: 1, total: 2 });
        progress('whole', { done: 2, total: 2 });
        return 'copied';
      },
    });
    const { run, events } = setScene({ tools: [copy], script: [calling('copy'), 'Copied.'] });
    await run();
    expect(eventsOf(events, 'tool-progress')).toMatchObject([
      { name: 'copy', message: 'half', done: 1, total: 2 },
      { name: 'copy', message: 'whole', done: 2, total: 2 },
    ]);
  });

  it('is cut at maxResultCharacters, and the model is told how much there is', async () => {
    const read = plainTool({ name: 'read', maxResultCharacters: 1000, execute: () => 'x'.repeat(5000) });
    const { run, events } = setScene({ tools: [read], script: [calling('read'), 'Long.'] });
    const { messages } = await run();
    const [result = ''] = resultsIn(messages);
    expect(result.length).toBeLessThanOrEqual(1000);
    expect(result).toContain('of 5,000 characters');
    expect(eventsOf(events, 'tool-finished')[0]?.end.totalCharacters).toBe(5000);
  });
});

describe('assist()', () => {
  const usage = { inputTokens: 100, outputTokens: 20 };

  it('gives a text, on the ledger of the run', async () => {
    const given: unknown[] = [];
    const sum = plainTool({
      name: 'sum',
      effect: 'read',
      execute: async (_input, { assist }) => {
        given.push(await assist('Sum it up.'));
        return 'ok';
      },
    });
    const { run, model } = setScene({
      tools: [sum],
      modelOptions: { usage },
      script: [calling('sum'), 'The sum.', 'Done.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(given).toEqual(['The sum.']);
    expect(model.calls[1]?.request.messages).toEqual([{ role: 'user', content: 'Sum it up.' }]);
    expect(model.calls[1]?.request.tools).toBeUndefined();
    expect(outcome.usage).toMatchObject({ requests: 3, inputTokens: 300, outputTokens: 60 });
    expect(outcome.turns).toBe(2);
  });

  it('costs what the model costs, and is stopped with the run', async () => {
    const price = { inputUsd: 1000, outputUsd: 0, asOf: '2026-01-01' };
    const sum = plainTool({ name: 'sum', execute: (_input, { assist }) => assist('Sum it up.') });
    const { run } = setScene({
      tools: [sum],
      modelOptions: { usage, price },
      script: [calling('sum'), 'The sum.', 'Done.'],
    });
    expect((await run()).usage).toMatchObject({ costUsd: expect.closeTo(0.3) as unknown, unknownCost: 0 });
  });

  it('gives a value of a schema, after one re-ask', async () => {
    const given: unknown[] = [];
    const sort = plainTool({
      name: 'sort',
      execute: async (_input, { assist }) => {
        const { kind } = await assist('Which kind?', z.object({ kind: z.enum(['a', 'b']) }));
        given.push(kind);
        return 'ok';
      },
    });
    const { run, model } = setScene({
      tools: [sort],
      script: [calling('sort'), '{"kind":"c"}', '{"kind":"b"}', 'Done.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(given).toEqual(['b']);
    expect(JSON.stringify(model.calls[2]?.request.messages)).toContain('kind');
    expect(outcome.usage.requests).toBe(4);
  });

  it('that fails is a failed call, and what it used up is still counted', async () => {
    const sort = plainTool({
      name: 'sort',
      execute: async (_input, { assist }) => assist('Which kind?', z.object({ kind: z.string() })),
    });
    const { run } = setScene({
      tools: [sort],
      modelOptions: { usage },
      script: [calling('sort'), 'no json', 'still none', 'It did not work.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(resultsIn(outcome.messages)[0]).toContain('wrong form');
    expect(outcome.usage).toMatchObject({ requests: 4, inputTokens: 400, outputTokens: 80 });
  });

  it('of a model that is down fails typed, and its requests are counted', async () => {
    const failures: string[] = [];
    const sum = plainTool({
      name: 'sum',
      execute: async (_input, { assist }) => {
        try {
          return await assist('Sum it up.');
        } catch (error) {
          failures.push(RerailError.isInstance(error) ? error.code : String(error));
          return 'without a sum';
        }
      },
    });
    const { run } = setScene({
      tools: [sum],
      policy: { retry: { maxAttempts: 2 } },
      script: [calling('sum'), { failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }, 'Done.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(failures).toEqual(['SERVER_ERROR']);
    expect(outcome.usage.requests).toBe(4);
    expect(resultsIn(outcome.messages)).toEqual(['without a sum']);
  });

  it('is refused where the budget of the run is used up', async () => {
    const sum = plainTool({ name: 'sum', execute: (_input, { assist }) => assist('Sum it up.') });
    const { run, model } = setScene({
      tools: [sum],
      limits: { maxTokens: 120 },
      modelOptions: { usage },
      script: [calling('sum'), 'Never asked.'],
    });
    const outcome = expectType(await run(), 'stopped');
    expect(outcome.reason).toBe('budget');
    expect(model.calls).toHaveLength(1);
    expect(resultsIn(outcome.messages)[0]).toContain('maxTokens');
  });
});

describe('work in the background', () => {
  it('of one label twice is told twice', async () => {
    const index = plainTool({
      name: 'index',
      execute: async (_input, { background }) => {
        background('docs', Promise.resolve('first half'));
        background('docs', Promise.resolve('second half'));
        await new Promise((resolve) => setImmediate(resolve));
        return 'begun';
      },
    });
    const { run, model } = setScene({ tools: [index], script: [calling('index'), 'Indexed.'] });
    expectType(await run(), 'completed');
    const last = JSON.stringify(model.calls[1]?.request.messages);
    expect(last).toContain('first half');
    expect(last).toContain('second half');
  });

  it('that ends while the run is suspended is told when it goes on', async () => {
    const settle: (() => void)[] = [];
    const index = plainTool({
      name: 'index',
      execute: (_input, { background }) => {
        background('docs', new Promise((resolve) => settle.push(() => resolve('12 files'))));
        return 'begun';
      },
    });
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
    const { run, resume, model } = setScene({
      tools: [index, pay],
      script: [calling('index'), calling('pay'), 'Paid.'],
    });
    const { runId } = expectType(await run(), 'suspended');
    for (const end of settle) end();
    await new Promise((resolve) => setImmediate(resolve));
    expectType(await resume(runId, { answer: true }), 'completed');
    expect(JSON.stringify(model.calls[2]?.request.messages)).toContain('12 files');
  });

  it('without end does not hold the run up, and nothing is left to nobody', async () => {
    const flood = plainTool({
      name: 'flood',
      execute: async (_input, { background }) => {
        for (let each = 0; each < 3000; each += 1) background(`part ${each}`, Promise.resolve(each));
        await new Promise((resolve) => setImmediate(resolve));
        return 'begun';
      },
    });
    const { run } = setScene({ tools: [flood], script: [calling('flood'), 'Done.'] });
    expect(await run()).toMatchObject({ type: 'completed' });
  });

  it('reaches the model at a later turn, whether it works or not', async () => {
    const settle: (() => void)[] = [];
    const index = plainTool({
      name: 'index',
      execute: (_input, { background }) => {
        background('docs', new Promise((resolve) => settle.push(() => resolve({ files: 12 }))));
        background(
          'mail',
          new Promise((_resolve, reject) => settle.push(() => reject(new Error('no server')))),
        );
        return 'begun';
      },
    });
    const look = plainTool({
      name: 'look',
      execute: async () => {
        for (const end of settle) end();
        await new Promise((resolve) => setImmediate(resolve));
        return 'looked';
      },
    });
    const { run, model, events } = setScene({
      tools: [index, look],
      script: [calling('index'), calling('look'), 'Indexed.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(JSON.stringify(model.calls[1]?.request.messages)).not.toContain('background');
    const last = JSON.stringify(model.calls[2]?.request.messages);
    expect(last).toContain('(docs) is done');
    expect(last).toContain('12');
    expect(last).toContain('(mail) failed');
    expect(last).toContain('no server');
    expect(eventsOf(events, 'messages-injected')).toMatchObject([{ turn: 3 }]);
    expect(JSON.stringify(outcome.messages)).toContain('(docs) is done');
  });

  it('that ends after the run touches nothing', async () => {
    const settle: (() => void)[] = [];
    const index = plainTool({
      name: 'index',
      execute: (_input, { background }) => {
        background('docs', new Promise((_resolve, reject) => settle.push(() => reject(new Error('late')))));
        return 'begun';
      },
    });
    const { run, events } = setScene({ tools: [index], script: [calling('index'), 'Begun.'] });
    const outcome = expectType(await run(), 'completed');
    const told = events.length;
    for (const end of settle) end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toHaveLength(told);
    expect(outcome.text).toBe('Begun.');
  });
});

describe('repeats', () => {
  const poll = (repeats?: number | 'any') =>
    plainTool({
      name: 'poll',
      effect: 'read',
      ...(repeats === undefined ? {} : { repeats }),
      execute: () => 'not yet',
    });
  const script = (_request: unknown, index: number) => (index < 12 ? calling('poll') : 'It takes long.');

  it('of "any" let a tool be polled with the same result', async () => {
    const { run, events } = setScene({ tools: [poll('any')], script });
    expectType(await run(), 'completed');
    expect(eventsOf(events, 'tool-finished')).toHaveLength(12);
    expect(eventsOf(events, 'recovery')).toEqual([]);
  });

  it('left out are a loop', async () => {
    const { run, events } = setScene({ tools: [poll()], script });
    await run();
    expect(decisionsIn(events)).toContain('ENDLESS_LOOP → nudge');
    expect(eventsOf(events, 'tool-finished').filter(({ attempt }) => attempt > 0).length).toBeLessThan(12);
  });
});

describe('tool calls of one answer', () => {
  it('run side by side up to the cap, and are told in the order of the calls', async () => {
    const clock = simulatedClock();
    let running = 0;
    let most = 0;
    const slow = plainTool({
      name: 'slow',
      effect: 'read',
      execute: async (input) => {
        const { ms } = input as { readonly ms: number };
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => void clock.after(ms, resolve));
        running -= 1;
        return `after ${ms}`;
      },
    });
    const waits = [500, 100, 400, 50, 300, 20];
    const { run, events } = setScene({
      clock,
      tools: [slow],
      limits: { maxConcurrentTools: 3 },
      script: [callingAll(...waits.map((ms) => ['slow', { ms }] as const)), 'Done.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(most).toBe(3);
    expect(resultsIn(outcome.messages)).toEqual(waits.map((ms) => `after ${ms}`));
    const finished = eventsOf(events, 'tool-finished').map(({ end }) => end.content);
    expect(finished).not.toEqual(waits.map((ms) => `after ${ms}`));
    expect(finished).toHaveLength(6);
  });

  it('settle alone: a failing one cancels none of its siblings', async () => {
    const clock = simulatedClock();
    const signals: AbortSignal[] = [];
    const bad = plainTool({
      name: 'bad',
      execute: () => {
        throw new Error('broken');
      },
    });
    const good = plainTool({
      name: 'good',
      execute: async (_input, { signal }) => {
        signals.push(signal);
        await new Promise<void>((resolve) => void clock.after(1000, resolve));
        return 'fine';
      },
    });
    const { run } = setScene({
      clock,
      tools: [bad, good],
      script: [callingAll(['good'], ['bad'], ['good'], ['missing']), 'Done.'],
    });
    const { messages } = expectType(await run(), 'completed');
    expect(resultsIn(messages)).toEqual([
      'fine',
      expect.stringContaining('broken'),
      'fine',
      expect.stringContaining('missing'),
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it('of one id are told apart', async () => {
    const reached: unknown[] = [];
    const note = plainTool({ name: 'note', execute: (input) => void reached.push(input) });
    const { run } = setScene({
      tools: [note],
      script: [
        {
          toolCalls: [
            { name: 'note', arguments: { text: 'a' }, callId: 'same' },
            { name: 'note', arguments: { text: 'b' }, callId: 'same' },
          ],
        },
        'Done.',
      ],
    });
    const { messages } = expectType(await run(), 'completed');
    expect(reached).toEqual([{ text: 'a' }, { text: 'b' }]);
    const ids = messages.flatMap((message) =>
      message.role === 'tool' ? message.content.map(({ callId }) => callId) : [],
    );
    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    { of: 'the name of one resource', resource: 'ledger.txt', overlaps: false },
    {
      of: 'a function of the input',
      resource: (input: unknown) => (input as { file: string }).file,
      overlaps: false,
    },
    { of: 'nothing', resource: undefined, overlaps: true },
  ])('that write by $of run side by side: $overlaps', async ({ resource, overlaps }) => {
    const clock = simulatedClock();
    let content = '';
    const append = plainTool({
      name: 'append',
      ...(resource === undefined ? {} : { resource }),
      execute: async (input) => {
        const { text } = input as { readonly text: string };
        const before = content;
        await new Promise<void>((resolve) => void clock.after(10, resolve));
        content = before + text;
        return content;
      },
    });
    const { run } = setScene({
      clock,
      tools: [append],
      script: [
        callingAll(
          ['append', { file: 'x', text: 'a' }],
          ['append', { file: 'x', text: 'b' }],
          ['append', { file: 'x', text: 'c' }],
        ),
        'Done.',
      ],
    });
    await run();
    expect(content === 'abc').toBe(!overlaps);
  });
});

describe('names of tools', () => {
  it('that are there twice are refused when the agent is made', () => {
    const one = plainTool({ name: 'find', execute: () => 1 });
    const other = plainTool({ name: 'find', execute: () => 2 });
    expect(() => setScene({ tools: [one, other], script: [] })).toThrow(/find/);
  });

  it('that the model gets almost right are named to it', async () => {
    const { run, events } = setScene({
      tools: [plainTool({ name: 'find_order', execute: () => 'found' })],
      script: [calling('find_ordr'), calling('find_order'), 'Found.'],
    });
    const { messages } = expectType(await run(), 'completed');
    expect(resultsIn(messages)).toEqual([expect.stringContaining('find_order'), 'found']);
    expect(decisionsIn(events)).toEqual(['TOOL_NOT_FOUND → tell-model']);
  });
});

describe('the breaker of a tool', () => {
  it('takes a tool that is down away for a time, says so, and gives it back', async () => {
    const clock = simulatedClock();
    let isUp = false;
    let executions = 0;
    const service = plainTool({
      name: 'service',
      effect: 'read',
      execute: (_input, { fail }) => {
        executions += 1;
        return isUp ? 'up again' : fail('down', { code: 'SERVER_ERROR', retryable: false });
      },
    });
    const pause = plainTool({
      name: 'pause',
      effect: 'read',
      repeats: 'any',
      execute: async () => {
        await new Promise<void>((resolve) => void clock.after(20_000, resolve));
        return 'paused';
      },
    });
    const { run, events, model } = setScene({
      clock,
      tools: [service, pause],
      policy: { loop: { nudgeAt: 90, withdrawAt: 95, stopAt: 99 } },
      script: [
        ...[1, 2, 3, 4, 5].map((time) => calling('service', { time })),
        calling('pause'),
        () => {
          isUp = true;
          return calling('pause');
        },
        calling('service', { time: 6 }),
        'It is up.',
      ],
    });
    expectType(await run(), 'completed');
    expect(executions).toBe(6);
    const [withdrawn] = eventsOf(events, 'tool-withdrawn');
    expect(withdrawn).toMatchObject({ name: 'service', untilMs: expect.any(Number) as unknown });
    expect(eventsOf(events, 'tool-restored')).toMatchObject([{ name: 'service' }]);
    const offered = model.calls.map(({ request }) => request.tools?.some(({ name }) => name === 'service'));
    expect(offered).toEqual([true, true, true, true, true, false, false, true, true]);
    expect(JSON.stringify(model.calls[5]?.request.messages)).toMatch(/service\\" is not available for 30 s/);
    expect(JSON.stringify(model.calls[7]?.request.messages)).toContain('Available again: service');
  });
});
