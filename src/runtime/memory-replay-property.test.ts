import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../base/json.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';
import type { Durable, DurableProgram, Effect, RunStatus } from './record/durable.ts';
import { signalsTakenBy } from './record/journal.ts';
import type { JournalEntry, NamedSignal, RunSnapshot } from './record/journal.ts';
import { createMemoryEngine } from './record/memory-engine.ts';

type Step =
  | { readonly type: 'call'; readonly effect: string; readonly input: Json; readonly ticks: number }
  | { readonly type: 'sleep'; readonly delayMs: number }
  | { readonly type: 'wait'; readonly signal: string }
  | { readonly type: 'parallel'; readonly steps: readonly Step[] };

const call = fc.record({
  type: fc.constant('call' as const),
  effect: fc.constantFrom('work', 'fail', 'throw', 'take'),
  input: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  ticks: fc.integer({ min: 0, max: 5 }),
});
const sleep = fc.record({
  type: fc.constant('sleep' as const),
  // Longer than a timer of Node takes; eight of them are within the year for which the clock waits.
  delayMs: fc.integer({ min: 0, max: 3 * 2 ** 30 }),
});
const wait = fc.record({ type: fc.constant('wait' as const), signal: fc.constantFrom('a', 'b') });
const single: fc.Arbitrary<Step> = fc.oneof({ weight: 4, arbitrary: call }, sleep, wait);
const parallel = fc.record({
  type: fc.constant('parallel' as const),
  steps: fc.array(single, { minLength: 1, maxLength: 4 }),
});
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: single }, parallel), { maxLength: 8 });
const signals: fc.Arbitrary<readonly NamedSignal[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'taken'),
    id: fc.string({ minLength: 1, maxLength: 4 }),
    payload: fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
  }),
  { maxLength: 4, selector: ({ id }) => id },
);

function perform(durable: Durable, step: Step): Promise<unknown> {
  switch (step.type) {
    case 'call':
      return durable.call(step.effect, { input: step.input, ticks: step.ticks });
    case 'sleep':
      return durable.sleep(step.delayMs).then(() => 'slept');
    case 'wait':
      return durable.waitFor(step.signal, { timeoutMs: 1000 });
    default:
      return Promise.all(step.steps.map((inner) => perform(durable, inner)));
  }
}

function programOf(plan: readonly Step[]): DurableProgram {
  return async (durable) => {
    const results: unknown[] = [];
    for (const step of plan) results.push(await perform(durable, step));
    return JSON.parse(JSON.stringify(results)) as Json;
  };
}

/** Effects that end in any order, and that say the same whenever they are performed. */
function effectsThatCount(performed: { count: number }): Record<string, Effect> {
  const counted =
    (effect: Effect): Effect =>
    async (input, context) => {
      performed.count += 1;
      const { ticks } = input as { readonly ticks: number };
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      return effect(input, context);
    };
  return {
    work: counted((input, { position }) => ({ type: 'done', value: { input, position } })),
    fail: counted(() => {
      throw new RangeError('out of range');
    }),
    // Not async: thrown before there is a promise.
    throw: () => {
      performed.count += 1;
      throw new Error('thrown');
    },
    take: counted((_, { pending }) => ({
      type: 'done',
      value: null,
      took: pending('taken').map(({ id }) => id),
    })),
  };
}

interface Lived {
  readonly end: RunStatus;
  readonly journal: readonly JournalEntry[];
  readonly performed: number;
}

/** Carries a run on from a snapshot, to its end. */
async function live(plan: readonly Step[], snapshot: RunSnapshot): Promise<Lived> {
  const performed = { count: 0 };
  const clock = simulatedClock();
  const engine = createMemoryEngine({
    program: programOf(plan),
    effects: effectsThatCount(performed),
    clock,
    checkJson: true,
    runs: [JSON.parse(JSON.stringify(snapshot)) as RunSnapshot],
  });
  const end = await clock.runUntil(engine.whenEnded('run'));
  expect(clock.pending()).toBe(0);
  return { end, journal: engine.journalOf('run'), performed: performed.count };
}

describe('a program', () => {
  it('comes to the same live, replayed in full, and carried on from every prefix of its journal', async () => {
    await fc.assert(
      fc.asyncProperty(steps, signals, async (plan, sent) => {
        const fresh = {
          runId: 'run',
          version: '1',
          generation: 1,
          input: null,
          journal: [],
          signals: sent,
          signalIds: [],
        };
        const whole = await live(plan, fresh);
        expect(whole.end.type).toBe('ended');

        for (let length = 0; length <= whole.journal.length; length += 1) {
          const journal = whole.journal.slice(0, length);
          const taken = new Set(journal.flatMap(signalsTakenBy));
          const left = sent.filter(({ id }) => !taken.has(id));
          const again = await live(plan, { ...fresh, journal, signals: left });
          expect(again.end).toEqual(whole.end);
          const recorded = journal.filter(({ type }) => type === 'call').length;
          expect(again.performed).toBe(whole.performed - recorded);
        }

        const engine = createMemoryEngine({ program: programOf(plan), effects: {}, clock: simulatedClock() });
        const replayed = await engine.replay({ ...fresh, journal: whole.journal });
        // The status of a run also has its generation, which a replay was given.
        expect({ ...replayed, generation: fresh.generation }).toEqual(whole.end);
      }),
      { numRuns: 60 },
    );
  });
});
