import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { embedAll } from '../model/embed-all.ts';
import type { EmbeddingResponse } from '../model/embedding.ts';
import { geminiEmbedding } from './gemini/gemini-embedding.ts';
import type { Transport } from './http/transport.ts';
import { ollamaEmbedding } from './ollama/ollama-embedding.ts';
import { openaiCompatible } from './openai-compatible/openai-compatible.ts';
import { mistral } from './openai-compatible/presets.ts';
import { openaiEmbedding } from './openai/openai-embedding.ts';

const apiKey = 'Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3';

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Reply = (response: ServerResponse, seen: Seen) => void;

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(reply: Reply): Promise<{ readonly origin: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      seen.push({ url: request.url ?? '', headers: request.headers, body });
      reply(response, seen.at(-1) as Seen);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const json =
  (body: unknown, status = 200): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const entry = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding });
const data = (...entries: readonly unknown[]) => ({
  object: 'list',
  data: entries,
  model: 'text-embedding-3-small-v2',
  usage: { prompt_tokens: 7, total_tokens: 7 },
});

async function embedWith(reply: Reply, texts: readonly string[] = ['a', 'b']): Promise<EmbeddingResponse> {
  const { origin } = await serve(reply);
  return openaiEmbedding('text-embedding-3-small', { apiKey, baseURL: origin }).embed(texts);
}

function failureOf(response: EmbeddingResponse) {
  if (response.type === 'success') throw new Error('it did not fail');
  return response.failure;
}

describe('an embedding model whose server answers', () => {
  it.each<readonly [title: string, body: unknown, words: string]>([
    ['too few vectors', data(entry(0, [1, 2])), '1 vectors for 2 texts'],
    ['too many vectors', data(entry(0, [1]), entry(1, [1]), entry(2, [1])), '3 vectors for 2 texts'],
    ['vectors of two lengths', data(entry(0, [1, 2]), entry(1, [1])), 'has 1 numbers, the first has 2'],
    ['an empty vector', data(entry(0, [1]), entry(1, [])), 'the vector at index 1 is empty'],
    ['no vector', data(entry(0, [1]), { index: 1 }), 'the vector at index 1 is empty'],
    ['a null in a vector', data(entry(0, [1, null]), entry(1, [1, 2])), 'no finite number'],
    ['a text in a vector', data(entry(0, [1, '2']), entry(1, [1, 2])), 'no finite number'],
    ['a number beyond 32 bits', data(entry(0, [1, 1e300]), entry(1, [1, 2])), 'no finite number'],
    ['one index twice', data(entry(0, [1]), entry(0, [2])), 'the same "index"'],
    ['indexes from 1', data(entry(1, [1]), entry(2, [2])), 'do not count from 0'],
    ['no data', { object: 'list' }, 'the field "data" is no list'],
    ['a list', [], 'the field "data" is no list'],
    ['null', null, 'the field "data" is no list'],
  ])('%s gives INVALID_RESPONSE', async (_title, body, words) => {
    const failure = failureOf(await embedWith(json(body)));
    expect(failure).toMatchObject({ code: 'INVALID_RESPONSE', origin: 'embedding', phase: 'parse' });
    expect(failure.message).toContain('openai (text-embedding-3-small)');
    expect(failure.message).toContain(words);
  });

  it.each<readonly [title: string, reply: Reply, code: string]>([
    [
      '401',
      json({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401),
      'AUTHENTICATION_ERROR',
    ],
    [
      '429',
      json({ error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } }, 429),
      'RATE_LIMITED',
    ],
    [
      '429 without money',
      json({ error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } }, 429),
      'QUOTA_EXCEEDED',
    ],
    [
      '404',
      json({ error: { code: 'model_not_found', message: 'The model does not exist' } }, 404),
      'MODEL_NOT_FOUND',
    ],
    ['503', json({ error: { message: 'busy' } }, 503), 'SERVER_ERROR'],
    [
      '200 with an error inside',
      json({ error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } }),
      'RATE_LIMITED',
    ],
    [
      'a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
      'INVALID_RESPONSE',
    ],
    ['half of some JSON', (response) => response.end('{"data": [{"embed'), 'INVALID_RESPONSE'],
    ['nothing', (response) => response.end(), 'INVALID_RESPONSE'],
    ['by hanging up', (response) => response.destroy(), 'NETWORK_ERROR'],
  ])('%s gives an EmbeddingError', async (_title, reply, code) => {
    const failure = failureOf(await embedWith(reply));
    expect(failure.code).toBe(code);
    expect(RerailError.from(failure).name).toBe('EmbeddingError');
    expect(failure.provider).toMatchObject({ provider: 'openai', model: 'text-embedding-3-small' });
    expect(JSON.stringify(failure)).not.toContain(apiKey);
  });

  it('out of order gives the vectors in the order of the texts', async () => {
    const response = await embedWith(json(data(entry(1, [3, 4]), entry(0, [1, 2]))));
    expect(response).toEqual({
      type: 'success',
      result: {
        vectors: [Float32Array.of(1, 2), Float32Array.of(3, 4)],
        usage: { inputTokens: 7 },
        costUsd: 1.4e-7,
        servedBy: 'text-embedding-3-small-v2',
      },
    });
  });

  it.each([{ prompt_tokens: -1 }, { prompt_tokens: 'many' }, undefined])(
    'with usage %j leaves usage and cost unknown',
    async (usage) => {
      const response = await embedWith(json({ data: [entry(0, [1]), entry(1, [2])], usage }));
      expect(response).toMatchObject({ type: 'success', result: { usage: {} } });
      expect(response.type === 'success' && response.result.costUsd).toBeUndefined();
    },
  );
});

