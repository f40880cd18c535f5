import { describe, expect, it } from 'vitest';
import type { RunEvent, RunOutcome } from '../../src/index.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
import { simulatedClock } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';
import type { Scene } from './scene.ts';

watchEverything();

const hang = (): Promise<never> => new Promise(() => undefined);

describe('inject()', () => {
  it('puts a message into a run that is under way, which the model sees at its next turn', async () => {
    const stage: { scene?: Scene } = {};
    const look = plainTool({
      name: 'look',
      execute: async () => {
        await stage.scene?.agent.inject('run-1', 'Only the red ones.');
        return 'looked';
      },
    });
    const scene = setScene({ tools: [look], script: [calling('look'), 'The red ones.'] });
    stage.scene = scene;
    const { run, model, events } = scene;
    const outcome = expectType(await run('Look.', { runId: 'run-1' }), 'completed');
    const message = { role: 'user', content: 'Only the red ones.' };
    expect(model.calls[1]?.request.messages.at(-1)).toEqual(message);
    expect(eventsOf(events, 'messages-injected')).toEqual([
      { type: 'messages-injected', turn: 2, messages: [message] },
    ]);
    expect(outcome.messages).toContainEqual(message);
  });

  it('is seen by every attempt of that turn, and stays in the conversation once', async () => {
    const stage: { scene?: Scene } = {};
    const look = plainTool({
      name: 'look',
      execute: async () => {
        await stage.scene?.agent.inject('run-1', 'Only the red ones.');
        return 'looked';
      },
    });
    const scene = setScene({
      tools: [look],
      script: [calling('look'), { failure: 'OVERLOADED' }, 'The red ones.'],
    });
    stage.scene = scene;
    const outcome = expectType(await scene.run('Look.', { runId: 'run-1' }), 'completed');
    const asked = scene.model.calls.slice(1).map(({ request }) => JSON.stringify(request.messages));
    expect(asked.map((text) => text.split('Only the red ones.').length - 1)).toEqual([1, 1]);
    expect(JSON.stringify(outcome.messages).split('Only the red ones.')).toHaveLength(2);
  });

  it('during the last answer makes it one more turn, so that nothing is said to nobody', async () => {
    const { agent, clock, model } = setScene({
      script: [{ text: 'All of them.', delayMs: 1000 }, 'Only the red ones.'],
    });
    const running = agent.run('Which?', { runId: 'run-1' });
    clock.after(500, () => void agent.inject('run-1', 'Not the blue ones.'));
    const outcome = expectType(await clock.runUntil(running), 'completed');
    expect(outcome.text).toBe('Only the red ones.');
    expect(model.calls[1]?.request.messages.slice(1)).toMatchObject([
      { role: 'assistant' },
      { role: 'user', content: 'Not the blue ones.' },
    ]);
    expect(outcome.turns).toBe(2);
  });

  it('during the last answer that the limits allow leaves that answer', async () => {
    const { agent, clock } = setScene({
      limits: { maxTurns: 1 },
      script: [{ text: 'All of them.', delayMs: 1000 }],
    });
    const running = agent.run('Which?', { runId: 'run-1' });
    clock.after(500, () => void agent.inject('run-1', 'Not the blue ones.'));
    expect(expectType(await clock.runUntil(running), 'completed').text).toBe('All of them.');
  });

  it('waits in a suspended run until it goes on', async () => {
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
    const { run, resume, agent, model } = setScene({ tools: [pay], script: [calling('pay'), 'Paid.'] });
    const { runId } = expectType(await run(), 'suspended');
    await agent.inject(runId, [{ type: 'text', text: 'Keep the receipt.' }]);
    expectType(await resume(runId, { answer: true }), 'completed');
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain('Keep the receipt.');
  });

  it.each([
    { what: 'that has ended', runId: 'run-1', code: 'INVALID_STATE' },
    { what: 'that never was', runId: 'run-2', code: 'NOT_REGISTERED' },
  ])('into a run $what is a typed error', async ({ runId, code }) => {
    const { run, agent } = setScene({ script: ['Fine.'] });
    await run('Do it.', { runId: 'run-1' });
    await expect(agent.inject(runId, 'More.')).rejects.toMatchObject({ code });
  });

  it('of a message that no model takes is refused', async () => {
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
    const { run, agent } = setScene({ tools: [pay], script: [calling('pay')] });
    const { runId } = await run();
    await expect(agent.inject(runId, { role: 'assistant', content: 'I did.' })).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
    });
    await expect(agent.inject(runId, 7 as never)).rejects.toMatchObject({
      name: expect.stringContaining('Error') as unknown,
    });
  });
});

