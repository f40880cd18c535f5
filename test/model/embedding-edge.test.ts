import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import type { EmbeddingModel, EmbeddingResponse } from '../../src/model/embedding.ts';
import { callEmbedding } from '../../src/runtime/model-call/call-embedding.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';

const vectorsFor = (texts: readonly string[]): EmbeddingResponse => ({
  type: 'success',
  result: { vectors: texts.map(() => new Float32Array([1, 2])), usage: { inputTokens: 1 } },
});
const failing = (code: FailureCode): EmbeddingResponse => ({
  type: 'failure',
  failure: createFailure(code, { origin: 'embedding', message: code }),
});

interface Counted extends EmbeddingModel {
  readonly sizes: readonly number[];
}

function embedder(
  answer: (texts: readonly string[], call: number) => EmbeddingResponse | Promise<EmbeddingResponse>,
  maxBatch = 1,
): Counted {
  const sizes: number[] = [];
  return {
    provider: 'bare',
    name: 'bare-embed',
    quotaKey: 'bare/embed',
    maxBatch,
    sizes,
    embed: async (texts) => {
      sizes.push(texts.length);
      if (sizes.length > 50) throw new Error('asked without end');
      return answer(texts, sizes.length - 1);
    },
  };
}

const texts = ['a', 'b', 'c', 'd', 'e'];

describe('callEmbedding() and models that break their contract', () => {
  it('turns a model that throws into a failure', async () => {
    const model: EmbeddingModel = {
      ...embedder(vectorsFor),
      embed: () => Promise.reject(new Error('socket hang up')),
    };
    const outcome = await callEmbedding(model, ['a'], { gates: createGates(), policy: { retry: 'none' } });
    expect(outcome.type).toBe('failure');
  });

  it('does not wait for ever for a model that never ends', async () => {
    const clock = simulatedClock();
    const model: EmbeddingModel = { ...embedder(vectorsFor), embed: () => new Promise(() => undefined) };
    const call = callEmbedding(model, ['a'], {
      clock,
      gates: createGates({ clock }),
      policy: { retry: 'none', timeouts: { totalMs: 1000 } },
    });
    const ended = await clock.runUntil(call.then(({ type }) => type)).catch(() => 'hangs');
    expect(ended).toBe('failure');
  });

  it.each(['waits', 'throws at once'])('ends as CANCELLED with a model that is deaf and %s', async (how) => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const model: EmbeddingModel = {
      ...embedder(vectorsFor),
      embed: () => {
        controller.abort();
        if (how === 'waits') return new Promise(() => undefined);
        throw controller.signal.reason;
      },
    };
    const gates = createGates({ clock });
    const call = callEmbedding(model, ['a'], { clock, gates, signal: controller.signal });
    expect(await clock.runUntil(call)).toMatchObject({
      type: 'failure',
      failure: { code: 'CANCELLED', origin: 'embedding' },
    });
    expect(clock.pending()).toBe(0);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a type that nobody knows', { type: 'done' }],
    ['a success without a result', { type: 'success' }],
    ['a result without vectors', { type: 'success', result: { usage: {} } }],
    ['a result without usage', { type: 'success', result: { vectors: [Float32Array.of(1)] } }],
    ['lists of numbers', { type: 'success', result: { vectors: [[1, 2]], usage: {} } }],
    ['an empty vector', { type: 'success', result: { vectors: [new Float32Array(0)], usage: {} } }],
    [
      'tokens that are NaN',
      { type: 'success', result: { vectors: [Float32Array.of(1)], usage: { inputTokens: NaN } } },
    ],
    ['a failure without one', { type: 'failure' }],
    ['a failure with a code that nobody knows', { type: 'failure', failure: { code: 'BOGUS' } }],
  ])('calls %s INVALID_RESPONSE', async (_name, answer) => {
    const model = embedder(() => answer as EmbeddingResponse);
    const outcome = await callEmbedding(model, ['a'], { gates: createGates(), policy: { retry: 'none' } });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'INVALID_RESPONSE' } });
    expect(outcome.ledger).toMatchObject({ requests: 1, inputTokens: 0 });
  });

  it('does not take fewer vectors than texts for a success', async () => {
    const model = embedder(() => vectorsFor(['only one']), 5);
    const outcome = await callEmbedding(model, texts, { gates: createGates(), policy: { retry: 'none' } });
    expect(outcome.type).toBe('failure');
  });

  it.each([
    ['vectors of two lengths', [new Float32Array([1, 2]), new Float32Array([1])]],
    ['a number that is none', [new Float32Array([1, Number.NaN]), new Float32Array([1, 2])]],
  ])('does not take %s for a success', async (_name, vectors) => {
    const model = embedder(() => ({ type: 'success', result: { vectors, usage: {} } }), 5);
    const outcome = await callEmbedding(model, ['a', 'b'], {
      gates: createGates(),
      policy: { retry: 'none' },
    });
    expect(outcome.type).toBe('failure');
  });
});

