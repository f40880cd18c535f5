import { describe, expect, it } from 'vitest';
import { createFailure } from '../errors/failure.ts';
import { embedAll } from './embed-all.ts';
import type { EmbeddingModel, EmbeddingResponse } from './embedding.ts';

const busy = createFailure('RATE_LIMITED', { origin: 'embedding', message: 'busy' });

/** Turns a text into its length; `answers` may put something else in the place of a call. */
function modelOf(
  maxBatch: number,
  answers: Readonly<Record<number, EmbeddingResponse>> = {},
): EmbeddingModel & { readonly batches: readonly (readonly string[])[] } {
  const batches: (readonly string[])[] = [];
  return {
    provider: 'test',
    name: 'lengths',
    quotaKey: 'test',
    maxBatch,
    batches,
    embed: (texts) => {
      batches.push(texts);
      const vectors = texts.map((text) => Float32Array.of(text.length));
      const result = { vectors, usage: { inputTokens: texts.length }, costUsd: 0.5 };
      return Promise.resolve(answers[batches.length - 1] ?? { type: 'success', result });
    },
  };
}

describe('embedAll()', () => {
  it('stops at the first failure and gives what is done', async () => {
    const model = modelOf(2, { 1: { type: 'failure', failure: busy } });
    const response = await embedAll(model, ['a', 'bb', 'ccc', 'dddd', 'eeeee']);
    expect(response).toEqual({
      type: 'failure',
      failure: busy,
      done: { vectors: [Float32Array.of(1), Float32Array.of(2)], usage: { inputTokens: 2 }, costUsd: 0.5 },
    });
    expect(model.batches).toHaveLength(2);
  });

  it('refuses batches whose vectors differ in length', async () => {
    const uneven = { vectors: [Float32Array.of(1, 2)], usage: {} };
    const response = await embedAll(modelOf(1, { 1: { type: 'success', result: uneven } }), ['a', 'b']);
    expect(response).toMatchObject({
      type: 'failure',
      failure: { code: 'INVALID_RESPONSE', origin: 'embedding', retryable: false },
      done: { vectors: [Float32Array.of(1)] },
    });
  });

  it.each([0, -1, Number.NaN])('refuses a model that takes %d texts at a time', async (maxBatch) => {
    const model = modelOf(maxBatch);
    expect(await embedAll(model, ['a'])).toMatchObject({
      type: 'failure',
      failure: { code: 'CONFIG_ERROR' },
    });
    expect(model.batches).toEqual([]);
  });

  it('keeps the order over batches and adds up what it used', async () => {
    const model = modelOf(2);
    const response = await embedAll(model, ['a', 'bb', 'ccc', 'dddd', 'eeeee']);
    expect(model.batches).toEqual([['a', 'bb'], ['ccc', 'dddd'], ['eeeee']]);
    expect(response).toEqual({
      type: 'success',
      result: {
        vectors: [1, 2, 3, 4, 5].map((length) => Float32Array.of(length)),
        usage: { inputTokens: 5 },
        costUsd: 1.5,
      },
    });
  });

  it('does not know a sum of which one part is unknown', async () => {
    const silent = { vectors: [Float32Array.of(9)], usage: {} };
    const response = await embedAll(modelOf(1, { 1: { type: 'success', result: silent } }), ['a', 'b', 'c']);
    expect(response.type === 'success' && response.result.usage).toEqual({});
    expect(response.type === 'success' && response.result.costUsd).toBeUndefined();
  });

  it('sends nothing for no texts', async () => {
    const model = modelOf(2);
    expect(await embedAll(model, [])).toEqual({ type: 'success', result: { vectors: [], usage: {} } });
    expect(model.batches).toEqual([]);
  });
});
