import { capabilitiesOf } from '../capability-tables.ts';
import { defineProvider } from '../define-provider.ts';
import { openaiChat } from '../protocols/openai-chat/openai-chat.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';
import { ollamaAddress } from './ollama-address.ts';

/**
 * A model that Ollama serves, through its OpenAI-compatible endpoint. Needs no key; asks `OLLAMA_HOST`, or port 11434 of this
 * machine.
 *
 * @example ollama('qwen3:8b')
 */
export const ollama: Provider = defineProvider<ProviderOptions>({
  provider: 'ollama',
  keyVariables: ['OLLAMA_API_KEY'],
  isKeyRequired: false,
  keyHeader: 'bearer',
  address: ollamaAddress,
  wire: () => ({ protocol: openaiChat }),
  capabilities: (model) => capabilitiesOf('ollama', model),
  price: () => undefined,
});
