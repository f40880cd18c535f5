import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText } from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import { createFailure } from '../../src/errors/failure.ts';
import type { AttemptOptions, ModelResponse } from '../../src/model/model.ts';
import type { ModelRequest } from '../../src/model/request.ts';
import { aiSdk, toAiSdkError } from '../../src/providers/ai-sdk/index.ts';
import type { AiSdkLanguageModel } from '../../src/providers/ai-sdk/index.ts';
import { chunk, send, sendAll, startChatServer } from './chat-server.ts';
import type { Answer, ChatServer } from './chat-server.ts';

type Create = (options: { readonly name: string; readonly baseURL: string; readonly apiKey: string }) => Make;
type Make = (model: string) => AiSdkLanguageModel;

/**
 * The AI SDK itself, against a server of our own. One package in the three majors that made the three specifications: the
 * third is installed; the second and the fourth, which wants a newer Node, are tried where they are there too.
 */
const packages: readonly { readonly name: string; readonly create: Create }[] = [
  { name: '@ai-sdk/openai-compatible', create: createOpenAICompatible },
  ...(await findPackage('ai-sdk-v2')),
  ...(await findPackage('ai-sdk-v4')),
];

async function findPackage(name: string): Promise<typeof packages> {
  try {
    const module = (await import(/* @vite-ignore */ name)) as { readonly createOpenAICompatible: Create };
    return [{ name, create: module.createOpenAICompatible }];
  } catch {
    return []; // Not installed.
  }
}

function makeModel(create: Create, { baseURL }: ChatServer): AiSdkLanguageModel {
  const options = {
    name: 'local',
    baseURL,
    apiKey: 'k',
    includeUsage: true,
    supportsStructuredOutputs: true,
  };
  return create(options)('m-1');
}

let server: ChatServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
};
const hello = [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' })];
const callStart = { index: 0, id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":' } };
const request: ModelRequest = {
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ name: 'search', parameters: { type: 'object', properties: { q: { type: 'number' } } } }],
};

