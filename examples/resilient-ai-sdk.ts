import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { startChaosServer } from 'rerail/chaos';
import { resilient } from 'rerail/providers/ai-sdk';

// Stands in for two providers, and breaks on purpose: an overload, an empty account, a good answer, a cut stream.
const provider = await startChaosServer({
  faults: { script: ['overloaded', 'quota', null, 'reset-mid-stream', null] },
  model: () => 'The trains run again.',
});
const baseURL = provider.baseURL('openai-chat');
const first = createOpenAICompatible({ name: 'first', baseURL })('large-1');
const second = createOpenAICompatible({ name: 'second', baseURL })('large-2');

// A model as any other to the AI SDK, which no longer retries on top: Rerail does, and asks the second one where it must.
const model = resilient([first, second], {
  retry: { baseDelayMs: 20 }, // as the default, but in a hurry
  delivery: 'whole', // a stream that breaks is tried again unseen
  onEvent: (event) => {
    if (event.type === 'recovery') console.log(event.failure.code, '→', event.recovery);
  },
});

const { text } = await generateText({ model, prompt: 'What is new?' });
// OVERLOADED → retry
// QUOTA_EXCEEDED → fall-back
console.log(text); // The trains run again.

const { textStream } = streamText({ model, prompt: 'And now?' });
// QUOTA_EXCEEDED → fall-back (the empty account cools down: it is not asked)
// STREAM_INTERRUPTED → retry
for await (const piece of textStream) console.log(piece); // the same text once, in pieces

await provider.close();
