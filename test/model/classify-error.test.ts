import type { Failure } from 'rerail';
import { callModel, defineModel } from 'rerail/model';
import type { ClassifyError, FailureEvidence, Model } from 'rerail/model';
import { aiSdk } from 'rerail/providers/ai-sdk';
import { anthropic } from 'rerail/providers/anthropic';
import { gemini } from 'rerail/providers/gemini';
import { openai } from 'rerail/providers/openai';
import { openaiCompatible } from 'rerail/providers/openai-compatible';
import { simulatedClock } from 'rerail/testing';
import { describe, expect, it, vi } from 'vitest';

const body = '{"error":{"message":"tenant 7 is asleep"}}';
const apiKey = 'test-key-0123456789';
const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;

interface Scene {
  readonly classifyError: ClassifyError;
  readonly status?: number;
}

/** Counts what was sent. */
function refusing(status: number) {
  return vi.fn<typeof fetch>(() =>
    Promise.resolve(
      new Response(body, { status, headers: { 'x-tenant': '7', 'content-type': 'application/json' } }),
    ),
  );
}

const thrownBy = (status: number): Error =>
  Object.assign(new Error('tenant 7 is asleep'), {
    [Symbol.for('vercel.ai.error.AI_APICallError')]: true,
    statusCode: status,
    responseBody: body,
    responseHeaders: { 'X-Tenant': '7' },
  });

const makers: Readonly<
  Record<string, (scene: Scene) => { readonly model: Model; readonly sent: () => number }>
> = {
  'the Responses API': ({ classifyError, status = 400 }) => {
    const fetch = refusing(status);
    return {
      model: openai('gpt-5.4', { apiKey, fetch, classifyError }),
      sent: () => fetch.mock.calls.length,
    };
  },
  'the Chat API': ({ classifyError, status = 400 }) => {
    const fetch = refusing(status);
    const model = openai('gpt-5.4', { apiKey, fetch, classifyError, api: 'chat' });
    return { model, sent: () => fetch.mock.calls.length };
  },
  Anthropic: ({ classifyError, status = 400 }) => {
    const fetch = refusing(status);
    return {
      model: anthropic('claude-sonnet-5', { apiKey, fetch, classifyError }),
      sent: () => fetch.mock.calls.length,
    };
  },
  Gemini: ({ classifyError, status = 400 }) => {
    const fetch = refusing(status);
    return {
      model: gemini('gemini-2.5-flash', { apiKey, fetch, classifyError }),
      sent: () => fetch.mock.calls.length,
    };
  },
  'a compatible provider': ({ classifyError, status = 400 }) => {
    const fetch = refusing(status);
    const make = openaiCompatible({ name: 'acme', baseURL: 'https://acme.example/v1' });
    return { model: make('a', { apiKey, fetch, classifyError }), sent: () => fetch.mock.calls.length };
  },
  'the AI SDK': ({ classifyError, status = 400 }) => {
    const doStream = vi.fn<() => Promise<never>>(() => Promise.reject(thrownBy(status)));
    const language = {
      specificationVersion: 'v3',
      provider: 'acme',
      modelId: 'a',
      supportedUrls: {},
      doStream,
      doGenerate: doStream,
    };
    return { model: aiSdk(language, { classifyError }), sent: () => doStream.mock.calls.length };
  },
  'a model of one’s own': ({ classifyError, status = 400 }) => {
    const stream = vi.fn<() => never>(() => {
      throw Object.assign(new Error('tenant 7 is asleep'), { status });
    });
    return {
      model: defineModel({ provider: 'acme', model: 'a', stream, classifyError }),
      sent: () => stream.mock.calls.length,
    };
  },
};
const rows = Object.entries(makers);

async function failureOf(model: Model): Promise<Failure> {
  const response = await model.call(request);
  if (response.type === 'success') throw new Error('It became a success.');
  return response.failure;
}

/** The two calls compared here start at different lines of this file. */
function withoutStacks(failure: Failure): Failure {
  return { ...failure, causes: failure.causes.map(({ stack: _, ...cause }) => cause) };
}

