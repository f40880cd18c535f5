import { createAgent } from 'rerail';
import { flow, graph, parallel, sequence } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const model = scriptedModel;
const policy = { retry: 'none' } as const; // so that failures are seen
const agents = {
  facts: createAgent({
    model: model(['{"place":"Oslo","degrees":4}']),
    output: z.object({ place: z.string() }),
  }),
  story: createAgent({ model: model([{ failure: 'OVERLOADED' }, 'It snows in Oslo.']), policy }),
  figures: createAgent({ model: model([{ failure: 'SERVER_ERROR' }]), policy }),
  almanac: createAgent({ model: model(['In an average year it has 2 degrees.']) }),
  legal: createAgent({ model: model(['never asked']) }),
  editor: createAgent({ model: model(['Snow in Oslo, 2 degrees warmer than usual.']) }),
};

const page = flow(sequence('facts', parallel('story', 'figures', 'legal'), 'editor'), {
  agents,
  nodes: {
    story: { retry: 'quick', accepts: z.object({ place: z.string() }) },
    figures: { onError: { fallback: 'almanac' }, timeoutMs: 60_000 },
    legal: { when: ({ task }) => task.includes('court'), onError: 'skip' },
    editor: { input: ({ task, before }) => `${task} Put together: ${before.join(', ')}.` },
  },
});
const outcome = await page.run('A page about the weather.');
for (const { name, status, reason } of outcome.nodes ?? []) console.log(name, status, reason ?? '');
// facts succeeded
// story succeeded
// figures failed "almanac" took its place
// legal skipped its "when" returned false
// editor succeeded
// almanac succeeded in place of "figures"

// What `>>` and `|` cannot say: `story` is told what `facts` and `figures` found, `legal` what `figures` found alone.
const edges = graph([
  ['facts', 'story'],
  ['figures', 'story'],
  ['figures', 'legal'],
]);
console.log(flow(edges, { agents }).name); // flow

try {
  flow('facts >> (stroy | figures) >> editor', { agents });
} catch (error) {
  if (error instanceof Error) console.log(error.message);
}
// There is no agent "stroy" for the flow: did you mean "story"?
//   facts >> (stroy | figures) >> editor
//             ^
