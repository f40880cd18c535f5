import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent, CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { RetryOption } from '../../src/resilience/retry-policy.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello } from './play.ts';
import { bareModel } from './scripted.ts';
import type { Answer, BareModel } from './scripted.ts';

interface Load {
  readonly calls: number;
  readonly callers: number;
  readonly retry: RetryOption | ((call: number) => RetryOption);
  readonly seed: number;
  readonly answerMs?: number;
}

interface Watched {
  readonly outcomes: readonly CallOutcome[];
  readonly maxInFlight: number;
  readonly maxProbes: number;
}

async function drive(model: BareModel, clock: SimulatedClock, load: Load): Promise<Watched> {
  const gates = createGates({ clock });
  const random = seededRandom(load.seed);
  const outcomes: CallOutcome[] = [];
  const seen = { inFlight: 0, maxInFlight: 0, probes: 0, maxProbes: 0, wanted: 0 };
  const slow: Model = {
    ...model,
    call: async (given, options) => {
      seen.inFlight += 1;
      seen.maxInFlight = Math.max(seen.maxInFlight, seen.inFlight);
      await new Promise<void>((resolve) => clock.after(load.answerMs ?? 50, resolve));
      seen.inFlight -= 1;
      return model.call(given, options);
    },
  };
  const caller = async (): Promise<void> => {
    while (seen.wanted < load.calls) {
      seen.wanted += 1;
      let isProbing = false;
      const onEvent = (event: CallEvent): void => {
        if (event.type === 'attempt-started') {
          isProbing = event.isProbe;
          seen.probes += isProbing ? 1 : 0;
          seen.maxProbes = Math.max(seen.maxProbes, seen.probes);
        }
        if (isProbing && (event.type === 'failure' || event.type === 'text-delta')) {
          isProbing = false;
          seen.probes -= 1;
        }
      };
      const retry = typeof load.retry === 'function' ? load.retry(seen.wanted) : load.retry;
      outcomes.push(await callModel(slow, hello, { clock, gates, random, policy: { retry }, onEvent }));
    }
  };
  await clock.runUntil(Promise.all(Array.from({ length: load.callers }, caller)), {
    maxMs: 50 * 365 * 86_400_000,
  });
  expect(clock.pending()).toBe(0);
  expect(Object.values(gates.states())[0]).toMatchObject({ inFlight: 0, waiting: 0 });
  return { outcomes, maxInFlight: seen.maxInFlight, maxProbes: seen.maxProbes };
}

const presets = ['none', 'quick', 'standard'] as const;
const outages = presets.flatMap((retry) => [1, 20, 200].map((callers) => [retry, callers] as const));

describe('a total outage', () => {
  it.each(outages)(
    'costs at most 1.2 requests per call under %s for %i callers',
    { timeout: 120_000 },
    async (retry, callers) => {
      const clock = simulatedClock();
      const model = bareModel(() => 503);
      const calls = 1000;
      const { outcomes, maxProbes } = await drive(model, clock, {
        calls,
        callers,
        retry,
        seed: 3,
      });
      expect(outcomes).toHaveLength(calls);
      expect(maxProbes).toBeLessThanOrEqual(1);
      expect(model.requests.length / calls).toBeLessThanOrEqual(1.2);
    },
  );
});

describe('a total outage that patient callers sit out', () => {
  it.each([1, 20, 200])(
    'costs one request each and then one probe at a time: %i callers',
    { timeout: 120_000 },
    async (callers) => {
      const clock = simulatedClock();
      const model = bareModel(() => 503);
      const { maxProbes } = await drive(model, clock, { calls: callers, callers, retry: 'patient', seed: 3 });
      expect(maxProbes).toBeLessThanOrEqual(1);
      // Thirty minutes, at first a probe after 5 s and later every 30 s; and the ten answers that open the breaker.
      expect(model.requests.length).toBeLessThanOrEqual(Math.max(callers, 10) + 63);
    },
  );
});

const kinds: readonly Answer[] = [500, 502, 503, 529, { status: 429, retryAfter: '1' }];
const seeds = [11, 12, 13, 14, 15];
const storms = [0.5, 0.8].flatMap((share) => seeds.map((seed) => [share, seed] as const));

describe('faults at random', () => {
  it.each(storms)(
    'of share %f starve nobody under patient (seed %i)',
    { timeout: 120_000 },
    async (share, seed) => {
      const clock = simulatedClock();
      const faults = seededRandom(seed);
      const model = bareModel(() =>
        faults() < share ? (kinds[Math.floor(faults() * kinds.length)] ?? 500) : 'fine',
      );
      const { outcomes, maxProbes } = await drive(model, clock, {
        calls: 1000,
        callers: 40,
        retry: 'patient',
        seed,
      });
      expect(outcomes.filter(({ type }) => type === 'failure')).toEqual([]);
      expect(maxProbes).toBeLessThanOrEqual(1);
      const longestMs = Math.max(...outcomes.map(({ report }) => report.elapsedMs));
      expect(longestMs).toBeLessThan(15 * 60_000);
    },
  );

  it.each(seeds)(
    'that are all outages, two in three, starve nobody under patient (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const clock = simulatedClock();
      const faults = seededRandom(seed);
      const model = bareModel(() => (faults() < 0.66 ? 503 : 'fine'));
      const { outcomes } = await drive(model, clock, { calls: 1000, callers: 40, retry: 'patient', seed });
      expect(outcomes.filter(({ type }) => type === 'failure')).toEqual([]);
    },
  );

  it.each(seeds)(
    'leave patient and standard callers on one gate both alive (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const clock = simulatedClock();
      const faults = seededRandom(seed);
      const model = bareModel(() => (faults() < 0.5 ? 503 : 'fine'));
      const { outcomes } = await drive(model, clock, {
        calls: 1000,
        callers: 40,
        retry: (call) => (call % 2 === 0 ? 'patient' : 'standard'),
        seed,
      });
      const share = outcomes.filter(({ type }) => type === 'success').length / outcomes.length;
      expect(share).toBeGreaterThan(0.9);
    },
  );

  it('let patient callers through soon after an outage of ten minutes has ended', async () => {
    const clock = simulatedClock();
    const outageMs = 10 * 60_000;
    const model = bareModel(() => (clock.monotonicMs() < outageMs ? 503 : 'fine'), {
      now: clock.monotonicMs,
    });
    const { outcomes } = await drive(model, clock, { calls: 200, callers: 200, retry: 'patient', seed: 5 });
    expect(outcomes.filter(({ type }) => type === 'failure')).toEqual([]);
    expect(Math.max(...outcomes.map(({ report }) => report.elapsedMs))).toBeLessThan(outageMs + 60_000);
  });
});