describe('callEmbedding() and its bounds', () => {
  it.each([0, -1, 1.5, Number.NaN, Infinity])(
    'refuses a model whose batches hold %s texts',
    async (maxBatch) => {
      const model = embedder(vectorsFor, maxBatch);
      const call = callEmbedding(model, texts, { gates: createGates() });
      const ended: unknown = await call.catch((error: unknown) => error);
      expect(ended).toMatchObject({ failure: { code: 'CONFIG_ERROR' } });
      expect(model.sizes).toEqual([]);
    },
  );

  it('holds the bound of requests over all batches', async () => {
    const model = embedder(vectorsFor);
    const outcome = await callEmbedding(model, texts, {
      gates: createGates(),
      policy: { limits: { maxRequests: 2 } },
    });
    expect(model.sizes).toHaveLength(2);
    expect(outcome).toMatchObject({ type: 'failure', done: { vectors: [{}, {}] } });
  });

  it('counts retries of earlier batches against the bound of requests', async () => {
    const model = embedder((batch, call) => (call % 2 === 0 ? failing('SERVER_ERROR') : vectorsFor(batch)));
    const clock = simulatedClock();
    const outcome = await clock.runUntil(
      callEmbedding(model, texts, {
        clock,
        gates: createGates({ clock }),
        policy: { limits: { maxRequests: 3 } },
      }),
    );
    expect(model.sizes).toHaveLength(3);
    expect(outcome).toMatchObject({ failure: { code: 'SERVER_ERROR' }, done: { vectors: [{}] } });
  });

  it.each([
    ['maxTokens', { maxTokens: 3 }],
    ['maxRequests', { maxRequests: 3 }],
  ])('says which bound was reached: %s', async (limit, limits) => {
    const outcome = await callEmbedding(embedder(vectorsFor), texts, {
      gates: createGates(),
      policy: { limits },
    });
    expect(outcome).toMatchObject({
      failure: { code: 'BUDGET_EXCEEDED', origin: 'embedding', context: { limit } },
      done: { vectors: [{}, {}, {}] },
      ledger: { requests: 3 },
    });
  });

  it('sends no further batch when the deadline has passed', async () => {
    const clock = simulatedClock();
    const startedMs: number[] = [];
    const model = embedder(async (batch) => {
      startedMs.push(clock.monotonicMs());
      await new Promise<void>((resolve) => clock.after(600, resolve));
      return vectorsFor(batch);
    });
    await clock.runUntil(
      callEmbedding(model, texts, {
        clock,
        gates: createGates({ clock }),
        policy: { retry: { deadlineMs: 1000 } },
      }),
    );
    expect(startedMs.filter((atMs) => atMs >= 1000)).toEqual([]);
  });
});

describe('callEmbedding() and its listener', () => {
  it('keeps no place at the gate when the listener throws while the breaker is awaited', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { budgetTokens: 0 } });
    const model = embedder((batch, call) => (call === 0 ? failing('SERVER_ERROR') : vectorsFor(batch)));
    const call = callEmbedding(model, ['a'], {
      clock,
      gates,
      policy: { retry: 'patient' },
      onEvent: (event) => {
        if (event.type === 'breaker-awaited') throw new Error('the screen is gone');
      },
    });
    await expect(clock.runUntil(call)).rejects.toThrow('the screen is gone');
    await clock.runAll();
    expect(Object.values(gates.states())[0]).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('throws what an async listener rejected with, and leaves no rejection unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const call = callEmbedding(embedder(vectorsFor), ['a'], {
        gates: createGates(),
        onEvent: () => Promise.reject(new Error('full')),
      });
      const thrown: unknown = await call.catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(unhandled).toEqual([]);
      expect(thrown).toMatchObject({ message: 'full' });
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});
