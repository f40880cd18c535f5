export { ollama } from './ollama.ts';
export type { ProviderOptions as OllamaOptions } from '../provider-options.ts';
export { ollamaEmbedding } from './ollama-embedding.ts';
export type { EmbeddingOptions } from '../embedding-options.ts';
