import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer, ChaosServerOptions, FaultEntry } from '../../src/chaos/index.ts';
import { resilient } from '../../src/providers/ai-sdk/index.ts';
import type { ResilientPolicy } from '../../src/providers/ai-sdk/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { failureOf } from './consume.ts';

type LanguageModelV2 = Extract<LanguageModel, { readonly specificationVersion: 'v2' }>;
type LanguageModelV3 = Extract<LanguageModel, { readonly specificationVersion: 'v3' }>;

/** The AI SDK itself with its own retries left as they are, against a provider that misbehaves on purpose. */
let server: ChaosServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const text = 'The trains run again, and on time.';

async function start(
  script: readonly (FaultEntry | null)[],
  options: ChaosServerOptions = {},
): Promise<ChaosServer> {
  server = await startChaosServer({ faults: { script }, model: () => text, chunkCharacters: 5, ...options });
  return server;
}

function modelAt({ baseURL }: ChaosServer, modelId = 'm-1', name = 'local'): LanguageModelV3 {
  const options = { name, baseURL: baseURL('openai-chat'), apiKey: 'k', includeUsage: true };
  return createOpenAICompatible(options)(modelId);
}

function hasty(policy: ResilientPolicy = {}): ResilientPolicy {
  return { gates: createGates(), retry: { baseDelayMs: 5, minDelayMs: 1 }, ...policy };
}

interface Heard {
  readonly text: string;
  readonly error: unknown;
}

async function generate(model: LanguageModel, abortSignal?: AbortSignal): Promise<Heard> {
  try {
    const result = await generateText({ model, prompt: 'Hi', ...(abortSignal && { abortSignal }) });
    return { text: result.text, error: undefined };
  } catch (error) {
    return { text: '', error };
  }
}

async function stream(model: LanguageModel, abortSignal?: AbortSignal): Promise<Heard> {
  const result = streamText({
    model,
    prompt: 'Hi',
    onError: () => undefined, // By default it prints.
    ...(abortSignal && { abortSignal }),
  });
  let heard = '';
  let failed: unknown;
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') heard += part.text;
    if (part.type === 'error') failed = part.error;
    if (part.type === 'abort') failed = Object.assign(new Error('aborted'), { name: 'AbortError' });
  }
  return { text: heard, error: failed };
}

const ways = [
  ['generateText', generate],
  ['streamText', stream],
] as const;

