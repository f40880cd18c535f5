import { describe, expect, it } from 'vitest';
import { createAgent, createFailure } from '../../src/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallOutcome, Gates } from '../../src/model/index.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptStep, SimulatedClock } from '../../src/testing/index.ts';

// A breaker per model inside the one per provider and key: what one model does must not shut off its siblings, and what the provider
// does must not have to be found out for each model.

const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
const answer = 'Fine.';
const quotaKey = 'one provider, one key';

type Script = Parameters<typeof scriptedModel>[0];

const behindOneKey = (name: string, script: Script): ScriptedModel =>
  scriptedModel(script, { provider: 'one', name, quotaKey, repeat: 'last' });

const overloaded: ScriptStep = { failure: 'OVERLOADED', delayMs: 50 };
const unreachable: ScriptStep = {
  failure: createFailure('NETWORK_ERROR', {
    origin: 'model',
    message: 'connect ECONNREFUSED',
    phase: 'connect',
  }),
};

interface Scene {
  readonly clock: SimulatedClock;
  readonly gates: Gates;
  readonly call: (models: readonly ScriptedModel[], deadlineMs?: number) => Promise<CallOutcome>;
}

function scene(): Scene {
  const clock = simulatedClock();
  const gates = createGates({ clock });
  const random = seededRandom(5);
  return {
    clock,
    gates,
    call: (models, deadlineMs = 600_000) =>
      clock.runUntil(callModel(models, request, { clock, gates, random, policy: { retry: { deadlineMs } } })),
  };
}

describe('one model that is down behind the key of its sibling', () => {
  it.each(['OVERLOADED', 'SERVER_ERROR', 'TIMEOUT', 'NETWORK_ERROR'] as const)(
    'leaves the sibling alone: %s, forty runs with deadlineMs 4000',
    async (failure) => {
      const { clock, gates } = scene();
      const sick = behindOneKey('sick', [{ failure, delayMs: 50 }]);
      const well = behindOneKey('well', [{ text: answer, delayMs: 50 }]);
      const agent = createAgent({
        model: [sick, well],
        clock,
        gates,
        random: seededRandom(5),
        policy: { retry: { deadlineMs: 4000 } },
      });
      const runs = Promise.all(Array.from({ length: 40 }, () => agent.run('Hello')));
      const outcomes = await clock.runUntil(runs);
      expect(outcomes.map(({ type }) => type)).toEqual(Array.from({ length: 40 }, () => 'completed'));
      for (let run = 0; run < 5; run += 1) {
        expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ type: 'completed', text: answer });
      }
      expect(gates.states()[quotaKey]).toMatchObject({ breaker: 'open', models: { sick: 'open' } });
    },
  );

  it.each([
    ['right away', 0],
    ['after twenty good answers', 20],
    ['after twenty answers of which every fifth was none', 25],
  ])('is asked at most 15 times in 20 calls of an outage of 60 s: %s', async (_name, before) => {
    const { clock, call } = scene();
    const startMs = before * 3000;
    const isDown = (): boolean => clock.monotonicMs() >= startMs && clock.monotonicMs() < startMs + 60_000;
    let calls = 0;
    const sick = behindOneKey('sick', () => {
      calls += 1;
      const isBad = isDown() || (before === 25 && calls % 5 === 0);
      return isBad ? { failure: 'SERVER_ERROR', delayMs: 20 } : { text: answer, delayMs: 20 };
    });
    const well = behindOneKey('well', [{ text: 'From the sibling.', delayMs: 20 }]);
    for (let index = 0; index < before + 20; index += 1) {
      await clock.advance(Math.max(0, index * 3000 - clock.monotonicMs()));
      if (index === before) calls = 0;
      const outcome = await call([sick, well]);
      expect(outcome.type).toBe('success');
    }
    expect(calls).toBeLessThanOrEqual(15);
    // Soon after its end the first model is asked first again.
    await clock.advance(60_000);
    expect(await call([sick, well])).toMatchObject({ type: 'success', result: { text: answer } });
  });

  it.each<[string, ScriptStep]>([
    ['overloaded', { failure: 'OVERLOADED', delayMs: 20 }],
    ['limited, without a time', { failure: 'RATE_LIMITED', delayMs: 20 }],
    ['being loaded', { failure: 'MODEL_LOADING', delayMs: 20 }],
    ['answering with garbage', { failure: 'INVALID_RESPONSE', delayMs: 20 }],
    ['silent', { text: answer, delayMs: Infinity }],
    ['stalling', { text: ['Fi', 'ne.'], chunkDelayMs: Infinity }],
  ])('is asked at most 15 times in 20 calls that overlap where it is %s for 60 s', async (_how, step) => {
    const { clock, gates } = scene();
    const sick = behindOneKey('sick', [step]);
    const well = behindOneKey('well', [{ text: 'From the sibling.', delayMs: 20 }]);
    const calls = Array.from({ length: 20 }, async (_value, index) => {
      await new Promise<void>((resolve) => void clock.after(index * 3000, resolve));
      return callModel([sick, well], request, { clock, gates, random: seededRandom(index) });
    });
    const outcomes = await clock.runUntil(Promise.all(calls));
    expect(outcomes.map(({ type }) => type)).toEqual(Array.from({ length: 20 }, () => 'success'));
    expect(sick.calls.length).toBeLessThanOrEqual(15);
  });

  it('is found out by one probe at a time', async () => {
    const { clock, gates, call } = scene();
    const sick = behindOneKey('sick', [overloaded]);
    const well = behindOneKey('well', [answer]);
    for (let index = 0; index < 4; index += 1) await call([sick, well]);
    const known = sick.calls.length;
    expect(gates.states()[quotaKey]).toMatchObject({ models: { sick: 'open' } });
    await clock.advance(5000);
    const together = Promise.all(
      Array.from({ length: 10 }, () => callModel([sick, well], request, { clock, gates })),
    );
    const outcomes = await clock.runUntil(together);
    expect(outcomes.every(({ type }) => type === 'success')).toBe(true);
    expect(sick.calls.length).toBe(known + 1);
  });
});

describe('a provider that is down', () => {
  it('is known to be so where several of its models are, and is not asked for a further one', async () => {
    const { gates, call } = scene();
    const models = ['a', 'b'].map((name) => behindOneKey(name, [overloaded]));
    for (let index = 0; index < 3; index += 1) await call(models, 20_000);
    expect(gates.states()[quotaKey]).toMatchObject({ breaker: 'open' });
    const third = behindOneKey('c', [answer]);
    const outcome = await call([third], 1000);
    expect(outcome).toMatchObject({ type: 'failure', failure: { context: { breaker: 'open' } } });
    expect(third.calls).toHaveLength(0);
  });

  it('is known to be so where no connection stands, whichever model was asked', async () => {
    const { gates, call } = scene();
    for (let index = 0; index < 3; index += 1) await call([behindOneKey('a', [unreachable])], 20_000);
    expect(gates.states()[quotaKey]).toMatchObject({ breaker: 'open' });
    const sibling = behindOneKey('b', [answer]);
    expect(await call([sibling], 1000)).toMatchObject({
      type: 'failure',
      failure: { code: 'NETWORK_ERROR' },
    });
    expect(sibling.calls).toHaveLength(0);
    expect(await call([sibling])).toMatchObject({ type: 'success' });
  });
});
