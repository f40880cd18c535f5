/** How much was sent and how much is allowed, where the provider states it: a person can act on numbers. */
export function tokenCounts(text: string): {
  readonly requestedTokens?: number;
  readonly maxTokens?: number;
} {
  for (const { pattern, order } of forms) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const [first, second] = [toCount(match[1]), toCount(match[2])];
    const [requestedTokens, maxTokens] = order === 'requested-first' ? [first, second] : [second, first];
    if (requestedTokens > maxTokens) return { requestedTokens, maxTokens };
  }
  return {};
}

const forms = [
  // "prompt is too long: 213462 tokens > 200000 maximum"
  { pattern: /([\d,]{2,12})(?: tokens)? ?> ?([\d,]{2,12})/, order: 'requested-first' },
  // "the input token count (1200345) exceeds the maximum number of tokens allowed (1048576)"
  {
    pattern: /\(?([\d,]{2,12})\)?(?: tokens)? exceeds? [a-z ]{0,60}\(?([\d,]{2,12})/,
    order: 'requested-first',
  },
  // "requested tokens (2285) exceed context window of 2048", "limit 6000, requested 9855"
  { pattern: /limit:? ([\d,]{2,12})\b[^{}]{0,60}?requested:? ~?([\d,]{2,12})/, order: 'limit-first' },
  // "maximum context length is 8192 tokens. however, your messages resulted in 9001 tokens"
  {
    pattern: /(?:maximum|limit|less than)[a-z ]{0,40}? ([\d,]{2,12})(?: tokens)?\b[^\d]{1,80}([\d,]{2,12})/,
    order: 'limit-first',
  },
  // "current length is 9001 while limit is 8192"
  { pattern: /length is ([\d,]{2,12})[a-z ]{1,30}limit is ([\d,]{2,12})/, order: 'requested-first' },
] as const;

function toCount(digits: string | undefined): number {
  return Number((digits ?? '').replaceAll(',', ''));
}
