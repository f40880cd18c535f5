import { describe, expect, it } from 'vitest';
import { failureTraits } from '../../src/errors/codes.ts';
import { geminiEmbedding } from '../../src/providers/gemini/gemini-embedding.ts';
import { ollamaEmbedding } from '../../src/providers/ollama/ollama-embedding.ts';
import { openaiEmbedding } from '../../src/providers/openai/openai-embedding.ts';
import { ask, providers, quickRetry, useAimock } from './aimock.ts';
import { testKey } from './provider-models.ts';

// What goes wrong at a mock server of other people: every row ends typed, and what the server has seen is what we report.

const text = 'A fine answer, of some length, that is cut somewhere 🥊 in the middle.';

const { mock, call, baseURL, seen } = useAimock();

/** A status that never goes away, the code it ends in, and how often it is asked for: three times at most. */
const statuses = [
  [400, 'INVALID_REQUEST', 1],
  [401, 'AUTHENTICATION_ERROR', 1],
  [402, 'QUOTA_EXCEEDED', 1],
  [403, 'PERMISSION_DENIED', 1],
  [404, 'MODEL_NOT_FOUND', 1],
  [408, 'TIMEOUT', 3],
  [409, 'SERVER_ERROR', 3],
  [413, 'REQUEST_TOO_LARGE', 1],
  [422, 'INVALID_REQUEST', 1],
  [429, 'RATE_LIMITED', 3],
  [500, 'SERVER_ERROR', 3],
  [502, 'SERVER_ERROR', 3],
  [503, 'SERVER_ERROR', 3],
  [504, 'TIMEOUT', 3],
  [529, 'OVERLOADED', 3],
] as const;

/** The server's own words for an error, which say more than the status. */
const words = [
  {
    name: 'an overloaded_error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
    status: 529,
    code: 'OVERLOADED',
  },
  {
    name: 'a spent quota',
    error: { code: 'insufficient_quota', message: 'You exceeded your current quota' },
    status: 429,
    code: 'QUOTA_EXCEEDED',
    // Google says it of every limit, those of a minute included.
    atGemini: 'RATE_LIMITED',
  },
  {
    name: 'a context that is too long',
    error: {
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 8192 tokens.",
    },
    status: 400,
    code: 'CONTEXT_LENGTH_EXCEEDED',
  },
] as const;

const chaos = [
  ['a dropped request, which is a 500', { dropRate: 1 }, 'SERVER_ERROR', 3],
  ['an answer that is not JSON', { malformedRate: 1 }, 'INVALID_RESPONSE', 3],
  ['a connection that is closed', { disconnectRate: 1 }, 'NETWORK_ERROR', 3],
] as const;

const framings = [
  ['streamed', {}],
  ['in one piece', { stream: false }],
] as const;

