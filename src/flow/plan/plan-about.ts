import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { boundText } from '../../base/text.ts';
import type { Message } from '../../model/message.ts';
import { callKey, nodeNames } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { PlanAbout, PlanDefinition } from './plan-types.ts';

/** The plan that is folded, and what it was asked. */
export interface Planning {
  readonly definition: PlanDefinition;
  readonly conversation: string;
}

/** What a node that is called with this knows. */
export function aboutOf(
  planning: Planning,
  state: PlanState,
  call: { readonly name: string; readonly input: Json },
): PlanAbout {
  const { definition, conversation } = planning;
  const { capabilities, limits } = definition;
  const { chosen } = state;
  const because = questionOf(call) ?? state.because;
  const subject = subjectOf(call.input);
  const problem = state.unusable.get(callKey(call.name, subject))?.problem;
  const isChoosing = call.name !== nodeNames.plan || chosen === undefined;
  return {
    conversation,
    capabilities: isChoosing ? capabilities : capabilities.filter(({ name }) => chosen.includes(name)),
    progress: state,
    mayAsk: state.clarifications.length < limits.maxClarifications,
    stepsLeft: Math.max(0, limits.maxSteps - state.done.length),
    ...(subject === undefined ? {} : { subject }),
    ...(problem === undefined ? {} : { problem }),
    ...(because === undefined ? {} : { because }),
  };
}

/** Which capability a question of `classify: 'each'` is about. */
function subjectOf(input: Json): string | undefined {
  const subject = isRecord(input) ? input['subject'] : undefined;
  return typeof subject === 'string' ? subject : undefined;
}

/** What was said before the first call, as a text. */
export function conversationOf(task: readonly Message[]): string {
  const said = task.filter(({ role }) => role === 'user' || role === 'assistant');
  if (said.length === 1) return said.map(textOf).join('');
  return said.map((message) => `${message.role}: ${textOf(message)}`).join('\n\n');
}

const maxTaskCharacters = 8000;

/** The last message of the user. */
export function taskOf(task: readonly Message[]): string {
  const last = task.findLast(({ role }) => role === 'user');
  return boundText(last === undefined ? conversationOf(task) : textOf(last), maxTaskCharacters);
}

/** What the person is asked, where it is the person. */
function questionOf({ name, input }: { readonly name: string; readonly input: Json }): string | undefined {
  const question = name === nodeNames.clarify && isRecord(input) ? input['question'] : undefined;
  return typeof question === 'string' ? question : undefined;
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
}
