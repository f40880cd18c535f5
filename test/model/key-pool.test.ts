import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { callEmbedding, callModel, createGates } from '../../src/model/index.ts';
import type { CallEvent, CallPolicy } from '../../src/model/index.ts';
import { chaosProtocols, startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer } from '../../src/chaos/index.ts';
import { openai, openaiEmbedding } from '../../src/providers/openai/index.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible/index.ts';
import type { ProviderOptions } from '../../src/providers/index.ts';
import { providerModel } from './provider-models.ts';
import type { ProviderName } from './provider-models.ts';

// Several keys of one provider are a pool: the same model is asked with the next one where the account of a key is empty, limited or refused.

const keys = ['key-one-0123456789', 'key-two-0123456789', 'key-three-0123456789'] as const;
const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
const answer = 'The same model, by another key.';

const refusals = {
  empty: [
    402,
    { error: { message: 'Your credit balance is too low', type: 'billing_error' } },
    'QUOTA_EXCEEDED',
  ],
  refused: [
    401,
    {
      error: {
        message: 'Incorrect API key provided',
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      },
    },
    'AUTHENTICATION_ERROR',
  ],
  limited: [429, { error: { message: 'Rate limit reached', type: 'rate_limit_error' } }, 'RATE_LIMITED'],
} as const;
type Refusal = keyof typeof refusals;

let server: ChaosServer;
beforeAll(async () => {
  server = await startChaosServer({ model: () => answer });
});
afterAll(() => server.close());

interface Gate {
  readonly options: ProviderOptions;
  /** The key of each request, in order. */
  readonly asked: readonly string[];
}

/** The real server, with somebody before it who refuses keys. */
function guarded(refused: Readonly<Partial<Record<string, Refusal>>>, retryAfter = '20'): Gate {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const sent = JSON.stringify([...new Headers(init?.headers).values()]);
    const key = keys.find((one) => sent.includes(one)) ?? 'no key';
    asked.push(key);
    const refusal = refused[key];
    if (refusal === undefined) return globalThis.fetch(input, init);
    const [status, body] = refusals[refusal];
    const headers = {
      'content-type': 'application/json',
      ...(refusal === 'limited' && { 'retry-after': retryAfter }),
    };
    return new Response(JSON.stringify({ ...body, key }), { status, headers });
  };
  return { options: { apiKey: keys, fetch }, asked };
}

const wires: readonly (readonly [string, (options: ProviderOptions) => ReturnType<typeof providerModel>])[] =
  [
    ...chaosProtocols.map(
      (name: ProviderName & (typeof chaosProtocols)[number]) =>
        [
          name,
          (options: ProviderOptions) => providerModel(name, { baseURL: server.baseURL(name), ...options }),
        ] as const,
    ),
    [
      'openai-compatible',
      (options) =>
        openaiCompatible({ ...options, name: 'acme', baseURL: server.baseURL('openai-chat') })('acme-1'),
    ],
  ];

describe.each(wires)('a pool of keys over %s', (_wire, make) => {
  it.each(Object.keys(refusals) as readonly Refusal[])(
    'goes on to the next key where one is %s',
    async (refusal) => {
      const { options, asked } = guarded({ [keys[0]]: refusal, [keys[1]]: refusal });
      const events: CallEvent[] = [];
      const gates = createGates();
      const model = make(options);
      const onEvent = (event: CallEvent): void => void events.push(event);
      const outcome = await callModel(model, request, { gates, onEvent });
      expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
      expect(asked).toEqual(keys);
      expect(outcome.report.recoveries.map(({ recovery, failure }) => [recovery, failure.code])).toEqual([
        ['next-key', refusals[refusal][2]],
        ['next-key', refusals[refusal][2]],
      ]);
      expect(new Set(outcome.report.attempts.map(({ model: name }) => name)).size).toBe(1);
      // The next call begins with the key that is of use, and no key is in anything that can be read.
      await callModel(model, request, { gates });
      expect(asked).toEqual([...keys, keys[2]]);
      const told = JSON.stringify([outcome, events, model, gates.states()]);
      expect(keys.filter((key) => told.includes(key))).toEqual([]);
    },
  );
});

