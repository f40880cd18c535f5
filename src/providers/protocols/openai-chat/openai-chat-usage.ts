import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import { readCount } from '../../../model/usage.ts';
import type { Usage } from '../../../model/usage.ts';

interface WireUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  readonly total_tokens?: unknown;
  readonly prompt_tokens_details?: unknown;
  readonly completion_tokens_details?: unknown;
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: unknown;
  /** Moonshot. */
  readonly cached_tokens?: unknown;
}

interface WireUsageDetails {
  readonly cached_tokens?: unknown;
  /** OpenRouter. */
  readonly cache_write_tokens?: unknown;
  readonly reasoning_tokens?: unknown;
}

/** The counts of a `usage` object; `undefined` where it is none. */
export function readChatUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const wire: WireUsage = value;
  const prompt = detailsOf(wire.prompt_tokens_details);
  const completion = detailsOf(wire.completion_tokens_details);
  return defined({
    inputTokens: readCount(wire.prompt_tokens),
    outputTokens: readOutputTokens(wire),
    reasoningTokens: readCount(completion.reasoning_tokens),
    cacheReadTokens:
      readCount(prompt.cached_tokens) ??
      readCount(wire.prompt_cache_hit_tokens) ??
      readCount(wire.cached_tokens),
    cacheWriteTokens: readCount(prompt.cache_write_tokens),
  });
}

function detailsOf(value: unknown): WireUsageDetails {
  return isRecord(value) ? value : {};
}

/** xAI and Gemini's compatible endpoint leave reasoning out of `completion_tokens`; it stands in the total alone. */
function readOutputTokens(wire: WireUsage): number | undefined {
  const [input, output] = [readCount(wire.prompt_tokens), readCount(wire.completion_tokens)];
  const total = readCount(wire.total_tokens);
  if (input === undefined || output === undefined || total === undefined) return output;
  return Math.max(output, total - input);
}
