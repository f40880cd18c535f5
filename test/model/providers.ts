import { anthropic } from '../../src/providers/anthropic/anthropic.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import { openai } from '../../src/providers/openai/openai.ts';
import type { ChaosProtocol } from '../../src/chaos/index.ts';
import type { Model } from '../../src/model/model.ts';

export const protocols = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;

/** A transport by the option that chooses it: the platform's `fetch`, or our own by default. */
export const transports = {
  'node:http': {},
  fetch: { fetch: globalThis.fetch },
} as const;

export type TransportName = keyof typeof transports;
export const transportNames = Object.keys(transports) as readonly TransportName[]; // Object.keys loses the key type.

interface Where {
  readonly baseURL: string;
  readonly transport?: TransportName;
}

/** The provider that speaks a protocol, at another address. */
export function modelFor(protocol: ChaosProtocol, { baseURL, transport = 'node:http' }: Where): Model {
  const options = { baseURL, apiKey: 'test-key-0123456789', ...transports[transport] };
  switch (protocol) {
    case 'openai-chat':
      return openai('gpt-4o', { ...options, api: 'chat' });
    case 'openai-responses':
      return openai('gpt-4o', options);
    case 'anthropic':
      return anthropic('claude-sonnet-4-5', options);
    case 'gemini':
      return gemini('gemini-2.5-flash', options);
    default:
      throw new Error(`No provider for ${String(protocol)}`);
  }
}
