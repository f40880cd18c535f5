import { createAgent, tool } from 'rerail';
import { simulated } from 'rerail/providers/simulated';
import { z } from 'zod';

const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  effect: 'read', // may be repeated; without a word a tool is `once`, and is never repeated by itself
  execute: ({ city }) => `4 degrees and snow in ${city}`,
});

// The embedded model needs no key. In earnest: model: [anthropic('claude-sonnet-5'), openai('gpt-5.4')]
const agent = createAgent({ model: simulated(), tools: [weather] });

const outcome = await agent.run('What is the weather in Oslo?'); // never throws for a failure
if (outcome.type === 'completed') console.log(outcome.text);
else if (outcome.type === 'failed') console.log(outcome.report.person.text);
else console.log(outcome.type); // stopped, suspended or cancelled, each with its reason
