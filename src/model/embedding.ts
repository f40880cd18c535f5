import type { Clock } from '../base/clock.ts';
import type { Failure } from '../errors/failure.ts';
import type { Pooled } from './key-pool.ts';
import type { Price } from './price.ts';
import type { RequestNote } from './request-note.ts';
import type { Timeouts } from './timeouts.ts';
import type { Usage } from './usage.ts';

/** A model that turns texts into vectors. One call is one request: it never retries and never rejects. */
export interface EmbeddingModel extends Pooled<EmbeddingModel> {
  /** Who serves it: `openai`. */
  readonly provider: string;
  /** The model's name there: `text-embedding-3-small`. */
  readonly name: string;
  /** What shares limits and outages: provider, endpoint and a fingerprint of the key; never the key itself. */
  readonly quotaKey: string;
  /** How many texts one call may carry: a whole number from 1. */
  readonly maxBatch: number;
  /** Where it is not known, cost is unknown. */
  readonly price?: Price;
  /**
   * Embeds the texts in one request. Must not reject: whatever goes wrong comes back as a failure. Must end within
   * `timeouts.totalMs`, must end at once when the signal aborts, and must not send a second request;
   * only a kept connection that turns out to be closed before anything was answered may be replaced, once.
   */
  readonly embed: (texts: readonly string[], options?: EmbedOptions) => Promise<EmbeddingResponse>;
}

/** What one call is given. */
export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly clock?: Clock | undefined;
}

/** A typed success or a typed failure, never a throw. */
export type EmbeddingResponse = {
  /** What was done about the request on its way; absent where nothing. */
  readonly notes?: readonly RequestNote[];
} & (
  | { readonly type: 'success'; readonly result: EmbeddingResult }
  | { readonly type: 'failure'; readonly failure: Failure }
);

/** As many vectors as there were texts, in their order, all of one length, every number finite. */
export interface EmbeddingResult {
  readonly vectors: readonly Float32Array[];
  readonly usage: Usage;
  /** Absent where usage or price is unknown. */
  readonly costUsd?: number;
  /** The model that answered, in the provider's words, where it says so. */
  readonly servedBy?: string;
}