describe.each(ways)('%s with a resilient model', (name, ask) => {
  it.each([
    ['the key is wrong', 'auth', 'AUTHENTICATION_ERROR'],
    ['the quota is used up', 'quota', 'QUOTA_EXCEEDED'],
    ['there is no such model', 'model-not-found', 'MODEL_NOT_FOUND'],
  ] as const)('does not ask again where %s, but the next model', async (_what, fault, code) => {
    const chaos = await start([fault, null]);
    const chain = [modelAt(chaos, 'm-1'), modelAt(chaos, 'm-2', 'other')] as const;
    expect(await ask(resilient(chain, hasty()))).toEqual({ text, error: undefined });
    expect(chaos.requests.map(({ model }) => model)).toEqual(['m-1', 'm-2']);
    chaos.setFaults({ script: [fault], repeat: true });
    const { error } = await ask(resilient(chain, hasty()));
    expect(APICallError.isInstance(error) && !error.isRetryable).toBe(true);
    expect(failureOf(error)).toMatchObject({
      code,
      context: {
        models: [
          { model: 'm-1', code },
          { model: 'm-2', code },
        ],
      },
    });
    expect(chaos.requests).toHaveLength(4);
  });

  it.each<[string, FaultEntry]>([
    ['500', 'server-error'],
    ['503', 'overloaded'],
    ['529', { name: 'overloaded', status: 529 }],
    ['a page of a gateway', 'gateway'],
    ['a reset before the headers', 'reset-before-headers'],
    ['a close before the headers', 'close-before-headers'],
  ])('retries after %s, and nobody retries on top', async (_what, fault) => {
    const chaos = await start([fault, fault, null]);
    expect(await ask(resilient(modelAt(chaos), hasty()))).toEqual({ text, error: undefined });
    expect(chaos.requests).toHaveLength(3);
    chaos.setFaults({ script: [fault], repeat: true });
    const { error } = await ask(resilient(modelAt(chaos), hasty()));
    expect(APICallError.isInstance(error) && !error.isRetryable).toBe(true);
    expect(failureOf(error)).toMatchObject({ context: { attempts: 4 } });
    expect(chaos.requests).toHaveLength(3 + 4);
  });

  it.each<[string, number, FaultEntry]>([
    ['seconds', 1000, { name: 'rate-limit', retryAfter: 1 }],
    ['milliseconds', 400, { name: 'rate-limit', retryAfter: 0.4, form: 'ms' }],
  ])('does not come back before the wait in %s is over', async (_form, waitMs, fault) => {
    const chaos = await start([fault, null]);
    expect(await ask(resilient(modelAt(chaos), hasty()))).toEqual({ text, error: undefined });
    const [first, second] = chaos.requests.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(waitMs);
    expect(chaos.requests).toHaveLength(2);
  });

  it('asks once more where the answer is empty, and then fails', async () => {
    const chaos = await start(['empty-answer', null, 'empty-answer', 'empty-answer']);
    expect(await ask(resilient(modelAt(chaos), hasty()))).toEqual({ text, error: undefined });
    const { error } = await ask(resilient(modelAt(chaos), hasty()));
    expect(failureOf(error)).toMatchObject({ code: 'EMPTY_RESPONSE' });
    expect(chaos.requests).toHaveLength(4);
  });

  it.each([
    ['before it begins', 0],
    ['while it waits', 1],
  ])('ends when it is told to %s, and asks no more', async (_moment, requests) => {
    const controller = new AbortController();
    if (requests === 0) controller.abort();
    const chaos = await start(['server-error', null]);
    const model = resilient(modelAt(chaos), {
      gates: createGates(),
      retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 },
      onEvent: ({ type }) => {
        if (type === 'recovery') controller.abort();
      },
    });
    expect((await ask(model, controller.signal)).error).toMatchObject({ name: 'AbortError' });
    expect(chaos.requests).toHaveLength(requests);
  });

  it('ends when it is told to while the provider is silent', async () => {
    const controller = new AbortController();
    const chaos = await start(['header-hang', null]);
    const asked = ask(resilient(modelAt(chaos), hasty()), controller.signal);
    await vi.waitUntil(() => chaos.requests.length === 1, { timeout: 30_000 });
    controller.abort();
    expect((await asked).error).toMatchObject({ name: 'AbortError' });
    expect(chaos.requests).toHaveLength(1);
  });

  it('lets the AI SDK carry out a tool, and gives it the answer to its result', async () => {
    const chaos = await start(['overloaded', null, 'server-error', null], {
      model: { script: [{ toolCalls: [{ name: 'weather', arguments: { city: 'Ulm' } }] }, 'It rains.'] },
    });
    const cities: string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => {
        cities.push(city);
        return 'rain';
      },
    });
    const request = {
      model: resilient(modelAt(chaos), hasty()),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
    };
    const run = name === 'generateText' ? await generateText(request) : streamText(request);
    expect([await run.text, cities, chaos.requests.length]).toEqual(['It rains.', ['Ulm'], 4]);
  });
});

const breaks = [
  ['reset', { name: 'reset-mid-stream', after: 3 }],
  ['closed', { name: 'close-mid-stream', after: 3 }],
  ['ended as if it were whole', { name: 'close-without-length', after: 3 }],
  ['ended by an error of the provider', { name: 'error-in-stream', after: 3 }],
] as const satisfies readonly (readonly [string, FaultEntry])[];

