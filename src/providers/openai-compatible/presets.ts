// Table: servers that speak Chat Completions, each with its address, the variable of its key and its dialect.
import { defined } from '../../base/defined.ts';
import { addressVariableOf } from '../address-variables.ts';
import type { CapabilityTable } from '../capability-tables.ts';
import type { OpenaiChatDialect } from '../protocols/openai-chat/openai-chat-dialect.ts';
import { createCompatible } from './openai-compatible.ts';
import type { OpenAICompatibleProvider } from './openai-compatible.ts';

interface Hosted {
  readonly name: CapabilityTable;
  readonly url: string;
  readonly variable: string;
  readonly dialect?: OpenaiChatDialect;
}

/** A company's service: it wants a key of its own. */
function hosted({ name, url, variable, dialect = {} }: Hosted): OpenAICompatibleProvider {
  const { pathname } = new URL(url);
  return createCompatible({
    name,
    url,
    ...defined({ variable: addressVariableOf(name) }),
    ...(pathname === '/' ? {} : { versionPath: pathname }),
    keyVariables: [variable],
    isKeyRequired: true,
    isOfficial: true,
    table: name,
    dialect: () => dialect,
  });
}

/** A server on one's own machine: it wants a key only if it was started with one. */
function local({ name, url, variable, dialect = {} }: Hosted): OpenAICompatibleProvider {
  return createCompatible({
    name,
    url,
    versionPath: '/v1',
    keyVariables: [variable],
    isKeyRequired: false,
    isOfficial: false,
    table: name,
    dialect: () => dialect,
  });
}

/** Groq. Key: `GROQ_API_KEY`. */
export const groq: OpenAICompatibleProvider = hosted({
  name: 'groq',
  url: 'https://api.groq.com/openai/v1',
  variable: 'GROQ_API_KEY',
  dialect: { maxTokensField: 'max_completion_tokens', continuation: 'plain' },
});

/** Mistral. Key: `MISTRAL_API_KEY`. */
export const mistral: OpenAICompatibleProvider = hosted({
  name: 'mistral',
  url: 'https://api.mistral.ai/v1',
  variable: 'MISTRAL_API_KEY',
  // Usage comes with the last event unasked.
  dialect: {
    seedField: 'random_seed',
    streamOptions: false,
    continuation: 'prefix',
    callIds: 'mistral',
  },
});

/** DeepSeek. Key: `DEEPSEEK_API_KEY`. Below `https://api.deepseek.com/beta` it also continues a broken answer. */
export const deepseek: OpenAICompatibleProvider = createCompatible({
  name: 'deepseek',
  url: 'https://api.deepseek.com',
  keyVariables: ['DEEPSEEK_API_KEY'],
  isKeyRequired: true,
  isOfficial: true,
  table: 'deepseek',
  dialect: (baseURL) => ({
    reasoningField: 'thinking',
    reasoningBack: 'reasoning_content',
    ...(isBeta(baseURL) ? { continuation: 'prefix' } : {}),
  }),
  atAddress: (baseURL) => (isBeta(baseURL) ? { continuation: 'prefill' } : {}),
});

function isBeta(baseURL: string): boolean {
  return /\/beta\/*$/.test(baseURL);
}

/** OpenRouter, which serves models of many houses. Key: `OPENROUTER_API_KEY`. */
export const openrouter: OpenAICompatibleProvider = hosted({
  name: 'openrouter',
  url: 'https://openrouter.ai/api/v1',
  variable: 'OPENROUTER_API_KEY',
  dialect: {
    reasoningField: 'reasoning',
    reasoningBack: 'reasoning',
    cacheControl: true,
    continuation: 'plain',
  },
});

/** Together AI. Key: `TOGETHER_API_KEY`. */
export const together: OpenAICompatibleProvider = hosted({
  name: 'together',
  url: 'https://api.together.xyz/v1',
  variable: 'TOGETHER_API_KEY',
});

/** Fireworks AI. Key: `FIREWORKS_API_KEY`. */
export const fireworks: OpenAICompatibleProvider = hosted({
  name: 'fireworks',
  url: 'https://api.fireworks.ai/inference/v1',
  variable: 'FIREWORKS_API_KEY',
});

/** xAI. Key: `XAI_API_KEY`. */
export const xai: OpenAICompatibleProvider = hosted({
  name: 'xai',
  url: 'https://api.x.ai/v1',
  variable: 'XAI_API_KEY',
});

/** Cerebras. Key: `CEREBRAS_API_KEY`. */
export const cerebras: OpenAICompatibleProvider = hosted({
  name: 'cerebras',
  url: 'https://api.cerebras.ai/v1',
  variable: 'CEREBRAS_API_KEY',
  dialect: { maxTokensField: 'max_completion_tokens' },
});

/** Perplexity. Key: `PERPLEXITY_API_KEY`. Its models search the web and call no tools. */
export const perplexity: OpenAICompatibleProvider = hosted({
  name: 'perplexity',
  url: 'https://api.perplexity.ai',
  variable: 'PERPLEXITY_API_KEY',
});

/** Moonshot AI, the house of Kimi. Key: `MOONSHOT_API_KEY`. */
export const moonshot: OpenAICompatibleProvider = hosted({
  name: 'moonshot',
  url: 'https://api.moonshot.ai/v1',
  variable: 'MOONSHOT_API_KEY',
  dialect: { reasoningField: 'thinking', reasoningBack: 'reasoning_content' },
});

/** LM Studio on this machine, port 1234. */
export const lmStudio: OpenAICompatibleProvider = local({
  name: 'lmstudio',
  url: 'http://127.0.0.1:1234/v1',
  variable: 'LMSTUDIO_API_KEY',
});

/** The server of llama.cpp on this machine, port 8080. */
export const llamaCpp: OpenAICompatibleProvider = local({
  name: 'llamacpp',
  url: 'http://127.0.0.1:8080/v1',
  variable: 'LLAMA_API_KEY',
  dialect: { continuation: 'plain' },
});

/** vLLM on this machine, port 8000. */
export const vllm: OpenAICompatibleProvider = local({
  name: 'vllm',
  url: 'http://127.0.0.1:8000/v1',
  variable: 'VLLM_API_KEY',
  dialect: { continuation: 'continue_final_message' },
});
