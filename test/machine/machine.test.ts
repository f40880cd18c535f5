import { RerailError, createFailure, tool } from 'rerail';
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
import type { Action, Event, MachineDefinition, State, Transition } from 'rerail/machine';
import type { Model } from 'rerail/model';
import { scriptedModel } from 'rerail/testing';
import type { ScriptEntry } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

const input = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const look = tool({ name: 'look', description: 'Looks.', input, effect: 'read', execute: () => undefined });
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  input,
  effect: 'once',
  permission: 'ask',
  execute: () => undefined,
});
const tools = [look, pay];

interface Driver {
  readonly script: readonly ScriptEntry[];
  readonly definition?: Partial<MachineDefinition>;
  readonly run?: (name: string) => string;
  readonly answer?: boolean;
}

/** JSON and back, as a record on a disk would do. */
const through = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

async function eventOf(state: State, action: Action, { model, run, answer }: Driver & { model: Model }) {
  switch (action.type) {
    case 'call-model':
      return modelFinished(state, await model.call(requestOf(state, { instructions: 'Be brief.', tools })), {
        tools,
        wallMs: 1000,
      });
    case 'run-tools':
      return toolsFinished(
        state,
        action.calls.map(({ index }) => {
          try {
            return { index, content: run?.(callOf(state, index).name) ?? 'done' };
          } catch (error) {
            return { index, error };
          }
        }),
        { tookMs: 5 },
      );
    case 'wait':
      return { type: 'waited', tookMs: action.delayMs } as const;
    case 'ask-person':
      return {
        type: 'person-answered',
        answer: { given: true, value: answer === true },
        wallMs: 2000,
      } as const;
    default:
      throw new Error(`Nobody performs ${action.type}`);
  }
}

async function drive(
  driver: Driver,
): Promise<{ end: State; events: Event[]; performed: string[]; first: Transition }> {
  const model = scriptedModel(driver.script);
  const first = createState({ name: 'a', models: [model], tools, ...driver.definition }, 'Do it.');
  const events: Event[] = [];
  const performed: string[] = [];
  let { state, actions } = first;
  for (let steps = 0; steps < 100 && outcomeOf(state) === undefined; steps += 1) {
    const work = actions.at(-1) as Action; // There is one as long as the run goes on.
    performed.push(work.type);
    const event = await eventOf(through(state), through(work), { ...driver, model });
    events.push(event);
    ({ state, actions } = transition(through(state), through(event)));
  }
  return { end: state, events, performed, first };
}

const calls = (name: string, id = '7'): ScriptEntry => ({ toolCalls: [{ name, arguments: { id } }] });

const journeys: readonly (readonly [string, Driver, readonly string[], object])[] = [
  ['an answer', { script: ['Done.'] }, ['call-model'], { type: 'completed', text: 'Done.' }],
  [
    'a tool',
    { script: [calls('look'), 'Done.'] },
    ['call-model', 'run-tools', 'call-model'],
    { type: 'completed' },
  ],
  [
    'a retry',
    { script: [{ failure: 'OVERLOADED' }, 'Done.'] },
    ['call-model', 'wait', 'call-model'],
    { type: 'completed' },
  ],
  ['a failure for good', { script: [{ failure: 'AUTHENTICATION_ERROR' }] }, ['call-model'], {}],
  [
    'a tool that is not there',
    { script: [calls('lok'), 'Done.'] },
    ['call-model', 'call-model'],
    { type: 'completed', recoveries: [{ failure: { code: 'TOOL_NOT_FOUND' } }] },
  ],
  [
    'arguments that do not fit',
    { script: [{ toolCalls: [{ name: 'look', arguments: { id: 7 } }] }, 'Done.'] },
    ['call-model', 'call-model'],
    { type: 'completed', recoveries: [{ failure: { code: 'VALIDATION_ERROR' } }] },
  ],
  [
    'a person who says yes',
    { script: [calls('pay'), 'Paid.'], answer: true },
    ['call-model', 'ask-person', 'run-tools', 'call-model'],
    { type: 'completed', text: 'Paid.' },
  ],
  [
    'a person who says no',
    { script: [calls('pay'), 'Not paid.'], answer: false },
    ['call-model', 'ask-person', 'call-model'],
    { type: 'completed', text: 'Not paid.' },
  ],
  [
    'a limit',
    { script: [calls('look', '1'), calls('look', '2'), 'So far.'], definition: { limits: { maxTurns: 2 } } },
    ['call-model', 'run-tools', 'call-model', 'run-tools', 'call-model'],
    { type: 'stopped', reason: 'max-turns', partial: 'So far.' },
  ],
];

