// Table: the files that `rerail init` writes.

/** A typed configuration. */
export const configTemplate = `import { defineConfig } from 'rerail/config';

export default defineConfig({
  // The first is asked, the others are the fallback chain. Keys stand in the environment, never here.
  // model: ['anthropic:claude-sonnet-5', 'openai:gpt-5.4'],

  // Given to the agent after the usual instructions.
  // instructions: 'Tests are run with: npm test',

  limits: { maxTurns: 50, maxCostUsd: 5 },

  // "deny" before "ask" before "allow"; the order of the rules means nothing.
  permissions: [{ tool: 'fetch', permission: 'ask' }],

  // Paths that no tool may change, besides .git and this file.
  protect: ['.env'],

  // The least that commands must be held by: 'contained', 'restricted' or 'bare'.
  // sandbox: { min: 'restricted' },
});
`;

/** The same without types and comments, which JSON does not have. */
export const jsonTemplate = `{
  "limits": { "maxTurns": 50, "maxCostUsd": 5 },
  "permissions": [{ "tool": "fetch", "permission": "ask" }],
  "protect": [".env"]
}
`;

/** An agent in code, which runs without a key. */
export const agentTemplate = `import { createAgent, tool } from 'rerail';
import { simulated } from 'rerail/providers/simulated';

const weather = tool({
  name: 'weather',
  description: 'The weather of today in a city.',
  input: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  effect: 'read',
  execute: ({ city }) => \`Sunny in \${String(city)}.\`,
});

// The embedded model only plays a part. For a real one: import { anthropic } from 'rerail/providers/anthropic'.
const agent = createAgent({ model: simulated(), tools: [weather], limits: { maxTurns: 10 } });

const outcome = await agent.run('What is the weather in Oslo?');
console.log(outcome.type === 'completed' ? outcome.text : outcome);
`;
