import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiCallError, fakeModel, finishPart, streamOf, textParts } from '../../../test/ai-sdk/fake-model.ts';
import type { FakeModel } from '../../../test/ai-sdk/fake-model.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { attemptGenerate, attemptStream } from './attempt.ts';
import type { AiSdkAttemptOptions } from './attempt.ts';
import { checkLanguageModel } from './language-model.ts';
import type { AiSdkOutcome } from './tally.ts';
import { toAiSdkError } from './to-ai-sdk-error.ts';

const rejections: unknown[] = [];
const note = (reason: unknown): number => rejections.push(reason);
beforeEach(() => {
  rejections.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  if (rejections.length > 0) throw new Error('A rejection was left unhandled', { cause: rejections[0] });
});

function run(fake: FakeModel, options: AiSdkAttemptOptions = {}): Promise<AiSdkOutcome> {
  return attemptStream(checkLanguageModel(fake), { prompt: [] }, options);
}

async function failureOf(outcome: Promise<AiSdkOutcome>): Promise<Failure> {
  const ended = await outcome;
  if (ended.type === 'success') throw new Error('It succeeded');
  return ended.failure;
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('attemptStream(), when the call is refused', () => {
  it.each([
    [
      'a rate limit',
      { statusCode: 429, responseHeaders: { 'retry-after': '7' } },
      { code: 'RATE_LIMITED', retryAfterMs: 7000 },
    ],
    [
      'a quota under 429',
      { statusCode: 429, responseBody: '{"error":{"code":"insufficient_quota"}}' },
      { code: 'QUOTA_EXCEEDED', retryable: false },
    ],
    ['a wrong key', { statusCode: 401 }, { code: 'AUTHENTICATION_ERROR' }],
    [
      'overload',
      { statusCode: 529, responseBody: '{"type":"error","error":{"type":"overloaded_error"}}' },
      { code: 'OVERLOADED' },
    ],
    ['a broken server', { statusCode: 500, isRetryable: true }, { code: 'SERVER_ERROR', retryable: true }],
    [
      'no connection',
      {
        message: 'Cannot connect to API',
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      },
      { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none' },
    ],
  ])('tells %s by what the error holds', async (_, fields, expected) => {
    const fake = fakeModel({ start: () => Promise.reject(apiCallError(fields)) });
    expect(await failureOf(run(fake))).toMatchObject({
      ...expected,
      origin: 'model',
      provider: { provider: 'fake', model: 'fake-1' },
    });
    expect(fake.calls).toHaveLength(1);
  });

  it.each([
    ['AI_LoadAPIKeyError', 'PROVIDER_NOT_CONFIGURED'],
    ['AI_LoadSettingError', 'PROVIDER_NOT_CONFIGURED'],
    ['AI_UnsupportedFunctionalityError', 'INVALID_REQUEST'],
    ['AI_InvalidPromptError', 'INVALID_REQUEST'],
    ['AI_InvalidArgumentError', 'INVALID_REQUEST'],
  ])('knows %s by its mark, whatever it says', async (name, code) => {
    const fake = fakeModel({ start: () => Promise.reject(apiCallError({ message: 'Rate limit' }, name)) });
    expect(await failureOf(run(fake))).toMatchObject({ code, retryable: false, sideEffect: 'none' });
  });

  it('knows an APICallError without its mark by its fields', async () => {
    const error = Object.assign(new Error('no'), {
      statusCode: 404,
      responseBody: '{"error":{"code":"model_not_found"}}',
    });
    expect(await failureOf(run(fakeModel({ start: () => Promise.reject(error) })))).toMatchObject({
      code: 'MODEL_NOT_FOUND',
    });
  });

  it('keeps the failure of a model that is itself guarded by Rerail', async () => {
    const failure = createFailure('QUOTA_EXCEEDED', { message: 'Judged inside' });
    const fake = fakeModel({ start: () => Promise.reject(toAiSdkError(failure)) });
    expect(await failureOf(run(fake))).toEqual(failure);
  });

  it.each([[undefined], [null], ['a text'], [7], [{}]])('survives that %j is thrown', async (thrown) => {
    const fake = fakeModel({ start: () => Promise.reject(thrown) });
    expect((await failureOf(run(fake))).code).toBe('UNKNOWN');
  });

  it.each([[{}], [{ stream: null }], [{ stream: [] }]])('refuses the result %j', async (result) => {
    const fake = fakeModel({ start: () => Promise.resolve(result) });
    expect(await failureOf(run(fake))).toMatchObject({ code: 'INVALID_RESPONSE', retryable: false });
  });

  it('refuses a stream that somebody else reads', async () => {
    const stream = streamOf([]);
    stream.getReader();
    const fake = fakeModel({ start: () => Promise.resolve({ stream }) });
    expect((await failureOf(run(fake))).code).toBe('INVALID_RESPONSE');
  });

  it('refuses timeouts that bound nothing', async () => {
    const fake = fakeModel();
    expect((await failureOf(run(fake, { timeouts: { idleMs: NaN } }))).code).toBe('CONFIG_ERROR');
    expect(fake.calls).toHaveLength(0);
  });
});

describe('attemptStream(), when the stream goes wrong', () => {
  const begun = [{ type: 'stream-start', warnings: [] }, ...textParts('Hel').slice(0, 2)];

  it.each([
    ['an object', { type: 'overloaded_error', message: 'Overloaded' }, 'OVERLOADED'],
    ['a text', 'Rate limit reached', 'RATE_LIMITED'],
    [
      'an APICallError',
      apiCallError({ statusCode: 529, responseBody: '{"error":{"type":"overloaded_error"}}' }),
      'OVERLOADED',
    ],
    [
      'a cut connection',
      Object.assign(new TypeError('terminated'), { cause: new Error('other side closed') }),
      'STREAM_INTERRUPTED',
    ],
    ['nothing', undefined, 'UNKNOWN'],
  ])('fails by what an error part holds: %s', async (_, error, code) => {
    const fake = fakeModel({ parts: [...begun, { type: 'error', error }] });
    const outcome = await run(fake);
    expect(outcome).toMatchObject({
      type: 'failure',
      failure: { code, phase: 'body', sideEffect: 'possible' },
    });
  });

  it('does not go on after an error part, whatever follows, and lets go of the stream', async () => {
    const parts = [...begun, { type: 'error', error: 'Overloaded' }, ...textParts('lo'), finishPart('v3')];
    const fake = fakeModel({ parts });
    const heard: unknown[] = [];
    const outcome = await run(fake, { onPart: (part) => void heard.push(part['type']) });
    expect(outcome.type).toBe('failure');
    expect(heard).toEqual(['stream-start', 'text-start', 'text-delta']);
    expect(fake.cancelled()).toBe(1);
  });

  it('takes an error after the finish part for a failure', async () => {
    const parts = [...begun, finishPart('v3'), { type: 'error', error: { type: 'overloaded_error' } }];
    expect((await failureOf(run(fakeModel({ parts })))).code).toBe('OVERLOADED');
  });

  it.each([
    ['no finish part', 'v2', []],
    ['no finish part', 'v4', []],
    ['the value that packages begin with', 'v2', [finishPart('v2', 'unknown')]],
    [
      'the value that packages begin with',
      'v3',
      [{ ...finishPart('v3'), finishReason: { unified: 'other', raw: undefined } }],
    ],
    [
      'an interruption',
      'v4',
      [{ ...finishPart('v4'), finishReason: { unified: 'interrupted', raw: undefined } }],
    ],
    ['an error that nobody named', 'v2', [finishPart('v2', 'error')]],
    ['an error that nobody named', 'v3', [finishPart('v3', 'error', 'failed')]],
  ])('calls %s (%s) an interruption', async (_, version, end) => {
    const outcome = await run(fakeModel({ version, parts: [...begun, ...end] }));
    expect(outcome).toMatchObject({
      type: 'failure',
      failure: { code: 'STREAM_INTERRUPTED', retryable: true, phase: 'body' },
    });
  });

  it('takes an end without a reason for the end where it is told to, but never an interruption', async () => {
    const parts = [...begun, finishPart('v2', 'unknown')];
    expect(await run(fakeModel({ version: 'v2', parts }), { acceptsUnknownFinish: true })).toMatchObject({
      type: 'success',
    });
    const cut = [...begun, { ...finishPart('v4'), finishReason: { unified: 'interrupted', raw: undefined } }];
    expect(await run(fakeModel({ version: 'v4', parts: cut }), { acceptsUnknownFinish: true })).toMatchObject(
      {
        type: 'failure',
      },
    );
  });

  it('lets the last of several finish parts count', async () => {
    const cut = { ...finishPart('v4'), finishReason: { unified: 'interrupted', raw: undefined } };
    const outcome = await run(fakeModel({ version: 'v4', parts: [...begun, finishPart('v4'), cut] }));
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'STREAM_INTERRUPTED' } });
  });

  it.each([['a number'], [{ type: 'text-delta', id: '0' }]])(
    'fails on a part that cannot be read: %j',
    async (part) => {
      const parts = [...begun, part as Readonly<Record<string, unknown>>, finishPart('v3')]; // The point of the test.
      expect((await failureOf(run(fakeModel({ parts })))).code).toBe('INVALID_RESPONSE');
    },
  );

  it('fails when the stream itself breaks', async () => {
    const broken = Object.assign(new TypeError('terminated'), {
      cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    });
    expect(await failureOf(run(fakeModel({ parts: [...begun, broken] })))).toMatchObject({
      retryable: true,
      phase: 'body',
    });
  });

  it('needs nothing more once the end was announced', async () => {
    const outcome = await run(fakeModel({ parts: [...begun, finishPart('v3'), new Error('late')] }));
    expect(outcome.type).toBe('success');
  });

  it('turns what a listener throws into a failure, and lets go of the stream', async () => {
    const fake = fakeModel({ parts: [...begun, finishPart('v3')] });
    const onPart = (): never => {
      throw new TypeError('listener');
    };
    expect((await failureOf(run(fake, { onPart }))).code).toBe('INTERNAL');
    expect(fake.cancelled()).toBe(1);
  });

  it('ends with the failure of whoever refuses a part', async () => {
    const failure = createFailure('INVALID_REQUEST', { message: 'Not this one' });
    const fake = fakeModel({ parts: [...begun, finishPart('v3')] });
    const heard: unknown[] = [];
    const outcome = await run(fake, {
      refuse: (read) => (read.type === 'block-delta' ? failure : undefined),
      onPart: (part) => void heard.push(part['type']),
    });
    expect(outcome).toMatchObject({ type: 'failure', failure });
    expect(heard).toEqual(['stream-start', 'text-start']);
  });
});

