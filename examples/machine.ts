// The state machine without the runtime: this program decides when and where everything is done.
//
//   npm run example machine
import { tool } from 'rerail';
import {
  callOf,
  createState,
  isFinal,
  modelFinished,
  outcomeOf,
  requestOf,
  toolsFinished,
  transition,
} from 'rerail/machine';
import type { Action, Event, State } from 'rerail/machine';
import { scriptedModel } from 'rerail/testing';

const weather: Readonly<Record<string, string>> = { Oslo: '4 degrees' };

const tools = [
  tool({
    name: 'get_weather',
    description: 'Says how warm it is.',
    input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effect: 'read',
    execute: () => undefined, // Not called: this program runs the calls itself.
  }),
];

const model = scriptedModel([
  { failure: 'SERVER_ERROR' },
  { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  'It is cold in Oslo: 4 degrees.',
]);

/** Does what one action says, and gives the event that it leads to. */
async function perform(state: State, action: Action): Promise<Event | undefined> {
  switch (action.type) {
    case 'call-model': {
      console.log('call-model');
      const response = await model.call(requestOf(state, { tools }));
      return modelFinished(state, response, { tools, wallMs: Date.now() });
    }
    case 'run-tools': {
      const results = action.calls.map(({ index }) => {
        const call = callOf(state, index);
        const { city = '' } = 'input' in call ? (call.input as { city?: string }) : {};
        console.log('run-tools', call.name, JSON.stringify({ city }));
        return { index, content: weather[city] ?? 'unknown' };
      });
      return toolsFinished(state, results);
    }
    case 'wait':
      console.log('wait', action.delayMs); // A real driver waits.
      return { type: 'waited', tookMs: action.delayMs };
    case 'finish':
      console.log('finish');
      return undefined;
    default:
      return undefined; // `tell` is for whoever watches; this agent asks nobody.
  }
}

let { state, actions } = createState({ name: 'weather', models: [model], tools }, 'Is it cold in Oslo?');
while (!isFinal(state)) {
  const work = actions.at(-1); // After what is told, one action brings the next event.
  const event = work && (await perform(state, work));
  if (event === undefined) break;
  ({ state, actions } = transition(state, event));
}
for (const action of actions) await perform(state, action);
const outcome = outcomeOf(state);
console.log(outcome?.type === 'completed' ? outcome.text : outcome, isFinal(state));
