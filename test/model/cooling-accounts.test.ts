import { describe, expect, it } from 'vitest';
import { createAgent, createFailure } from '../../src/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallOutcome, Gates } from '../../src/model/index.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptStep, SimulatedClock } from '../../src/testing/index.ts';

// An account that is empty, refused or limited for a stated time is asked last by every call of the process, until its time is over.

const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
type Script = Parameters<typeof scriptedModel>[0];

const account = (provider: string, script: Script): ScriptedModel =>
  scriptedModel(script, { provider, repeat: 'last' });

const limitedFor = (retryAfterMs: number): ScriptStep => ({
  failure: createFailure('RATE_LIMITED', { origin: 'model', message: 'too many requests', retryAfterMs }),
});

interface Scene {
  readonly clock: SimulatedClock;
  readonly gates: Gates;
  readonly call: (...models: readonly ScriptedModel[]) => Promise<CallOutcome>;
}

function scene(): Scene {
  const clock = simulatedClock();
  const gates = createGates({ clock });
  const random = seededRandom(9);
  const call: Scene['call'] = (...models) =>
    clock.runUntil(callModel(models, request, { clock, gates, random }));
  return { clock, gates, call };
}

const cools: readonly [string, ScriptStep, number][] = [
  ['is empty', { failure: 'QUOTA_EXCEEDED' }, 60_000],
  ['whose key is refused', { failure: 'AUTHENTICATION_ERROR' }, 60_000],
  ['is limited for a stated time', limitedFor(45_000), 45_000],
  ['is limited for two hours', limitedFor(7_200_000), 7_200_000],
];

describe.each(cools)('an account that %s', (_name, step, untilMs) => {
  it('is asked once by five runs of an agent, and again when its time is over', async () => {
    const { clock, gates } = scene();
    const first = account('first', [step, 'Back again.']);
    const second = account('second', ['From the second.']);
    const agent = createAgent({
      model: [first, second],
      clock,
      gates,
      // One that names its time in seconds is waited for by the run that meets it, and by no other.
      policy: { retry: { maxWaitMs: 1000 } },
    });
    for (let run = 0; run < 5; run += 1) {
      const outcome = await clock.runUntil(agent.run('Hello'));
      expect(outcome).toMatchObject({ type: 'completed', text: 'From the second.' });
    }
    expect(first.calls).toHaveLength(1);
    await clock.advance(untilMs);
    expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ text: 'Back again.' });
    expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ text: 'Back again.' });
  });

  it('is said to cool down, and by whose word', async () => {
    const { call } = scene();
    const first = account('first', [step]);
    const broken = account('second', [{ failure: 'INVALID_REQUEST' }]);
    await call(first, account('second', ['Fine.']));
    const { report } = await call(first, broken);
    expect(report.attempts.map(({ provider }) => provider)).toEqual(['second']);
  });
});

/** A wait of less than a minute is waited for, by whoever was told of it. */
const notWaitedFor = cools.filter(([, , untilMs]) => untilMs >= 60_000);

describe('two models of one account of which only the first is refused', () => {
  it.each(notWaitedFor)(
    'an account that %s for it: it is asked once a while, and every call is answered by the other',
    async (_name, step, untilMs) => {
      const { clock, gates } = scene();
      const first = scriptedModel([step], { provider: 'one', name: 'first', repeat: 'last' });
      const second = scriptedModel(['From the second.'], { provider: 'one', name: 'second', repeat: 'last' });
      const callers = (count: number): Promise<readonly CallOutcome[]> =>
        clock.runUntil(
          Promise.all(
            Array.from({ length: count }, () =>
              callModel([first, second], request, { clock, gates, random: seededRandom(3) }),
            ),
          ),
        );
      for (let turn = 0; turn < 5; turn += 1) {
        const outcomes = await callers(4);
        const texts = outcomes.map((outcome) => (outcome.type === 'success' ? outcome.result.text : ''));
        expect(texts).toEqual(Array.from({ length: 4 }, () => 'From the second.'));
      }
      // Four callers at once find it out together; nobody asks again before its time is over.
      const askedAtFirst = first.calls.length;
      expect(askedAtFirst).toBeLessThanOrEqual(4);
      await clock.advance(untilMs);
      await callers(1);
      expect(first.calls.length).toBe(askedAtFirst + 1);
    },
  );
});

