export { gemini } from './gemini.ts';
export type { ProviderOptions as GeminiOptions } from '../provider-options.ts';
export { geminiEmbedding } from './gemini-embedding.ts';
export type { EmbeddingOptions } from '../embedding-options.ts';
