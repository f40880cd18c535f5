import { createAgent, tool } from 'rerail';
import { scriptedModel } from 'rerail/testing';

const findOrder = tool({
  name: 'find_order',
  description: 'Finds an order.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => 'Order 17 is on its way.',
});

const small = scriptedModel(['Order 17 is on its way.'], { name: 'small' });
const large = scriptedModel([{ toolCalls: [{ name: 'find_order' }] }], { name: 'large' });

// The large model decides what to do, the small one writes the answer; each is the fallback of the other.
const agent = createAgent({
  model: [small, large],
  tools: [findOrder],
  selectModel: ({ turn }) => (turn === 1 ? large : small),
});

const outcome = await agent.run('Where is order 17?', {
  onEvent: (event) => {
    if (event.type === 'attempt-started') console.log(event.turn, event.model); // 1 large, 2 small
  },
});
if (outcome.type === 'completed') console.log(outcome.text);