describe.each(rows)('classifyError of %s', (name, make) => {
  it('changes code, retryability and wait, and says that they were declared', async () => {
    const seen: FailureEvidence[] = [];
    const classifyError: ClassifyError = (failure, evidence) => {
      seen.push(evidence);
      expect(failure.retryable).toBe(false);
      return { code: 'MODEL_LOADING', retryAfterMs: 1500 };
    };
    const before = await failureOf(make({ classifyError: () => undefined }).model);
    expect(await failureOf(make({ classifyError }).model)).toMatchObject({
      code: 'MODEL_LOADING',
      retryable: true,
      retryAfterMs: 1500,
      classifiedBy: 'declared',
      message: before.message,
      context: { classifiedBefore: before.code },
    });
    expect(seen).toHaveLength(1);
    const [{ status, headers, body: text, error } = {}] = seen;
    const isOwn = name.startsWith('a model of');
    const shown = isOwn ? error : { status, tenant: headers?.['x-tenant'], text };
    expect(shown).toMatchObject(isOwn ? { status: 400 } : { status: 400, tenant: '7', text: body });
  });

  it('makes the one owner of retries obey it', async () => {
    const asleep = make({ classifyError: () => ({ code: 'OVERLOADED', retryAfterMs: 2000 }) });
    const clock = simulatedClock();
    const policy = { retry: { maxAttempts: 3 } };
    await clock.runUntil(callModel(asleep.model, request, { clock, policy }));
    expect(asleep.sent()).toBe(3);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(4000);

    const final = make({ status: 503, classifyError: () => ({ retryable: false }) });
    await callModel(final.model, request, { clock: simulatedClock() });
    expect(final.sent()).toBe(1);
  });

  const broken: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'throws',
      () => {
        throw new Error('oops');
      },
      /it threw: .*oops/,
    ],
    ['gives a promise', () => Promise.reject(new Error('late')), /a promise/],
    ['gives a text', () => 'OVERLOADED', /no verdict/],
    ['gives a code that there is not', () => ({ code: 'SLEEPY' }), /"code" is not legal: the text "SLEEPY"/],
    ['gives a code of a tool', () => ({ code: 'TOOL_NOT_FOUND' }), /"code" is not legal/],
    ['calls it cancelled', () => ({ code: 'CANCELLED' }), /"code" is not legal/],
    ['gives a wait that is none', () => ({ retryAfterMs: Number.NaN }), /"retryAfterMs" is not legal/],
    ['gives an endless wait', () => ({ retryAfterMs: Infinity }), /"retryAfterMs" is not legal/],
    ['tries to make it a success', () => ({ type: 'success', result: {} }), /no field "type"/],
    [
      'gives an object that throws',
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no');
            },
          },
        ),
      /it threw/,
    ],
  ];
  it.each(broken)('keeps the classification and notes it where it %s', async (_, classify, why) => {
    const usual = await failureOf(make({ classifyError: () => undefined }).model);
    const failure = await failureOf(make({ classifyError: classify as ClassifyError }).model);
    const { classifyError, ...context } = failure.context;
    expect(classifyError).toMatch(why);
    // What the function itself threw comes last among the causes.
    const causes = failure.causes.slice(0, usual.causes.length);
    expect(withoutStacks({ ...failure, context, causes })).toEqual(withoutStacks(usual));
  });

  it('is not asked about a cancellation', async () => {
    const classifyError = vi.fn<ClassifyError>();
    const response = await make({ classifyError }).model.call(request, { signal: AbortSignal.abort() });
    expect(response).toMatchObject({ failure: { code: 'CANCELLED' } });
    expect(classifyError).not.toHaveBeenCalled();
  });
});

it('classifyError sees an answer that is no answer, too', async () => {
  const model = defineModel({
    provider: 'acme',
    model: 'a',
    stream: () => [{ type: 'finished', finish: 'stop' }],
    classifyError: ({ code }) => (code === 'EMPTY_RESPONSE' ? { code: 'OVERLOADED' } : undefined),
  });
  expect((await failureOf(model)).code).toBe('OVERLOADED');
});
