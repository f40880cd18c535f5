import type { ChaosProtocol } from '../../src/chaos/index.ts';
import type { Model } from '../../src/model/model.ts';
import { anthropic } from '../../src/providers/anthropic/anthropic.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import { ollama } from '../../src/providers/ollama/ollama.ts';
import { openai } from '../../src/providers/openai/openai.ts';
import type { ProviderOptions } from '../../src/providers/provider-options.ts';

const makers = {
  'openai-chat': (options) => openai('gpt-4o', { ...options, api: 'chat' }),
  'openai-responses': (options) => openai('gpt-4o', options),
  anthropic: (options) => anthropic('claude-sonnet-4-5', options),
  gemini: (options) => gemini('gemini-2.5-flash', options),
  ollama: (options) => ollama('qwen3:8b', options),
} as const satisfies Record<ChaosProtocol | 'ollama', (options: ProviderOptions) => Model>;

/** Our ways to a server: the four protocols, and Ollama, which speaks the first of them at an address of its own. */
export type ProviderName = keyof typeof makers;

/** The one key that all of them send. */
export const testKey = 'test-key-0123456789';

/** A model of the provider, with options of its own. */
export function providerModel(name: ProviderName, options: ProviderOptions): Model {
  return makers[name]({ apiKey: testKey, ...options });
}

/** A transport by the option that chooses it: the platform's `fetch`, or our own by default. */
export const transports = {
  'node:http': {},
  fetch: { fetch: globalThis.fetch },
} as const satisfies Record<string, ProviderOptions>;

/** One of `transports`. */
export type TransportName = keyof typeof transports;

/** All of them. */
export const transportNames = Object.keys(transports) as readonly TransportName[]; // Object.keys loses the key type.
