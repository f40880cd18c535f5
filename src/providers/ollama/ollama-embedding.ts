import type { EmbeddingModel } from '../../model/embedding.ts';
import { createEmbeddingModel } from '../embedding-model.ts';
import type { EmbeddingOptions } from '../embedding-options.ts';
import { openaiEmbeddings } from '../embedding-protocols.ts';
import { ollamaAddress } from './ollama-address.ts';

/** Ollama works through a batch text by text; a large one only takes long and fails whole. */
const maxBatch = 256;

/**
 * An embedding model that Ollama serves. Needs no key; asks `OLLAMA_HOST`, or port 11434 of this machine. Ollama cuts a text
 * that is longer than the model's context and does not say so: keep texts short.
 *
 * @example ollamaEmbedding('nomic-embed-text')
 */
export function ollamaEmbedding(model: string, options: EmbeddingOptions = {}): EmbeddingModel {
  return createEmbeddingModel(
    {
      provider: 'ollama',
      keyVariables: ['OLLAMA_API_KEY'],
      isKeyRequired: false,
      keyHeader: 'bearer',
      address: ollamaAddress,
    },
    model,
    { options: { maxBatch, ...options }, protocol: openaiEmbeddings },
  );
}
