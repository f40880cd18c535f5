export { createModelRegistry, resolveModel } from './registry.ts';
export type { ModelFactory, ModelRegistry, ModelRegistryOptions } from './registry.ts';
export type { ModelDescription, Provider, ProviderOptions } from './provider-options.ts';
export type { Environment } from './api-key.ts';
export { nearestModels } from './known-models.ts';
export { anthropic } from './anthropic/anthropic.ts';
export { azure } from './azure/azure.ts';
export type { AzureOptions } from './azure/azure.ts';
export { gemini } from './gemini/gemini.ts';
export { geminiEmbedding } from './gemini/gemini-embedding.ts';
export { ollama } from './ollama/ollama.ts';
export { ollamaEmbedding } from './ollama/ollama-embedding.ts';
export { openai } from './openai/openai.ts';
export type { OpenAIApi, OpenAIOptions } from './openai/openai.ts';
export { openaiEmbedding } from './openai/openai-embedding.ts';
export { openaiCompatible } from './openai-compatible/openai-compatible.ts';
export type {
  OpenAICompatibleConfig,
  OpenAICompatibleProvider,
} from './openai-compatible/openai-compatible.ts';
export {
  cerebras,
  deepseek,
  fireworks,
  groq,
  llamaCpp,
  lmStudio,
  mistral,
  moonshot,
  openrouter,
  perplexity,
  together,
  vllm,
  xai,
} from './openai-compatible/presets.ts';
export { aiSdk } from './ai-sdk/ai-sdk.ts';
export { simulated } from './simulated/simulated.ts';
export { vertex } from './vertex/vertex.ts';
export type { AccessTokenSource, VertexOptions } from './vertex/vertex.ts';
export type { EmbeddingOptions } from './embedding-options.ts';
export { createFetchTransport } from './http/fetch-transport.ts';
export { createNodeTransport } from './http/node-transport.ts';
export type { NodeTransport, NodeTransportOptions } from './http/node-transport.ts';
export type { SendOptions, Transport, TransportRequest, TransportResponse } from './http/transport.ts';
export { embedAll } from '../model/embed-all.ts';
export type { EmbedAllResponse } from '../model/embed-all.ts';
export type { EmbeddingModel, EmbeddingResponse, EmbeddingResult, EmbedOptions } from '../model/embedding.ts';
