import { showName } from '../../model/check/show-value.ts';
import type { NewEvent } from '../../model/store/store.ts';
import { at } from '../record/run-blobs.ts';

/** What happened at an event of a record, in one sentence. Whatever the record holds, it never throws. */
export function describeEvent({ type, body }: NewEvent): string {
  const words = Object.hasOwn(wordsByType, type) ? wordsByType[type] : undefined;
  return words === undefined ? `Something that this program does not know: ${showName(type)}.` : words(body);
}

type Words = (body: unknown) => string;

const wordsByType: Readonly<Record<string, Words>> = {
  began: describeBeginning,
  call: describeCall,
  sleep: (body) => {
    const delayMs = shown(at(body, ['delayMs']));
    return at(body, ['isOver']) === true
      ? `The wait of ${delayMs} ms was over.`
      : `A wait of ${delayMs} ms started.`;
  },
  wait: (body) => {
    const signal = quoted(at(body, ['signal']));
    const came = at(body, ['signalled', 'type']);
    if (came === 'signalled') return `The signal ${signal} was sent, and the run took it.`;
    return came === 'timed-out'
      ? `The signal ${signal} did not come in time.`
      : `The run is waiting for ${signal}.`;
  },
  cancelled: (body) => `Cancellation was requested: ${shown(at(body, ['reason']))}.`,
  suspended: (body) => `The run is suspended: ${shown(at(body, ['reason']))}.`,
  ended: (body) => `The run ended: ${shown(at(body, ['status']))}.`,
  'taken-over': (body) => {
    const crashes = at(body, ['crashes']);
    return crashes === 0
      ? 'Resumed manually.'
      : `Its process was gone, and another one took the run over; crashes so far: ${shown(crashes)}.`;
  },
  changed: (body) => {
    const differences = at(body, ['differences']);
    const list = Array.isArray(differences) ? differences.map(String).join('; ') : 'unknown';
    return `The run was resumed with other code than it was started with: ${list}.`;
  },
  parked: (body) => `No worker resumes the run any more; crashes: ${shown(at(body, ['crashes']))}.`,
  forked: (body) =>
    `Everything before is a copy of run ${quoted(at(body, ['from']))}, up to its event ${shown(at(body, ['seq']))}.`,
  imported: (body) => `Everything before came from a bundle of run ${quoted(at(body, ['run', 'runId']))}.`,
  moved: () => 'Everything before was written elsewhere: no approval before it counts.',
};

function describeBeginning(body: unknown): string {
  const how = at(body, ['input', 'type']);
  if (how === 'start') return 'The run started.';
  const generation = shown(at(body, ['generation']));
  return how === 'resume'
    ? `The run was resumed after it had ended: generation ${generation} started.`
    : `The journal had grown long: generation ${generation} started with the state of the one before.`;
}

function describeCall(body: unknown): string {
  const effect = String(at(body, ['effect']));
  const failed = at(body, ['outcome', 'failure', 'code']);
  if (failed !== undefined) return `The step ${quoted(effect)} failed: ${shown(failed)}.`;
  const words = Object.hasOwn(wordsByEffect, effect) ? wordsByEffect[effect] : undefined;
  const value = at(body, ['outcome', 'value']);
  return words === undefined
    ? `The step ${quoted(effect)} was done.`
    : words({ value, input: at(body, ['input']) });
}

interface Call {
  readonly value: unknown;
  readonly input: unknown;
}

const wordsByEffect: Readonly<Record<string, (call: Call) => string>> = {
  model: ({ value, input }) => {
    const attempt = shown(at(input, ['situation', 'attempt']));
    const code = at(value, ['step', 'failure', 'code']);
    if (code !== undefined) return `Attempt ${attempt} at the model failed: ${shown(code)}.`;
    const calls = at(value, ['step', 'value', 'toolCalls']);
    const count = Array.isArray(calls) ? calls.length : 0;
    return count === 0
      ? 'The model answered.'
      : `The model called ${count === 1 ? 'one tool' : `${count} tools`}.`;
  },
  conduct: ({ value }) => {
    const code = at(value, ['failure', 'code']);
    if (code !== undefined) return `It was decided to end the run: ${shown(code)}.`;
    const calls = at(value, ['answer', 'toolCalls']);
    const names = Array.isArray(calls) ? calls.map((call: unknown) => quoted(at(call, ['name']))) : [];
    if (names.length === 0) return 'It was decided that this is the answer.';
    return `It was decided to call the ${names.length === 1 ? 'node' : 'nodes'} ${names.slice(0, maxShownNames).join(', ')}.`;
  },
  compact: ({ value }) => {
    const strategy = at(value, ['made', 'compaction', 'strategy']);
    return strategy === undefined
      ? 'The conversation was too long, and nothing of it could be left out.'
      : `The conversation was made shorter: ${shown(strategy)}.`;
  },
  adopt: () => 'The imported run took on limits and rules of the agent here.',
  intend: () => 'It was recorded that calls follow which must not happen twice.',
  tool: ({ value }) => {
    const name = quoted(at(value, ['end', 'name']));
    const type = at(value, ['end', 'type']);
    if (type === 'asks') return `The tool ${name} asked a person.`;
    const child = at(value, ['end', 'child', 'runId']);
    if (child === undefined && type !== 'waiting') return `The tool ${name} ended: ${shown(type)}.`;
    const run = child === undefined ? '' : `; its run is ${quoted(child)}`;
    return type === 'waiting'
      ? `The node ${name} is waiting: ${shown(at(value, ['end', 'wait', 'reason']))}${run}.`
      : `The node ${name} ended: ${shown(type)}${run}.`;
  },
  verify: ({ value }) =>
    `It was checked whether the call had happened: ${shown(at(value, ['found', 'type']))}.`,
  hook: ({ value, input }) =>
    `The hooks at ${quoted(at(input, ['point']))} said ${shown(at(value, ['type']))}.`,
  ask: ({ value }) =>
    at(value, ['answer', 'given']) === true ? 'The question was answered.' : 'The question was not answered.',
};

const maxShownCharacters = 200;
const maxShownNames = 20;

function shown(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value));
  return typeof value === 'string' ? value.slice(0, maxShownCharacters) : 'unknown';
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? showName(value) : 'something unknown';
}
