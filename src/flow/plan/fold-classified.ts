import { askWithoutCapability } from './clarify.ts';
import { classifyEach, classifyTogether } from './classify-task.ts';
import type { Chosen } from './classify-task.ts';
import { answerOf, askAgain, endAt, failNode, used } from './fold-call.ts';
import type { EndedCall } from './fold-call.ts';
import { aboutOf } from './plan-about.ts';
import { nothingFits } from './plan-failures.ts';
import { withEntry } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';

/** Capabilities were chosen, or one of the questions about them was answered. */
export function applyClassified(ended: EndedCall): PlanState {
  const { planning, state, call, record } = ended;
  if (record.status !== 'ok') return failNode(ended);
  const about = aboutOf(planning, state, call);
  const { subject } = about;
  if (subject !== undefined) return applyVerdict(ended, classifyEach.read(answerOf(record), about), subject);
  const chosen = classifyTogether.read(answerOf(record), about);
  return 'problem' in chosen ? askAgain(ended, chosen.problem) : applyChosen(ended, chosen);
}

function applyVerdict(
  ended: EndedCall,
  verdict: ReturnType<typeof classifyEach.read>,
  subject: string,
): PlanState {
  if ('problem' in verdict) return askAgain(ended, verdict.problem);
  const { capabilities } = ended.planning.definition;
  const state = used(ended);
  const verdicts = withEntry(state.verdicts, subject, verdict.isNeeded);
  const next = { ...state, verdicts };
  if (capabilities.some(({ name }) => !verdicts.has(name))) return next;
  const names = capabilities.map(({ name }) => name).filter((name) => verdicts.get(name) === true);
  const none = names.length === 0 ? { none: 'each of them was found not to be needed' } : {};
  return applyChosen({ ...ended, state: next }, { capabilities: names, ...none });
}

function applyChosen(ended: EndedCall, { capabilities, none = '' }: Chosen): PlanState {
  const { planning, state } = ended;
  const { definition } = planning;
  // Each question is asked again the next time.
  const next: PlanState = { ...used(ended), verdicts: new Map() };
  if (capabilities.length > 0) return { ...next, at: { type: 'plan' }, chosen: capabilities };
  const mayAsk = state.clarifications.length < definition.limits.maxClarifications;
  if (state.hasAskedForCapability || !mayAsk) {
    return endAt({ ...ended, state: next }, nothingFits(definition, none));
  }
  const question = askWithoutCapability(definition, none);
  return { ...next, hasAskedForCapability: true, at: { type: 'clarify', question, back: 'classify' } };
}