describe('an embedding model before it sends', () => {
  it.each<{
    readonly title: string;
    readonly texts: readonly string[];
    readonly code: string;
    readonly words: string;
  }>([
    { title: 'an empty text', texts: ['a', ''], code: 'CONFIG_ERROR', words: 'the text at index 1 is empty' },
    {
      title: 'what is no text',
      texts: ['a', 5 as unknown as string],
      code: 'CONFIG_ERROR',
      words: 'what stands at index 1 is no text but of type number',
    },
    { title: 'a blank text', texts: [' \n'], code: 'CONFIG_ERROR', words: 'the text at index 0 is empty' },
    {
      title: 'too many texts',
      texts: ['a', 'b', 'c', 'd'],
      code: 'CONFIG_ERROR',
      words: '4 texts in one call, at most 3: use embedAll',
    },
    {
      title: 'too long a text',
      texts: ['a', 'b'.repeat(21)],
      code: 'REQUEST_TOO_LARGE',
      words: 'has 21 characters, at most 20',
    },
  ])('refuses $title', async ({ texts, code, words }) => {
    const { origin, seen } = await serve(json(data()));
    const options = { apiKey, baseURL: origin, maxBatch: 3, maxTextCharacters: 20 };
    const failure = failureOf(await openaiEmbedding('m', options).embed(texts));
    expect(failure).toMatchObject({ code, phase: 'connect', sideEffect: 'none' });
    expect(failure.message).toContain(words);
    expect(seen).toEqual([]);
  });

  it('refuses what is no list without rejecting', async () => {
    const model = openaiEmbedding('m', { apiKey });
    expect(failureOf(await model.embed('a' as unknown as string[])).code).toBe('CONFIG_ERROR');
  });

  it('sends nothing for no texts, and nothing when it was cancelled before', async () => {
    const { origin, seen } = await serve(json(data()));
    const model = openaiEmbedding('m', { apiKey, baseURL: origin });
    expect(await model.embed([])).toEqual({ type: 'success', result: { vectors: [], usage: {} } });
    const failure = failureOf(await model.embed(['a'], { signal: AbortSignal.abort() }));
    expect(failure).toMatchObject({ code: 'CANCELLED', origin: 'embedding', phase: 'connect' });
    expect(seen).toEqual([]);
  });

  it.each([
    ['a key that is missing', () => openaiEmbedding('m', { environment: {} }), 'PROVIDER_NOT_CONFIGURED'],
    ['no name', () => openaiEmbedding('', { apiKey }), 'CONFIG_ERROR'],
    ['dimensions of 0', () => openaiEmbedding('m', { apiKey, dimensions: 0 }), 'CONFIG_ERROR'],
    ['batches of NaN', () => openaiEmbedding('m', { apiKey, maxBatch: Number.NaN }), 'CONFIG_ERROR'],
    ['a broken address', () => openaiEmbedding('m', { apiKey, baseURL: 'x' }), 'CONFIG_ERROR'],
  ])('throws when it is made with %s', (_title, make, code) => {
    expect(make).toThrow(expect.objectContaining({ code }) as Error);
  });
});