describe('streamText with a resilient model', () => {
  it.each(breaks)('never glues a second text to one that was %s', async (_what, fault) => {
    const chaos = await start([fault, null]);
    const chain = [modelAt(chaos, 'm-1'), modelAt(chaos, 'm-2', 'other')] as const;
    const heard = await stream(resilient(chain, hasty()));
    expect(heard.text).not.toBe('');
    expect(text.startsWith(heard.text)).toBe(true);
    expect(heard.text.length).toBeLessThan(text.length);
    expect(APICallError.isInstance(heard.error) && !heard.error.isRetryable).toBe(true);
    expect(chaos.requests).toHaveLength(1);
  });

  it.each<[string, FaultEntry]>([
    ['reset', { name: 'reset-mid-stream', after: 0 }],
    ['closed', { name: 'close-mid-stream', after: 0 }],
    ['ended as if it were whole', { name: 'close-without-length', after: 0 }],
    ['an error under a status of success', 'error-in-200'],
  ])('shows nothing of an answer that is %s before its first word', async (_what, fault) => {
    const chaos = await start([fault, null]);
    expect(await stream(resilient(modelAt(chaos), hasty()))).toEqual({ text, error: undefined });
    expect(chaos.requests).toHaveLength(2);
  });

  it.each(breaks)('shows one whole answer where it may hold one that is %s', async (_what, fault) => {
    const chaos = await start([fault, fault, null]);
    const heard = await stream(resilient(modelAt(chaos), hasty({ delivery: 'whole' })));
    expect(heard).toEqual({ text, error: undefined });
    expect(chaos.requests).toHaveLength(3);
  });

  it.each([['close-without-length'], ['missing-terminal']] as const)(
    'never carries out a tool call that %s cut short',
    async (fault) => {
      const chaos = await start([fault], {
        model: { script: [{ toolCalls: [{ name: 'pay', arguments: { cents: 100 } }] }], repeat: true },
      });
      let payments = 0;
      const pay = tool({
        inputSchema: z.object({ cents: z.number() }),
        execute: () => (payments += 1),
      });
      const model = resilient(modelAt(chaos), hasty({ delivery: 'live' }));
      const result = streamText({ model, prompt: 'Pay', tools: { pay }, onError: () => undefined });
      const types: string[] = [];
      for await (const { type } of result.fullStream) types.push(type);
      expect(types).toContain('error');
      expect(types).not.toContain('tool-call');
      expect(payments).toBe(0);
    },
  );

  it('stops the provider when the reader goes away', async () => {
    const chaos = await start([{ name: 'silence-mid-stream', after: 2 }]);
    const model = resilient(modelAt(chaos), hasty());
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
    const result = await model.doStream({ prompt });
    for await (const part of result.stream) if (part.type === 'text-delta') break;
    await vi.waitFor(() => expect(chaos.requests[0]?.ended).toBe('closed-by-client'), { timeout: 30_000 });
    expect(chaos.requests).toHaveLength(1);
  });

  it('ends when it is told to in the middle of an answer', async () => {
    const chaos = await start([{ name: 'silence-mid-stream', after: 3 }]);
    const controller = new AbortController();
    const result = streamText({
      model: resilient(modelAt(chaos), hasty()),
      prompt: 'Hi',
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const { type } of result.fullStream) {
      types.push(type);
      if (type === 'text-delta') controller.abort();
    }
    expect(types.at(-1)).toBe('abort');
    await vi.waitFor(() => expect(chaos.requests[0]?.ended).toBe('closed-by-client'), { timeout: 30_000 });
    expect(chaos.requests).toHaveLength(1);
  });

  it('gives usage, finish reason, headers and the body of the request as the model would', async () => {
    const chaos = await start(['overloaded', null]);
    const result = streamText({ model: resilient(modelAt(chaos), hasty()), prompt: 'Hi' });
    expect(await result.text).toBe(text);
    const plain = streamText({ model: modelAt(chaos), prompt: 'Hi' });
    expect(await result.usage).toEqual(await plain.usage);
    expect(await result.finishReason).toBe('stop');
    expect(await result.providerMetadata).toEqual(await plain.providerMetadata);
    expect((await result.response).headers).toHaveProperty('content-type');
    expect((await result.request).body).toEqual((await plain.request).body);
  });
});

describe('the type of a resilient model', () => {
  it('is that of the model, which the AI SDK takes', () => {
    const local = createOpenAICompatible({ name: 'local', baseURL: 'http://127.0.0.1' });
    expectTypeOf(resilient(local('x'))).toExtend<LanguageModel>();
    expectTypeOf(resilient([local('x'), local('y')])).toExtend<LanguageModelV3>();
    expectTypeOf<ReturnType<typeof resilient<LanguageModelV2>>>().toExtend<LanguageModel>();
    const model: LanguageModel = resilient(local('x'), { retry: 'patient' });
    expect(model).toMatchObject({ specificationVersion: 'v3', provider: 'local.chat', modelId: 'x' });
  });
});
