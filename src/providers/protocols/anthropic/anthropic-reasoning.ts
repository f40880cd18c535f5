import type { ModelRequest, ReasoningEffort } from '../../../model/request.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a request is to think, and how many tokens it may write for that and for its answer. */
export interface AnthropicReasoning {
  readonly maxTokens: number;
  readonly thinking?: Fields;
  readonly effort?: string;
}

/** Anthropic wants `max_tokens` in every request; without a wish of the caller the answer may have this many. */
const defaultAnswerTokens = 8192;

/** Anthropic refuses a smaller budget. */
const minBudgetTokens = 1024;

/** What an effort is worth where a model takes only a budget, and what is added to `max_tokens` for it. */
const budgetTokens = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
} as const satisfies Record<ReasoningEffort, number>;

/** Anthropic's own words for an effort; it has none below `low`. */
const efforts = { minimal: 'low', low: 'low', medium: 'medium', high: 'high' } as const;

type Dialect = Readonly<Record<string, string | boolean | undefined>>;

/** Reads the request's wishes in the words that the model understands: an effort, or a budget. */
export function anthropicReasoning(request: ModelRequest, dialect: Dialect): AnthropicReasoning {
  const { reasoning, maxOutputTokens } = request;
  const budget = reasoning?.budgetTokens;
  const effort = reasoning?.effort;
  const takesEffort = dialect['effort'] === true;
  const words = takesEffort && effort !== undefined && effort !== 'none' ? { effort: efforts[effort] } : {};
  if (budget !== undefined) {
    // Sent as it was asked for, even where the limit is smaller: Anthropic then says what is wrong.
    const maxTokens = maxOutputTokens ?? defaultAnswerTokens + budget;
    return { maxTokens, thinking: { type: 'enabled', budget_tokens: budget }, ...words };
  }
  if (takesEffort) {
    // Models that take an effort may think without being told to, and their thoughts count against `max_tokens`.
    const maxTokens = maxOutputTokens ?? defaultAnswerTokens + budgetTokens[effort ?? 'medium'];
    if (effort === undefined) return { maxTokens };
    if (effort === 'none') return { maxTokens, thinking: { type: 'disabled' } };
    return {
      maxTokens,
      ...(dialect['adaptive'] === false ? {} : { thinking: { type: 'adaptive' } }),
      ...words,
    };
  }
  const wanted = budgetTokens[effort ?? 'none'];
  if (wanted === 0) return { maxTokens: maxOutputTokens ?? defaultAnswerTokens };
  const share = maxOutputTokens === undefined ? wanted : Math.min(wanted, Math.floor(maxOutputTokens / 2));
  return {
    maxTokens: maxOutputTokens ?? defaultAnswerTokens + wanted,
    thinking: { type: 'enabled', budget_tokens: Math.max(share, minBudgetTokens) },
  };
}
