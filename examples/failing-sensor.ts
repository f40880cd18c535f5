import { capability, plan } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

const readSensor = capability({
  name: 'read_sensor',
  description: 'The temperature of the hall now, from the sensor.',
  provides: { celsius: z.number() },
  effect: 'read',
  execute: () => {
    throw new Error('no signal on line 4');
  },
  // Trying again will not help, another plan may: the severity is the route.
  classifyError: () => ({ severity: 'replanning', message: 'The sensor of the hall does not answer' }),
});
const readLog = capability({
  name: 'read_log',
  description: 'The last temperature that the heating wrote down.',
  provides: { celsius: z.number() },
  effect: 'read',
  execute: () => ({ celsius: 19 }),
});
const tellShift = capability({
  name: 'tell_shift',
  description: 'Tells the night shift a temperature.',
  requires: { celsius: z.number() },
  execute: ({ celsius }) => console.log(`to the night shift: ${celsius} degrees`), // effect: 'once' is the default
});

// What a model would answer, question by question: the task, the capabilities, a plan, another plan, the answer.
const tell = (from: string): object => ({
  key: 'tell',
  capability: 'tell_shift',
  objective: 'Tell it.',
  inputs: [{ value: 'celsius', from }],
});
const model = scriptedModel([
  JSON.stringify({ task: 'Tell the night shift how warm the hall is.' }),
  JSON.stringify({ capabilities: ['read_sensor', 'read_log', 'tell_shift'], none: '' }),
  JSON.stringify({
    steps: [
      { key: 'measure', capability: 'read_sensor', objective: 'Measure.', inputs: [] },
      tell('measure'),
    ],
    question: '',
  }),
  JSON.stringify({
    steps: [
      { key: 'look_up', capability: 'read_log', objective: 'Look it up.', inputs: [] },
      tell('look_up'),
    ],
    question: '',
  }),
  'The sensor does not answer. By the log it was 19 degrees, and the night shift knows.',
]);

const operator = plan({ model, capabilities: [readSensor, readLog, tellShift] });
const outcome = await operator.run('How warm is the hall? Tell the night shift.', {
  onEvent: (event) => {
    if (event.type !== 'tool-started' || event.name !== 'make_plan') return;
    console.log('planning', (event.input as { readonly because?: string }).because ?? '');
  },
});
// planning
// planning Step "measure" (read_sensor): The sensor of the hall does not answer
// to the night shift: 19 degrees

for (const { name, status, reason } of outcome.nodes ?? []) console.log(status, name, reason);
// failed measure read_sensor: Measure.
// succeeded look_up read_log: Look it up.
// succeeded tell tell_shift: Tell it.
if (outcome.type === 'completed') console.log(outcome.text);
