import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import type { Hook, Tool } from '../../src/index.ts';
import { playScene } from './survival-scripted.ts';
import type { Props, Scripted } from './survival-scripted.ts';
import { shownText } from './survival-stage.ts';

// Code of the application around a run: what it breaks is its own step, never the run; what guards, guards also when it breaks.

const done = 'All is done.';
const finished = { type: 'completed', text: done, requests: 2, recoveries: [] } as const;
const script = [{ toolCalls: [{ name: 'act', arguments: {} }] }, done];

function act({ reached }: Props): Tool {
  return tool({
    name: 'act',
    description: 'Acts.',
    input: z.object({}),
    execute: () => {
      reached('act');
      return 'Acted.';
    },
  });
}

const points = ['run-start', 'before-model', 'after-model', 'before-tool', 'after-tool', 'run-end'] as const;

const misdeeds: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('The hook is broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('The hook is broken'))],
  ['rejects with nothing', () => Promise.reject()],
  ['hangs', () => new Promise(() => undefined)],
];

function everywhere(handler: () => unknown): Hook {
  const on = Object.fromEntries(points.map((point) => [point, handler]));
  return { name: 'misbehaving', kind: 'observer', on, timeoutMs: 2000 };
}

function failedHooks(ends: readonly Scripted[]): readonly (readonly string[])[] {
  return ends.map(({ events }) =>
    (events ?? []).flatMap((event) => (event.type === 'hook-failed' ? [event.point] : [])),
  );
}

describe('K01 an observer', () => {
  it.each(misdeeds)('that %s at every point: noted, and the run goes on', async (name, misdeed) => {
    const ends = await playScene((props) => ({
      script,
      tools: [act(props)],
      hooks: [
        everywhere(misdeed),
        { name: 'second', kind: 'observer', on: { 'after-tool': () => props.reached('second') } },
      ],
    }));
    for (const { summary, reached } of ends) {
      expect(summary).toEqual(finished);
      // The others are called all the same.
      expect(reached).toEqual(['act', 'second']);
    }
    const [, stream = [], ask = []] = failedHooks(ends);
    expect(name === 'hangs' || stream.includes('before-tool')).toBe(true);
    expect(name === 'hangs' || ask.includes('before-tool')).toBe(true);
  });

  it('that throws at every event: noted, and the run goes on', async () => {
    const ends = await playScene((props) => ({
      script,
      tools: [act(props)],
      hooks: [
        {
          name: 'listener',
          kind: 'observer',
          on: {},
          onEvent: () => {
            throw new Error('Not listening');
          },
        },
      ],
      callbacks: {
        onEvent: () => {
          throw new Error('Not listening either');
        },
      },
    }));
    for (const { summary } of ends) expect(summary).toEqual(finished);
  });
});

const nonsense: readonly (readonly [string, () => unknown])[] = [
  ...misdeeds,
  ['answers with a number', () => 17],
  ['answers with an unknown action', () => ({ action: 'maybe' })],
];

describe('K02 a guardrail', () => {
  it.each(nonsense)('before a tool that %s: the call is denied', async (_name, misdeed) => {
    const ends = await playScene((props) => ({
      script,
      tools: [act(props)],
      hooks: [{ name: 'guard', kind: 'guardrail', timeoutMs: 2000, on: { 'before-tool': misdeed } } as Hook],
    }));
    for (const { summary, reached, outcome } of ends) {
      expect(summary).toMatchObject({ type: 'completed', requests: 2 });
      expect(reached).toEqual([]);
      expect(JSON.stringify(outcome.messages)).not.toContain('Acted.');
    }
  });

  it.each(nonsense)(
    'before a model that %s: the run is stopped, and nothing is sent',
    async (_name, misdeed) => {
      const ends = await playScene((props) => ({
        script,
        tools: [act(props)],
        hooks: [
          { name: 'guard', kind: 'guardrail', timeoutMs: 2000, on: { 'before-model': misdeed } } as Hook,
        ],
      }));
      for (const { summary, reached, elapsedMs } of ends) {
        expect(summary).toEqual({
          type: 'stopped',
          reason: 'guardrail',
          code: 'HOOK_FAILED',
          requests: 0,
          recoveries: [],
        });
        expect(reached).toEqual([]);
        expect(elapsedMs).toBeLessThanOrEqual(3000);
      }
    },
  );

  it.each(['run-start', 'before-model', 'after-model'] as const)(
    'that says no at %s stops the run',
    async (point) => {
      const ends = await playScene((props) => ({
        script: [done],
        tools: [act(props)],
        hooks: [
          {
            name: 'guard',
            kind: 'guardrail',
            on: { [point]: () => ({ action: 'halt', reason: 'Not on a Sunday' }) },
          },
        ],
      }));
      for (const { summary, outcome, events } of ends) {
        expect(summary).toMatchObject({ type: 'stopped', reason: 'guardrail', code: 'HOOK_TERMINATED' });
        expect(JSON.stringify(outcome)).toContain('Not on a Sunday');
        // What was sent counts, and what was shown is taken back.
        expect(outcome.usage.requests).toBe(summary.requests);
        expect(events === undefined ? '' : shownText(events)).toBe('');
      }
    },
  );
});

