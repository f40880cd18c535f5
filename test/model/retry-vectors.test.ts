import { describe, expect, it } from 'vitest';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { bareModel } from './scripted.ts';

interface Vector {
  readonly name: string;
  readonly tokens: number;
  readonly maxAttempts?: number;
  readonly maxDelayMs?: number;
  /** What each call is answered with, one list per call. */
  readonly calls: readonly (readonly number[])[];
  /** Tokens after each answer. */
  readonly tokensAfter: readonly number[];
  readonly delaysMs: readonly number[];
  /** How each call ends, in the words of its last decision. */
  readonly ends: readonly (string | RegExp)[];
}

// The vectors of the survival table: base 1 s, factor 2, no jitter; a retry costs 5 tokens, a success gives back 5.
const vectors: readonly Vector[] = [
  {
    name: '1: two failures, then success',
    tokens: 500,
    maxAttempts: 3,
    calls: [[500, 500, 200]],
    tokensAfter: [495, 490, 495],
    delaysMs: [1000, 2000],
    ends: ['success'],
  },
  {
    name: '2: attempts spent',
    tokens: 500,
    maxAttempts: 3,
    calls: [[502, 502, 502]],
    tokensAfter: [495, 490, 490],
    delaysMs: [1000, 2000],
    ends: [/all 3 attempts are used up/],
  },
  {
    name: '3: the quota is spent by the first retry',
    tokens: 5,
    calls: [[500, 502]],
    tokensAfter: [0, 0],
    delaysMs: [1000],
    ends: [/retry budget .* is spent/],
  },
  {
    name: '4: the quota is empty from the start',
    tokens: 0,
    calls: [[500]],
    tokensAfter: [0],
    delaysMs: [],
    ends: [/retry budget .* is spent/],
  },
  {
    name: '5: delays double',
    tokens: 500,
    maxAttempts: 5,
    calls: [[500, 500, 500, 500, 500]],
    tokensAfter: [495, 490, 485, 480, 480],
    delaysMs: [1000, 2000, 4000, 8000],
    ends: [/all 5 attempts are used up/],
  },
  {
    name: '6: delays are bounded',
    tokens: 500,
    maxAttempts: 5,
    maxDelayMs: 3000,
    calls: [[500, 500, 500, 500, 500]],
    tokensAfter: [495, 490, 485, 480, 480],
    delaysMs: [1000, 2000, 3000, 3000],
    ends: [/all 5 attempts are used up/],
  },
  {
    name: '7: a success gives back what its retry cost, to the next call too',
    tokens: 15,
    calls: [
      [500, 502, 200],
      [500, 200],
    ],
    tokensAfter: [10, 5, 10, 5, 10],
    delaysMs: [1000, 2000, 1000],
    ends: ['success', 'success'],
  },
];

describe('the retry vectors', () => {
  it.each(vectors)('$name', async (vector) => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { budgetTokens: vector.tokens } });
    const tokensAfter: number[] = [];
    const delaysMs: number[] = [];
    const ends: string[] = [];
    for (const answers of vector.calls) {
      const model = bareModel(answers, { now: clock.monotonicMs });
      const startMs = clock.monotonicMs();
      let end = 'success';
      const outcome: CallOutcome = await clock.runUntil(
        callModel(
          model,
          { messages: [{ role: 'user', content: 'hello' }] },
          {
            clock,
            gates,
            random: () => 0.5,
            policy: {
              retry: {
                jitter: 0,
                quickDelayMs: 1000,
                maxAttempts: vector.maxAttempts ?? 3,
                maxDelayMs: vector.maxDelayMs ?? 20_000,
              },
            },
            onEvent: (event) => {
              if (event.type !== 'recovery') return;
              tokensAfter.push(tokensOf(gates));
              if (event.delayMs !== undefined) delaysMs.push(event.delayMs);
              if (event.recovery === 'give-up') end = event.reason;
            },
          },
        ),
      );
      if (outcome.type === 'success') tokensAfter.push(tokensOf(gates));
      ends.push(end);
      expect(model.requests).toHaveLength(answers.length);
      // The waits are kept, not only decided.
      const gaps = model.requests
        .map(({ atMs }, index) => atMs - (model.requests[index - 1]?.atMs ?? startMs))
        .slice(1);
      expect(gaps).toEqual(delaysMs.slice(delaysMs.length - gaps.length));
    }
    expect(tokensAfter).toEqual(vector.tokensAfter);
    expect(delaysMs).toEqual(vector.delaysMs);
    expect(ends).toHaveLength(vector.ends.length);
    for (const [index, end] of ends.entries())
      expect(end).toMatch(vector.ends[index] ?? 'no end was expected');
  });
});

function tokensOf(gates: ReturnType<typeof createGates>): number {
  return Object.values(gates.states())[0]?.budgetTokens ?? Number.NaN;
}
