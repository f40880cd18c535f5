// Table: the providers that a registry knows from the start.
import { anthropic } from './anthropic/anthropic.ts';
import { azure } from './azure/azure.ts';
import { gemini } from './gemini/gemini.ts';
import { ollama } from './ollama/ollama.ts';
import {
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
import { openai } from './openai/openai.ts';
import type { Provider } from './provider-options.ts';
import { simulatedProvider } from './simulated/simulated-provider.ts';
import { vertex } from './vertex/vertex.ts';

/** By the name that stands before the colon. */
export const builtInProviders: ReadonlyMap<string, Provider> = new Map(
  [
    openai,
    anthropic,
    gemini,
    ollama,
    azure,
    vertex,
    groq,
    mistral,
    deepseek,
    openrouter,
    together,
    fireworks,
    xai,
    cerebras,
    perplexity,
    moonshot,
    lmStudio,
    llamaCpp,
    vllm,
    simulatedProvider,
  ].map((provider) => [provider.provider, provider]),
);
