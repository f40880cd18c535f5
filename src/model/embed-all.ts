import { defined } from '../base/defined.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { checkEmbedding } from './check/check-vectors.ts';
import type { EmbeddingModel, EmbeddingResponse, EmbeddingResult, EmbedOptions } from './embedding.ts';
import { checkOptions } from './check/check-options.ts';

/** What became of many texts. After a failure, `done` holds the vectors of the first texts, and the rest was not sent. */
export type EmbedAllResponse =
  | { readonly type: 'success'; readonly result: EmbeddingResult }
  | { readonly type: 'failure'; readonly failure: Failure; readonly done: EmbeddingResult };

/**
 * Embeds any number of texts, as many at a time as the model takes, one request after the other. Stops at the first failure
 * and retries nothing: the code that retries continues the texts that are not done, `texts.slice(done.vectors.length)`.
 */
export function embedAll(
  model: EmbeddingModel,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<EmbedAllResponse> {
  checkOptions({ of: 'embedAll()', rules: ['signal', 'timeouts', 'clock'] }, options);
  const embed = async (batch: readonly string[]): Promise<EmbeddingResponse> =>
    checkEmbedding(await model.embed(batch, options), { model, count: batch.length });
  return embedBatches(model, texts, embed);
}

/** The same by a way to embed of one's own, whose answers have been looked at already. */
export async function embedBatches(
  model: EmbeddingModel,
  texts: readonly string[],
  embed: (batch: readonly string[]) => Promise<EmbeddingResponse>,
): Promise<EmbedAllResponse> {
  const { maxBatch } = model;
  const batches: EmbeddingResult[] = [];
  // Otherwise the loop would not move on, or would cut a batch between two texts.
  if (!(Number.isSafeInteger(maxBatch) && maxBatch >= 1)) {
    return { type: 'failure', failure: noBatchFailure(model), done: join(batches) };
  }
  for (let start = 0; start < texts.length; start += maxBatch) {
    const response = await embed(texts.slice(start, start + maxBatch));
    if (response.type === 'failure') return { ...response, done: join(batches) };
    const expected = batches[0]?.vectors[0]?.length;
    const got = response.result.vectors[0]?.length;
    if (expected !== undefined && expected !== got) {
      return { type: 'failure', failure: unevenFailure(model, [expected, got]), done: join(batches) };
    }
    batches.push(response.result);
  }
  return { type: 'success', result: join(batches) };
}

/** All batches as one result. */
function join(batches: readonly EmbeddingResult[]): EmbeddingResult {
  const [first = { vectors: [], usage: {} }, ...others] = batches;
  if (others.length === 0) return first;
  return defined({
    vectors: batches.flatMap(({ vectors }) => vectors),
    usage: defined({ inputTokens: sum(batches.map(({ usage }) => usage.inputTokens)) }),
    costUsd: sum(batches.map(({ costUsd }) => costUsd)),
    servedBy: batches.findLast(({ servedBy }) => servedBy !== undefined)?.servedBy,
  });
}

/** A sum is known only where every part of it is. */
function sum(parts: readonly (number | undefined)[]): number | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? undefined : known.reduce((total, part) => total + part, 0);
}

function noBatchFailure({ provider, name, maxBatch }: EmbeddingModel): Failure {
  return createFailure('CONFIG_ERROR', {
    origin: 'config',
    message: `${provider} (${name}) says that it takes ${String(maxBatch)} texts at a time, so none can be sent`,
    hint: 'Give the embedding model a maxBatch that is a whole number from 1.',
  });
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
