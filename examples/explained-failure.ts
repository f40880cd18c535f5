import { createAgent, tool } from 'rerail';
import { scriptedModel } from 'rerail/testing';

const readMeter = tool({
  name: 'read_meter',
  description: 'Reads the meter.',
  input: { type: 'object' },
  effect: 'read',
  onError: 'abort', // without a reading there is nothing to say
  execute: (_input, { fail }) => fail('the meter does not answer', { code: 'IO_ERROR' }),
});

/** Calls the tool; asked once more when the run has failed, it says this about it. */
const modelThatSays = (claim: string): ReturnType<typeof scriptedModel> =>
  scriptedModel([
    { toolCalls: [{ name: 'read_meter', arguments: {} }] },
    JSON.stringify({
      summary: 'The meter did not answer, so the run ended.',
      claims: [{ text: claim, facts: [1] }],
      nextSteps: ['fix-tool', 'resume'],
    }),
  ]);

const claims = [
  'The meter does not answer: IO_ERROR.', // fact 1: The run failed with IO_ERROR: the meter does not answer
  'Somebody pulled the cable 20 minutes ago.', // fact 1 has no 20: a report with an invention in it is worse than none
];
for (const claim of claims) {
  const agent = createAgent({ model: modelThatSays(claim), tools: [readMeter], explain: 'auto' });
  const outcome = await agent.run('What does the meter say?', { runId: 'meter-1' });
  if (outcome.type === 'failed') console.log(outcome.report.explanation?.text ?? outcome.report.person.text);
}
// The meter did not answer, so the run ended.
// - The meter does not answer: IO_ERROR.
// → fix the tool or what it depends on, then resume
// → resume after the last finished turn, once the cause is fixed: await agent.resume("meter-1")
//
// The work could not be finished. …, the report that there is in any case
