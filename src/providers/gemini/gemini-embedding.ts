import type { EmbeddingModel } from '../../model/embedding.ts';
import { addressOf } from '../open-endpoint.ts';
import { createEmbeddingModel } from '../embedding-model.ts';
import type { EmbeddingOptions } from '../embedding-options.ts';
import { geminiEmbeddings } from '../embedding-protocols.ts';
import { geminiOfficial } from './gemini-address.ts';

/**
 * An embedding model of Google Gemini. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY`.
 *
 * @example geminiEmbedding('gemini-embedding-001', { dimensions: 768 })
 */
export function geminiEmbedding(model: string, options: EmbeddingOptions = {}): EmbeddingModel {
  return createEmbeddingModel(
    {
      provider: 'gemini',
      keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      isKeyRequired: true,
      keyHeader: 'x-goog-api-key',
      address: (given, environment) => addressOf(given, environment, geminiOfficial),
    },
    model,
    { options, protocol: geminiEmbeddings },
  );
}
