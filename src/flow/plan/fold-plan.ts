import type { RecordedCall } from '../../agent/conducted.ts';
import type { ConductorView } from '../../runtime/children/conductor.ts';
import { clarify } from './clarify.ts';
import { extractTask } from './extract-task.ts';
import { applyClassified } from './fold-classified.ts';
import { answerOf, askAgain, failNode, keyOf, used } from './fold-call.ts';
import type { EndedCall } from './fold-call.ts';
import { applyApproval, applyPlanned } from './fold-planned.ts';
import { applyStep } from './fold-step.ts';
import { aboutOf, conversationOf, taskOf } from './plan-about.ts';
import type { Planning } from './plan-about.ts';
import { emptyState, nodeNames, withoutEntry } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { PlanAbout, PlanDefinition } from './plan-types.ts';
import { respond } from './respond.ts';

/** What a plan has come to, by its calls. Pure: the same record always gives the same. */
export function foldPlan(definition: PlanDefinition, view: Pick<ConductorView, 'task' | 'calls'>): PlanState {
  const planning: Planning = { definition, conversation: conversationOf(view.task) };
  const start = emptyState(definition.extractTask ? undefined : taskOf(view.task));
  return view.calls.reduce((state, call) => applyCall(planning, state, call), start);
}

/** What a node that is called now knows: for the code that performs the call. */
export function planAbout(
  definition: PlanDefinition,
  view: Pick<ConductorView, 'task' | 'calls'>,
  call: Pick<RecordedCall, 'name' | 'input'>,
): PlanAbout {
  const planning: Planning = { definition, conversation: conversationOf(view.task) };
  return aboutOf(planning, foldPlan(definition, view), call);
}

function applyCall(planning: Planning, before: PlanState, call: RecordedCall): PlanState {
  const { record } = call;
  if (record === undefined) return before;
  const state: PlanState = { ...before, ends: withoutEntry(before.ends, keyOf(call)), rungs: [] };
  const ended: EndedCall = { planning, state, call, record };
  switch (call.name) {
    case nodeNames.extract:
      return applyTask(ended);
    case nodeNames.classify:
      return applyClassified(ended);
    case nodeNames.plan:
      return applyPlanned(ended);
    case nodeNames.approve:
      return applyApproval(ended);
    case nodeNames.clarify:
      return applyClarified(ended);
    case nodeNames.respond:
      return applyResponse(ended);
    default:
      return applyStep(ended);
  }
}

function applyTask(ended: EndedCall): PlanState {
  const { planning, state, call, record } = ended;
  if (record.status !== 'ok') return failNode(ended);
  const read = extractTask.read(answerOf(record), aboutOf(planning, state, call));
  if ('problem' in read) return askAgain(ended, read.problem);
  return { ...used(ended), task: read.task, at: { type: 'classify' } };
}

const noAnswer = '(The person gave no answer.)';

/** The person has answered, or will not: then it continues with what is known. */
function applyClarified(ended: EndedCall): PlanState {
  const { planning, state, call, record } = ended;
  if (state.at.type !== 'clarify') return state;
  if (record.status !== 'ok' && record.status !== 'denied') return failNode(ended);
  const { question, back } = state.at;
  const read = clarify.read(record.content ?? '', aboutOf(planning, state, call));
  const answer = record.status === 'denied' || 'problem' in read ? noAnswer : read.answer;
  return { ...state, clarifications: [...state.clarifications, { question, answer }], at: { type: back } };
}

function applyResponse(ended: EndedCall): PlanState {
  const { planning, state, call, record } = ended;
  if (record.status !== 'ok') return failNode(ended);
  const read = respond.read(answerOf(record), aboutOf(planning, state, call));
  if ('problem' in read) return askAgain(ended, read.problem);
  return { ...used(ended), at: { type: 'answered', text: read.text } };
}