describe.each(providers)('%s', (provider) => {
  it.each(statuses)('%i ends as %s after %i requests', async (status, code, requests) => {
    mock.onMessage('Fail', { error: { message: 'No.', type: 'some_type' }, status, retryAfter: 0.01 });
    const { outcome, seen: sent } = await call(provider, ask('Fail'));
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code,
      retryable: requests > 1,
      provider: { statusCode: status },
    });
    expect(sent).toBe(requests);
    expect(outcome.report.ledger.requests).toBe(requests);
    expect(outcome.report.recoveries).toEqual([]);
    expect(JSON.stringify(outcome)).not.toContain(testKey);
  });

  it.each(statuses.filter(([, , requests]) => requests > 1))(
    '%i, once: the call is saved by its second request',
    async (status) => {
      const refusal = { error: { message: 'Not now.' }, status, retryAfter: 0.01 };
      mock.on({ userMessage: 'Hello', sequenceIndex: 0 }, refusal);
      mock.onMessage('Hello', { content: text });
      const { outcome, shown, seen: sent } = await call(provider, ask('Hello'));
      expect(outcome.type === 'success' && outcome.result.text).toBe(text);
      expect(shown).toBe(text);
      expect(sent).toBe(2);
      expect(outcome.report.ledger.requests).toBe(2);
      expect(outcome.report.recoveries).toMatchObject([{ recovery: 'retry', attempts: 1 }]);
    },
  );

  it.each(words)('$name is known by its words', async ({ error, status, ...row }) => {
    mock.onMessage('Fail', { error, status });
    const { outcome, seen: sent } = await call(provider, ask('Fail'), { policy: { retry: 'none' } });
    const code = provider === 'gemini' && 'atGemini' in row ? row.atGemini : row.code;
    expect(outcome.type === 'failure' && outcome.failure.code).toBe(code);
    expect(sent).toBe(1);
  });

  it('waits as long as Retry-After asks, never less', async () => {
    mock.onMessage('Wait', { error: { message: 'Slow down.' }, status: 429, retryAfter: 0.15 });
    const policy = { retry: { ...quickRetry, maxAttempts: 2 } };
    const { outcome, seen: sent } = await call(provider, ask('Wait'), { policy });
    expect(outcome.type === 'failure' && outcome.failure.retryAfterMs).toBe(150);
    expect(outcome.report.ledger.waitedMs).toBeGreaterThanOrEqual(150);
    expect(sent).toBe(2);
  });

  it('does not wait for an hour, and says when to come back', async () => {
    mock.onMessage('Wait', { error: { message: 'Slow down.' }, status: 429, retryAfter: 3600 });
    const { outcome, seen: sent } = await call(provider, ask('Wait'));
    expect(outcome.type === 'failure' && outcome.failure.retryAfterMs).toBe(3_600_000);
    expect(outcome.report.resumeAtMs).toBeGreaterThan(Date.now());
    expect(sent).toBe(1);
  });

  describe.each(framings)('%s', (_framing, options) => {
    it.each(chaos)('%s ends typed', async (_name, config, ...[code, requests]) => {
      mock.onMessage('Hello', { content: text }, { chaos: config });
      const { outcome, seen: sent } = await call(provider, ask('Hello'), options);
      expect(outcome.type === 'failure' && outcome.failure.code).toBe(code);
      expect(sent).toBe(requests);
      expect(outcome.report.ledger.requests).toBe(requests);
    });

    it('takes the second that a rate limit of chaos asks for', async () => {
      mock.setChaos({ rateLimitRate: 1 });
      const { outcome, seen: sent } = await call(provider, ask('Hello'), {
        ...options,
        policy: { retry: 'none' },
      });
      expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
        code: 'RATE_LIMITED',
        retryAfterMs: 1000,
      });
      expect(sent).toBe(1);
    });

    it('gives up a server that takes its time', async () => {
      mock.onMessage('Hello', { content: text }, { chaos: { latencyMs: 20_000 } });
      const policy = { retry: 'none', timeouts: { headersMs: 80 } } as const;
      const { outcome } = await call(provider, ask('Hello'), { ...options, policy });
      expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
        code: 'TIMEOUT',
        phase: 'headers',
      });
      expect(outcome.report.ledger.requests).toBe(1);
    });

    it('takes a slow answer for an answer', async () => {
      mock.onMessage('Hello', { content: text }, { chaos: { latencyMs: 50 } });
      const { outcome, seen: sent } = await call(provider, ask('Hello'), options);
      expect(outcome.type === 'success' && outcome.result.text).toBe(text);
      expect(sent).toBe(1);
    });
  });

  it.each([1, 2, 4, 6])('a stream that breaks after %i chunks is never an answer', async (chunks) => {
    mock.onMessage('Hello', { content: text }, { latency: 5, truncateAfterChunks: chunks });
    const { outcome, seen: sent } = await call(provider, ask('Hello'));
    const failure = outcome.type === 'failure' ? outcome.failure : undefined;
    expect(failure?.code).toBeOneOf(['STREAM_INTERRUPTED', 'NETWORK_ERROR']);
    expect(outcome.type === 'failure' && text.startsWith(outcome.partial.text)).toBe(true);
    expect(sent).toBe(outcome.report.ledger.requests);
  });

  it.each([2, 4, 6])('a stream that breaks once after %i chunks is mended without a seam', async (chunks) => {
    const breaks = { latency: 5, truncateAfterChunks: chunks };
    mock.on({ userMessage: 'Hello', sequenceIndex: 0 }, { content: text }, breaks);
    mock.onMessage('Hello', { content: text });
    const { outcome, shown, seen: sent } = await call(provider, ask('Hello'));
    expect(outcome.type === 'success' && outcome.result.text).toBe(text);
    expect(shown).toBe(text);
    expect(sent).toBe(outcome.report.ledger.requests);
    expect(outcome.report.recoveries.length).toBe(sent - 1);
  });

  it('a tool call that breaks off in the middle is no call', async () => {
    const toolCalls = [{ name: 'get_weather', arguments: JSON.stringify({ city: 'x'.repeat(200) }) }];
    mock.onMessage('Go', { toolCalls }, { latency: 5, truncateAfterChunks: 8 });
    const { outcome } = await call(provider, ask('Go'), { policy: { retry: 'none' } });
    // Gemini sends calls whole, so there the one chunk is all there is.
    const isWhole = provider === 'gemini';
    expect(outcome.type).toBe(isWhole ? 'success' : 'failure');
    expect(outcome.type === 'failure' ? outcome.partial.toolCalls : []).toEqual([]);
  });

  it('random chaos: whatever comes is typed, and every request is counted', async () => {
    mock.onMessage('Hello', { content: text });
    mock.setChaos({ dropRate: 0.3, malformedRate: 0.2, disconnectRate: 0.3 });
    for (let round = 0; round < 12; round += 1) {
      const { outcome, shown, seen: sent } = await call(provider, ask('Hello'));
      const verdict = outcome.type === 'success' ? outcome.result.text : outcome.failure.code;
      expect([text, ...Object.keys(failureTraits)]).toContain(verdict);
      expect(shown).toBe(outcome.type === 'success' ? text : '');
      expect(outcome.report.ledger.requests).toBe(sent);
    }
  });
});