describe('rerail/machine', () => {
  it.each(journeys)(
    'goes through %s, with state and events as JSON',
    async (...[, driver, performed, outcome]) => {
      const run = await drive(driver);
      expect(run.performed).toEqual(performed);
      expect(outcomeOf(run.end)).toMatchObject(outcome);
      expect(through(run.end)).toEqual(run.end);
    },
  );

  it.each(journeys)('folds the record of %s to the same state', async (_, driver) => {
    const { first, events, end } = await drive(driver);
    const folded = through(events).reduce(
      (state, event) => transition(state, event).state,
      through(first.state),
    );
    expect(folded).toEqual(end);
  });

  it('tells a tool that threw to the model', async () => {
    const run = await drive({
      script: [calls('look'), 'It is gone.'],
      run: () => {
        throw RerailError.from(
          createFailure('TOOL_EXECUTION_ERROR', { message: 'No such thing', origin: 'tool' }),
        );
      },
    });
    expect(JSON.stringify(run.end.history)).toContain('No such thing');
    expect(outcomeOf(run.end)).toMatchObject({ type: 'completed', text: 'It is gone.' });
  });

  it('changes no state that it is handed', async () => {
    const { first, events } = await drive({ script: [calls('look'), 'Done.'] });
    const before = JSON.stringify(first.state);
    const [event] = events;
    if (event !== undefined) transition(first.state, event);
    expect(JSON.stringify(first.state)).toBe(before);
  });

  it('answers an event that has no meaning with INVALID_STATE, and ends where it is cancelled', () => {
    const { state } = createState({ name: 'a', models: [{ provider: 'p', name: 'm' }] }, 'Do it.');
    expect(isFinal(state)).toBe(false);
    expect(outcomeOf(state)).toBeUndefined();
    const odd = transition(state, { type: 'waited', tookMs: 1 });
    expect(odd.invalid).toMatchObject({ code: 'INVALID_STATE' });
    expect(odd.state).toEqual(state);
    const cancelled = transition(state, { type: 'cancelled' }).state;
    expect(isFinal(cancelled)).toBe(true);
    expect(outcomeOf(cancelled)).toMatchObject({ type: 'cancelled' });
  });

  it('says what there is to do first', () => {
    const { actions } = createState({ name: 'a', models: [{ provider: 'p', name: 'm' }] }, 'Do it.');
    expect(actions.map(({ type }) => type)).toEqual(['tell', 'tell', 'call-model']);
  });

  it.each([
    ['no models', { name: 'a' }, /needs "models"/],
    ['no model in the list', { name: 'a', models: [] }, /at least one model/],
    ['no name', { models: [{ provider: 'p', name: 'm' }] }, /needs "name"/],
    [
      'a misspelt option',
      { name: 'a', models: [{ provider: 'p', name: 'm' }], limit: {} },
      /did you mean "limits"/,
    ],
    [
      'a limit that is none',
      { name: 'a', models: [{ provider: 'p', name: 'm' }], limits: { maxTurns: -1 } },
      /maxTurns/,
    ],
  ])('refuses %s', (_, definition, message) => {
    expect(() => createState(definition as MachineDefinition, 'x')).toThrow(message);
  });

  it.each([
    ['nothing', undefined, /an event with a "type", got nothing/],
    ['a text', 'waited', /an event with a "type", got the text "waited"/],
    ['a type that there is not', { type: 'model-finished' }, /no event "model-finished": /],
  ])('refuses %s in the place of an event', (_, event, message) => {
    const { state } = createState({ name: 'a', models: [{ provider: 'p', name: 'm' }] }, 'x');
    expect(() => transition(state, event as unknown as Event)).toThrow(message);
  });

  it.each([5, '', undefined])('refuses %j as input', (given) => {
    const definition = { name: 'a', models: [{ provider: 'p', name: 'm' }] };
    expect(() => createState(definition, given as unknown as string)).toThrow(/a text or a list of messages/);
  });

  it('refuses to make an event for a phase that has none', async () => {
    const { end } = await drive({ script: ['Done.'] });
    expect(() => requestOf(end)).toThrow(/phase "ended"/);
    expect(() => callOf(end, 0)).toThrow(/no call 0/);
  });
});