describe('attemptStream(), when nothing comes', () => {
  it.each([
    ['headers', { start: never }, { headersMs: 100 }, 'headers'],
    ['the next part', { parts: [...textParts('Hel'), 'hang'] }, { idleMs: 100 }, 'body'],
    ['the whole answer', { parts: [...textParts('Hel'), 'hang'] }, { totalMs: 100 }, 'body'],
  ] as const)(
    'does not wait for %s longer than it may, and leaves no timer',
    async (...[, fake, timeouts, phase]) => {
      const clock = simulatedClock();
      const failure = await failureOf(clock.runUntil(run(fakeModel(fake), { clock, timeouts })));
      expect(failure).toMatchObject({ code: 'TIMEOUT', retryable: true, phase, context: { timeoutMs: 100 } });
      expect(clock.pending()).toBe(0);
    },
  );

  it('calls keep-alives and empty deltas no progress', async () => {
    const clock = simulatedClock();
    const parts = Array.from({ length: 1000 }, (_, index) =>
      index % 2 === 0 ? { type: 'ping' } : { type: 'text-delta', id: '0', delta: '' },
    );
    let index = 0;
    const stream = new ReadableStream({
      pull: (controller) =>
        new Promise<void>((resolve) => {
          clock.after(50, () => {
            controller.enqueue(parts[index++ % parts.length]);
            resolve();
          });
        }),
    });
    const fake = fakeModel({ version: 'v4', start: () => Promise.resolve({ stream }) });
    const timeouts = { idleMs: 100, progressMs: 1000, totalMs: 60_000 };
    const failure = await failureOf(clock.runUntil(run(fake, { clock, timeouts })));
    expect(failure).toMatchObject({ code: 'TIMEOUT', context: { timeout: 'progress' } });
  });

  it('sends nothing when it was cancelled before', async () => {
    const fake = fakeModel();
    const failure = await failureOf(run(fake, { signal: AbortSignal.abort() }));
    expect(failure).toMatchObject({ code: 'CANCELLED', phase: 'connect', sideEffect: 'none' });
    expect(fake.calls).toHaveLength(0);
  });

  it.each([
    ['rejects late', () => Promise.reject(new Error('late'))],
    ['answers late', () => Promise.resolve({ stream: streamOf(textParts('late')) })],
  ])('does not wait for a deaf model that %s', async (_, late) => {
    const controller = new AbortController();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const fake = fakeModel({ start: () => opened.then(late) });
    const outcome = run(fake, { signal: controller.signal });
    controller.abort(new Error('enough'));
    expect((await failureOf(outcome)).code).toBe('CANCELLED');
    open();
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('lets go of a stream that comes too late', async () => {
    const controller = new AbortController();
    let cancelled = 0;
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const late = { stream: streamOf(textParts('late'), () => (cancelled += 1)) };
    const outcome = run(fakeModel({ start: () => opened.then(() => late) }), { signal: controller.signal });
    controller.abort();
    await outcome;
    open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(cancelled).toBe(1);
  });

  it('leaves no listener on a signal that lives on', async () => {
    const { signal } = new AbortController();
    const parts = [...textParts('Hello'), finishPart('v3')];
    for (let count = 0; count < 3; count += 1) await run(fakeModel({ parts }), { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('tells the model to stop when it stops waiting', async () => {
    const clock = simulatedClock();
    const fake = fakeModel({ parts: [...textParts('Hel'), 'hang'] });
    await clock.runUntil(run(fake, { clock, timeouts: { idleMs: 100 } }));
    expect(fake.calls[0]?.['abortSignal']).toMatchObject({ aborted: true });
    expect(fake.cancelled()).toBe(1);
  });

  it('is not held by a listener that never returns', async () => {
    const clock = simulatedClock();
    const fake = fakeModel({ parts: [...textParts('Hel'), finishPart('v3')] });
    const failure = await failureOf(
      clock.runUntil(run(fake, { clock, onPart: never, timeouts: { idleMs: 100, totalMs: 5000 } })),
    );
    expect(failure).toMatchObject({ code: 'TIMEOUT', context: { timeout: 'total' } });
  });

  it('does not wait for the stream to close once the end was announced', async () => {
    const clock = simulatedClock();
    const fake = fakeModel({ parts: [...textParts('Hello'), finishPart('v3'), 'hang'] });
    const startMs = clock.monotonicMs();
    expect((await clock.runUntil(run(fake, { clock }))).type).toBe('success');
    expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(1000);
    expect(clock.pending()).toBe(0);
  });
});

describe('attemptStream()', () => {
  it('hands on every part as it came, and keeps the finish part for the outcome', async () => {
    const parts = [
      { type: 'stream-start', warnings: [] },
      ...textParts('Hello'),
      { type: 'of the future', x: 1 },
    ];
    const finish = finishPart('v4', 'stop', 'end_turn');
    const heard: unknown[] = [];
    const fake = fakeModel({ version: 'v4', parts: [...parts, finish] });
    const outcome = await run(fake, { onPart: (part) => void heard.push(part) });
    expect(heard).toEqual(parts);
    expect(outcome).toMatchObject({ type: 'success', finishPart: finish });
  });

  it('passes the call options through, with a signal of its own', async () => {
    const fake = fakeModel({ parts: [finishPart('v3')] });
    const callOptions = { prompt: [], includeRawChunks: true, abortSignal: AbortSignal.abort() };
    await attemptStream(checkLanguageModel(fake), callOptions);
    expect(fake.calls[0]).toMatchObject({ prompt: [], includeRawChunks: true });
    expect(fake.calls[0]?.['abortSignal']).toMatchObject({ aborted: false });
  });

  it('tells what doStream returned before the first part', async () => {
    const result = {
      stream: streamOf([...textParts('Hello'), finishPart('v3')]),
      response: { headers: { a: 'b' } },
    };
    const heard: unknown[] = [];
    await run(fakeModel({ start: () => Promise.resolve(result) }), {
      onResult: (given) => void heard.push(given),
      onPart: (part) => void heard.push(part['type']),
    });
    expect(heard).toEqual([result, 'text-start', 'text-delta', 'text-end']);
  });

  it('reads no further while a listener takes its time', async () => {
    let isBusy = false;
    const fake = fakeModel({ parts: [...textParts('Hello'), finishPart('v3')] });
    const outcome = await run(fake, {
      onPart: async () => {
        expect(isBusy).toBe(false);
        isBusy = true;
        await new Promise((resolve) => setImmediate(resolve));
        isBusy = false;
      },
    });
    expect(outcome.type).toBe('success');
  });
});

describe('attemptGenerate()', () => {
  const generated = {
    content: [
      { type: 'reasoning', text: 'Hm', providerMetadata: { a: { signature: 's' } } },
      { type: 'text', text: 'Hello' },
      { type: 'tool-call', toolCallId: '1', toolName: 'search', input: '{}' },
    ],
    finishReason: { unified: 'stop', raw: undefined },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
    warnings: [],
    response: { id: 'r1', modelId: 'fake-1-0506' },
  };

  it('calls doGenerate once and tells its answer in parts', async () => {
    const fake = fakeModel({ generated });
    const heard: unknown[] = [];
    const outcome = await attemptGenerate(
      checkLanguageModel(fake),
      {},
      { onPart: (_, read) => void heard.push(read.type) },
    );
    expect(outcome).toMatchObject({ type: 'success', result: generated });
    expect(fake.calls).toHaveLength(1);
    const block = ['block-started', 'block-delta', 'block-finished'];
    expect(heard).toEqual(['opened', 'response', ...block, ...block, 'call']);
  });

  it('refuses a result without content', async () => {
    const outcome = await attemptGenerate(checkLanguageModel(fakeModel({ generated: {} })), {});
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'INVALID_RESPONSE' } });
  });

  it('waits for the whole answer, and no longer', async () => {
    const clock = simulatedClock();
    const fake = { ...fakeModel(), doGenerate: never };
    const timeouts = { connectMs: 1, headersMs: 10, idleMs: 10, progressMs: 10, totalMs: 500 };
    const startMs = clock.monotonicMs();
    const outcome = await clock.runUntil(attemptGenerate(checkLanguageModel(fake), {}, { clock, timeouts }));
    expect(outcome).toMatchObject({
      type: 'failure',
      failure: { code: 'TIMEOUT', context: { timeout: 'total' } },
    });
    expect(clock.monotonicMs() - startMs).toBe(500);
  });
});
