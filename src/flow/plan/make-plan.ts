import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { PlanAbout, PlanDefinition, PlanNode, PlanQuestion, PlanStep } from './plan-types.ts';
import {
  aboutData,
  joinParts,
  showCapabilities,
  showFailures,
  showReasons,
  showSteps,
  showTask,
  showValues,
} from './show-about.ts';

/** What a planner says: steps, that nothing is left to do, or what it must know first. */
export type Planned =
  | { readonly type: 'steps'; readonly steps: readonly PlanStep[] }
  | { readonly type: 'done' }
  | { readonly type: 'question'; readonly question: string };

/** The planner of a mode: the whole plan at once, or one step at a time. */
export function makePlan(mode: PlanDefinition['mode']): PlanNode<Planned> {
  return planners[mode];
}

const planners = {
  'plan-first': { name: 'make_plan', ask: askForPlan, read: readPlan },
  'step-by-step': { name: 'make_plan', ask: askForStep, read: readStep },
} as const satisfies Readonly<Record<PlanDefinition['mode'], PlanNode<Planned>>>;

const howSteps =
  'A step has a key of its own (a short name), a capability of the list, an objective in one sentence, and for each value that the capability requires the key of the step that provides a value of that name: an earlier step, or a finished one. Nothing else may be passed on.';
const noInvention =
  'Use only capabilities of the list. Never invent one, and never assume a value that no step provides.';

function askForPlan(about: PlanAbout): PlanQuestion {
  const { progress, stepsLeft } = about;
  const isAgain = progress.done.length > 0 || progress.failed.length > 0;
  return {
    instructions: joinParts(
      'Make a plan for the task: the steps in the order in which they are taken, as few as possible.',
      howSteps,
      noInvention,
      isAgain
        ? 'An earlier plan did not work out. Finished steps stay done: keep them, refer to their values by their keys, and list only what is still to do. Do not simply repeat what failed.'
        : undefined,
      mayAsk(about),
      aboutData,
    ),
    prompt: promptOf(about, `At most ${stepsLeft} steps.`),
    form: formOf({}),
  };
}

function askForStep(about: PlanAbout): PlanQuestion {
  const { stepsLeft } = about;
  return {
    instructions: joinParts(
      'Say what the next step for the task is: exactly one. Where the finished steps have given everything that the task needs, say that it is done.',
      howSteps,
      noInvention,
      'Finished steps stay done. Do not simply repeat what failed.',
      mayAsk(about),
      aboutData,
    ),
    prompt: promptOf(
      about,
      stepsLeft > 0 ? `At most ${stepsLeft} more steps.` : 'No more steps may be taken: say that it is done.',
    ),
    form: formOf({ isDone: { type: 'boolean', description: 'Nothing is left to do.' } }),
  };
}

function mayAsk({ mayAsk: may }: PlanAbout): string {
  return may
    ? 'Only where the task cannot be planned without knowing more of the person, give no step and ask one question.'
    : 'The person cannot be asked: leave "question" empty and plan with what is known.';
}

function promptOf(about: PlanAbout, bound: string): string {
  const { progress, capabilities } = about;
  return joinParts(
    showTask(about),
    showCapabilities(capabilities),
    showFinished(about),
    showValues(progress),
    showFailures(progress),
    showReasons(about),
    bound,
  );
}

function showFinished({ progress }: PlanAbout): string {
  const { done, finished = [] } = progress;
  return done.length === 0 ? '' : joinParts(`Finished steps: ${done.join(', ')}.`, showSteps(finished));
}

/** Every member is required and none is open, as the strict modes of providers want it. */
function formOf(more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return object({
    steps: { type: 'array', items: stepForm },
    ...more,
    question: { type: 'string', description: 'For the person; empty where there is none.' },
  });
}

function object(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const stepForm = object({
  key: { type: 'string' },
  capability: { type: 'string' },
  objective: { type: 'string' },
  inputs: {
    type: 'array',
    items: object({
      value: { type: 'string', description: 'The name of the required value.' },
      from: { type: 'string', description: 'The key of the step that provides it.' },
    }),
  },
});

type Read = Planned | { readonly problem: string };

function readPlan(answer: Json): Read {
  const read = readSteps(answer);
  if ('problem' in read || read.steps.length > 0)
    return 'problem' in read ? read : { type: 'steps', ...read };
  // Where everything is done, an empty list says so; whether that can be is seen by `checkPlan`.
  return questionOf(answer) ?? { type: 'steps', steps: [] };
}

function readStep(answer: Json): Read {
  const read = readSteps(answer);
  if ('problem' in read) return read;
  const isDone = isRecord(answer) && answer['isDone'] === true;
  const [first, second] = read.steps;
  if (second !== undefined) return { problem: `name one step only, got ${read.steps.length}` };
  if (first !== undefined && isDone) return { problem: 'it cannot be done and have a next step at once' };
  if (first !== undefined) return { type: 'steps', steps: [first] };
  if (isDone) return { type: 'done' };
  return questionOf(answer) ?? { problem: 'name the next step, say that it is done, or ask a question' };
}

const maxQuestionCharacters = 2000;

function questionOf(answer: Json): Extract<Planned, { type: 'question' }> | undefined {
  const question = isRecord(answer) ? answer['question'] : undefined;
  if (typeof question !== 'string' || question.trim() === '') return undefined;
  return { type: 'question', question: question.trim().slice(0, maxQuestionCharacters) };
}

function readSteps(answer: Json): { readonly steps: readonly PlanStep[] } | { readonly problem: string } {
  const given: unknown = isRecord(answer) ? (answer['steps'] ?? []) : undefined;
  if (!Array.isArray(given)) return { problem: '"steps" must be a list of steps' };
  const steps: PlanStep[] = [];
  for (const [index, step] of (given as readonly unknown[]).entries()) {
    const read = readOne(step, index + 1);
    if (typeof read === 'string') return { problem: read };
    steps.push(read);
  }
  return { steps };
}

const maxObjectiveCharacters = 2000;

function readOne(step: unknown, number: number): PlanStep | string {
  if (!isRecord(step)) return `step ${number} must be an object with key, capability, objective and inputs`;
  const { key, capability, objective } = step;
  if (typeof key !== 'string' || key === '') return `"key" of step ${number} must be a text`;
  if (typeof capability !== 'string') return `"capability" of step "${key}" must be a text`;
  if (typeof objective !== 'string') return `"objective" of step "${key}" must be a text`;
  const inputs = readInputs(step['inputs'] ?? []);
  if (inputs === undefined)
    return `"inputs" of step "${key}" must be a list of { value, from }, each value once`;
  return { key, capability, objective: objective.slice(0, maxObjectiveCharacters), inputs };
}

/** A list of pairs, as the form asks, or an object, as models without a form tend to write it. */
function readInputs(given: unknown): Readonly<Record<string, string>> | undefined {
  const pairs = Array.isArray(given)
    ? given.map((pair: unknown) => (isRecord(pair) ? [pair['value'], pair['from']] : []))
    : Object.entries(isRecord(given) ? given : { '': undefined });
  const inputs = new Map<string, string>();
  for (const [value, from] of pairs) {
    if (typeof value !== 'string' || typeof from !== 'string' || inputs.has(value)) return undefined;
    inputs.set(value, from);
  }
  return Object.fromEntries(inputs);
}
