import { isRecord } from '../../base/json.ts';
import { failureTraits } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { EmbeddingModel, EmbeddingResponse } from '../embedding.ts';

type Asked = Pick<EmbeddingModel, 'provider' | 'name'>;

/**
 * The response if it keeps the contract, else an `INVALID_RESPONSE`: anybody may write an embedding model, and a vector that is
 * missing, short or NaN would be found much later, in a search that finds nothing.
 */
export function checkEmbedding(
  response: EmbeddingResponse,
  { model, count }: { readonly model: Asked; readonly count: number },
): EmbeddingResponse {
  const problem = findProblem(response, count);
  return problem === undefined ? response : { type: 'failure', failure: invalidFailure(model, problem) };
}

function findProblem(response: unknown, count: number): string | undefined {
  if (!isRecord(response)) return 'answered with something that is no response';
  if (response['type'] === 'failure') {
    const { failure } = response;
    const isFailure =
      isRecord(failure) &&
      typeof failure['code'] === 'string' &&
      Object.hasOwn(failureTraits, failure['code']);
    return isFailure ? undefined : 'answered with a failure that does not say which';
  }
  const { type, result } = response;
  if (type !== 'success' || !isRecord(result)) return 'answered with neither a result nor a failure';
  const { vectors, usage, costUsd } = result;
  if (!Array.isArray(vectors)) return 'answered without a list of vectors';
  if (vectors.length !== count) return `gave ${vectors.length} vectors for ${count} texts`;
  if (!isRecord(usage) || !isAmount(usage['inputTokens']) || !isAmount(costUsd)) {
    return 'did not say what it used in finite numbers: leave out what is unknown';
  }
  return findVectorProblem(vectors);
}

function findVectorProblem(vectors: readonly unknown[]): string | undefined {
  let expected: number | undefined;
  for (const [index, vector] of vectors.entries()) {
    if (!isVector(vector)) return `gave something else than a Float32Array at place ${index}`;
    expected ??= vector.length;
    if (vector.length === 0) return `gave a vector without numbers at place ${index}`;
    if (vector.length !== expected) {
      return `gave vectors of ${expected} and of ${vector.length} numbers, which cannot be compared`;
    }
    if (!isFinite(vector)) return `gave a vector with a number that is not finite at place ${index}`;
  }
  return undefined;
}

/** By its tag: test runners give every file its own globals, for which `instanceof` fails. */
function isVector(value: unknown): value is Float32Array {
  return Object.prototype.toString.call(value) === '[object Float32Array]';
}

/** A plain loop: a batch may hold millions of numbers. */
function isFinite(vector: Float32Array): boolean {
  for (let index = 0; index < vector.length; index += 1) if (!Number.isFinite(vector[index])) return false;
  return true;
}

function isAmount(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0);
}

function invalidFailure({ provider, name }: Asked, problem: string): Failure {
  return createFailure('INVALID_RESPONSE', {
    origin: 'embedding',
    message: `${provider} (${name}) ${problem}`,
    phase: 'parse',
    sideEffect: 'possible',
    provider: { provider, model: name },
  });
}
