import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { checkCallOptions } from './check-options.ts';

/** Throws a `ConfigError` for what can never work: a caller without types may hand in anything. */
export function checkEmbeddingCall(model: unknown, texts: unknown, options: unknown): void {
  const problem = findModelProblem(model) ?? findTextProblem(texts);
  if (problem !== undefined) throw configError(`Cannot embed: ${problem}.`);
  checkCallOptions(options);
}

function findModelProblem(model: unknown): string | undefined {
  if (!isRecord(model) || typeof model['embed'] !== 'function') {
    return 'the given value is no embedding model. Make one with a provider, such as openaiEmbedding()';
  }
  const unnamed = ['provider', 'name', 'quotaKey'].find((field) => typeof model[field] !== 'string');
  if (unnamed !== undefined) return `the embedding model must say its ${unnamed} as a text`;
  const { maxBatch } = model;
  if (typeof maxBatch === 'number' && Number.isSafeInteger(maxBatch) && maxBatch >= 1) return undefined;
  return `the embedding model must say as its maxBatch how many texts it takes at a time, a whole number from 1, got ${String(maxBatch)}`;
}

function findTextProblem(texts: unknown): string | undefined {
  if (!Array.isArray(texts)) return 'the texts must be a list. Put a single text into one: [text]';
  const wrong = texts.findIndex((text) => typeof text !== 'string');
  return wrong === -1 ? undefined : `the texts must be texts, but the one at place ${wrong} is not`;
}
