import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent, CallOptions, CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import type { CallPolicy } from '../../src/runtime/model-call/call-policy.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { bareModel, brokenAfter } from './scripted.ts';
import type { Answer } from './scripted.ts';

const request = { messages: [{ role: 'user', content: 'hello' }] } as const;

interface Played {
  readonly outcome: CallOutcome;
  readonly events: readonly CallEvent[];
  /** The text as a consumer of the events sees it at the end. */
  readonly shown: string;
}

async function play(
  models: Model | readonly Model[],
  clock: SimulatedClock,
  options: CallOptions = {},
): Promise<Played> {
  const events: CallEvent[] = [];
  let shown = '';
  const outcome = await clock.runUntil(
    callModel(models, request, {
      clock,
      gates: createGates({ clock }),
      random: () => 0.5,
      ...options,
      onEvent: (event) => {
        events.push(event);
        if (event.type === 'text-delta') shown += event.text;
        if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
      },
    }),
  );
  return { outcome, events, shown };
}

describe('callModel() with one model', () => {
  it.each([
    ['401', 401, 'AUTHENTICATION_ERROR'],
    ['403', 403, 'PERMISSION_DENIED'],
    ['402', 402, 'QUOTA_EXCEEDED'],
    ['400', 400, 'INVALID_REQUEST'],
    ['422', 422, 'INVALID_REQUEST'],
    ['418', 418, 'INVALID_REQUEST'],
  ])('never asks again after %s', async (_name, status, code) => {
    const clock = simulatedClock();
    const model = bareModel([status]);
    const { outcome, events } = await play(model, clock);
    expect(outcome.type === 'failure' && outcome.failure.code).toBe(code);
    expect(model.requests).toHaveLength(1);
    expect(outcome.report.recoveries).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['attempt-started', 'failure', 'recovery']);
    expect(clock.pending()).toBe(0);
  });

  it('gives up after four attempts, and says how many it made', async () => {
    const clock = simulatedClock();
    const model = bareModel([500, 502, 503, 529]);
    const { outcome } = await play(model, clock);
    expect(outcome.type === 'failure' && outcome.failure.context['attempts']).toBe(4);
    expect(outcome.report.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(outcome.report.ledger.requests).toBe(4);
    expect(outcome.report.ledger.unknownUsage).toBe(4);
    // 125, 250 and 500 ms: three accidents, of which the overload that comes last is not waited for.
    expect(outcome.report.ledger.waitedMs).toBeCloseTo(875, -1);
  });

  it.each([
    [408, 125],
    [409, 125],
    [425, 125],
    [500, 125],
    [502, 125],
    [503, 125],
    [504, 125],
    [529, 1000],
    [599, 125],
  ])('asks again after %i and records what it overcame, after %i ms', async (status, firstMs) => {
    const clock = simulatedClock();
    const model = bareModel([status, 'fine']);
    const { outcome, shown } = await play(model, clock);
    expect(outcome.type === 'success' && outcome.result.text).toBe('fine');
    expect(shown).toBe('fine');
    expect(outcome.report.recoveries).toMatchObject([{ recovery: 'retry', attempts: 1 }]);
    expect(outcome.report.recoveries[0]?.lostMs).toBeCloseTo(firstMs, -1);
  });

  it('counts a request that was never sent as none', async () => {
    const refused = createFailure('NETWORK_ERROR', { origin: 'model', phase: 'connect', message: 'refused' });
    const { outcome } = await play(bareModel([{ failure: refused }, 'fine']), simulatedClock());
    expect(outcome.report.ledger).toMatchObject({
      requests: 1,
      inputTokens: 10,
      outputTokens: 5,
      unknownUsage: 0,
    });
  });

  it('asks once more after a name that does not resolve, and no third time', async () => {
    const failure = createFailure('NETWORK_ERROR', {
      origin: 'model',
      phase: 'connect',
      message: 'getaddrinfo ENOTFOUND api.exmaple.com',
      causes: [{ name: 'Error', message: 'getaddrinfo ENOTFOUND', code: 'ENOTFOUND' }],
    });
    const model = bareModel([{ failure }, { failure }]);
    const { outcome } = await play(model, simulatedClock());
    expect(outcome.type).toBe('failure');
    expect(model.requests).toHaveLength(2);
  });

  it('asks once more after a page instead of an answer, and no third time', async () => {
    const context = { isNoAnswer: true };
    const failure = createFailure('INVALID_RESPONSE', { origin: 'model', message: 'a login page', context });
    const model = bareModel([{ failure }, { failure }]);
    const { outcome } = await play(model, simulatedClock());
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('INVALID_RESPONSE');
    expect(model.requests).toHaveLength(2);
  });

  it('asks after garbled answers as often as the policy allows, and does not count them as pages', async () => {
    const whole: Answer = {
      parts: [
        { type: 'text-delta', text: 'Hello' },
        { type: 'finished', finish: { reason: 'stop', raw: 'stop' } },
      ],
    };
    const garbled = createFailure('INVALID_RESPONSE', { origin: 'model', message: 'half of some JSON' });
    const page = createFailure('INVALID_RESPONSE', {
      origin: 'model',
      message: 'a login page',
      context: { isNoAnswer: true },
    });
    const model = bareModel([{ failure: garbled }, { failure: garbled }, { failure: page }, whole]);
    const { outcome } = await play(model, simulatedClock());
    expect(outcome.type).toBe('success');
    expect(model.requests).toHaveLength(4);
  });

  it('never calls an empty answer a success', async () => {
    const empty: Answer = { parts: [{ type: 'finished', finish: { reason: 'stop', raw: 'stop' } }] };
    const { outcome } = await play(bareModel([empty, empty]), simulatedClock());
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('EMPTY_RESPONSE');
  });

  it('never calls a cut-off answer a success, and does not ask for the same cut again', async () => {
    const cut: Answer = {
      parts: [
        { type: 'text-delta', text: 'Once upon' },
        { type: 'finished', finish: { reason: 'length', raw: 'length' } },
      ],
    };
    const { outcome } = await play(bareModel([cut]), simulatedClock());
    expect(outcome).toMatchObject({
      type: 'failure',
      failure: { code: 'OUTPUT_TRUNCATED' },
      partial: { text: 'Once upon' },
    });
  });

  it('stops at a bound of the ledger', async () => {
    const model = bareModel([500, 500, 500]);
    const { outcome, events } = await play(model, simulatedClock(), {
      policy: { limits: { maxRequests: 2 } },
    });
    expect(outcome.type).toBe('failure');
    expect(model.requests).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      type: 'recovery',
      recovery: 'give-up',
      reason: expect.stringContaining('maxRequests') as string,
    });
  });
});

