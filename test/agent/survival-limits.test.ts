import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import type { AgentOptions, Tool } from '../../src/index.ts';
import type { ScriptEntry } from '../../src/testing/index.ts';
import { playScene } from './survival-scripted.ts';
import type { Props, Scene, Scripted } from './survival-scripted.ts';
import type { Summary } from './survival-stage.ts';
import { shownText } from './survival-stage.ts';

// Whatever a model does, a run ends: by each of its limits alone, by the guard against loops, by the bounds of the ladder.

/** Fifteen tokens for a dollar and a half. */
const price = { inputUsd: 100_000, outputUsd: 100_000, asOf: '2026-01-01' };

function count({ reached }: Props, more: Partial<Tool> = {}): Tool {
  return tool({
    name: 'count',
    description: 'Counts.',
    input: z.object({ to: z.number() }),
    effect: 'read',
    execute: ({ to }) => {
      reached(`count ${to}`);
      return `Counted to ${to}.`;
    },
    ...(more as object),
  });
}

/** Ever another call: no guard against loops may mistake it for one. */
function busy(_request: unknown, callIndex: number): ScriptEntry {
  return { toolCalls: [{ name: 'count', arguments: { to: callIndex } }] };
}

/** As long as it may call tools it does; a last turn without them it answers. */
const busyUntilSalvage: Scene['script'] = (request, callIndex) =>
  request.toolChoice === 'none' ? 'This is what I have.' : busy(request, callIndex);

interface LimitRow {
  readonly limit: string;
  readonly options: Partial<AgentOptions>;
  readonly usage?: object;
  readonly expected: Summary;
}

const stopped = { type: 'stopped', recoveries: [] } as const;

const limits: readonly LimitRow[] = [
  {
    limit: 'maxTurns',
    options: { limits: { maxTurns: 3 }, policy: { salvage: false } },
    expected: { ...stopped, reason: 'max-turns', code: 'MAX_ITERATIONS_EXCEEDED', requests: 3 },
  },
  {
    limit: 'maxTokens',
    options: { limits: { maxTokens: 60 } },
    expected: { ...stopped, reason: 'budget', code: 'BUDGET_EXCEEDED', requests: 4 },
  },
  {
    limit: 'maxCostUsd',
    options: { limits: { maxCostUsd: 4.5 } },
    expected: { ...stopped, reason: 'budget', code: 'BUDGET_EXCEEDED', requests: 3 },
  },
  {
    limit: 'maxRequests',
    options: { limits: { maxRequests: 5 } },
    expected: { ...stopped, reason: 'budget', code: 'BUDGET_EXCEEDED', requests: 5 },
  },
  {
    limit: 'maxToolCalls',
    options: { limits: { maxToolCalls: 4 }, policy: { salvage: false } },
    expected: { ...stopped, reason: 'budget', code: 'BUDGET_EXCEEDED', requests: 4 },
  },
  {
    limit: 'timeoutMs',
    options: { limits: { timeoutMs: 10_000 } },
    expected: { ...stopped, reason: 'deadline', code: 'TIMEOUT', requests: 10 },
  },
];

describe('M09 a model that never comes to an end is stopped by', () => {
  it.each(limits)('$limit alone', async ({ limit, options, expected }) => {
    const ends = await playScene((props) => ({
      script: (request, callIndex) => ({ ...(busy(request, callIndex) as object), delayMs: 1000 }),
      modelOptions: { price },
      tools: [count(props)],
      ...options,
    }));
    for (const { summary, outcome, reached, elapsedMs } of ends) {
      expect(summary).toEqual(expected);
      expect('failure' in outcome && outcome.failure?.context['limit']).toBe(limit);
      expect(reached.length).toBeLessThanOrEqual(10);
      expect(elapsedMs).toBeLessThanOrEqual(10_000);
    }
  });

  it.each(limits.filter(({ limit }) => limit !== 'maxTokens' && limit !== 'maxCostUsd'))(
    'P48 $limit, also where the provider tells no usage',
    async ({ options, expected }) => {
      const ends = await playScene((props) => ({
        script: (request, callIndex) => ({
          ...(busy(request, callIndex) as object),
          delayMs: 1000,
          usage: {},
        }),
        tools: [count(props)],
        ...options,
      }));
      for (const { summary, outcome } of ends) {
        expect(summary).toEqual(expected);
        expect(outcome.usage.unknownUsage).toBe(expected.requests);
      }
    },
  );
});

describe('a last turn without tools', () => {
  it.each([
    { limits: { maxTurns: 3 }, reason: 'max-turns', requests: 4 },
    { limits: { maxToolCalls: 3 }, reason: 'budget', requests: 4 },
  ])('gives an answer when $reason is reached', async ({ limits: bounds, reason, requests }) => {
    const ends = await playScene((props) => ({
      script: busyUntilSalvage,
      tools: [count(props)],
      limits: bounds,
    }));
    for (const { summary, outcome, events, reached, answer } of ends) {
      expect(summary).toMatchObject({ type: 'stopped', reason, text: 'This is what I have.', requests });
      expect(outcome.turns).toBe(3);
      expect(reached).toHaveLength(3);
      expect(events === undefined ? 'This is what I have.' : shownText(events)).toBe('This is what I have.');
      expect(answer ?? 'This is what I have.').toContain('This is what I have.');
    }
  });

  it('is not lengthened by a model that calls a tool in it', async () => {
    const ends = await playScene((props) => ({
      script: busy,
      tools: [count(props)],
      limits: { maxTurns: 3 },
    }));
    for (const { summary, reached } of ends) {
      expect(summary).toMatchObject({ type: 'stopped', reason: 'max-turns', requests: 4 });
      expect(reached).toHaveLength(3);
    }
  });

  it('ends stopped also where it fails', async () => {
    const ends = await playScene((props) => ({
      script: (request, callIndex) =>
        request.toolChoice === 'none' ? { failure: 'AUTHENTICATION_ERROR' } : busy(request, callIndex),
      tools: [count(props)],
      limits: { maxTurns: 2 },
    }));
    for (const { summary } of ends) expect(summary).toMatchObject({ type: 'stopped', reason: 'max-turns' });
  });
});

