/** Tokens of one response. A count that the provider did not give, or gave as nonsense, is absent: never 0, never NaN. */
export interface Usage {
  /** All tokens of the prompt, those read from and written to the cache included. */
  readonly inputTokens?: number;
  /** All tokens of the answer, reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** A count from outside: a whole number from 0 to 2^53 - 1, or unknown. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
