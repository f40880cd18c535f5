import { onAbort } from '../base/abort.ts';
import { hashText } from '../base/hash.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { checkEmbedding } from '../model/check/check-vectors.ts';
import type { EmbedAllResponse } from '../model/embed-all.ts';
import type { EmbeddingResponse, EmbeddingResult } from '../model/embedding.ts';

/**
 * Embeds texts: `(texts, options) => callEmbedding(model, texts, options)`. Must not reject, must end by itself within its time,
 * and at once when the signal aborts.
 */
export type EmbedTexts = (
  texts: readonly string[],
  options: { readonly signal: AbortSignal },
) => Promise<EmbeddingResponse | EmbedAllResponse>;

/** Remembers vectors by the hash of their text, the latest used ones. For one embedding model: two models' do not compare. */
export interface VectorCache {
  readonly get: (text: string) => Float32Array | undefined;
  readonly set: (text: string, vector: Float32Array) => void;
  readonly clear: () => void;
}

const defaultMaxVectors = 1000;

/** A memory for vectors that never holds more than `maxVectors`. */
export function createVectorCache(maxVectors: number = defaultMaxVectors): VectorCache {
  const vectors = new Map<string, Float32Array>();
  const put = (key: string, vector: Float32Array): void => {
    vectors.delete(key);
    vectors.set(key, vector);
    for (const oldest of vectors.keys()) {
      if (vectors.size <= maxVectors) break;
      vectors.delete(oldest);
    }
  };
  return {
    get: (text) => {
      const key = hashText(text);
      const vector = vectors.get(key);
      if (vector !== undefined) put(key, vector);
      return vector;
    },
    set: (text, vector) => put(hashText(text), vector),
    clear: () => vectors.clear(),
  };
}

/** Scores from -1 to 1; nothing for a text without a vector. */
export type Scored =
  | { readonly type: 'scored'; readonly scores: readonly (number | undefined)[] }
  | { readonly type: 'failed'; readonly failure: Failure };

export interface EmbeddingScoring {
  /** Not blank. */
  readonly query: string;
  readonly embed: EmbedTexts;
  readonly vectors: VectorCache;
  readonly maxEmbedded: number;
  readonly signal: AbortSignal;
}

/**
 * How near each text is to the query, with at most one call of `embed`. Where more texts are new than one call may carry, the
 * later ones go first. Rejects only with the signal's reason.
 */
export async function scoreByEmbeddings(
  texts: readonly string[],
  { query, embed, vectors, maxEmbedded, signal }: EmbeddingScoring,
): Promise<Scored> {
  const known = new Map<string, Float32Array>();
  const unknown = new Set<string>();
  for (const text of [query, ...texts.toReversed()]) {
    if (text === '' || known.has(text) || unknown.has(text)) continue;
    const vector = vectors.get(text);
    if (vector !== undefined) known.set(text, vector);
    else if (unknown.size < maxEmbedded) unknown.add(text);
  }
  const asked = [...unknown];
  if (asked.length > 0) {
    const response = await ask(asked, { embed, signal });
    const result = response.type === 'success' ? response.result : doneOf(response);
    // Also what came before a failure has been paid for.
    for (const [index, vector] of (result?.vectors ?? []).entries()) {
      const text = asked[index] ?? '';
      known.set(text, vector);
      vectors.set(text, vector);
    }
    if (response.type === 'failure') return { type: 'failed', failure: response.failure };
  }
  const found = compare(texts, query, known);
  // They are of another model then, and would be in the way of every later run too.
  if (found.type === 'failed') vectors.clear();
  return found;
}

interface Asking {
  readonly embed: EmbedTexts;
  readonly signal: AbortSignal;
}

const asker = { provider: 'the embedding model', name: 'for the selection of history' };

async function ask(
  texts: readonly string[],
  { embed, signal }: Asking,
): Promise<EmbeddingResponse | EmbedAllResponse> {
  const response = await untilAborted(embed(texts, { signal }), signal);
  return checkEmbedding(response, { model: asker, count: texts.length });
}

/** A wait that ends with the signal, whatever it waits for. */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(stopListening);
  });
}

function doneOf(response: EmbeddingResponse | EmbedAllResponse): EmbeddingResult | undefined {
  return 'done' in response ? response.done : undefined;
}

function compare(
  texts: readonly string[],
  query: string,
  vectors: ReadonlyMap<string, Float32Array>,
): Scored {
  const wanted = vectors.get(query) ?? new Float32Array();
  const lengths = new Set([...vectors.values()].map(({ length }) => length));
  if (lengths.size > 1) return { type: 'failed', failure: unevenFailure([...lengths]) };
  const scores = texts.map((text) => {
    const vector = vectors.get(text);
    return vector === undefined ? undefined : cosine(wanted, vector);
  });
  return { type: 'scored', scores };
}

function unevenFailure(lengths: readonly number[]): Failure {
  return createFailure('INVALID_RESPONSE', {
    origin: 'embedding',
    phase: 'parse',
    retryable: true,
    message: `Cannot compare vectors of ${lengths.join(' and ')} numbers: the embedding model has changed since the older ones were made. They are forgotten`,
    hint: 'The next run embeds them again. If the failure returns, two models share one memory of vectors: give each its own.',
  });
}

/** A plain loop: a thousand vectors may have four thousand numbers each. */
function cosine(one: Float32Array, other: Float32Array): number {
  let product = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (let index = 0; index < one.length; index += 1) {
    const [left, right] = [one[index] ?? 0, other[index] ?? 0];
    product += left * right;
    oneSquared += left * left;
    otherSquared += right * right;
  }
  const length = Math.sqrt(oneSquared) * Math.sqrt(otherSquared);
  return length > 0 ? product / length : 0;
}