describe('the cool-down of an account', () => {
  it('grows each time that it was for nothing, and ends with a success', async () => {
    const { clock, call } = scene();
    const first = account('first', [
      { failure: 'QUOTA_EXCEEDED' },
      { failure: 'QUOTA_EXCEEDED' },
      'Topped up.',
      { failure: 'QUOTA_EXCEEDED' },
    ]);
    const second = account('second', ['Fine.']);
    const askedAt: number[] = [];
    const step = 10_000;
    for (let index = 0; index < 40; index += 1) {
      const asked = first.calls.length;
      await call(first, second);
      if (first.calls.length > asked) askedAt.push(clock.monotonicMs());
      await clock.advance(step);
    }
    expect(askedAt.slice(0, 3)).toEqual([0, 60_000, 180_000]);
    // After a success it is asked at once, and an empty account begins with the first pause again.
    expect(askedAt.slice(3, 5)).toEqual([190_000, 250_000]);
  });

  it('is asked all the same where it is the only one: whoever has topped it up need not wait', async () => {
    const { call } = scene();
    const lone = account('lone', [{ failure: 'QUOTA_EXCEEDED' }, 'Topped up.']);
    expect(await call(lone)).toMatchObject({ type: 'failure', failure: { code: 'QUOTA_EXCEEDED' } });
    expect(await call(lone)).toMatchObject({ type: 'success', result: { text: 'Topped up.' } });
  });

  it('has one of many callers find out at a time, and tells the others', async () => {
    const { clock, gates, call } = scene();
    const lone = account('lone', [{ failure: 'AUTHENTICATION_ERROR', delayMs: 500 }]);
    await call(lone);
    const together = Array.from({ length: 20 }, () => callModel(lone, request, { clock, gates }));
    const outcomes = await clock.runUntil(Promise.all(together));
    expect(lone.calls).toHaveLength(2);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'AUTHENTICATION_ERROR' } });
    }
  });

  it('lets the one that is ready first be asked where all of them cool down', async () => {
    const { clock, call } = scene();
    const first = account('first', [{ failure: 'QUOTA_EXCEEDED' }, { failure: 'QUOTA_EXCEEDED' }, 'First.']);
    const second = account('second', ['Fine.', { failure: 'QUOTA_EXCEEDED' }, 'Second.']);
    await call(first, second); // The first is empty for a minute, and the second is not.
    await clock.advance(60_000);
    await call(first, second); // The first for two more minutes, the second for one.
    expect([first.calls.length, second.calls.length]).toEqual([2, 2]);
    await clock.advance(10_000);
    expect(await call(first, second)).toMatchObject({ type: 'success', result: { text: 'Second.' } });
    expect(first.calls).toHaveLength(2);
  });

  it('is waited for where all are limited for a short time, and not undercut', async () => {
    const { clock, call } = scene();
    const first = account('first', [limitedFor(30_000), limitedFor(30_000), 'First.']);
    const second = account('second', ['Fine.', limitedFor(8000), 'Second.']);
    const policy = { retry: { maxWaitMs: 1000 } } as const;
    const gates = createGates({ clock });
    await clock.runUntil(callModel([first, second], request, { clock, gates, policy }));
    const lastMs = clock.monotonicMs();
    const failed = await clock.runUntil(callModel([first, second], request, { clock, gates, policy }));
    expect(failed).toMatchObject({ type: 'failure', failure: { code: 'RATE_LIMITED' } });
    expect(failed.report.resumeAtMs).toBe(clock.wallMs() + 8000);
    const outcome = await clock.runUntil(callModel([first, second], request, { clock, gates }));
    expect(outcome).toMatchObject({ type: 'success', result: { text: 'Second.' } });
    expect(clock.monotonicMs() - lastMs).toBeGreaterThanOrEqual(8000);
    expect(first.calls).toHaveLength(1);
    expect(await call(first, second)).toMatchObject({ type: 'success' });
  });
});
