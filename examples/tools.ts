import { createAgent, tool } from 'rerail';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

// A model that makes the mistakes models make: a tool that does not exist, arguments of the wrong type, then a good call,
// then a tool that fails at first.
const model = scriptedModel([
  { toolCalls: [{ name: 'find_ordr', arguments: { orderId: '17' } }] },
  { toolCalls: [{ name: 'find_order', arguments: { orderId: 17 } }] },
  { toolCalls: [{ name: 'find_order', arguments: { orderId: '17' } }] },
  { toolCalls: [{ name: 'refund', arguments: { orderId: '17', cents: 4200 } }] },
  'Order 17 is refunded.',
]);

let lookups = 0;
const findOrder = tool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  input: z.object({ orderId: z.string() }),
  effect: 'read', // harmless to repeat, so a passing failure is retried without a word to the model
  execute: ({ orderId }, { fail }) => {
    lookups += 1;
    if (lookups === 1) fail('The order service is restarting', { code: 'SERVER_ERROR', retryable: true });
    return { orderId, cents: 4200, state: 'paid' };
  },
});

const refunds = new Map<string, number>();
const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string(), cents: z.number().int() }),
  effect: 'once', // the default: at most once; a call whose end nobody saw is checked, never repeated
  execute: ({ orderId, cents }, { idempotencyKey }) => {
    refunds.set(idempotencyKey, cents);
    return `Refunded ${cents} cents of order ${orderId}`;
  },
  verify: (_input, { idempotencyKey }) => ({ happened: refunds.has(idempotencyKey) }),
});

const agent = createAgent({ model, tools: [findOrder, refund], policy: { retry: { baseDelayMs: 10 } } });
const outcome = await agent.run('Refund order 17', {
  onEvent: (event) => {
    if (event.type === 'recovery') console.log(event.failure.code, '→', event.recovery);
  },
});
// TOOL_NOT_FOUND → tell-model
// VALIDATION_ERROR → tell-model
// SERVER_ERROR → retry

if (outcome.type === 'completed') console.log(outcome.text, refunds.size); // Order 17 is refunded. 1