describe('an embedding model that waits', () => {
  /** Fires what is due when it is moved. */
  function manualClock(): Clock & { readonly move: (byMs: number) => void } {
    let nowMs = 0;
    const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();
    return {
      wallMs: () => nowMs,
      monotonicMs: () => nowMs,
      after: (delayMs, callback) => {
        const timer = { dueMs: nowMs + delayMs, callback };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      move: (byMs) => {
        nowMs += byMs;
        for (const timer of timers) {
          if (timer.dueMs > nowMs) continue;
          timers.delete(timer);
          timer.callback();
        }
      },
    };
  }

  /** Never answers and never hears the signal. */
  const deaf: Transport = { send: () => new Promise(() => undefined) };

  it('gives up at the timeout even if the transport does not', async () => {
    const clock = manualClock();
    const model = openaiEmbedding('m', { apiKey, transport: deaf });
    const pending = model.embed(['a'], { clock, timeouts: { connectMs: 500 } });
    clock.move(499);
    clock.move(1);
    expect(failureOf(await pending)).toMatchObject({
      code: 'TIMEOUT',
      origin: 'embedding',
      phase: 'connect',
      sideEffect: 'none',
      retryable: true,
      context: { timeout: 'connect' },
    });
  });

  it('ends at once when it is cancelled, even if the transport does not', async () => {
    const controller = new AbortController();
    const model = openaiEmbedding('m', { apiKey, transport: deaf });
    const pending = model.embed(['a'], { signal: controller.signal });
    controller.abort();
    expect(failureOf(await pending)).toMatchObject({ code: 'CANCELLED', origin: 'embedding' });
  });

  it('lets go of the connection when the body cannot be read', async () => {
    let discarded = 0;
    const next = () => Promise.reject(new Error('socket hang up'));
    const body = { [Symbol.asyncIterator]: () => ({ next }) };
    const discard = (): void => void (discarded += 1);
    const transport: Transport = {
      send: () => Promise.resolve({ status: 200, headers: {}, body, discard }),
    };
    const failure = failureOf(await openaiEmbedding('m', { apiKey, transport }).embed(['a']));
    expect(failure).toMatchObject({ origin: 'embedding', phase: 'body' });
    expect(discarded).toBe(1);
  });

  it('refuses timeouts that are none', async () => {
    const model = openaiEmbedding('m', { apiKey, transport: deaf });
    const failure = failureOf(await model.embed(['a'], { timeouts: { totalMs: Number.NaN } }));
    expect(failure.code).toBe('CONFIG_ERROR');
  });
});

describe('the request for embeddings', () => {
  it('of OpenAI', async () => {
    const { origin, seen } = await serve(json(data(entry(0, [1]))));
    await openaiEmbedding('text-embedding-3-large', { apiKey, baseURL: origin, dimensions: 256 }).embed([
      'a',
    ]);
    expect(seen).toMatchObject([
      {
        url: '/v1/embeddings',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: { model: 'text-embedding-3-large', input: ['a'], encoding_format: 'float', dimensions: 256 },
      },
    ]);
  });

  it('of Gemini', async () => {
    const answer = { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] };
    const { origin, seen } = await serve(json(answer));
    const model = geminiEmbedding('gemini-embedding-001', { apiKey, baseURL: origin, dimensions: 2 });
    const response = await model.embed(['a', 'b']);
    expect(response).toMatchObject({
      type: 'success',
      result: { vectors: [Float32Array.of(1, 2), Float32Array.of(3, 4)], usage: {} },
    });
    const name = 'models/gemini-embedding-001';
    expect(seen).toMatchObject([
      {
        url: `/v1beta/${name}:batchEmbedContents`,
        headers: { 'x-goog-api-key': apiKey },
        body: {
          requests: ['a', 'b'].map((text) => ({
            model: name,
            content: { parts: [{ text }] },
            outputDimensionality: 2,
          })),
        },
      },
    ]);
  });

  it('of Ollama, without a key', async () => {
    const { origin, seen } = await serve(json(data(entry(0, [1]))));
    const environment = { OLLAMA_HOST: origin };
    const response = await ollamaEmbedding('nomic-embed-text', { environment }).embed(['a']);
    expect(response.type).toBe('success');
    expect(seen).toMatchObject([{ url: '/v1/embeddings', body: { model: 'nomic-embed-text' } }]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it('of a compatible server, in batches, with what was configured for it', async () => {
    const { origin, seen } = await serve((response, { body }) => {
      const { input } = body as { readonly input: readonly string[] };
      json(data(...input.map((text, index) => entry(index, [text.length]))))(response, seen[0] as Seen);
    });
    const acme = openaiCompatible({
      name: 'acme',
      baseURL: `${origin}/v1`,
      apiKey,
      headers: { 'x-team': 'a' },
    });
    const response = await embedAll(acme.embedding('e', { maxBatch: 2 }), ['a', 'bb', 'ccc']);
    expect(response).toMatchObject({
      type: 'success',
      result: { vectors: [1, 2, 3].map((length) => Float32Array.of(length)), usage: { inputTokens: 14 } },
    });
    expect(seen).toHaveLength(2);
    expect(seen[0]?.headers).toMatchObject({ 'x-team': 'a', authorization: `Bearer ${apiKey}` });
  });

  it('of a preset knows its provider', () => {
    const model = mistral.embedding('mistral-embed', { apiKey });
    expect(model).toMatchObject({ provider: 'mistral', name: 'mistral-embed', price: { inputUsd: 0.1 } });
    expect(model.quotaKey).toMatch(/^mistral https:\/\/api\.mistral\.ai [0-9a-f]{12}$/);
  });
});
