import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallEvent, CallOutcome, CallPolicy, Model } from '../../src/model/index.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptStep } from '../../src/testing/index.ts';
import { showText } from './play.ts';

// A model that is silent uses up a timer. Where another one stands by, that one is asked next; where none is left, it is asked again.

const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
const answer = 'A whole answer, from the first word to the last.';

interface Played {
  readonly outcome: CallOutcome;
  readonly shown: string;
  readonly events: readonly CallEvent[];
  readonly tookMs: number;
}

async function play(models: readonly Model[], policy: CallPolicy = {}): Promise<Played> {
  const clock = simulatedClock();
  const events: CallEvent[] = [];
  const outcome = await clock.runUntil(
    callModel(models, request, {
      clock,
      gates: createGates({ clock }),
      random: seededRandom(3),
      policy,
      onEvent: (event) => void events.push(event),
    }),
  );
  expect(clock.pending()).toBe(0);
  return { outcome, shown: showText(events), events, tookMs: clock.monotonicMs() };
}

const model = (provider: string, script: readonly ScriptStep[]): ScriptedModel =>
  scriptedModel(script, { provider, repeat: 'last' });

const silent: ScriptStep = { text: answer, delayMs: Infinity };
const stalled: ScriptStep = { text: ['A whole answer, from ', 'the '], chunkDelayMs: Infinity };

describe('a model that is silent, with another one standing by', () => {
  it.each<[string, ScriptStep, number]>([
    ['never answers', silent, 36_000],
    ['stalls in the middle of its answer', stalled, 36_000],
    ['is cut off by the other side after 29 s', { failure: 'NETWORK_ERROR', delayMs: 29_000 }, 36_000],
  ])('%s: the other one is asked next', async (_name, step, withinMs) => {
    const first = model('first', [step]);
    const second = model('second', [answer]);
    const { outcome, shown, tookMs, events } = await play([first, second]);
    expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
    expect(shown).toBe(answer);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(tookMs).toBeLessThanOrEqual(withinMs);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'recovery',
        recovery: 'fall-back',
        reason: expect.stringContaining('used up its time') as string,
      }),
    );
  });

  it('gets an answer from a model whose first token takes 20 s', async () => {
    const first = model('first', [{ text: answer, delayMs: 20_000 }]);
    const { outcome, tookMs } = await play([first, model('second', ['other'])]);
    expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
    expect(tookMs).toBeLessThan(21_000);
  });

  it('takes reasoning for a token', async () => {
    const thinking: ScriptStep = {
      reasoning: { text: 'Hm.' },
      text: ['A ', 'b'],
      delayMs: 25_000,
      chunkDelayMs: 25_000,
    };
    const { outcome } = await play([model('first', [thinking]), model('second', ['other'])]);
    expect(outcome).toMatchObject({ type: 'success', result: { text: 'A b' } });
  });

  it('is asked again where the other one can be no help, and shows what it says then', async () => {
    const first = model('first', [stalled, answer]);
    const second = model('second', [{ failure: 'AUTHENTICATION_ERROR', text: 'Half of another' }]);
    const { outcome, shown } = await play([first, second]);
    expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
    expect(shown).toBe(answer);
    expect([first.calls.length, second.calls.length]).toEqual([2, 1]);
  });

  it('takes turns with one that is silent too, each asked as often as the policy says', async () => {
    const first = model('first', [silent]);
    const second = model('second', [silent]);
    const { outcome } = await play([first, second]);
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'TIMEOUT' } });
    expect([first.calls.length, second.calls.length]).toEqual([4, 4]);
    expect(outcome.type === 'failure' && outcome.failure.message).toMatch(/^None of 2 models answered/);
  });

  it.each(['never answers', 'stalls'])('leaves the other one half of a short deadline: %s', async (how) => {
    const first = model('first', [how === 'stalls' ? stalled : silent]);
    const { outcome, tookMs } = await play([first, model('second', [{ text: answer, delayMs: 1500 }])], {
      retry: { deadlineMs: 4000 },
    });
    expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
    expect(tookMs).toBeLessThanOrEqual(4000);
  });

  it('is left for another one by an agent as well', async () => {
    const clock = simulatedClock();
    const first = model('first', [silent]);
    const agent = createAgent({
      model: [first, model('second', [answer])],
      clock,
      gates: createGates({ clock }),
    });
    const outcome = await clock.runUntil(agent.run('Hello'));
    expect(outcome).toMatchObject({ type: 'completed', text: answer });
    expect(first.calls.length).toBe(1);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(36_000);
  });
});