describe('callModel() and Retry-After', () => {
  const day = 24 * 3600 * 1000;
  it.each([
    ['seconds', '7', 7000],
    ['fractions', '2.5', 2500],
    ['less than the floor', '0.05', 100],
    ['a date', new Date(Date.UTC(2026, 10, 15) + 20_000).toUTCString(), 20_000],
    ['two values: the first', '3, 3', 3000],
    ['the longest that is allowed', '50', 50_000],
  ])('waits as long as asked, never less: %s', async (_name, retryAfter, atLeastMs) => {
    const clock = simulatedClock();
    const model = bareModel([{ status: 429, retryAfter }, 'fine'], { now: clock.monotonicMs });
    const { outcome } = await play(model, clock);
    expect(outcome.type).toBe('success');
    expect(model.requests[1]?.atMs).toBeGreaterThanOrEqual(atLeastMs);
    expect(model.requests[1]?.atMs).toBeLessThanOrEqual(atLeastMs + 200);
  });

  it.each(['0', '-5', 'abc', 'NaN', 'Infinity', '1e400', '', new Date(0).toUTCString()])(
    'goes by its own backoff where "%s" is no wait',
    async (retryAfter) => {
      const clock = simulatedClock();
      const model = bareModel([{ status: 429, retryAfter }, 'fine'], { now: clock.monotonicMs });
      const { outcome } = await play(model, clock);
      expect(outcome.type).toBe('success');
      expect(model.requests[1]?.atMs).toBeCloseTo(1000, -1);
      const { failure } = outcome.report.recoveries[0] ?? {};
      const isSilent = retryAfter === '0';
      expect(failure?.context['retryAfterIgnored'] === undefined).toBe(isSilent);
    },
  );

  it.each([
    ['40 days', String(40 * 24 * 3600), 40 * day],
    ['a date in 2099', 'Thu, 01 Jan 2099 00:00:00 GMT', 26_000 * day],
    ['two minutes, which is longer than maxWaitMs', '120', 120_000],
  ])(
    'sends nothing before the time for %s, and says when to come back',
    async (_name, retryAfter, leastMs) => {
      const clock = simulatedClock();
      const model = bareModel([{ status: 429, retryAfter }], { now: clock.monotonicMs });
      const { outcome } = await play(model, clock);
      expect(outcome.type === 'failure' && outcome.failure.code).toBe('RATE_LIMITED');
      expect(model.requests).toHaveLength(1);
      expect(outcome.report.resumeAtMs).toBeGreaterThanOrEqual(clock.wallMs() + Math.min(leastMs, 366 * day));
      expect(clock.pending()).toBe(0);
    },
  );

  it('falls back instead where there is another model', async () => {
    const second = bareModel(['fine'], { provider: 'second' });
    const first = bareModel([{ status: 429, retryAfter: '3600' }]);
    const { outcome } = await play([first, second], simulatedClock());
    expect(outcome).toMatchObject({ type: 'success', report: { recoveries: [{ recovery: 'fall-back' }] } });
    expect(outcome.report.elapsedMs).toBe(0);
  });
});

