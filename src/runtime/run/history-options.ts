import { isRecord } from '../../base/json.ts';
import { createVectorCache } from '../../context/select-history-embeddings.ts';
import type { VectorCache } from '../../context/select-history-embeddings.ts';
import { resolveSelection } from '../../context/select-history-rules.ts';
import type { SelectionRules } from '../../context/select-history-rules.ts';
import { configError } from '../../errors/config-error.ts';
import type { EmbeddingModel } from '../../model/embedding.ts';

/** What of a session a run is shown, and what chooses it. */
export interface HistoryOptions extends Partial<SelectionRules> {
  /** For the strategy `embeddings`. */
  readonly embeddings?: EmbeddingModel;
}

/** The same, checked. */
export interface HistoryRules {
  readonly rules: SelectionRules;
  readonly embeddings: EmbeddingModel | undefined;
  /** Kept for the life of the agent, so that a session is not embedded again for every run. */
  readonly vectors: VectorCache;
}

/** Fills in the rest. Throws a `ConfigError` for what makes no sense. */
export function resolveHistory(options: HistoryOptions = {}): HistoryRules {
  if (!isRecord(options)) throw configError(`"history" must be an object, such as { strategy: 'lexical' }`);
  const { embeddings, ...given }: HistoryOptions = options;
  if (embeddings !== undefined && !isEmbeddingModel(embeddings))
    throw configError('"history.embeddings" must be an embedding model, such as openaiEmbedding(…)');
  const rules = resolveSelection(given);
  if (rules.strategy === 'embeddings' && embeddings === undefined)
    throw configError('The strategy "embeddings" of "history" needs "embeddings": a model that makes them');
  return { rules, embeddings, vectors: createVectorCache() };
}

function isEmbeddingModel(model: unknown): boolean {
  return isRecord(model) && typeof model['embed'] === 'function';
}
