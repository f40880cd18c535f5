import { createAgent, tool } from 'rerail';
import { handOff } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const triage = createAgent({
  instructions: 'Find out what it is about, then pass the conversation on.',
  model: scriptedModel([
    { toolCalls: [{ name: 'hand_off', arguments: { to: 'refunds', reason: 'about money' } }] }, // there is no such agent
    { toolCalls: [{ name: 'hand_off', arguments: { to: 'billing', reason: 'about money' } }] },
  ]),
});

const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string(), cents: z.number().int() }),
  execute: ({ cents }) => `Refunded ${cents} cents`,
});
const billing = createAgent({
  instructions: 'You see to bills and refunds.',
  model: scriptedModel([
    { toolCalls: [{ name: 'refund', arguments: { orderId: '17', cents: 4200 } }] },
    'Order 17 is refunded: 42.00.',
  ]),
  tools: [refund], // its own permission is `allow` …
});

const support = handOff({
  name: 'support',
  agents: { triage, billing, technical: createAgent({ model: scriptedModel([]) }) },
  start: 'triage',
  policy: { permissions: [{ tool: 'refund', permission: 'ask', why: 'it is money' }] }, // … but nobody gains a right by a hand-off
});

const waiting = await support.run('I was charged twice for order 17.', { runId: 'ticket-8' });
for (const { name, status, reason } of waiting.nodes ?? []) console.log(name, status, reason ?? '');
// triage succeeded passed on to "billing": about money
// billing waiting
if (waiting.type === 'suspended' && waiting.request?.type === 'approval') {
  const { tool: name, input, why } = waiting.request;
  console.log(name, input, why); // refund { orderId: '17', cents: 4200 } it is money
}

const outcome = await support.resume('ticket-8', { answer: { approved: true } });
if (outcome.type === 'completed') console.log(outcome.text); // Order 17 is refunded: 42.00.
