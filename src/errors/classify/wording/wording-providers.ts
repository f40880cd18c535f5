// Table: sentences that mean one thing at one provider only, and beat the tables that hold for all.

import { phrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** Google says 'quota' and 'billing' for every allowance; what follows tells which. */
// prettier-ignore
export const googleWording: readonly Phrases[] = [
  phrases({ code: 'CONTEXT_LENGTH_EXCEEDED', overrides: true }, () => [
    [/token count is \d+ but/, 'Unable to submit request because the input token count is 1203345 but model only supports up to 1048576.'],
  ]),
  phrases({ code: 'OVERLOADED', overrides: true }, () => [
    [/out of capacity/, 'Unable to submit request because the service is temporarily out of capacity.'],
  ]),
  phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
    [/quota.{0,300}limit: 0\b/, 'Quota exceeded for metric: generate_content_free_tier_requests, limit: 0'],
    [/(?:quota|limit|exceed|exhaust).{0,400}per_?day/, 'Quota exceeded for quota id GenerateRequestsPerDayPerProjectPerModel-FreeTier.'],
    [/(?:quota|limit|exceed|exhaust).{0,400}per day/, "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'."],
    [/requests_per_project_per_day/, 'Quota exceeded for limit generate_requests_per_project_per_day.'],
    [/prepayment/, 'Your prepayment credits are depleted.'],
    [/quota will reset after \d{1,4}[dhm]/, 'You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.'],
    [/\bdaily (?:limit|quota|request)/, 'You have reached your daily quota for gemini-2.5-pro.'],
  ]),
  phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
    [/exceeded your current quota/, 'You exceeded your current quota for qwen-plus.'],
    [/quota exceeded for/, 'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model.'],
    [/resource has been exhausted/, 'Resource has been exhausted (e.g. check quota).'],
    [/exceeded quota/, "Project demo-project exceeded quota 'GenerateContent requests per minute'."],
  ]),
  phrases({ code: 'INVALID_REQUEST', overrides: true }, () => [
    [/unable to submit request because/, 'Unable to submit request because it must have a text parameter.'],
  ]),
  phrases({ code: 'INVALID_RESPONSE', overrides: true }, () => [
    [/without (?:a )?block reason/, 'The answer came without a block reason and without parts.'],
    [/no block reason/, 'The response has no candidates and no block reason.'],
    [/no candidates.{0,40}(?:block reason|returned)/, 'No candidates returned by the model.'],
  ]),
];

// prettier-ignore
export const providerWording: Readonly<Record<string, readonly Phrases[]>> = {
  gemini: googleWording,
  vertex: googleWording,
  openrouter: [
    phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
      [/prompt tokens limit exceeded/, 'Prompt tokens limit exceeded: 25043 > 18013.'],
      [/key limit exceeded/, 'Key limit exceeded (monthly limit). Manage it in your settings.'],
      [/free-models-per-day/, 'Rate limit exceeded: free-models-per-day.'],
      [/can only afford/, 'You requested up to 32000 tokens, but can only afford 1187.'],
    ]),
    phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
      [/in_flight_budget/, 'Too many open requests: in_flight_budget is used up for this key.'],
      [/free-models-per-min/, 'Rate limit exceeded: free-models-per-min.'],
      [/limited to \d+ requests per minute/, 'Free models are limited to 20 requests per minute.'],
    ]),
    phrases({ code: 'INVALID_REQUEST', overrides: true }, () => [
      [/no endpoints found that support/, 'No endpoints found that support tool use.'],
    ]),
  ],
  'litellm-proxy': [
    phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
      [/no deployments? available(?!.{0,20}budget)/, 'No deployments available for selected model, Try again in 60 seconds.'],
    ]),
  ],
  llamacpp: [
    // The server parses the calls of the history, not the one it samples.
    phrases({ code: 'TOOL_CALL_INVALID', retryable: false, overrides: true }, () => [
      [/failed to parse tool call arguments/, 'Failed to parse tool call arguments as JSON: parse error at line 1'],
    ]),
  ],
  dashscope: [
    phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
      [/(?:week|hour|month) allocated quota exceeded/, 'week allocated quota exceeded.'],
    ]),
    phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
      [/(?<!free |week |hour |month )allocated quota exceeded/, 'Allocated quota exceeded, please increase your quota limit.'],
      [/exceeded your current quota/, 'You exceeded your current quota for qwen-plus.'],
    ]),
  ],
  moonshot: [
    phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
      [/\btpd rate limit/, 'request reached organization TPD rate limit, current: 1505241, limit: 1500000'],
    ]),
  ],
  zhipu: [
    phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
      [/limit will reset at/, 'Usage limit reached for 5 hour. Your limit will reset at 2026-09-09 05:38:28'],
      [/(?:将在|限额|额度).{0,40}重置/, '已达到 5 小时的使用上限。您的限额将在 2026-09-09 05:38:28 重置。'],
    ]),
  ],
  fireworks: [
    phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
      [/exceeded your usage limits/, 'You have exceeded your usage limits. Please try again later.'],
    ]),
  ],
  cerebras: [
    phrases({ code: 'OVERLOADED', overrides: true }, () => [
      [/high traffic/, "We're experiencing high traffic right now! Please try again soon."],
      [/queue_exceeded/, 'queue_exceeded: the queue of llama-3.3-70b has no room.'],
    ]),
  ],
  together: [
    phrases({ code: 'CONTEXT_LENGTH_EXCEEDED', overrides: true }, () => [
      [/inputs? tokens \+ max_new_tokens/, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.'],
    ]),
  ],
};

// prettier-ignore
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
