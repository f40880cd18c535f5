import type { EmbeddingModel } from '../../model/embedding.ts';
import { addressOf } from '../open-endpoint.ts';
import { createEmbeddingModel } from '../embedding-model.ts';
import type { EmbeddingOptions } from '../embedding-options.ts';
import { openaiEmbeddings } from '../embedding-protocols.ts';
import { openaiOfficial } from './openai-address.ts';

/**
 * An embedding model of OpenAI. The key comes from `OPENAI_API_KEY`.
 *
 * @example openaiEmbedding('text-embedding-3-small')
 */
export function openaiEmbedding(model: string, options: EmbeddingOptions = {}): EmbeddingModel {
  return createEmbeddingModel(
    {
      provider: 'openai',
      keyVariables: ['OPENAI_API_KEY'],
      isKeyRequired: true,
      keyHeader: 'bearer',
      address: (given, environment) => addressOf(given, environment, openaiOfficial),
    },
    model,
    { options, protocol: openaiEmbeddings },
  );
}
