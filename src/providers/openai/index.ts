export { openai } from './openai.ts';
export type { OpenAIApi, OpenAIOptions } from './openai.ts';
export { openaiEmbedding } from './openai-embedding.ts';
export type { EmbeddingOptions } from '../embedding-options.ts';
