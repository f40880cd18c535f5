import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent, CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { RetryOption } from '../../src/resilience/retry-policy.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { bareModel } from './scripted.ts';
import type { Answer, BareModel } from './scripted.ts';

const request = { messages: [{ role: 'user', content: 'hello' }] } as const;
const answerMs = 50;

interface Load {
  readonly calls: number;
  readonly callers: number;
  readonly retry: RetryOption;
  readonly seed: number;
}

interface Watched {
  readonly outcomes: readonly CallOutcome[];
  readonly events: readonly CallEvent[];
  readonly maxInFlightWhileOpen: number;
}

/** `callers` at a time, until `calls` have been made. */
async function drive(model: BareModel, clock: SimulatedClock, load: Load): Promise<Watched> {
  const gates = createGates({ clock });
  const random = seededRandom(load.seed);
  const outcomes: CallOutcome[] = [];
  const events: CallEvent[] = [];
  let wanted = 0;
  let maxInFlightWhileOpen = 0;
  // The answer takes time, so that callers overlap as they do in life.
  const slow: Model = {
    ...model,
    call: async (given, options) => {
      const state = Object.values(gates.states())[0];
      if (state !== undefined && state.breaker !== 'closed') {
        maxInFlightWhileOpen = Math.max(maxInFlightWhileOpen, state.inFlight);
      }
      await new Promise<void>((resolve) => clock.after(answerMs, resolve));
      return model.call(given, options);
    },
  };
  const caller = async (): Promise<void> => {
    while (wanted < load.calls) {
      wanted += 1;
      outcomes.push(
        await callModel(slow, request, {
          clock,
          gates,
          random,
          policy: { retry: load.retry },
          onEvent: (event) => void (event.type === 'text-delta' || events.push(event)),
        }),
      );
    }
  };
  await clock.runUntil(Promise.all(Array.from({ length: load.callers }, caller)));
  expect(clock.pending()).toBe(0);
  return { outcomes, events, maxInFlightWhileOpen };
}

describe('a total outage', () => {
  const seed = 7;

  it.each(['quick', 'standard', 'patient'] as const)(
    'costs at most 1.2 requests per call of 1,000 wanted from 20 callers under %s',
    async (retry) => {
      const clock = simulatedClock();
      const model = bareModel(() => 503);
      const { outcomes, events } = await drive(model, clock, { calls: 1000, callers: 20, retry, seed });
      expect(outcomes).toHaveLength(1000);
      expect(outcomes.every(({ type }) => type === 'failure')).toBe(true);
      expect(model.requests.length).toBeLessThanOrEqual(1200);
      expect(events).toContainEqual(expect.objectContaining({ type: 'breaker-changed', to: 'open' }));
      const counted = outcomes.reduce((sum, { report }) => sum + report.ledger.requests, 0);
      expect(counted).toBe(model.requests.length);
    },
  );

  it('lets one probe through at a time, and every patient call completes when it ends', async () => {
    const clock = simulatedClock();
    const outageMs = 10 * 60_000;
    const model = bareModel(() => (clock.monotonicMs() < outageMs ? 503 : 'fine'), {
      now: clock.monotonicMs,
    });
    const { outcomes, events, maxInFlightWhileOpen } = await drive(model, clock, {
      calls: 1000,
      callers: 20,
      retry: 'patient',
      seed,
    });
    expect(outcomes.filter(({ type }) => type === 'success')).toHaveLength(1000);
    const during = model.requests.filter(({ atMs }) => atMs < outageMs);
    // Twenty callers find out together; from then on single probes, at first after 5 s and later every 30 s.
    expect(during.length).toBeLessThanOrEqual(20 + 30);
    expect(model.requests.length).toBeLessThanOrEqual(1200);
    // One at a time: those that were under way when it opened aside, a probe is alone.
    const probes = events.filter((event) => event.type === 'attempt-started' && event.isProbe);
    expect(probes.length).toBeGreaterThan(5);
    expect(maxInFlightWhileOpen).toBeLessThanOrEqual(1);
    expect(events).toContainEqual(expect.objectContaining({ type: 'breaker-changed', to: 'closed' }));
  });
});

describe('faults at random', () => {
  it.each([
    ['30 %', 0.3, 1],
    ['50 %', 0.5, 2],
    ['50 %', 0.5, 3],
  ])('of %s starve nobody (seed %#)', async (_name, share, seed) => {
    const clock = simulatedClock();
    const faults = seededRandom(seed);
    const kinds: readonly Answer[] = [500, 502, 503, 529, { status: 429, retryAfter: '1' }];
    const model = bareModel(() =>
      faults() < share ? (kinds[Math.floor(faults() * kinds.length)] ?? 500) : 'fine',
    );
    const { outcomes } = await drive(model, clock, { calls: 2000, callers: 20, retry: 'patient', seed });
    expect(outcomes.filter(({ type }) => type === 'success')).toHaveLength(2000);
    const longestMs = Math.max(...outcomes.map(({ report }) => report.elapsedMs));
    expect(longestMs).toBeLessThan(5 * 60_000);
  });

  it('of 50 % leave a call with four attempts about fifteen chances in sixteen', async () => {
    const clock = simulatedClock();
    const faults = seededRandom(11);
    const model = bareModel(() => (faults() < 0.5 ? 500 : 'fine'));
    const { outcomes } = await drive(model, clock, { calls: 2000, callers: 20, retry: 'standard', seed: 5 });
    const share = outcomes.filter(({ type }) => type === 'success').length / outcomes.length;
    // 1 - 0.5^4 = 0.9375: what is missing is chance, not the budget or the breaker.
    expect(share).toBeGreaterThan(0.915);
  });
});