describe('a model that goes in circles', () => {
  it.each([
    { id: 'with one call', calls: [1] },
    { id: 'ping-pong between two calls', calls: [1, 2] },
    { id: 'round three calls', calls: [1, 2, 3] },
  ])('M08 $id is told, loses the tool, and is stopped', async ({ calls }) => {
    const ends = await playScene((props) => ({
      script: (_request, callIndex) => ({
        toolCalls: [{ name: 'count', arguments: { to: calls[callIndex % calls.length] ?? 0 } }],
      }),
      tools: [count(props)],
    }));
    for (const { summary } of ends) {
      expect(summary).toMatchObject({ type: 'stopped', reason: 'loop', code: 'ENDLESS_LOOP' });
      expect(summary.requests).toBeLessThanOrEqual(calls.length === 1 ? 10 : calls.length * 8);
    }
    const told = ends.map(({ events }) => recoveriesTold(events));
    expect(told).toEqual([[], ['nudge', 'withdraw-tool', 'stop'], ['nudge', 'withdraw-tool', 'stop']]);
  });

  it('comes out of it where it heeds the first word', async () => {
    const ends = await playScene((props) => ({
      script: (_request, callIndex) =>
        callIndex < 4 ? { toolCalls: [{ name: 'count', arguments: { to: 1 } }] } : 'One.',
      tools: [count(props)],
    }));
    for (const { summary } of ends) expect(summary).toMatchObject({ type: 'completed', text: 'One.' });
  });

  function recoveriesTold(events: Scripted['events']): readonly string[] {
    const told = (events ?? []).flatMap((event) => (event.type === 'recovery' ? [event.recovery] : []));
    return told.filter((recovery) => recovery !== 'tell-model');
  }
});

describe('M17 a structured answer', () => {
  const output = z.object({ total: z.number() });
  const usage = { inputTokens: 7, outputTokens: 3 };

  it('that is wrong each time is asked for a bounded number of times, each of them charged', async () => {
    const ends = await playScene(() => ({
      script: ['Twelve.', '{"total":"twelve"}', '{"sum":12}', '{}', '{"total":12}'],
      modelOptions: { usage },
      output,
      limits: { maxReasks: 3 },
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toEqual({
        type: 'failed',
        code: 'OUTPUT_PARSE_ERROR',
        text: '{}',
        requests: 4,
        recoveries: [],
      });
      expect(outcome.usage).toMatchObject({ requests: 4, inputTokens: 28, outputTokens: 12 });
    }
  });

  it('that is right the third time completes, and says what was overcome', async () => {
    const ends = await playScene(() => ({
      script: ['Twelve.', '{"total":"twelve"}', '{"total":12}'],
      modelOptions: { usage },
      output,
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toEqual({
        type: 'completed',
        text: '{"total":12}',
        requests: 3,
        recoveries: ['OUTPUT_PARSE_ERROR by re-ask', 'OUTPUT_PARSE_ERROR by re-ask'],
      });
      expect(outcome).toMatchObject({ output: { total: 12 } });
    }
  });
});

describe('a conversation that is too long', () => {
  const tooLong = { failure: 'CONTEXT_LENGTH_EXCEEDED' } as const;
  const bulky = (props: Props): Scene => ({
    script: [
      ...Array.from({ length: 5 }, (_, to) => ({ toolCalls: [{ name: 'count', arguments: { to } }] })),
      tooLong,
      'Counted.',
    ],
    tools: [count(props, { execute: ({ to }: { readonly to: number }) => 'x'.repeat(5000 + to) } as object)],
  });

  it('is shortened, and the run goes on', async () => {
    for (const { summary, outcome } of await playScene(bulky)) {
      expect(summary).toEqual({
        type: 'completed',
        text: 'Counted.',
        requests: 7,
        recoveries: ['CONTEXT_LENGTH_EXCEEDED by compact'],
      });
      expect(JSON.stringify(outcome.messages)).toContain('removed to save room');
    }
  });

  it('that is refused for ever fails once nothing is left to cut, and says so in numbers', async () => {
    const ends = await playScene((props) => {
      const scene = bulky(props);
      return {
        ...scene,
        script: [
          ...(scene.script as readonly ScriptEntry[]).slice(0, 5),
          ...Array.from({ length: 10 }, () => tooLong),
        ],
      };
    });
    for (const { summary, outcome } of ends) {
      expect(summary).toMatchObject({ type: 'failed', code: 'CONTEXT_LENGTH_EXCEEDED' });
      expect(summary.requests).toBeLessThanOrEqual(5 + 7);
      const { failure } = outcome as Extract<typeof outcome, { type: 'failed' }>;
      expect(failure.message).toMatch(
        /made shorter \d times\. Nothing is left to cut: it is about \d+ tokens/u,
      );
      expect(failure.context['shortenings']).toBe(summary.requests - 6);
      expect(outcome.recoveries).toEqual([]);
    }
  });

  it('with nothing to shorten fails at once', async () => {
    for (const { summary } of await playScene(() => ({ script: [tooLong] })))
      expect(summary).toEqual({
        type: 'failed',
        code: 'CONTEXT_LENGTH_EXCEEDED',
        requests: 1,
        recoveries: [],
      });
  });
});
