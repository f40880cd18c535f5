import { defined } from '../base/defined.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { EmbeddingModel, EmbeddingResult, EmbedOptions } from './embedding.ts';

/** What became of many texts. After a failure, `done` holds the vectors of the first texts, and the rest was not sent. */
export type EmbedAllResponse =
  | { readonly type: 'success'; readonly result: EmbeddingResult }
  | { readonly type: 'failure'; readonly failure: Failure; readonly done: EmbeddingResult };

/**
 * Embeds any number of texts, as many at a time as the model takes, one request after the other. Stops at the first failure
 * and retries nothing: whoever retries goes on with the texts that are not done, `texts.slice(done.vectors.length)`.
 */
export async function embedAll(
  model: EmbeddingModel,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<EmbedAllResponse> {
  let done: EmbeddingResult = { vectors: [], usage: {} };
  for (let start = 0; start < texts.length; start += model.maxBatch) {
    const response = await model.embed(texts.slice(start, start + model.maxBatch), options);
    if (response.type === 'failure') return { ...response, done };
    const expected = done.vectors[0]?.length;
    const got = response.result.vectors[0]?.length;
    if (expected !== undefined && expected !== got) {
      return { type: 'failure', failure: unevenFailure(model, [expected, got]), done };
    }
    done = start === 0 ? response.result : join(done, response.result);
  }
  return { type: 'success', result: done };
}

/** A sum is known only where every part of it is. */
function join(one: EmbeddingResult, other: EmbeddingResult): EmbeddingResult {
  return defined({
    vectors: [...one.vectors, ...other.vectors],
    usage: defined({ inputTokens: sum(one.usage.inputTokens, other.usage.inputTokens) }),
    costUsd: sum(one.costUsd, other.costUsd),
    servedBy: other.servedBy ?? one.servedBy,
  });
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

function unevenFailure(
  { provider, name }: EmbeddingModel,
  [expected, got]: readonly [number, number | undefined],
): Failure {
  return createFailure('INVALID_RESPONSE', {
    origin: 'embedding',
    message: `${provider} (${name}) gave vectors of ${expected} numbers first and of ${got ?? 0} then, which cannot be compared`,
    phase: 'parse',
    retryable: false,
    provider: { provider, model: name },
  });
}
