import { describe, expect, it } from 'vitest';
import { createAgent, createFailure, RerailError, tool } from '../../src/index.ts';
import type { RunEvent } from '../../src/index.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';

const input = { type: 'object', properties: { to: { type: 'string' } } } as const;

function lookTool(execute: () => unknown) {
  return tool({ name: 'look', description: 'Looks.', input, effect: 'read', execute });
}

const call = { toolCalls: [{ name: 'look', arguments: { to: 'Oslo and everything that lies around it' } }] };

describe('a stream', () => {
  it('has the arguments of a call piece by piece, before the tool starts', async () => {
    const hooked: string[] = [];
    const agent = createAgent({
      model: scriptedModel([call, 'done']),
      tools: [lookTool(() => 'seen')],
      hooks: [{ name: 'h', kind: 'observer', on: {}, onEvent: ({ type }) => void hooked.push(type) }],
    });
    const events: RunEvent[] = [];
    for await (const event of agent.stream('go')) events.push(event);
    const types = events.map(({ type }) => type);
    expect(types.indexOf('tool-call-started')).toBeGreaterThan(types.indexOf('attempt-started'));
    expect(types.lastIndexOf('tool-call-delta')).toBeLessThan(types.indexOf('model-finished'));
    const text = events.map((event) => (event.type === 'tool-call-delta' ? event.text : '')).join('');
    expect(JSON.parse(text)).toEqual(call.toolCalls[0]?.arguments);
    expect(events.find(({ type }) => type === 'tool-call-started')).toMatchObject({ turn: 1, name: 'look' });
    expect(hooked).not.toContain('tool-call-delta');
  });
});

describe('tool-withdrawn', () => {
  it('says by the wall clock until when', async () => {
    const clock = simulatedClock();
    const down = createFailure('SERVER_ERROR', { message: 'down', origin: 'tool' });
    const agent = createAgent({
      clock,
      model: scriptedModel((_, index) => ({
        delayMs: 1000,
        toolCalls: [{ name: 'look', arguments: { to: `${index}` } }],
      })),
      limits: { maxTurns: 8, maxToolAttempts: 1, maxToolFailures: 50 },
      tools: [
        lookTool(() => {
          throw RerailError.from(down);
        }),
      ],
    });
    const leftMs: number[] = [];
    const onEvent = (event: RunEvent) => {
      if (event.type === 'tool-withdrawn') leftMs.push((event.untilMs ?? 0) - clock.wallMs());
    };
    await clock.runUntil(agent.run('go', { onEvent }));
    expect(leftMs[0]).toBeGreaterThan(25_000);
    expect(leftMs[0]).toBeLessThanOrEqual(30_000);
  });
});

describe('a list of parts, returned by a tool,', () => {
  const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } };
  const resultOf = async (value: unknown): Promise<unknown> => {
    const agent = createAgent({ model: scriptedModel([call, 'done']), tools: [lookTool(() => value)] });
    const { messages } = await agent.run('go');
    return messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))[0]?.content;
  };

  it('is shown to the model as parts', async () => {
    const parts = [{ type: 'text', text: 'a map' }, image];
    expect(await resultOf(parts)).toEqual(parts);
  });

  it.each([
    ['data that is no part', [{ type: 'text' }]],
    ['a part with more in it', [{ type: 'text', text: 'a', id: 7 }]],
    ['nothing', []],
    ['plain values', ['a', 1]],
  ])('is JSON where it has %s', async (_, list) => {
    expect(await resultOf(list)).toBe(JSON.stringify(list));
  });
});
