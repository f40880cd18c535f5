import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Finish, FinishReason } from '../../model/finish.ts';
import { readCount } from '../../model/usage.ts';
import type { Usage } from '../../model/usage.ts';

/** Why an AI SDK model stopped, the same for all versions. */
export interface AiSdkFinish {
  readonly unified: string;
  /** The provider's own word, which the second specification has no field for. */
  readonly raw?: string;
}

/** A text in the second specification, `{ unified, raw }` in the later ones. */
export function readFinish(value: unknown): AiSdkFinish {
  if (typeof value === 'string') return { unified: value };
  if (!isRecord(value) || typeof value['unified'] !== 'string') return { unified: 'unknown' };
  return { unified: value['unified'], ...defined({ raw: textOrNothing(value['raw']) }) };
}

/** What a `finish` says about the answer before anybody looks at it. */
export type FinishVerdict = 'announced' | 'unknown' | 'broken';

/**
 * Whether the provider itself said that the answer is whole. Many provider packages send a `finish` of their own when the
 * connection just ends: `interrupted`, or the value that they began with, which is `unknown` or `other` without a raw reason.
 */
export function judgeFinish({ unified, raw }: AiSdkFinish): FinishVerdict {
  if (unified === 'interrupted') return 'broken';
  if (unified === 'error') return isMalformedCall(raw) ? 'announced' : 'broken';
  return raw === undefined && (unified === 'unknown' || unified === 'other') ? 'unknown' : 'announced';
}

/** In our words. */
export function toFinish({ unified, raw }: AiSdkFinish): Finish {
  return { reason: reasonOf(unified, raw), raw: raw ?? unified };
}

// A map, for the word comes from outside: `constructor` would be found in an object.
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['tool-calls', 'tool-calls'],
  ['length', 'length'],
  ['content-filter', 'filtered'],
]);

function reasonOf(unified: string, raw: string | undefined): FinishReason {
  if (isMalformedCall(raw)) return 'malformed-call';
  if (raw === 'refusal') return 'refused';
  return reasons.get(unified) ?? 'other';
}

/** Gemini's word for a tool call that it could not write. */
function isMalformedCall(raw: string | undefined): boolean {
  return raw === 'MALFORMED_FUNCTION_CALL';
}

/** Flat numbers in the second specification, nested ones in the later. */
export function readUsage(usage: unknown, metadata?: unknown): Usage {
  if (!isRecord(usage)) return {};
  const { inputTokens, outputTokens } = usage;
  if (!isRecord(inputTokens) && !isRecord(outputTokens)) return readFlatUsage(usage, metadata);
  const [input, output] = [
    isRecord(inputTokens) ? inputTokens : {},
    isRecord(outputTokens) ? outputTokens : {},
  ];
  return defined({
    inputTokens: readCount(input['total']),
    outputTokens: readCount(output['total']),
    reasoningTokens: readCount(output['reasoning']),
    cacheReadTokens: readCount(input['cacheRead']),
    cacheWriteTokens: readCount(input['cacheWrite']),
  });
}

/** Anthropic's packages of that time count the prompt without its cached part, all others with it. */
function readFlatUsage(usage: Readonly<Record<string, unknown>>, metadata: unknown): Usage {
  const anthropic = isRecord(metadata) ? metadata['anthropic'] : undefined;
  const inputTokens = readCount(usage['inputTokens']);
  const cacheReadTokens = readCount(usage['cachedInputTokens']);
  const cacheWriteTokens = isRecord(anthropic) ? readCount(anthropic['cacheCreationInputTokens']) : undefined;
  const cachedTokens = isRecord(anthropic) ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0;
  return defined({
    inputTokens: inputTokens === undefined ? undefined : inputTokens + cachedTokens,
    outputTokens: readCount(usage['outputTokens']),
    reasoningTokens: readCount(usage['reasoningTokens']),
    cacheReadTokens,
    cacheWriteTokens,
  });
}

/** A text from outside that says something. */
export function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
