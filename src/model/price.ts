import { anObject } from './check/check-options.ts';
import type { OptionRule } from './check/check-options.ts';
import type { Usage } from './usage.ts';

/** What a million tokens cost in US dollars, and when that was looked up. */
export interface Price {
  readonly inputUsd: number;
  readonly outputUsd: number;
  /** As `inputUsd` where absent. */
  readonly cacheReadUsd?: number;
  /** As `inputUsd` where absent. */
  readonly cacheWriteUsd?: number;
  /** ISO date. */
  readonly asOf: string;
}

/** For options that take a price. The numbers are looked at where they are read. */
export const aPrice: OptionRule = anObject('{ inputUsd: 2.5, outputUsd: 10 }', [
  'inputUsd',
  'outputUsd',
  'cacheReadUsd',
  'cacheWriteUsd',
  'asOf',
] satisfies (keyof Price)[]);

const million = 1_000_000;

/** What a response cost, or nothing where tokens or price are unknown. */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined)
    return undefined;
  const read = Math.min(usage.cacheReadTokens ?? 0, usage.inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - read);
  const plain = usage.inputTokens - read - written;
  return (
    (plain * price.inputUsd +
      read * (price.cacheReadUsd ?? price.inputUsd) +
      written * (price.cacheWriteUsd ?? price.inputUsd) +
      usage.outputTokens * price.outputUsd) /
    million
  );
}
