import { createAgent, tool } from 'rerail';
import type { Hook } from 'rerail';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const model = scriptedModel([
  { toolCalls: [{ name: 'delete_file', arguments: { path: '/etc/passwd' } }] },
  'I was not allowed to delete it. Write to me at ann@example.org.',
]);
const deleteFile = tool({
  name: 'delete_file',
  description: 'Deletes a file.',
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `Deleted ${path}`,
});

// Sees everything and changes nothing. One that fails is noted, and the run goes on.
const count = { events: 0 };
const watch: Hook = { name: 'watch', kind: 'observer', on: {}, onEvent: () => void (count.events += 1) };

// Says yes or no. One that fails means no.
const guard: Hook = {
  name: 'only-workspace',
  kind: 'guardrail',
  on: {
    'before-tool': ({ call }) =>
      JSON.stringify(call.input).includes('/etc/')
        ? { action: 'halt', reason: 'outside the workspace' }
        : undefined,
  },
};

// Changes what goes by. One that fails ends its step.
const hideAddresses: Hook = {
  name: 'hide-addresses',
  kind: 'transformer',
  on: {
    'after-model': ({ result }) =>
      result.toolCalls.length > 0
        ? undefined
        : { action: 'modify', text: result.text.replaceAll(/\S+@\S+[^\s.]/g, '[address]') },
  },
};

const agent = createAgent({ model, tools: [deleteFile], hooks: [watch, guard, hideAddresses] });
const outcome = await agent.run('Delete /etc/passwd');
if (outcome.type === 'completed') console.log(outcome.text);
// I was not allowed to delete it. Write to me at [address].
console.log(count.events > 5); // true