describe('cancel()', () => {
  interface Row {
    readonly where: string;
    readonly make: () => Scene;
    /** The event at which it is cancelled. */
    readonly at: RunEvent['type'];
    readonly partial?: string;
  }
  const rows: readonly Row[] = [
    {
      where: 'while a model is asked',
      make: () => setScene({ script: [{ text: 'late', delayMs: 60_000 }] }),
      at: 'attempt-started',
    },
    {
      where: 'while a model never answers',
      make: () => setScene({ script: [{ text: 'never', delayMs: Infinity }] }),
      at: 'attempt-started',
    },
    {
      where: 'in the middle of an answer',
      make: () => setScene({ script: [{ text: ['half ', 'of it'], chunkDelayMs: 60_000 }] }),
      at: 'text-delta',
    },
    {
      where: 'while it waits for a retry',
      make: () => setScene({ script: [{ failure: 'OVERLOADED' }, 'Fine.'] }),
      at: 'recovery',
    },
    {
      where: 'in a tool that obeys',
      make: () =>
        setScene({
          tools: [
            plainTool({
              name: 'wait',
              execute: (_input, { signal }) =>
                new Promise((_resolve, reject) => {
                  signal.addEventListener('abort', () => reject(new Error('stopped')));
                }),
            }),
          ],
          script: [calling('wait')],
        }),
      at: 'tool-started',
    },
    {
      where: 'in a tool that is deaf',
      make: () =>
        setScene({ tools: [plainTool({ name: 'deaf', execute: hang })], script: [calling('deaf')] }),
      at: 'tool-started',
    },
    {
      where: 'while a person is asked',
      make: () =>
        setScene({
          tools: [plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' })],
          callbacks: { onApproval: hang },
          script: [calling('pay')],
        }),
      at: 'approval-requested',
    },
  ];

  const more: readonly Row[] = [
    {
      where: 'in a hook that hangs',
      make: () =>
        setScene({
          hooks: [{ name: 'slow', kind: 'transformer', on: { 'before-model': () => hang() } }],
          script: [],
        }),
      at: 'turn-started',
    },
    {
      where: 'in a verify that hangs',
      make: () =>
        setScene({
          tools: [plainTool({ name: 'pay', timeoutMs: 100, execute: hang, verify: hang })],
          script: [calling('pay')],
        }),
      at: 'recovery',
    },
    {
      where: 'in an assist',
      make: () =>
        setScene({
          tools: [plainTool({ name: 'sum', execute: (_input, { assist }) => assist('Sum it up.') })],
          script: [calling('sum'), { text: 'late', delayMs: 60_000 }],
        }),
      at: 'tool-started',
    },
    {
      where: 'while a tool waits for another try',
      make: () =>
        setScene({
          tools: [
            plainTool({
              name: 'down',
              effect: 'read',
              execute: (_input, { fail }) =>
                fail('down', { code: 'SERVER_ERROR', retryable: true, retryAfterMs: 9000 }),
            }),
          ],
          script: [calling('down')],
        }),
      at: 'recovery',
    },
    {
      where: 'while a tool waits for its turn',
      make: () =>
        setScene({
          tools: [plainTool({ name: 'pay', resource: 'purse', execute: hang })],
          script: [callingAll(['pay', { cents: 1 }], ['pay', { cents: 2 }])],
        }),
      at: 'tool-started',
    },
  ];

  it.each([...rows, ...more])(
    '$where ends the run cancelled, with a valid conversation',
    async ({ make, at }) => {
      const { agent, clock, events, model } = make();
      const running = agent.run('Do it.', {
        runId: 'run-1',
        onEvent: ({ type }) => {
          // Once what follows the event is under way.
          if (type === at) setImmediate(() => void agent.cancel('run-1'));
        },
      });
      const outcome = expectType(await clock.runUntil(running, { maxMs: 1000 }), 'cancelled');
      expect(findHistoryProblems(outcome.messages)).toEqual([]);
      const requests = model.calls.length;
      await clock.advance(120_000);
      expect(model.calls).toHaveLength(requests);
      expect(eventsOf(events, 'run-finished')).toEqual([{ type: 'run-finished', outcome }]);
      expect(clock.pending()).toBe(0);
    },
  );

  it('says of a call that may have happened that it may have', async () => {
    const { agent, clock } = setScene({
      tools: [plainTool({ name: 'pay', execute: hang })],
      script: [calling('pay')],
    });
    const running = agent.run('Pay.', {
      runId: 'run-1',
      onEvent: ({ type }) => void (type === 'tool-started' && setImmediate(() => void agent.cancel('run-1'))),
    });
    const { messages } = await clock.runUntil(running);
    expect(resultsIn(messages)).toEqual([expect.stringContaining('may or may not have happened')]);
  });

  it('while suspended ends the run, and everybody who watches hears it', async () => {
    const ended: string[] = [];
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
    const { run, agent, resume, clock, events } = setScene({
      tools: [pay],
      hooks: [
        {
          name: 'watch',
          kind: 'observer',
          on: { 'run-end': ({ outcome }) => void ended.push(outcome.type) },
        },
      ],
      script: [calling('pay')],
    });
    const { runId } = expectType(await run(), 'suspended');
    await agent.cancel(runId);
    await clock.advance(1);
    expect(ended).toEqual(['suspended', 'cancelled']);
    expect(eventsOf(events, 'run-finished').map(({ outcome }) => outcome.type)).toEqual([
      'suspended',
      'cancelled',
    ]);
    await expect(agent.inject(runId, 'More.')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    expect(await resume(runId)).toMatchObject({ type: 'failed' });
  });

  it('of a run that has ended does nothing', async () => {
    const { run, agent, events } = setScene({ script: ['Fine.'] });
    const outcome = await run('Do it.', { runId: 'run-1' });
    await agent.cancel('run-1');
    expect(await agent.resume('run-1')).toEqual(outcome);
    expect(eventsOf(events, 'run-finished')).toHaveLength(1);
  });

  it('of a run that never was is a typed error', async () => {
    const { agent } = setScene({ script: [] });
    await expect(agent.cancel('nobody')).rejects.toMatchObject({ code: 'NOT_REGISTERED' });
  });
});

describe('the signal of the caller', () => {
  it('that is aborted already lets no request out', async () => {
    const { run, model, events } = setScene({ script: ['Never.'] });
    const outcome = expectType(await run('Do it.', { signal: AbortSignal.abort() }), 'cancelled');
    expect(model.calls).toHaveLength(0);
    expect(outcome.usage.requests).toBe(0);
    expect(eventsOf(events, 'attempt-started')).toEqual([]);
  });

  it('that is aborted already lets no hook change that', async () => {
    const { run, model } = setScene({
      hooks: [{ name: 'slow', kind: 'transformer', on: { 'run-start': () => hang() } }],
      script: ['Never.'],
    });
    expectType(await run('Do it.', { signal: AbortSignal.abort() }), 'cancelled');
    expect(model.calls).toHaveLength(0);
  });

  it('stops a run that is under way', async () => {
    const controller = new AbortController();
    const { agent, clock } = setScene({ script: [{ text: 'late', delayMs: 60_000 }] });
    const running = agent.run('Do it.', { signal: controller.signal });
    clock.after(100, () => controller.abort(new Error('enough')));
    expect(await clock.runUntil(running, { maxMs: 1000 })).toMatchObject({ type: 'cancelled' });
  });

  it('stops a resumed run too', async () => {
    const controller = new AbortController();
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: hang });
    const { run, agent, clock } = setScene({ tools: [pay], script: [calling('pay')] });
    const { runId } = await run();
    const running = agent.resume(runId, { answer: true, signal: controller.signal });
    clock.after(100, () => controller.abort());
    expect(await clock.runUntil(running, { maxMs: 1000 })).toMatchObject({ type: 'cancelled' });
  });
});

