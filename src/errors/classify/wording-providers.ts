// Table: sentences that mean one thing at one provider only, and beat the tables that hold for all.

import type { WordingRule } from './verdict.ts';

/** Google says 'quota' and 'billing' for every allowance; what follows tells which. */
const google: readonly WordingRule[] = [
  {
    code: 'OVERLOADED',
    overrides: true,
    pattern: /out of capacity/,
    seen: 'Unable to submit request because the service is temporarily out of capacity.',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /limit: 0\b|per_?day|per day|requests_per_project_per_day|prepayment|quota will reset after|daily/,
    seen: 'Quota exceeded for metric: generate_content_free_tier_requests, limit: 0. You exceeded your current quota, check billing.',
  },
  {
    code: 'RATE_LIMITED',
    overrides: true,
    pattern: /exceeded your current quota|quota exceeded for|resource has been exhausted|exceeded quota/,
    seen: 'You exceeded your current quota, please check your plan and billing details.',
  },
  {
    code: 'INVALID_REQUEST',
    overrides: true,
    pattern: /unable to submit request because/,
    seen: 'Unable to submit request because it must have a text parameter.',
  },
  {
    code: 'INVALID_RESPONSE',
    overrides: true,
    pattern: /without (?:a )?block reason|no block reason|no candidates.{0,40}(?:block reason|returned)/,
    seen: 'The response has no candidates and no block reason.',
  },
];

export const providerWording: Readonly<Record<string, readonly WordingRule[]>> = {
  gemini: google,
  vertex: google,
  openrouter: [
    {
      code: 'QUOTA_EXCEEDED',
      overrides: true,
      pattern: /prompt tokens limit exceeded|key limit exceeded|free-models-per-day|can only afford/,
      seen: 'Key limit exceeded (monthly limit). Manage it in your settings.',
    },
    {
      code: 'RATE_LIMITED',
      overrides: true,
      pattern: /in_flight_budget|free-models-per-min|limited to \d+ requests per minute/,
      seen: 'Rate limit exceeded: free-models-per-min.',
    },
    {
      code: 'INVALID_REQUEST',
      overrides: true,
      pattern: /no endpoints found that support/,
      seen: 'No endpoints found that support tool use.',
    },
  ],
  'litellm-proxy': [
    {
      code: 'RATE_LIMITED',
      overrides: true,
      pattern: /no deployments? available(?!.{0,20}budget)/,
      seen: 'No deployments available for selected model, Try again in 60 seconds.',
    },
  ],
  llamacpp: [
    {
      code: 'TOOL_CALL_INVALID',
      retryable: false, // The server parses the calls of the history, not the one it samples.
      overrides: true,
      pattern: /failed to parse tool call arguments/,
      seen: 'Failed to parse tool call arguments as JSON: parse error at line 1',
    },
  ],
  dashscope: [
    {
      code: 'RATE_LIMITED',
      overrides: true,
      pattern: /(?<!free )allocated quota exceeded|exceeded your current quota/,
      seen: 'Allocated quota exceeded, please increase your quota limit.',
    },
  ],
  moonshot: [
    {
      code: 'QUOTA_EXCEEDED',
      overrides: true,
      pattern: /\btpd rate limit/,
      seen: 'request reached organization TPD rate limit, current: 1505241, limit: 1500000',
    },
  ],
  zhipu: [
    {
      code: 'QUOTA_EXCEEDED',
      overrides: true,
      pattern: /limit will reset at|重置/,
      seen: 'Usage limit reached for 5 hour. Your limit will reset at 2026-09-09 05:38:28',
    },
  ],
  cerebras: [
    {
      code: 'OVERLOADED',
      overrides: true,
      pattern: /high traffic|queue_exceeded/,
      seen: "We're experiencing high traffic right now! Please try again soon.",
    },
  ],
  together: [
    {
      code: 'CONTEXT_LENGTH_EXCEEDED',
      overrides: true,
      pattern: /inputs? tokens \+ max_new_tokens/,
      seen: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.',
    },
  ],
};

const googleMarks = [
  'generativelanguage',
  'aiplatform',
  'quota exceeded for metric',
  'quota exceeded for quota metric',
  'geminiexception',
  'vertexaiexception',
  'vertex_aiexception',
  'cloudcode',
] as const;

/** Google's sentences reach us through gateways too; these words show that they are Google's. */
export function soundsLikeGoogle(text: string): boolean {
  return googleMarks.some((mark) => text.includes(mark));
}
