import { createAgent } from 'rerail';
import { startChaosServer } from 'rerail/chaos';
import { anthropic } from 'rerail/providers/anthropic';
import { openai } from 'rerail/providers/openai';

// Stands in for both providers: the first has an empty account, the second is overloaded once.
const provider = await startChaosServer({ faults: { script: ['quota', 'overloaded', null] } });

const agent = createAgent({
  model: [
    anthropic('claude-sonnet-5', { baseURL: provider.baseURL('anthropic'), apiKey: 'any' }),
    openai('gpt-5.4', { baseURL: provider.baseURL('openai-responses'), apiKey: 'any' }),
  ],
  policy: { retry: { baseDelayMs: 20 } }, // as the default, but in a hurry
});

const outcome = await agent.run('What is Rerail?');
console.log(outcome.type); // completed
for (const { failure, recovery } of outcome.recoveries) console.log(failure.code, '→', recovery);
// QUOTA_EXCEEDED → fall-back: an empty account is never asked twice
// OVERLOADED → retry

await provider.close();
