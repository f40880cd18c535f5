import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import { readCount } from '../../../model/usage.ts';
import type { Usage } from '../../../model/usage.ts';

/** The three parts of a prompt as Anthropic counts them; a later event may correct an earlier one. */
export interface InputCounts {
  readonly fresh: Count;
  readonly cacheRead: Count;
  readonly cacheWrite: Count;
}

/** `absent` adds nothing to a sum; `unknown` was given as nonsense and makes the sum unknown. */
type Count = number | 'absent' | 'unknown';

export const noInputCounts: InputCounts = { fresh: 'absent', cacheRead: 'absent', cacheWrite: 'absent' };

/** Lays the counts of one event over those of the events before. */
export function readInputCounts(known: InputCounts, usage: unknown): InputCounts {
  if (!isRecord(usage)) return known;
  return {
    fresh: laterCount(known.fresh, usage['input_tokens']),
    cacheRead: laterCount(known.cacheRead, usage['cache_read_input_tokens']),
    cacheWrite: laterCount(known.cacheWrite, usage['cache_creation_input_tokens']),
  };
}

/** The input in our terms: `inputTokens` is the sum, since Anthropic counts what it read from the cache apart. */
export function inputUsage({ fresh, cacheRead, cacheWrite }: InputCounts): Usage {
  const isKnown = fresh !== 'absent' && ![fresh, cacheRead, cacheWrite].includes('unknown');
  return defined({
    inputTokens: isKnown ? readCount(amount(fresh) + amount(cacheRead) + amount(cacheWrite)) : undefined,
    cacheReadTokens: typeof cacheRead === 'number' ? cacheRead : undefined,
    cacheWriteTokens: typeof cacheWrite === 'number' ? cacheWrite : undefined,
  });
}

/** The output in our terms. Only the last event counts it: at the start of a message the number is a placeholder. */
export function outputUsage(usage: unknown): Usage {
  if (!isRecord(usage)) return {};
  const details = usage['output_tokens_details'];
  return defined({
    outputTokens: readCount(usage['output_tokens']),
    reasoningTokens: isRecord(details) ? readCount(details['thinking_tokens']) : undefined,
  });
}

function laterCount(known: Count, value: unknown): Count {
  return value === undefined || value === null ? known : (readCount(value) ?? 'unknown');
}

function amount(count: Count): number {
  return typeof count === 'number' ? count : 0;
}
