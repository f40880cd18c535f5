import type { ProviderOptions } from './provider-options.ts';

/** What every embedding model takes. */
export interface EmbeddingOptions extends Omit<ProviderOptions, 'capabilities' | 'stream'> {
  /** How long the vectors shall be, where the model can shorten them. */
  readonly dimensions?: number | undefined;
  /** How many texts one request may carry; the provider's limit where absent. */
  readonly maxBatch?: number | undefined;
  /** How long one text may be. Longer ones are refused before anything is sent. */
  readonly maxTextCharacters?: number | undefined;
}