describe('a pool of keys', () => {
  const chat = (options: ProviderOptions): ReturnType<typeof openai> =>
    openai('gpt-5.4', { api: 'chat', baseURL: server.baseURL('openai-chat'), ...options });

  it('serves an agent, run after run', async () => {
    const { options, asked } = guarded({ [keys[0]]: 'empty' });
    const agent = createAgent({ model: chat(options), gates: createGates() });
    for (let run = 0; run < 3; run += 1) {
      const outcome = await agent.run('Hello');
      expect(outcome).toMatchObject({ type: 'completed', text: answer });
    }
    expect(asked).toEqual([keys[0], keys[1], keys[1], keys[1]]);
  });

  it('is used up before another model is asked, which is then asked for all of it', async () => {
    const { options, asked } = guarded({ [keys[0]]: 'refused', [keys[1]]: 'empty', [keys[2]]: 'empty' });
    const other = openai('gpt-5.2', {
      api: 'chat',
      baseURL: server.baseURL('openai-chat'),
      apiKey: 'other-key-0123456789',
    });
    const outcome = await callModel([chat(options), other], request, { gates: createGates() });
    expect(outcome).toMatchObject({ type: 'success', result: { text: answer } });
    expect(asked).toEqual(keys);
    expect(outcome.report.recoveries.map(({ recovery }) => recovery)).toEqual([
      'next-key',
      'next-key',
      'fall-back',
    ]);
  });

  it('is one model when all of it fails', async () => {
    const { options } = guarded({ [keys[0]]: 'refused', [keys[1]]: 'refused', [keys[2]]: 'refused' });
    const outcome = await callModel(chat(options), request, { gates: createGates() });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'AUTHENTICATION_ERROR' } });
    expect(outcome.type === 'failure' && outcome.failure.message).toMatch(/^None of 3 keys answered/);
  });

  it('comes back to the key that is ready first where all are limited', async () => {
    const { options, asked } = guarded(
      { [keys[0]]: 'limited', [keys[1]]: 'limited', [keys[2]]: 'limited' },
      '0.2',
    );
    const policy: CallPolicy = { retry: { maxAttempts: 2, jitter: 0 } };
    const outcome = await callModel(chat(options), request, { gates: createGates(), policy });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'RATE_LIMITED' } });
    expect(asked.toSorted()).toEqual([...keys, ...keys].toSorted());
  });

  it('is not walked along for what is no fault of a key', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (_input, init) => {
      asked.push(String(new Headers(init?.headers).get('authorization')));
      return Promise.resolve(new Response('{"error":{"message":"internal"}}', { status: 500 }));
    };
    const policy: CallPolicy = { retry: { baseDelayMs: 1, minDelayMs: 1 } };
    const outcome = await callModel(chat({ apiKey: keys, fetch }), request, { gates: createGates(), policy });
    expect(outcome.type).toBe('failure');
    expect(new Set(asked).size).toBe(1);
  });

  it('serves embeddings', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (_input, init) => {
      const key = String(new Headers(init?.headers).get('authorization'));
      asked.push(key);
      const isEmpty = key.includes(keys[0]);
      const body = isEmpty
        ? refusals.empty[1]
        : { data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 1 }, model: 'm' };
      const headers = { 'content-type': 'application/json' };
      return Promise.resolve(new Response(JSON.stringify(body), { status: isEmpty ? 402 : 200, headers }));
    };
    const model = openaiEmbedding('text-embedding-3-small', { apiKey: keys, fetch });
    const outcome = await callEmbedding(model, ['Hello'], { gates: createGates() });
    expect(outcome.type).toBe('success');
    expect(asked).toEqual([`Bearer ${keys[0]}`, `Bearer ${keys[1]}`]);
  });

  it.each<[string, unknown, RegExp]>([
    ['is empty', [], /has 0 keys/],
    ['holds something else than a text', [keys[0], 7], /Key 2 in the option "apiKey".*must be a text/],
    ['holds a placeholder', [keys[0], 'your-key-here'], /Key 2 .*placeholder/],
  ])('is refused where it %s', (_name, apiKey, message) => {
    expect(() => openai('gpt-5.4', { apiKey: apiKey as readonly string[] })).toThrow(message);
  });

  it('of one key twice is one key', () => {
    expect(openai('gpt-5.4', { apiKey: [keys[0], keys[0]] }).keys).toBeUndefined();
  });
});
