// Rerail as a contestant of bench/goodput.mjs.
import { createAgent, tool } from '../dist/index.js';
import { openaiCompatible } from '../dist/providers/openai-compatible/index.js';
import { instructions, promptOf, stepSchema, steps, toolDescriptionOf, toolNameOf } from './goodput-task.mjs';

/** @type {import('./goodput.mjs').Create} */
export async function createRerail({ baseURL, work, timeoutMs, retry }) {
  const agent = createAgent({
    name: 'goodput',
    model: openaiCompatible({ name: 'chaos', baseURL, apiKey: 'bench-key' })('chaos'),
    instructions,
    tools: steps.map((step) =>
      tool({
        name: toolNameOf(step),
        description: toolDescriptionOf(step),
        input: stepSchema,
        effect: 'once',
        execute: (input) => work.perform(step, input),
      }),
    ),
    policy: { retry },
    limits: { modelTimeoutMs: timeoutMs },
  });
  return async (task) => {
    const outcome = await agent.run(promptOf(task));
    if (outcome.type === 'completed') return { isCompleted: true, text: outcome.text, ending: 'completed' };
    return { isCompleted: false, text: '', ending: endingOf(outcome) };
  };
}

/** @param {import('../dist/index.js').RunOutcome} outcome */
function endingOf(outcome) {
  const reason = 'reason' in outcome ? ` (${outcome.reason})` : '';
  const failure = 'failure' in outcome && outcome.failure !== undefined ? outcome.failure : undefined;
  return `${outcome.type}${reason}${failure === undefined ? '' : `: ${failure.code}, ${failure.message}`}`;
}