describe.each(packages)('aiSdk() with $name', ({ create }) => {
  async function call(answer: Answer, options: AttemptOptions = {}): Promise<ModelResponse> {
    server = await startChatServer(answer);
    return aiSdk(makeModel(create, server)).call(request, options);
  }

  it.each([
    ['a rate limit', 429, { 'retry-after': '7' }, { code: 'RATE_LIMITED', retryAfterMs: 7000 }],
    ['a wrong key', 401, {}, { code: 'AUTHENTICATION_ERROR', retryable: false }],
    ['a broken server', 500, {}, { code: 'SERVER_ERROR', retryable: true }],
  ] as const)('tells %s and sends one request only', async (...[, status, headers, expected]) => {
    const response = await call((reply) => {
      reply.writeHead(status, { 'content-type': 'application/json', ...headers });
      reply.end(JSON.stringify({ error: { message: 'No', type: 'x', code: null } }));
    });
    expect(response).toMatchObject({
      type: 'failure',
      failure: { ...expected, provider: { statusCode: status } },
    });
    expect(server?.requests).toHaveLength(1);
  });

  it('tells an error inside the stream by what it holds', async () => {
    const response = await call((reply) => {
      sendAll(reply, [...hello, { error: { message: 'Overloaded', type: 'overloaded_error', code: null } }]);
    });
    expect(response).toMatchObject({ failure: { code: 'OVERLOADED' }, partial: { text: 'Hello' } });
  });

  it('does not take a stream that was ended half way for an answer', async () => {
    const response = await call((reply) => {
      send(reply, hello);
      reply.end();
    });
    expect(response).toMatchObject({ failure: { code: 'STREAM_INTERRUPTED' }, partial: { text: 'Hello' } });
  });

  it('does not hand out a tool call that was cut in two', async () => {
    const response = await call((reply) => {
      send(reply, [chunk({ tool_calls: [callStart] })]);
      reply.end();
    });
    expect(response).toMatchObject({ failure: { code: 'STREAM_INTERRUPTED' }, partial: { toolCalls: [] } });
  });

  it('survives a connection that is torn down', async () => {
    let tearDown: () => void = () => undefined;
    const answer: Answer = (reply) => {
      tearDown = () => void reply.socket?.resetAndDestroy();
      send(reply, hello);
    };
    const response = await call(answer, {
      onPart: (part) => {
        if (part.type === 'text-delta') tearDown();
      },
    });
    expect(response).toMatchObject({ type: 'failure', failure: { retryable: true, phase: 'body' } });
  });

  it('survives that nobody listens', async () => {
    server = await startChatServer(() => undefined);
    const model = aiSdk(makeModel(create, server));
    await server.close();
    expect(await model.call(request)).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none' },
    });
  });

  it('does not wait for a silent server', async () => {
    const response = await call(() => undefined, { timeouts: { headersMs: 50 } });
    expect(response).toMatchObject({ failure: { code: 'TIMEOUT', context: { timeout: 'headers' } } });
  });

  it('does not wait for a stream that falls silent', async () => {
    const response = await call((reply) => send(reply, hello), { timeouts: { idleMs: 200 } });
    expect(response).toMatchObject({ failure: { code: 'TIMEOUT', context: { timeout: 'idle' } } });
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const response = await call((reply) => send(reply, hello), {
      signal: controller.signal,
      onPart: (part) => {
        if (part.type === 'text-delta') controller.abort();
      },
    });
    expect(response).toMatchObject({ failure: { code: 'CANCELLED' } });
  });

  it('gives text, usage and who answered', async () => {
    const response = await call((reply) => {
      sendAll(reply, [...hello, chunk({}, 'stop'), { ...chunk({}), choices: [], usage }]);
    });
    expect(response).toMatchObject({
      type: 'success',
      result: {
        text: 'Hello',
        finish: { reason: 'stop' },
        usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 },
        responseId: 'chatcmpl-1',
        servedBy: 'served-1',
      },
    });
  });

  it('gives a tool call, and takes its result back', async () => {
    const response = await call((reply, body) => {
      const messages = isRecord(body) && Array.isArray(body['messages']) ? body['messages'] : [];
      if (messages.length > 1) return sendAll(reply, [...hello, chunk({}, 'stop')]);
      const rest = { index: 0, function: { arguments: '1}' } };
      return sendAll(reply, [
        chunk({ tool_calls: [callStart] }),
        chunk({ tool_calls: [rest] }),
        chunk({}, 'tool_calls'),
      ]);
    });
    expect(response).toMatchObject({
      type: 'success',
      result: {
        finish: { reason: 'tool-calls' },
        toolCalls: [{ callId: 'c1', name: 'search', argumentsText: '{"q":1}' }],
      },
    });
    if (response.type !== 'success' || server === undefined) return;
    await aiSdk(makeModel(create, server)).call({
      messages: [
        ...request.messages,
        { role: 'assistant', content: response.result.content },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'c1', name: 'search', content: 'found' }] },
      ],
    });
    expect(server.requests[1]).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{"q":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'found' },
      ],
    });
  });

  it('says when a setting is dropped', async () => {
    server = await startChatServer((reply) => sendAll(reply, [...hello, chunk({}, 'stop')]));
    const model = makeModel(create, server);
    expect(await aiSdk(model).call({ ...request, topK: 5 })).toMatchObject({
      failure: { code: 'INVALID_REQUEST', context: { dropped: ['topK'] } },
    });
    expect(await aiSdk(model, { allowWarnings: true }).call({ ...request, topK: 5 })).toMatchObject({
      type: 'success',
    });
  });
});

describe('toAiSdkError() with the AI SDK', () => {
  it('is known to it, and ends its retries', async () => {
    const failure = createFailure('RATE_LIMITED', { message: 'Slow down', provider: { statusCode: 429 } });
    let calls = 0;
    const model = {
      specificationVersion: 'v3' as const,
      provider: 'rerail',
      modelId: 'm',
      supportedUrls: {},
      doStream: () => Promise.reject(toAiSdkError(failure)),
      doGenerate: () => {
        calls += 1;
        return Promise.reject(toAiSdkError(failure));
      },
    };
    const thrown: unknown = await generateText({ model, prompt: 'Hi', maxRetries: 3 }).catch(
      (error: unknown) => error,
    );
    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ message: 'Slow down', cause: { failure } });
    expect(calls).toBe(1);
  });
});
