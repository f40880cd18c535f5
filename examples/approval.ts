import { createAgent, tool } from 'rerail';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const model = scriptedModel([
  { toolCalls: [{ name: 'refund', arguments: { orderId: '17', cents: 4200 } }] },
  'Order 17 is refunded.',
]);
const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string(), cents: z.number().int() }),
  execute: ({ cents }) => `Refunded ${cents} cents`,
});

const agent = createAgent({
  model,
  tools: [refund],
  policy: {
    permissions: [
      { tool: 'refund', input: { cents: { over: 1000 } }, permission: 'ask', why: 'over 10 dollars' },
    ],
  },
});

const waiting = await agent.run('Refund order 17', { runId: 'order-17' });
if (waiting.type === 'suspended' && waiting.request?.type === 'approval') {
  const { tool: name, input, why } = waiting.request;
  console.log(name, input, why); // refund { orderId: '17', cents: 4200 } over 10 dollars
}

// Later, from a button or a command. No answer, a late one and an unreadable one mean no.
const outcome = await agent.resume('order-17', { answer: { approved: true } });
if (outcome.type === 'completed') console.log(outcome.text); // Order 17 is refunded.
