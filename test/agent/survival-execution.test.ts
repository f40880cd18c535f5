import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import type { Tool, ToolContext } from '../../src/index.ts';
import { playScene, toolResults } from './survival-scripted.ts';
import type { Props, Scene } from './survival-scripted.ts';

// What the code of a tool does to a run: it throws anything, returns anything, never comes back. Time is simulated.

const done = 'All is done.';
const finished = { type: 'completed', text: done } as const;

interface Acting {
  readonly name?: string;
  readonly execute: (input: { readonly place: number }, context: ToolContext) => unknown;
  readonly rest?: object;
}

function acting({ name = 'act', execute, rest }: Acting): Tool {
  const input = z.object({ place: z.number() });
  return tool({ name, description: 'Acts.', input, effect: 'read', execute, ...rest });
}

function calls(count: number, name = 'act'): { toolCalls: { name: string; arguments: { place: number } }[] } {
  return { toolCalls: Array.from({ length: count }, (_, place) => ({ name, arguments: { place } })) };
}

function circular(): Error {
  const error = new Error('round');
  error.cause = error;
  return error;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const refuse = (): never => {
  throw new Error('No look inside');
};
const hostile = new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse, has: refuse });
const badGetter = Object.defineProperty({}, 'message', { get: refuse, enumerable: true });

