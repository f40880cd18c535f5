import { classifyProviderFailure, renderFailure } from 'rerail/errors';

const failure = classifyProviderFailure({
  provider: 'openai',
  status: 429,
  headers: { 'retry-after': '20' },
  body: '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}',
});

console.log(failure.code); // QUOTA_EXCEEDED, not RATE_LIMITED
console.log(failure.retryable); // false: waiting does not help
console.log(failure.context['because']); // what decided it
console.log(renderFailure(failure, 'person'));
// The account at OpenAI has used up its credit or its plan. Top it up or raise the limit in the provider's billing
// settings, then run again.
