import { createAgent } from 'rerail';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

// A model that first answers in the wrong form, then in the right one with a code fence around it.
const model = scriptedModel([
  '{"city":"Oslo","degrees":"four"}',
  '```json\n{"city":"Oslo","degrees":4}\n```',
]);

const agent = createAgent({ model, output: z.object({ city: z.string(), degrees: z.number() }) });
const outcome = await agent.run('What is the weather in Oslo?');

if (outcome.type === 'completed') console.log(outcome.output.city, outcome.output.degrees); // Oslo 4
for (const { failure, recovery } of outcome.recoveries) console.log(failure.code, '→', recovery);
// OUTPUT_PARSE_ERROR → re-ask
