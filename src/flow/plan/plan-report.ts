import type { RecordedCall } from '../../agent/conducted.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import type { ConductorView, NodeReport } from '../../runtime/children/conductor.ts';
import { nodeNames } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { PlanStep } from './plan-types.ts';

/** What became of each step: those that were given up for another plan first, then the plan as it stands. */
export function reportPlan(
  state: PlanState,
  view: ConductorView,
  outcome: RunOutcome,
): readonly NodeReport[] {
  const { failed, steps = [] } = state;
  const current = state.at.type === 'step' ? state.at.step : undefined;
  return [
    ...failed.map(({ step, failure }): NodeReport => ({ ...about(step), status: 'failed', failure })),
    ...steps
      .filter((step) => !failed.some((one) => one.step === step))
      .map((step) => reportStep(step, { state, outcome, isCurrent: step === current })),
    ...reportNode(state, view, outcome),
  ];
}

function about({ key, capability, objective }: PlanStep): Pick<NodeReport, 'name' | 'reason'> {
  return { name: key, reason: `${capability}: ${objective}` };
}

interface Standing {
  readonly state: PlanState;
  readonly outcome: RunOutcome;
  readonly isCurrent: boolean;
}

function reportStep(step: PlanStep, { state, outcome, isCurrent }: Standing): NodeReport {
  const output = Object.hasOwn(state.values, step.key) ? state.values[step.key] : undefined;
  if (output !== undefined) return { ...about(step), status: 'succeeded', output };
  if (!isCurrent) return { ...about(step), status: 'not-reached' };
  const isToBlame = outcome.type === 'failed' && outcome.failure.context['step'] === step.key;
  if (isToBlame) return { ...about(step), status: 'failed', failure: outcome.failure };
  return { ...about(step), ...standing(state, outcome) };
}

/** What became of what was next when the run ended or stopped to wait. */
function standing(state: PlanState, outcome: RunOutcome): Pick<NodeReport, 'status' | 'failure'> {
  const [end] = state.ends.values();
  if (outcome.type === 'suspended') return { status: 'waiting' };
  if (outcome.type === 'cancelled') return { status: 'cancelled' };
  if (end !== undefined) return { status: 'failed', failure: end.failure };
  return { status: 'not-reached' };
}

/** A question to a model or a person that the run ended with or waits for. */
function reportNode(state: PlanState, { calls }: ConductorView, outcome: RunOutcome): readonly NodeReport[] {
  const last = calls.at(-1);
  if (last === undefined || !isNode(last) || last.record?.status === 'ok') return [];
  const { status, failure } = standing(state, outcome);
  if (status === 'not-reached') return [];
  const runId = last.record?.childId;
  const question = isRecord(last.input) ? last.input['question'] : undefined;
  return [
    {
      name: last.name,
      status,
      ...(runId === undefined ? {} : { runId }),
      ...(failure === undefined ? {} : { failure }),
      ...(typeof question === 'string' ? { reason: question } : {}),
    },
  ];
}

function isNode({ name }: RecordedCall): boolean {
  return Object.values<string>(nodeNames).includes(name);
}
