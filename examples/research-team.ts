import { createAgent } from 'rerail';
import { flow } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';

// Scripted models need no key. The provider of `costs` is down when it is first asked.
const models = {
  outline: scriptedModel(['Say when the first line opened, what it cost, and who uses it.']),
  history: scriptedModel(['The first line opened in 1998.']),
  costs: scriptedModel([{ failure: 'SERVER_ERROR' }, 'A kilometre cost 20 million euros.']),
  writer: scriptedModel(['The line of 1998 cost 20 million euros a kilometre.']),
};

const report = flow('outline >> (history | costs) >> writer', {
  name: 'report',
  agents: {
    outline: createAgent({ model: models.outline }),
    history: createAgent({ model: models.history }),
    costs: createAgent({ model: models.costs, policy: { retry: 'none' } }), // so that it is seen to fail
    writer: createAgent({ model: models.writer }),
  },
});

const failed = await report.run('Write about the tram.', { runId: 'tram' });
for (const { name, status, runId } of failed.nodes ?? []) console.log(name, status, runId ?? '');
// outline succeeded tram/outline
// history succeeded tram/history
// costs failed tram/costs
// writer not-reached

const outcome = await report.resume('tram'); // what has succeeded is not done again
if (outcome.type === 'completed') console.log(outcome.text); // The line of 1998 cost 20 million euros a kilometre.
console.log(Object.values(models).map(({ calls }) => calls.length)); // [ 1, 1, 2, 1 ]