describe('callModel() with several models', () => {
  it.each([401, 402, 403, 404])(
    'moves on at once after %i, and the first failure stays visible',
    async (status) => {
      const first = bareModel([status], { provider: 'first' });
      const second = bareModel(['fine'], { provider: 'second' });
      const { outcome } = await play([first, second], simulatedClock());
      expect(outcome.type).toBe('success');
      expect(outcome.report.elapsedMs).toBe(0);
      expect(outcome.report.recoveries).toMatchObject([
        { recovery: 'fall-back', failure: { provider: { statusCode: status } } },
      ]);
      expect(outcome.report.attempts.map(({ provider }) => provider)).toEqual(['first', 'second']);
    },
  );

  it('retries inside the fallback: each model has its own attempts', async () => {
    const first = bareModel([500, 500, 500, 500], { provider: 'first' });
    const second = bareModel([500, 'fine'], { provider: 'second' });
    const { outcome } = await play([first, second], simulatedClock());
    expect(outcome.type).toBe('success');
    expect([first.requests.length, second.requests.length]).toEqual([4, 2]);
  });

  it('reports all of them after the last', async () => {
    const models = [
      bareModel([401], { provider: 'first', name: 'one' }),
      bareModel([402], { provider: 'second', name: 'two' }),
      bareModel([500, 500, 500, 500], { provider: 'third', name: 'three' }),
    ];
    const { outcome } = await play(models, simulatedClock());
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code: 'SERVER_ERROR',
      message: expect.stringMatching(
        /first \(one\): AUTHENTICATION_ERROR after 1 attempt; second \(two\): QUOTA_EXCEEDED after 1 attempt; third \(three\): SERVER_ERROR after 4 attempts/,
      ) as string,
      context: {
        attempts: 6,
        models: [{ provider: 'first' }, { provider: 'second' }, { provider: 'third' }],
      },
      causes: [{ code: 'AUTHENTICATION_ERROR' }, { code: 'QUOTA_EXCEEDED' }, { code: 'SERVER_ERROR' }],
    });
  });

  it('does not ask another model what would fail there too', async () => {
    const second = bareModel(['fine'], { provider: 'second' });
    const { outcome } = await play([bareModel([400]), second], simulatedClock());
    expect(outcome.type).toBe('failure');
    expect(second.requests).toHaveLength(0);
  });

  it('asks another model what one refused only where that was allowed', async () => {
    const refused: Answer = {
      parts: [
        { type: 'text-delta', text: 'I will not.' },
        { type: 'finished', finish: { reason: 'refused', raw: 'refusal' } },
      ],
    };
    const denied = await play(
      [bareModel([refused]), bareModel(['fine'], { provider: 'b' })],
      simulatedClock(),
    );
    expect(denied.outcome).toMatchObject({
      type: 'failure',
      failure: { code: 'CONTENT_FILTERED', context: { refused: true } },
    });
    const policy = { fallBackOnFilter: true };
    const allowed = await play(
      [bareModel([refused]), bareModel(['fine'], { provider: 'b' })],
      simulatedClock(),
      { policy },
    );
    expect(allowed.outcome.type).toBe('success');
    expect(allowed.shown).toBe('fine');
  });

  it('keeps all of it within the deadline', async () => {
    const clock = simulatedClock();
    const slow = bareModel((call) => (call < 50 ? 500 : 'fine'), { now: clock.monotonicMs });
    const { outcome } = await play(slow, clock, {
      policy: { retry: { maxAttempts: Infinity, deadlineMs: 30_000 } },
    });
    expect(outcome.type).toBe('failure');
    expect(outcome.report.elapsedMs).toBeLessThanOrEqual(30_000);
    expect(slow.requests.length).toBeGreaterThan(4);
  });
});

