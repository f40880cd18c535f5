import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import type { Json } from '../../base/json.ts';
import type {
  Conductor,
  ConductorCall,
  ConductorStep,
  ConductorView,
} from '../../runtime/children/conductor.ts';
import { checkPlanDefinition } from './check-definition.ts';
import { foldPlan } from './fold-plan.ts';
import { valuesTooLong } from './plan-failures.ts';
import { reportPlan } from './plan-report.ts';
import { callKey, nodeNames } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { PlanDefinition, PlanStep } from './plan-types.ts';

/** No function of a caller takes part in its decisions. */
type PlanConductor = Omit<Conductor, 'decide'> & { readonly decide: (view: ConductorView) => ConductorStep };

/** Conducts a plan: which node or capability is called next, by what is on record. Throws where the definition makes no sense. */
export function createPlanConductor(definition: PlanDefinition): PlanConductor {
  checkPlanDefinition(definition);
  return {
    decide: (view) => decidePlan(definition, view),
    report: (view, outcome) => reportPlan(foldPlan(definition, view), view, outcome),
  };
}

/** What a plan does next. Pure. */
function decidePlan(definition: PlanDefinition, view: ConductorView): ConductorStep {
  const state = foldPlan(definition, view);
  for (const { type, failure, resumes, isFinal } of state.ends.values()) {
    // What ended an earlier life of the run is called again.
    if (isFinal !== true && resumes < view.resumes) continue;
    return type === 'stop' ? { type: 'stop', reason: 'rejected', failure } : { type: 'fail', failure };
  }
  const { rungs } = state;
  const step = nextStep(definition, state);
  return step.type === 'call' && rungs.length > 0 ? { ...step, rungs } : step;
}

function nextStep(definition: PlanDefinition, state: PlanState): ConductorStep {
  const { at } = state;
  switch (at.type) {
    case 'extract':
      return call(nodeNames.extract, defined({ problem: problemOf(state, nodeNames.extract) }));
    case 'classify':
      return { type: 'call', calls: classifyCalls(definition, state) };
    case 'plan':
      return call(nodeNames.plan, planInput(state));
    case 'approve':
      return call(nodeNames.approve, approvalInput(state));
    case 'step':
      return callStep(state, at.step);
    case 'clarify':
      return call(nodeNames.clarify, { question: at.question });
    case 'respond':
      return call(
        nodeNames.respond,
        defined({ problem: problemOf(state, nodeNames.respond), difference: state.difference }),
      );
    case 'answered':
      return { type: 'answer', text: at.text };
    default:
      return unreachable(at);
  }
}

function call(name: string, input: Json): ConductorStep {
  return { type: 'call', calls: [{ name, input }] };
}

function problemOf({ unusable }: PlanState, name: string, subject?: string): string | undefined {
  return unusable.get(callKey(name, subject))?.problem;
}

/** Questions that are asked side by side. */
const maxSideBySide = 8;

function classifyCalls(
  { classify, capabilities }: PlanDefinition,
  state: PlanState,
): readonly ConductorCall[] {
  const { because, verdicts } = state;
  const name = nodeNames.classify;
  if (classify === 'together')
    return [{ name, input: defined({ because, problem: problemOf(state, name) }) }];
  return capabilities
    .map((one) => one.name)
    .filter((subject) => !verdicts.has(subject))
    .slice(0, maxSideBySide)
    .map((subject) => ({
      name,
      input: defined({ subject, because, problem: problemOf(state, name, subject) }),
    }));
}

/** Why it is planned again, what failed and what stays: for the caller that reads the journal. */
function planInput(state: PlanState): Json {
  const { because, failed, done } = state;
  return defined({
    because,
    failed:
      because === undefined || failed.length === 0
        ? undefined
        : failed.map(({ step, failure, severity }) => ({
            key: step.key,
            capability: step.capability,
            severity,
            code: failure.code,
          })),
    kept: because === undefined || done.length === 0 ? undefined : done,
    problem: problemOf(state, nodeNames.plan),
  });
}

function approvalInput({ steps = [], difference }: PlanState): Json {
  return defined({ steps: steps.map((step) => ({ ...step })), difference });
}

/** What a call may hold beside its values, and what of it the machine looks at. */
const maxValuesCharacters = 950_000;

function callStep(state: PlanState, step: PlanStep): ConductorStep {
  const { key, capability, objective, inputs } = step;
  const { task = '', values, difference } = state;
  const given = Object.fromEntries(
    Object.entries(inputs).map(([name, from]) => [name, values[from]?.[name] ?? null]),
  );
  const { length } = JSON.stringify(given);
  if (length > maxValuesCharacters) return { type: 'fail', failure: valuesTooLong(step, length) };
  return call(capability, defined({ key, task, objective, values: given, difference }));
}
