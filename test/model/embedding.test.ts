import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer } from '../../src/chaos/index.ts';
import { EmbeddingError, RerailError } from '../../src/errors/index.ts';
import { callEmbedding, createGates } from '../../src/model/index.ts';
import type { EmbeddingModel } from '../../src/model/index.ts';
import { geminiEmbedding } from '../../src/providers/gemini/index.ts';
import { ollamaEmbedding } from '../../src/providers/ollama/index.ts';
import { openaiEmbedding } from '../../src/providers/openai/index.ts';

let server: ChaosServer;
// For each test its own, so that none goes out on a connection that was kept from another.
beforeEach(async () => {
  server = await startChaosServer();
});
afterEach(() => server.close());

const apiKey = 'test-key-0123456789';
const providers: Readonly<Record<string, () => EmbeddingModel>> = {
  openai: () => openaiEmbedding('text-embedding-3-small', { baseURL: server.baseURL('openai-chat'), apiKey }),
  gemini: () => geminiEmbedding('gemini-embedding-001', { baseURL: server.baseURL('gemini'), apiKey }),
  ollama: () => ollamaEmbedding('nomic-embed-text', { baseURL: server.baseURL('ollama') }),
};
const retry = { baseDelayMs: 1, maxDelayMs: 5, minDelayMs: 1 } as const;

describe.each(Object.entries(providers))('callEmbedding() at %s', (_name, createModel) => {
  it('ends in an EmbeddingError where the key is wrong, after one request', async () => {
    server.setFaults({ script: ['auth'], repeat: true });
    const outcome = await callEmbedding(createModel(), ['a'], { gates: createGates(), policy: { retry } });
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code: 'AUTHENTICATION_ERROR',
      origin: 'embedding',
    });
    expect(outcome.type === 'failure' && RerailError.from(outcome.failure)).toBeInstanceOf(EmbeddingError);
    expect(server.counters().requests).toBe(1);
  });

  it('asks again where that helps, and no request is lost or sent twice', async () => {
    server.setFaults({ script: ['overloaded', 'reset-before-headers', null] });
    const outcome = await callEmbedding(createModel(), ['a', 'b'], {
      gates: createGates(),
      policy: { retry },
    });
    expect(outcome.type === 'success' && outcome.result.vectors).toHaveLength(2);
    expect(outcome.ledger.requests).toBe(3);
    expect(server.counters().requests).toBe(3);
  });

  it('counts the request that goes out again where a kept connection is lost', async () => {
    server.setFaults({ script: [null, 'reset-before-headers', null] });
    const model = { ...createModel(), maxBatch: 1 };
    const outcome = await callEmbedding(model, ['a', 'b'], {
      gates: createGates(),
      policy: { retry: { maxAttempts: 1 } },
    });
    expect(outcome.type === 'success' && outcome.result.vectors).toHaveLength(2);
    expect(outcome.ledger).toMatchObject({ requests: 3 });
    expect(server.counters().requests).toBe(3);
  });

  it('keeps the vectors that were done when a later batch fails', async () => {
    server.setFaults({ script: [null, 'quota'] });
    const model = { ...createModel(), maxBatch: 2 };
    const outcome = await callEmbedding(model, ['a', 'b', 'c'], { gates: createGates(), policy: { retry } });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'QUOTA_EXCEEDED' } });
    expect(outcome.type === 'failure' && outcome.done.vectors).toHaveLength(2);
  });

  it('cancels', async () => {
    const signal = AbortSignal.abort();
    const outcome = await callEmbedding(createModel(), ['a'], { gates: createGates(), signal });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('CANCELLED');
    expect(server.counters().requests).toBe(0);
  });
});