describe('a transformer of a structured answer', () => {
  const output = z.object({ total: z.number() });
  const usage = { inputTokens: 7, outputTokens: 3 };

  it('is held to the schema: its own text is what is checked', async () => {
    const ends = await playScene(() => ({
      script: ['{"total":1}', '{"total":2}'],
      modelOptions: { usage },
      output,
      hooks: [
        {
          name: 'change',
          kind: 'transformer',
          on: {
            'after-model': ({ result }) => ({
              action: 'modify',
              text: result.text === '{"total":1}' ? 'One.' : '{"total":22}',
            }),
          },
        },
      ],
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toMatchObject({
        type: 'completed',
        text: '{"total":22}',
        recoveries: ['OUTPUT_PARSE_ERROR by re-ask'],
      });
      expect(outcome).toMatchObject({ output: { total: 22 }, usage: { requests: 2, inputTokens: 14 } });
    }
  });

  it('in the place of a model is held to the schema as well', async () => {
    const ends = await playScene(() => ({
      script: [],
      output,
      hooks: [
        {
          name: 'cache',
          kind: 'transformer',
          on: { 'before-model': () => ({ action: 'skip', text: '{"total":3}' }) },
        },
      ],
    }));
    for (const { outcome } of ends)
      expect(outcome).toMatchObject({ type: 'completed', output: { total: 3 } });
  });
});

describe('a transformer', () => {
  it.each(misdeeds)(
    'that %s before a model: the run ends typed, and nothing is sent',
    async (_name, misdeed) => {
      const ends = await playScene((props) => ({
        script,
        tools: [act(props)],
        hooks: [
          { name: 'change', kind: 'transformer', timeoutMs: 2000, on: { 'before-model': misdeed } } as Hook,
        ],
      }));
      for (const { summary } of ends)
        expect(summary).toMatchObject({ type: 'failed', code: 'HOOK_FAILED', requests: 0 });
    },
  );

  it('that changes the answer: the stream says what the outcome says', async () => {
    const ends = await playScene((props) => ({
      script,
      tools: [act(props)],
      hooks: [
        {
          name: 'change',
          kind: 'transformer',
          on: {
            'after-model': ({ result }) =>
              result.toolCalls.length > 0 ? undefined : { action: 'modify', text: result.text.toUpperCase() },
          },
        },
      ],
    }));
    for (const { summary, events } of ends) {
      expect(summary).toEqual({ ...finished, text: 'ALL IS DONE.' });
      expect(events === undefined ? 'ALL IS DONE.' : shownText(events)).toBe('ALL IS DONE.');
    }
  });

  it('that answers in the place of the model: the stream says what the outcome says, and nothing is counted', async () => {
    const ends = await playScene((props) => ({
      script,
      tools: [act(props)],
      hooks: [
        {
          name: 'cache',
          kind: 'transformer',
          on: { 'before-model': () => ({ action: 'skip', text: 'From the cache.' }) },
        },
      ],
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toEqual({ type: 'completed', text: 'From the cache.', requests: 0, recoveries: [] });
      expect(outcome.usage).toMatchObject({ requests: 0, unknownUsage: 0, unknownCost: 0 });
    }
  });

  it('that leaves nothing of the answer: failed typed, never completed with nothing', async () => {
    const ends = await playScene((props) => ({
      script: [done],
      tools: [act(props)],
      hooks: [
        {
          name: 'censor',
          kind: 'transformer',
          on: { 'after-model': () => ({ action: 'modify', text: '  ' }) },
        },
      ],
    }));
    for (const { summary } of ends)
      expect(summary).toMatchObject({ type: 'failed', code: 'HOOK_FAILED', requests: 1 });
  });
});