describe('a server that looks at keys', () => {
  const guarded = useAimock({ keys: [testKey] });

  it.each(providers)('%s: refuses a wrong one, once, and takes the right one', async (provider) => {
    guarded.mock.onMessage('Hello', { content: text });
    const refused = await guarded.call(provider, ask('Hello'), { apiKey: 'wrong-key-9876543210' });
    expect(refused.outcome.type === 'failure' && refused.outcome.failure.code).toBe('AUTHENTICATION_ERROR');
    expect(refused.outcome.report.ledger.requests).toBe(1);
    expect(JSON.stringify(refused.outcome)).not.toContain('wrong-key-9876543210');
    const { outcome } = await guarded.call(provider, ask('Hello'));
    expect(outcome.type === 'success' && outcome.result.text).toBe(text);
  });
});

describe('embeddings', () => {
  const makers = [
    ['openai', () => openaiEmbedding('text-embedding-3-small', at('openai-chat'))],
    ['ollama', () => ollamaEmbedding('nomic-embed-text', at('ollama'))],
  ] as const;

  function at(provider: 'openai-chat' | 'ollama' | 'gemini'): {
    readonly baseURL: string;
    readonly apiKey: string;
  } {
    return { baseURL: baseURL(provider), apiKey: testKey };
  }

  it.each(makers)('%s: a vector for each text, in one request', async (_name, make) => {
    mock.onEmbedding(/.*/, { embedding: [0.5, -0.25, 1] });
    const response = await make().embed(['one', 'two']);
    expect(response.type === 'success' && response.result.vectors.map((vector) => [...vector])).toEqual([
      [0.5, -0.25, 1],
      [0.5, -0.25, 1],
    ]);
    expect(seen()).toBe(1);
  });

  it.each(makers)('%s: a refusal is typed, and sent once', async (_name, make) => {
    mock.onEmbedding(/.*/, { error: { message: 'No.' }, status: 429, retryAfter: 2 });
    const response = await make().embed(['one']);
    expect(response.type === 'failure' && response.failure).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 2000,
    });
    expect(seen()).toBe(1);
  });

  it('gemini: aimock has no batchEmbedContents, and its 404 is typed', async () => {
    const response = await geminiEmbedding('gemini-embedding-001', at('gemini')).embed(['one']);
    expect(response.type === 'failure' && response.failure.provider?.statusCode).toBe(404);
  });
});