/** Reads a stream as it comes. */
async function readAll(stream: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('stream()', () => {
  it('that nobody reads any more is cancelled', async () => {
    const { agent, clock } = setScene({ script: [{ text: ['half ', 'of it'], chunkDelayMs: 60_000 }] });
    const stream = agent.stream('Tell me.');
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'text-delta') break;
    })();
    await clock.runUntil(reading, { maxMs: 120_000 });
    const outcome: RunOutcome = await clock.runUntil(stream.outcome, { maxMs: 1000 });
    expect(outcome).toMatchObject({ type: 'cancelled' });
  });

  it('that is read to its end or not at all comes to the same outcome', async () => {
    const { agent, clock } = setScene({ script: ['Fine.', 'Fine.'] });
    const read = agent.stream('Tell me.');
    const events = await clock.runUntil(readAll(read));
    const unread = agent.stream('Tell me.');
    expect(events.at(-1)).toEqual({ type: 'run-finished', outcome: await read.outcome });
    expectType(await clock.runUntil(unread.outcome), 'completed');
  });

  it('that is left after its last event cancels nothing', async () => {
    const { agent, clock } = setScene({ script: ['Fine.'] });
    const stream = agent.stream('Tell me.');
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'run-finished') break;
    })();
    await clock.runUntil(reading);
    expect(await stream.outcome).toMatchObject({ type: 'completed' });
  });

  it('is heard whole by two consumers of one run', async () => {
    const { agent, clock, model } = setScene({ script: [{ text: ['a', 'b', 'c'], chunkDelayMs: 10 }] });
    const one = agent.stream('Tell me.', { runId: 'run-1' });
    const other = agent.stream('Something else.', { runId: 'run-1' });
    const [first, second] = await clock.runUntil(Promise.all([readAll(one), readAll(other)]));
    expect(model.calls).toHaveLength(1);
    expect(eventsOf(second ?? [], 'text-delta')).toEqual(eventsOf(first ?? [], 'text-delta'));
    expect(await other.outcome).toEqual(await one.outcome);
  });

  it('of a run that has ended tells its answer and its end', async () => {
    const { agent, clock, run, model } = setScene({ script: ['Fine.'] });
    const outcome = await run('Tell me.', { runId: 'run-1' });
    const stream = agent.stream('Tell me.', { runId: 'run-1' });
    expect(await clock.runUntil(readAll(stream))).toEqual([
      { type: 'text-delta', turn: 1, text: 'Fine.' },
      { type: 'run-finished', outcome },
    ]);
    expect(model.calls).toHaveLength(1);
  });

  it('waits for a slow reader without holding the run up, and loses no text', async () => {
    const clock = simulatedClock();
    const pieces = Array.from({ length: 5000 }, (_, index) => `${index} `);
    const { agent } = setScene({ clock, script: [{ text: pieces }] });
    const stream = agent.stream('Tell me.');
    const outcome = expectType(await clock.runUntil(stream.outcome), 'completed');
    const events = await readAll(stream);
    expect(events.length).toBeLessThan(200);
    expect(
      eventsOf(events, 'text-delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe(outcome.text);
    expect(outcome.text).toBe(pieces.join(''));
  });
});

describe('run() with the id of another run', () => {
  it('is that run, and hears it', async () => {
    const { agent, clock, model } = setScene({ script: [{ text: 'Fine.', delayMs: 1000 }] });
    const heard: RunEvent[] = [];
    const one = agent.run('Do it.', { runId: 'run-1' });
    const other = agent.run('Do it.', { runId: 'run-1', onEvent: (event) => void heard.push(event) });
    const [first, second] = await clock.runUntil(Promise.all([one, other]));
    expect(second).toEqual(first);
    expect(model.calls).toHaveLength(1);
    expect(heard.at(-1)).toEqual({ type: 'run-finished', outcome: first });
  });

  it('gives the outcome again after the end', async () => {
    const { run, model } = setScene({ script: ['Fine.'] });
    const outcome = await run('Do it.', { runId: 'run-1' });
    expect(await run('Do it again.', { runId: 'run-1' })).toEqual(outcome);
    expect(model.calls).toHaveLength(1);
  });
});