describe('callModel() and broken streams', () => {
  it('takes the half answer back and starts again where the model cannot continue', async () => {
    const model = bareModel([brokenAfter('The answer is for'), 'The answer is 42.']);
    const { outcome, events, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe('The answer is 42.');
    expect(shown).toBe('The answer is 42.');
    expect(events).toContainEqual({ type: 'text-retracted', keep: 0 });
    expect(model.requests[1]).not.toHaveProperty('continueFrom');
  });

  it('continues where the model can, and the seam is invisible in the text', async () => {
    const model = bareModel([brokenAfter('After some thought the answer is '), ' 42.'], {
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, events, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe('After some thought the answer is 42.');
    expect(shown).toBe('After some thought the answer is 42.');
    expect(model.requests[1]?.continueFrom).toBe('After some thought the answer is');
    expect(events).toContainEqual({
      type: 'text-retracted',
      keep: 'After some thought the answer is'.length,
    });
    expect(outcome.report.recoveries).toMatchObject([{ recovery: 'splice' }]);
  });

  it('does not glue where the server begins anew instead of continuing', async () => {
    const full = 'The quick brown fox jumps over the lazy dog, twice.';
    const model = bareModel([brokenAfter(full.slice(0, 40)), full], {
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe(full);
    expect(shown).toBe(full);
  });

  it('starts again where the server refuses to continue', async () => {
    const model = bareModel([brokenAfter('A long answer that broke off somewhere'), 400, 'All of it.'], {
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe('All of it.');
    expect(shown).toBe('All of it.');
    expect(model.requests.map(({ continueFrom }) => continueFrom)).toEqual([
      undefined,
      'A long answer that broke off somewhere',
      undefined,
    ]);
  });

  it('takes the text for whole where the model has nothing to add', async () => {
    const nothing: Answer = { parts: [{ type: 'finished', finish: { reason: 'stop', raw: 'stop' } }] };
    const model = bareModel([brokenAfter('After some thought the answer is 42.'), nothing], {
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe('After some thought the answer is 42.');
    expect(shown).toBe('After some thought the answer is 42.');
  });

  it('continues twice', async () => {
    const model = bareModel(
      [brokenAfter('One little step after the other,'), brokenAfter(' two,'), ' three.'],
      {
        capabilities: { continuation: 'prefill' },
      },
    );
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe(
      'One little step after the other, two, three.',
    );
    expect(shown).toBe('One little step after the other, two, three.');
  });

  it('starts again where hardly anything had come', async () => {
    const model = bareModel([brokenAfter('The'), 'The answer is 42.'], {
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text).toBe('The answer is 42.');
    expect(shown).toBe('The answer is 42.');
  });

  it('restarts after reasoning or a tool call, for these cannot be continued', async () => {
    const broken: Answer = {
      parts: [
        { type: 'text-delta', text: 'Let me look.' },
        { type: 'tool-call-started', callId: 'a', name: 'search' },
        { type: 'tool-call-delta', callId: 'a', text: '{"query":"x"}' },
        { type: 'tool-call-finished', callId: 'a' },
        { type: 'tool-call-started', callId: 'b', name: 'refund' },
        { type: 'tool-call-delta', callId: 'b', text: '{"cents":1' },
      ],
    };
    const model = bareModel([broken, 'Done.'], { capabilities: { continuation: 'prefill' } });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result).toMatchObject({ text: 'Done.', toolCalls: [] });
    expect(shown).toBe('Done.');
  });

  it('drops a half-streamed tool call from what is left when all attempts broke', async () => {
    const broken: Answer = {
      parts: [
        { type: 'text-delta', text: 'Refunding.' },
        { type: 'tool-call-started', callId: 'b', name: 'refund' },
        { type: 'tool-call-delta', callId: 'b', text: '{"cents":1' },
      ],
    };
    const { outcome } = await play(bareModel([broken, broken]), simulatedClock(), {
      policy: { retry: 'quick' },
    });
    expect(outcome).toMatchObject({
      type: 'failure',
      failure: { code: 'STREAM_INTERRUPTED' },
      partial: { text: 'Refunding.', toolCalls: [] },
    });
  });

  it('never glues the text of two models', async () => {
    const first = bareModel(Array<Answer>(4).fill(brokenAfter('Some words that come from the first')), {
      provider: 'first',
      capabilities: { continuation: 'prefill' },
    });
    const { outcome, shown } = await play(
      [first, bareModel(['From the second.'], { provider: 'b' })],
      simulatedClock(),
    );
    expect(outcome.type === 'success' && outcome.result.text).toBe('From the second.');
    expect(shown).toBe('From the second.');
  });
});

describe('callModel() and the wish to stop', () => {
  it('sends nothing after an abort', async () => {
    const model = bareModel(['fine']);
    const { outcome } = await play(model, simulatedClock(), { signal: AbortSignal.abort() });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('CANCELLED');
    expect(model.requests).toHaveLength(0);
  });

  it('ends a wait at once, without another attempt', async () => {
    const clock = simulatedClock();
    const model = bareModel([{ status: 429, retryAfter: '50' }, 'fine']);
    const controller = new AbortController();
    clock.after(3000, () => controller.abort());
    const { outcome } = await play(model, clock, { signal: controller.signal });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('CANCELLED');
    expect(outcome.report.elapsedMs).toBe(3000);
    expect(model.requests).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });

  it('does not wait for a model that is deaf to the signal', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const deaf: Model = { ...bareModel([]), call: () => new Promise(() => undefined) };
    clock.after(500, () => controller.abort());
    const { outcome } = await play(deaf, clock, { signal: controller.signal });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('CANCELLED');
    expect(outcome.report.elapsedMs).toBeLessThan(1000);
  });

  it('does not wait for ever for a model that never ends', async () => {
    const clock = simulatedClock();
    const deaf: Model = { ...bareModel([]), call: () => new Promise(() => undefined) };
    const { outcome } = await play(deaf, clock, { policy: { retry: 'none', timeouts: { totalMs: 5000 } } });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('TIMEOUT');
    expect(outcome.report.elapsedMs).toBeLessThan(6000);
  });

  it('turns a model that throws into a failure', async () => {
    const throwing: Model = {
      ...bareModel([]),
      call: () => {
        throw new Error('socket hang up');
      },
    };
    const { outcome } = await play(throwing, simulatedClock(), { policy: { retry: 'none' } });
    expect(outcome.type).toBe('failure');
  });
});

describe('callModel() and its listener', () => {
  it('throws what the listener threw, and leaves the gate free', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const call = callModel(bareModel(['fine']), request, {
      clock,
      gates,
      onEvent: (event) => {
        if (event.type === 'text-delta') throw new Error('the screen is gone');
      },
    });
    await expect(call).rejects.toThrow('the screen is gone');
    expect(Object.values(gates.states())).toMatchObject([{ inFlight: 0, waiting: 0 }]);
  });

  it('waits for a listener that takes its time, and throws what it rejected with', async () => {
    const heard: string[] = [];
    const outcome = await callModel(bareModel(['fine']), request, {
      onEvent: async (event) => {
        await Promise.resolve();
        heard.push(event.type);
      },
    });
    expect(outcome.type).toBe('success');
    expect(heard).toEqual(['attempt-started', 'text-delta']);
    const call = callModel(bareModel(['fine']), request, {
      onEvent: () => Promise.reject(new Error('full')),
    });
    await expect(call).rejects.toThrow('full');
  });
});

type Misuse = readonly [
  name: string,
  given: { readonly model: Model | readonly Model[]; readonly policy?: CallPolicy; readonly message: RegExp },
];

describe('callModel() refuses what can never work', () => {
  const some = bareModel([]);
  it.each<Misuse>([
    ['no model', { model: [], message: /list of models is empty/ }],
    [
      'an unknown preset',
      { model: some, policy: { retry: 'heroic' as 'none' }, message: /"preset" must be one of none, quick/ },
    ],
    [
      'no attempt',
      { model: some, policy: { retry: { maxAttempts: 0 } }, message: /"maxAttempts" must be a whole/ },
    ],
    [
      'an endless deadline',
      { model: some, policy: { retry: { deadlineMs: Infinity } }, message: /"deadlineMs" must be/ },
    ],
    ['a jitter that is no share', { model: some, policy: { retry: { jitter: 2 } }, message: /from 0 to 1/ }],
    [
      'a timeout that is no number',
      { model: some, policy: { timeouts: { idleMs: Number.NaN } }, message: /idleMs/ },
    ],
    [
      'a feature it lacks',
      { model: bareModel([], { capabilities: { sampling: [] } }), message: /not take "seed"/ },
    ],
  ])('%s', async (_name, { model, policy = {}, message }) => {
    const call = callModel(model, { ...request, seed: 1 }, { policy });
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(RerailError.isInstance(error) && error.failure.code).toBe('CONFIG_ERROR');
    expect(RerailError.isInstance(error) && error.message).toMatch(message);
  });
});
