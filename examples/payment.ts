import { appendFileSync } from 'node:fs';
import { createAgent, tool } from 'rerail';
import { sqlite } from 'rerail/storage/sqlite';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const pay = tool({
  name: 'pay',
  description: 'Pays an invoice.',
  input: z.object({ invoice: z.string() }), // effect: 'once' is the default
  execute: ({ invoice }) => {
    appendFileSync('bank.txt', `${invoice}\n`); // the bank has the money …
    process.kill(process.pid, 'SIGKILL'); // … and nobody has heard of it
  },
});
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? 'Invoice 17 is paid.'
    : { toolCalls: [{ name: 'pay', arguments: { invoice: '17' } }] },
);
const agent = createAgent({ name: 'payer', model, tools: [pay], store: sqlite('runs.db') });

let outcome = await agent.run('Pay invoice 17', { runId: 'invoice-17' }); // a run that is on record goes on
if (outcome.type === 'suspended' && outcome.reason === 'in-doubt') {
  console.log(outcome.request?.why); // nothing is paid a second time: somebody looks at the bank's own list
  outcome = await agent.resume('invoice-17', { answer: { happened: true, result: 'paid' } });
}
if (outcome.type === 'completed') console.log(outcome.text); // Invoice 17 is paid.