describe('T01 a tool that throws', () => {
  it.each<readonly [string, unknown]>([
    ['an Error', new Error('The index is broken')],
    ['null', null],
    ['undefined', undefined],
    ['a string', 'broken'],
    ['a number', 17],
    ['a symbol', Symbol('broken')],
    ['a frozen object', Object.freeze({ code: 'EBROKEN' })],
    ['an object with a throwing getter', badGetter],
    ['a Proxy that throws', hostile],
    ['a revoked Proxy', revoked()],
    ['an error with a circular cause', circular()],
    ['an aggregate of all that', new AggregateError([null, hostile, circular()], 'all of it')],
  ])('%s: told to the model, and the run goes on', async (_name, thrown) => {
    const ends = await playScene(({ reached }) => ({
      script: [calls(1), done],
      tools: [
        acting({
          rest: { effect: 'once' },
          execute: () => {
            reached('act');
            throw thrown;
          },
        }),
      ],
    }));
    for (const { summary, outcome, reached } of ends) {
      expect(summary).toEqual({
        ...finished,
        requests: 2,
        recoveries: ['TOOL_EXECUTION_ERROR by tell-model'],
      });
      expect(toolResults(outcome)).toHaveLength(1);
      expect(reached).toEqual(['act']);
    }
  });

  it('beside others: their results stand, and the order is that of the calls', async () => {
    const ends = await playScene(({ clock }) => ({
      script: [calls(4), done],
      tools: [
        acting({
          rest: { effect: 'once' },
          execute: async ({ place }) => {
            // The last one is ready first.
            await new Promise<void>((resolve) => void clock.after(100 * (5 - place), resolve));
            if (place === 1) throw new Error('The second is broken');
            return `Result ${place}`;
          },
        }),
      ],
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toMatchObject({ ...finished, requests: 2 });
      expect(toolResults(outcome)).toEqual([
        '"Result 0"',
        expect.stringContaining('The second is broken'),
        '"Result 2"',
        '"Result 3"',
      ]);
    }
  });

  it('for ever: loses the tool, and the run ends bounded', async () => {
    const ends = await playScene(({ reached }) => ({
      script: (_request, place) => ({ toolCalls: [{ name: 'act', arguments: { place } }] }),
      tools: [
        acting({
          rest: { effect: 'once' },
          execute: ({ place }) => {
            reached('act');
            throw new Error(`Broken, ${place}`);
          },
        }),
      ],
    }));
    for (const { summary, reached } of ends) {
      expect(summary.type).toBe('failed');
      expect(summary.requests).toBeLessThanOrEqual(10);
      expect(reached).toHaveLength(5);
    }
  });
});

describe('a tool that', () => {
  it('always wants to be called differently is bounded', async () => {
    const ends = await playScene(({ reached }) => ({
      script: (_request, place) => ({ toolCalls: [{ name: 'act', arguments: { place } }] }),
      tools: [
        acting({
          execute: ({ place }, { retry }) => {
            reached('act');
            return retry(`Not ${place}: try another one`);
          },
        }),
      ],
    }));
    for (const { summary, reached } of ends) {
      expect(['failed', 'stopped']).toContain(summary.type);
      expect(summary.requests).toBeLessThanOrEqual(10);
      expect(reached).toHaveLength(5);
    }
  });

  it('may end the run does so, and the results beside it stand', async () => {
    const ends = await playScene(() => ({
      script: [calls(3), done],
      tools: [
        acting({
          rest: { onError: 'abort', effect: 'once' },
          execute: ({ place }) => {
            if (place === 1) throw new Error('This ends it');
            return `Result ${place}`;
          },
        }),
      ],
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toEqual({ type: 'failed', code: 'TOOL_EXECUTION_ERROR', requests: 1, recoveries: [] });
      expect(toolResults(outcome)).toEqual([
        '"Result 0"',
        expect.stringContaining('This ends it'),
        '"Result 2"',
      ]);
    }
  });
});

describe('a tool that fails for a moment', () => {
  const busy = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 2000 } as const;

  it.each(['read', 'idempotent'] as const)('is called again by us where it is "%s"', async (effect) => {
    const ends = await playScene(({ reached }) => ({
      script: [calls(1), done],
      tools: [
        acting({
          rest: { effect },
          execute: (_input, { attempt, idempotencyKey, fail }) => {
            reached(idempotencyKey);
            return attempt < 3 ? fail('Come back later', busy) : 'There.';
          },
        }),
      ],
    }));
    for (const { summary, reached, elapsedMs } of ends) {
      expect(summary).toEqual({
        ...finished,
        requests: 2,
        recoveries: ['RATE_LIMITED by retry', 'RATE_LIMITED by retry'],
      });
      expect(reached).toHaveLength(3);
      expect(new Set(reached).size).toBe(1);
      expect(elapsedMs).toBeGreaterThanOrEqual(4000);
    }
  });

  it('is never called again by us where it is "once"', async () => {
    const ends = await playScene(({ reached }) => ({
      script: [calls(1), done],
      tools: [
        acting({
          rest: { effect: 'once' },
          execute: (_input, { fail }) => {
            reached('act');
            return fail('Come back later', busy);
          },
        }),
      ],
    }));
    for (const { summary, reached } of ends) {
      expect(summary).toMatchObject({ ...finished, requests: 2 });
      expect(reached).toHaveLength(1);
    }
  });
});

const lateMs = 40_000;

/** A tool that hears no signal and comes back, if at all, when nobody waits any more. */
function deaf({ clock, reached }: Props, rest: object): Tool {
  return acting({
    execute: (_input, { attempt }) => {
      reached(`act ${attempt}`);
      return new Promise((resolve) => void clock.after(lateMs, () => resolve('Too late.')));
    },
    rest: { timeoutMs: 1000, ...rest },
  });
}

describe('T03 a deaf tool at its timeout', () => {
  it('is left behind: of a tool that is called once, nobody knows whether it happened', async () => {
    const ends = await playScene((props) => ({
      script: [calls(1), done],
      tools: [deaf(props, { effect: undefined })],
    }));
    for (const { summary, outcome, elapsedMs, reached } of ends) {
      expect(summary).toMatchObject({ type: 'suspended', reason: 'in-doubt', requests: 1 });
      expect(outcome).toMatchObject({ request: { type: 'in-doubt', tool: 'act', input: { place: 0 } } });
      expect(elapsedMs).toBeLessThanOrEqual(2000);
      expect(reached).toEqual(['act 1']);
    }
  });

  it('is told to the model where that was decided', async () => {
    const ends = await playScene((props) => ({
      script: [calls(1), done],
      tools: [deaf(props, { effect: 'once' })],
      policy: { inDoubt: 'tell' },
    }));
    for (const { summary, outcome, reached } of ends) {
      expect(summary).toEqual({ ...finished, requests: 2, recoveries: ['UNKNOWN_OUTCOME by tell-model'] });
      expect(toolResults(outcome)).toEqual([expect.stringMatching(/may|unknown|not known/i)]);
      expect(reached).toEqual(['act 1']);
    }
  });

  it('is not tried again while it still runs, and told to the model, where it only reads', async () => {
    const ends = await playScene((props) => ({
      script: [calls(1), done],
      tools: [deaf(props, { effect: 'read' })],
    }));
    for (const { summary, outcome, reached, elapsedMs } of ends) {
      expect(summary).toEqual({ ...finished, requests: 2, recoveries: ['TIMEOUT by tell-model'] });
      expect(toolResults(outcome)).toEqual([expect.stringMatching(/1000 ms.*still running/)]);
      expect(reached).toEqual(['act 1']);
      expect(elapsedMs).toBeLessThanOrEqual(2000);
    }
  });

  it.each([
    { id: 'it happened', found: { happened: true, result: 'Order 17 was refunded.' }, runs: 1 },
    { id: 'it did not happen: it is done now', found: { happened: false }, runs: 2 },
  ])('is settled by its own check: $id', async ({ found, runs }) => {
    const ends = await playScene(({ clock, reached }) => ({
      script: [calls(1), done],
      tools: [
        acting({
          execute: (_input, { attempt, signal }) => {
            reached('act');
            const late = new Promise((resolve, reject) => {
              clock.after(lateMs, () => resolve('Too late.'));
              // What still runs may yet happen, so only a call that has stopped is made again.
              if (runs === 2) signal.addEventListener('abort', () => reject(new Error('Stopped.')));
            });
            return attempt === 1 ? late : 'Done now.';
          },
          rest: { effect: 'once', timeoutMs: 1000, verify: () => found },
        }),
      ],
    }));
    for (const { summary, outcome, reached } of ends) {
      expect(summary).toEqual({ ...finished, requests: 2, recoveries: ['UNKNOWN_OUTCOME by verify'] });
      expect(reached).toHaveLength(runs);
      expect(toolResults(outcome)).toEqual([runs === 1 ? '"Order 17 was refunded."' : '"Done now."']);
    }
  });

  it('T04 comes back late: told as evidence, never as a result', async () => {
    const ends = await playScene((props) => ({
      script: [calls(1), { text: done, delayMs: lateMs }],
      tools: [deaf(props, { effect: 'once' })],
      policy: { inDoubt: 'tell' },
    }));
    for (const { summary, outcome, events } of ends) {
      expect(summary).toMatchObject(finished);
      expect(JSON.stringify(outcome.messages)).not.toContain('Too late');
      const late = (events ?? []).filter(({ type }) => type === 'tool-late');
      expect(late).toHaveLength(events === undefined ? 0 : 1);
    }
  });
});

describe('a deaf tool at the wish to stop', () => {
  it.each(['once', 'read'] as const)('does not hold the run (%s)', async (effect) => {
    const abortedAtMs = 5000;
    const ends = await playScene((props) => {
      const controller = new AbortController();
      props.clock.after(abortedAtMs, () => controller.abort());
      return {
        script: [calls(2), done],
        tools: [deaf(props, { effect, timeoutMs: 600_000 })],
        signal: controller.signal,
      };
    });
    for (const { summary, elapsedMs, outcome } of ends) {
      expect(summary).toEqual({ type: 'cancelled', requests: 1, recoveries: [] });
      expect(elapsedMs).toBeLessThanOrEqual(abortedAtMs + 1000);
      expect(toolResults(outcome)).toHaveLength(2);
    }
  });
});

function* forever(): Generator<string> {
  for (;;) yield 'x'.repeat(1000);
}

class Broken {
  toJSON(): never {
    throw new Error('No JSON of me');
  }
}

describe('a tool that returns', () => {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle['self'] = circle;

  it.each<readonly [string, () => unknown, RegExp]>([
    ['T08 a circle', () => circle, /circle/],
    ['T08 a BigInt', () => 12n, /12/],
    ['T08 a Map', () => new Map([['key', 'value']]), /key.*value/s],
    ['T08 a Set', () => new Set(['member']), /member/],
    ['T08 a function', () => () => 1, /function/i],
    ['T08 a symbol', () => Symbol('sign'), /./],
    ['T08 nothing', () => undefined, /./],
    ['T08 a date that is none', () => new Date(Number.NaN), /./],
    ['T08 NaN', () => Number.NaN, /./],
    ['T08 a promise of a promise', () => Promise.resolve(Promise.resolve('inner')), /inner/],
    ['T08 a class whose toJSON throws', () => new Broken(), /./],
    ['T08 a hostile Proxy', () => hostile, /./],
    ['T09 50 MB of text', () => 'y'.repeat(50_000_000), /50,?000,?000/],
    ['T09 ten million rows', () => ({ rows: Array.from({ length: 1_000_000 }, (_, row) => row) }), /./],
    ['T09 a stream without end', () => Readable.from(forever()), /x/],
    ['T10 bytes', () => Buffer.from([0xff, 0xfe, 0x00, 0x01]), /./],
  ])('%s: encoded within its bound, or told typed', async (_name, make, pattern) => {
    const ends = await playScene(() => ({
      script: [calls(1), done],
      tools: [acting({ execute: make, rest: { maxResultCharacters: 2000 } })],
    }));
    for (const { summary, outcome } of ends) {
      expect(summary).toMatchObject({ ...finished, requests: 2 });
      const [result = ''] = toolResults(outcome);
      expect(result).toMatch(pattern);
      expect(result.length).toBeLessThan(4000);
      expect(result).not.toBe('"{}"');
    }
  });
});

describe('two calls of one id', () => {
  it('are both run, and each has its result', async () => {
    const ends = await playScene(({ reached }) => ({
      script: [
        { toolCalls: [1, 2].map((place) => ({ name: 'act', arguments: { place }, callId: 'call_same' })) },
        done,
      ],
      tools: [
        acting({
          execute: ({ place }) => {
            reached(String(place));
            return `Result ${place}`;
          },
        }),
      ],
    }));
    for (const { summary, outcome, reached } of ends) {
      expect(summary).toMatchObject({ ...finished, requests: 2 });
      expect(reached).toEqual(['1', '2']);
      expect(toolResults(outcome)).toEqual(['"Result 1"', '"Result 2"']);
    }
  });
});

describe('M07 a thousand calls in one answer', () => {
  it('run eight at a time, sixty-four in all; the rest is refused, and the order is that of the calls', async () => {
    let most = 0;
    const ends = await playScene(({ clock, reached }): Scene => {
      let now = 0;
      return {
        script: [calls(1000), done],
        tools: [
          acting({
            execute: async ({ place }) => {
              now += 1;
              most = Math.max(most, now);
              reached(String(place));
              await new Promise<void>((resolve) => void clock.after(((place * 7) % 5) * 10, resolve));
              now -= 1;
              return `Result ${place}`;
            },
          }),
        ],
      };
    });
    expect(most).toBe(8);
    for (const { summary, outcome, reached } of ends) {
      expect(summary).toMatchObject({ ...finished, requests: 2 });
      expect(reached).toHaveLength(64);
      const results = toolResults(outcome);
      expect(results).toHaveLength(1000);
      expect(results.slice(0, 64)).toEqual(Array.from({ length: 64 }, (_, place) => `"Result ${place}"`));
      expect(results.slice(64).every((text) => text.includes('at most 64 tools'))).toBe(true);
    }
  });
});