describe('firstTokenMs', () => {
  it.each<[string, CallPolicy, number]>([
    ['has no default for a lone model, whose other bounds hold', {}, 60_000],
    ['holds for a lone model where it is given', { timeouts: { firstTokenMs: 5000 } }, 5000],
  ])('%s', async (_name, policy, timeoutMs) => {
    const lone = model('lone', [silent]);
    const { outcome } = await play([lone], policy);
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'TIMEOUT', context: { timeoutMs } } });
    expect(lone.calls.length).toBe(4);
  });

  it('is a limit of an agent, too', async () => {
    const clock = simulatedClock();
    const first = model('first', [{ text: answer, delayMs: 7000 }]);
    const second = model('second', ['Quick.']);
    const gates = createGates({ clock });
    const agent = createAgent({ model: [first, second], clock, gates, limits: { firstTokenMs: 5000 } });
    expect(await clock.runUntil(agent.run('Hello'))).toMatchObject({ type: 'completed', text: 'Quick.' });
    expect(clock.monotonicMs()).toBeLessThan(6000);
  });

  it.each([-1, NaN, Infinity])('refuses %d', async (firstTokenMs) => {
    await expect(
      callModel(model('a', [answer]), request, { policy: { timeouts: { firstTokenMs } } }),
    ).rejects.toThrow(/firstTokenMs/);
  });
});

describe('the waits between attempts', () => {
  it.each<[string, ScriptStep, readonly [number, number]]>([
    ['a reset', { failure: 'NETWORK_ERROR' }, [100, 250]],
    ['a cut stream', { brokenAfter: 'A whole' }, [100, 250]],
    ['a 5xx', { failure: 'SERVER_ERROR' }, [100, 250]],
    ['garbage', { failure: 'INVALID_RESPONSE' }, [100, 250]],
    ['an empty answer', { failure: 'EMPTY_RESPONSE' }, [100, 250]],
    ['a rate limit', { failure: 'RATE_LIMITED' }, [800, 1200]],
    ['an overload', { failure: 'OVERLOADED' }, [800, 1200]],
    ['a model that is being loaded', { failure: 'MODEL_LOADING' }, [800, 1200]],
  ])('start by the kind of the failure: %s', async (_name, step, [fromMs, toMs]) => {
    const { outcome, tookMs } = await play([model('lone', [step, answer])]);
    expect(outcome.type).toBe('success');
    expect(tookMs).toBeGreaterThanOrEqual(fromMs);
    expect(tookMs).toBeLessThanOrEqual(toMs);
  });

  it('grow with each failure of the same pace, and not with those of another', async () => {
    const script: readonly ScriptStep[] = [
      { failure: 'NETWORK_ERROR' },
      { failure: 'OVERLOADED' },
      { failure: 'SERVER_ERROR' },
      answer,
    ];
    const { events } = await play([model('lone', script)], { retry: { jitter: 0 } });
    const waits = events.flatMap((event) => (event.type === 'recovery' ? [event.delayMs] : []));
    expect(waits).toEqual([125, 1000, 250]);
  });

  it.each<[string, NonNullable<CallPolicy['retry']>, readonly number[]]>([
    ['baseDelayMs, an eighth of it for accidents', { baseDelayMs: 4000, jitter: 0 }, [500, 4000]],
    ['quickDelayMs alone', { quickDelayMs: 300, jitter: 0 }, [300, 1000]],
    ['both', { baseDelayMs: 200, quickDelayMs: 200, jitter: 0 }, [200, 200]],
    ['never less than minDelayMs', { baseDelayMs: 10, jitter: 0 }, [100, 100]],
  ])('are set by %s', async (_name, retry, expected) => {
    const script: readonly ScriptStep[] = [{ failure: 'NETWORK_ERROR' }, { failure: 'OVERLOADED' }, answer];
    const { events } = await play([model('lone', script)], { retry });
    const waits = events.flatMap((event) => (event.type === 'recovery' ? [event.delayMs] : []));
    expect(waits).toEqual(expected);
  });
});

describe('the attempts at a model', () => {
  const flaky = (failures: number): readonly ScriptStep[] => [
    answer,
    ...Array.from({ length: failures }, (): ScriptStep => ({ failure: 'SERVER_ERROR' })),
    answer,
  ];

  /** One call that succeeds, and one that meets the failures. */
  async function second(script: readonly ScriptStep[], policy: CallPolicy): Promise<CallOutcome> {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const lone = model('lone', script);
    const options = { clock, gates, random: seededRandom(3), policy };
    await clock.runUntil(callModel(lone, request, options));
    return clock.runUntil(callModel(lone, request, options));
  }

  it.each<[string, CallPolicy, number]>([
    ['are eight where it has answered lately and the failures are accidents', {}, 8],
    ['are as many as the policy names', { retry: { maxAttempts: 3 } }, 3],
    ['are two under quick', { retry: 'quick' }, 2],
    ['are one under none', { retry: 'none' }, 1],
  ])('%s', async (_name, policy, attempts) => {
    const outcome = await second(flaky(7), policy);
    expect(outcome.type).toBe(attempts === 8 ? 'success' : 'failure');
    expect(outcome.report.attempts).toHaveLength(attempts);
  });

  it('are four where it has never answered', async () => {
    const lone = model('lone', [{ failure: 'SERVER_ERROR' }]);
    const { outcome } = await play([lone]);
    expect(outcome.type).toBe('failure');
    expect(lone.calls.length).toBe(4);
  });
});
