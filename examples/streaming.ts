import { createAgent } from 'rerail';
import { startChaosServer } from 'rerail/chaos';
import { openai } from 'rerail/providers/openai';

// The first answer breaks off in the middle of a sentence.
const provider = await startChaosServer({ faults: { script: ['reset-mid-stream', null] } });
const model = openai('gpt-5.4', { baseURL: provider.baseURL('openai-responses'), apiKey: 'any' });
const agent = createAgent({ model, policy: { retry: { baseDelayMs: 20 } } });

let shown = '';
const stream = agent.stream('What is Rerail?');
for await (const event of stream) {
  if (event.type === 'text-delta') shown += event.text;
  // Of what was shown only the first `keep` characters still stand: half an answer is taken back, never glued to a new one.
  if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
  if (event.type === 'recovery') console.log(event.failure.code, '→', event.recovery); // STREAM_INTERRUPTED → retry
}

const outcome = await stream.outcome;
console.log(outcome.type === 'completed' && outcome.text === shown); // true

await provider.close();
