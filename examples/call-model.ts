import { startChaosServer } from 'rerail/chaos';
import { callModel } from 'rerail/model';
import { anthropic } from 'rerail/providers/anthropic';
import { openai } from 'rerail/providers/openai';

// Stands in for both providers, and breaks on purpose: a cut stream, an overload, an empty account, then a good answer.
const provider = await startChaosServer({
  faults: { script: ['reset-mid-stream', 'overloaded', 'quota', null] },
});

const outcome = await callModel(
  [
    anthropic('claude-sonnet-5', { baseURL: provider.baseURL('anthropic'), apiKey: 'any' }),
    openai('gpt-5.4', { baseURL: provider.baseURL('openai-responses'), apiKey: 'any' }),
  ],
  { messages: [{ role: 'user', content: 'What is Rerail?' }] },
  { policy: { retry: { baseDelayMs: 20 } } }, // as the default, but in a hurry
);

if (outcome.type === 'success') console.log(outcome.result.text);
else console.log(outcome.failure.code, outcome.failure.message); // never thrown, never an empty text

for (const { failure, recovery } of outcome.report.recoveries) console.log(failure.code, '→', recovery);
// STREAM_INTERRUPTED → retry
// OVERLOADED → retry
// QUOTA_EXCEEDED → fall-back

await provider.close();
