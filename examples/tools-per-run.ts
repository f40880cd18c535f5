import { createAgent, tool } from 'rerail';
import type { Tool } from 'rerail';
import { memoryStore, scriptedModel } from 'rerail/testing';

const empty = { type: 'object', properties: {} };
const model = scriptedModel([
  { toolCalls: [{ name: 'my_orders' }] },
  { toolCalls: [{ name: 'refund' }] },
  'Order 17 is refunded.',
]);
const store = memoryStore();
const agent = createAgent({ name: 'desk', model, store });

// Tools that belong to one customer: each run has its own.
const toolsOf = (customer: string): readonly Tool[] => [
  tool({
    name: 'my_orders',
    description: 'Lists the orders of the customer.',
    input: empty,
    effect: 'read',
    execute: () => `Orders of ${customer}: 17`,
  }),
  tool({
    name: 'refund',
    description: 'Refunds the last order of the customer.',
    input: empty,
    permission: 'ask',
    execute: () => `Refunded an order of ${customer}`,
  }),
];

// The first answer must call "my_orders"; after it the model decides.
const first = await agent.run('Refund my order', {
  runId: 'ada-1',
  tools: toolsOf('Ada'),
  toolChoice: { name: 'my_orders' },
});
console.log(
  first.type,
  model.calls.map(({ request }) => request.toolChoice ?? 'auto'),
);

// Functions are not on record: a resume needs the tools again, and says which are missing.
const answer = { approved: true };
await agent.resume('ada-1', { answer }).catch((error: unknown) => {
  if (error instanceof Error) console.log(error.message);
});
const outcome = await agent.resume('ada-1', { answer, tools: toolsOf('Ada') });
if (outcome.type === 'completed') console.log(outcome.text);
