import { anyValue } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';
import { providerOptionRules } from './provider-options.ts';
import type { ProviderOptions } from './provider-options.ts';

/** What every embedding model takes. */
export interface EmbeddingOptions extends Omit<ProviderOptions, 'capabilities' | 'stream' | 'classifyError'> {
  /** How long the vectors shall be, where the model can shorten them. */
  readonly dimensions?: number | undefined;
  /** How many texts one request may carry; the provider's limit where absent. */
  readonly maxBatch?: number | undefined;
  /** How long one text may be. Longer ones are refused before anything is sent. */
  readonly maxTextCharacters?: number | undefined;
}

/** The bounds are looked at where they are read. */
export const embeddingOptionRules: Readonly<Record<keyof EmbeddingOptions, OptionRule>> = {
  apiKey: providerOptionRules.apiKey,
  baseURL: providerOptionRules.baseURL,
  headers: providerOptionRules.headers,
  fetch: providerOptionRules.fetch,
  transport: providerOptionRules.transport,
  price: providerOptionRules.price,
  environment: providerOptionRules.environment,
  allowInsecure: providerOptionRules.allowInsecure,
  dimensions: anyValue,
  maxBatch: anyValue,
  maxTextCharacters: anyValue,
};
