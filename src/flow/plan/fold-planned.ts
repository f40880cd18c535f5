import { unreachable } from '../../base/assert.ts';
import { boundText } from '../../base/text.ts';
import { checkPlan } from './check-plan.ts';
import { answerOf, askAgain, endAt, failNode, moveOn, used } from './fold-call.ts';
import type { EndedCall } from './fold-call.ts';
import { makePlan } from './make-plan.ts';
import type { Planned } from './make-plan.ts';
import { aboutOf } from './plan-about.ts';
import { planDifference } from './plan-difference.ts';
import { limitFailure, personReason, planDenied } from './plan-failures.ts';
import { chooseAgain, planAgain } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { PlanStep } from './plan-types.ts';

/** A plan was made, or the next step was named, or the planner wants to know more. */
export function applyPlanned(ended: EndedCall): PlanState {
  const { planning, state, call, record } = ended;
  if (record.status !== 'ok') return failNode(ended);
  const about = aboutOf(planning, state, call);
  const planned = makePlan(planning.definition.mode).read(answerOf(record), about);
  if ('problem' in planned) return askAgain(ended, planned.problem);
  return applyMeaning(ended, planned, about.mayAsk);
}

function applyMeaning(ended: EndedCall, planned: Planned, mayAsk: boolean): PlanState {
  const { finished } = ended.state;
  switch (planned.type) {
    case 'question': {
      if (!mayAsk) return askAgain(ended, 'the person cannot be asked any more: plan with the known facts');
      return { ...used(ended), at: { type: 'clarify', question: planned.question, back: 'plan' } };
    }
    case 'done':
      if (finished.length === 0) return askAgain(ended, 'no step is done yet, so the task cannot be done');
      return { ...used(ended), at: { type: 'respond' }, because: undefined };
    case 'steps':
      return applySteps(ended, planned.steps);
    default:
      return unreachable(planned);
  }
}

function applySteps(ended: EndedCall, steps: readonly PlanStep[]): PlanState {
  const { planning, state } = ended;
  const { capabilities, limits, mode } = planning.definition;
  const { chosen = [], values, finished, reclassifications } = state;
  const check = checkPlan(steps, { capabilities, chosen, values, finished, maxSteps: limits.maxSteps });
  if (check.type === 'problem') {
    const mayChoose = check.route === 'reclassify' && reclassifications < limits.maxReclassifications;
    return mayChoose ? chooseAgain(used(ended), check.problem) : askAgain(ended, check.problem);
  }
  if (mode === 'step-by-step' && check.open.length === 0) {
    return askAgain(ended, 'that step is done already: name another one, or say that it is done');
  }
  return accept(ended, [...finished, ...check.open]);
}

function accept(ended: EndedCall, steps: readonly PlanStep[]): PlanState {
  const { planning, state } = ended;
  const { approvePlan } = planning.definition;
  const isAnother = state.because !== undefined && state.steps !== undefined;
  const planned: PlanState = {
    ...used(ended),
    steps,
    isApproved: !approvePlan,
    because: undefined,
    difference: isAnother ? planDifference(state.steps, steps) : undefined,
  };
  const next = moveOn(planning, planned);
  // Nothing is left to be approved where nothing is left to be done.
  return approvePlan && next.at.type === 'step' ? { ...next, at: { type: 'approve' } } : next;
}

const maxReasonCharacters = 1000;

/** A person has said something to the plan. */
export function applyApproval(ended: EndedCall): PlanState {
  const { planning, state, record } = ended;
  const { definition } = planning;
  if (record.status === 'ok') return moveOn(planning, { ...state, isApproved: true });
  if (record.status !== 'denied') return failNode(ended);
  const reason = personReason(record);
  const denied = planDenied(definition, record);
  if (reason === undefined) return endAt(ended, denied, { type: 'stop' });
  if (state.replans >= definition.limits.maxReplans) {
    return endAt(ended, limitFailure('maxReplans', definition, denied));
  }
  const because = `The person did not accept the plan: ${boundText(reason, maxReasonCharacters)}`;
  return planAgain(state, because);
}
