export { openaiCompatible } from './openai-compatible.ts';
export type { OpenAICompatibleConfig, OpenAICompatibleProvider } from './openai-compatible.ts';
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
} from './presets.ts';
export type { OpenaiChatDialect } from '../protocols/openai-chat/openai-chat-dialect.ts';
export type { EmbeddingOptions } from '../embedding-options.ts';
