import { defined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { readCount } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';

/** How texts go to a server and vectors come back: two pure functions. */
export interface EmbeddingProtocol {
  /** The provider's own limit of texts in one request. */
  readonly maxBatch: number;
  readonly request: (texts: readonly string[], target: EmbeddingTarget) => EmbeddingWireRequest;
  /** The vectors in the order of the texts, not yet checked; a text says what is wrong with the body. */
  readonly read: (body: unknown) => EmbeddingAnswer | string;
}

export interface EmbeddingTarget {
  readonly model: string;
  readonly dimensions?: number | undefined;
}

export interface EmbeddingWireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface EmbeddingAnswer {
  readonly vectors: readonly unknown[];
  readonly usage: Usage;
  readonly servedBy?: string;
}

/** OpenAI's `/embeddings`, which Ollama and most compatible servers have too. */
export const openaiEmbeddings: EmbeddingProtocol = {
  maxBatch: 2048,
  request: (texts, { model, dimensions }) => ({
    path: '/embeddings',
    body: defined({ model, input: texts, encoding_format: 'float', dimensions }),
  }),
  read: readOpenai,
};

/** Gemini's `batchEmbedContents`. */
export const geminiEmbeddings: EmbeddingProtocol = {
  maxBatch: 100,
  request: (texts, { model, dimensions }) => {
    const name = model.startsWith('models/') ? model : `models/${model}`;
    const requests = texts.map((text) =>
      defined({ model: name, content: { parts: [{ text }] }, outputDimensionality: dimensions }),
    );
    return { path: `/${name}:batchEmbedContents`, body: { requests } };
  },
  read: readGemini,
};

function readOpenai(body: unknown): EmbeddingAnswer | string {
  if (!isRecord(body) || !Array.isArray(body['data'])) return 'the field "data" is no list';
  const data: readonly unknown[] = body['data'];
  const entries = data.map((entry) => (isRecord(entry) ? entry : {}));
  // The order of the list is not promised; the index is. Servers that leave it out keep the order.
  const hasIndex = entries.every((entry) => entry['index'] !== undefined);
  const byIndex = new Map(entries.map((entry, position) => [hasIndex ? entry['index'] : position, entry]));
  if (byIndex.size !== entries.length) return 'two vectors have the same "index"';
  const ordered = entries.map((_, position) => byIndex.get(position));
  if (ordered.includes(undefined)) return 'the indexes do not count from 0';
  const usage = isRecord(body['usage']) ? body['usage'] : {};
  return defined({
    vectors: ordered.map((entry) => entry?.['embedding']),
    usage: defined({ inputTokens: readCount(usage['prompt_tokens'] ?? usage['total_tokens']) }),
    servedBy: typeof body['model'] === 'string' ? body['model'] : undefined,
  });
}

function readGemini(body: unknown): EmbeddingAnswer | string {
  if (!isRecord(body) || !Array.isArray(body['embeddings'])) return 'the field "embeddings" is no list';
  const embeddings: readonly unknown[] = body['embeddings'];
  const usage = isRecord(body['usageMetadata']) ? body['usageMetadata'] : {};
  return {
    vectors: embeddings.map((entry) => (isRecord(entry) ? entry['values'] : undefined)),
    usage: defined({ inputTokens: readCount(usage['promptTokenCount']) }),
  };
}
