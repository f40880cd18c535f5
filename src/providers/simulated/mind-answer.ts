import type { Json } from '../../base/json.ts';

/** A tool that the mind wants called. */
export interface MindCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

/** What the mind says: text, calls or both; never neither. */
export interface MindAnswer {
  readonly text?: string;
  readonly toolCalls: readonly MindCall[];
  /** Estimated from the number of characters. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}
