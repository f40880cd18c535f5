import { createAgent } from 'rerail';
import { team } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';

const sources = createAgent({ model: scriptedModel(['Two papers, both of 2024.'], { repeat: 'last' }) });
const prices = createAgent({ model: scriptedModel([{ failure: 'INVALID_REQUEST' }]) });
const lead = createAgent({
  name: 'lead',
  model: scriptedModel([
    {
      toolCalls: [
        { name: 'sources', arguments: { task: 'Papers about trams and house prices, since 2024' } },
        { name: 'prices', arguments: { task: 'What a kilometre of tram costs' } },
      ],
    },
    'There are two papers. What it costs could not be found out.',
  ]),
});

const desk = team({
  lead,
  agents: { sources, prices },
  members: { sources: { description: 'Finds papers.', retry: 'quick' }, prices: { timeoutMs: 60_000 } },
});

const ends: Record<string, string> = {};
const outcome = await desk.run('Is a tram worth it?', {
  onEvent: (event) => {
    if (event.type !== 'child-event' || event.event.type !== 'run-finished') return;
    ends[event.node] = event.event.outcome.type; // Everything that a member tells is heard here.
  },
});
console.log(ends['sources'], ends['prices']); // completed failed: one that fails harms no other
if (outcome.type === 'completed') console.log(outcome.text, outcome.usage.requests);
// There are two papers. What it costs could not be found out. 4
