import type { Rung } from '../../agent/conducted.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { boundText } from '../../base/text.ts';
import { severityOf } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { StepInput } from './capability-tool.ts';
import { endAt, keyOf, moveOn } from './fold-call.ts';
import type { EndedCall } from './fold-call.ts';
import { limitFailure, personReason, recordFailure, stepFailure, valuesMissing } from './plan-failures.ts';
import { routes } from './plan-router.ts';
import { callKey, chooseAgain, planAgain } from './plan-state.ts';
import type { PlanState } from './plan-state.ts';
import type { FailedStep, PlanStep } from './plan-types.ts';

/** A step has ended: its values are kept, or its severity says where the plan goes. */
export function applyStep(ended: EndedCall): PlanState {
  const { state, call, record } = ended;
  const { at } = state;
  const isNext = at.type === 'step' && keyOf(call) === callKey(at.step.capability, at.step.key);
  const step = isNext ? at.step : strayOf(call);
  const failure = record.status === 'ok' ? undefined : recordFailure(step.capability, record);
  if (failure !== undefined && (record.status === 'unknown' || failure.code === 'UNKNOWN_OUTCOME')) {
    return endAt(ended, inDoubt(step, failure), { isFinal: true });
  }
  if (!isNext) return keepStray(ended, step);
  if (failure === undefined) return finish(ended, step);
  if (record.status === 'interrupted') return endAt(ended, stepFailure(step, failure, 'critical'));
  if (record.status === 'denied') {
    const reason = personReason(record) ?? failure.message;
    return route(ended, { step, failure, severity: 'replanning' }, `it was not allowed: ${reason}`);
  }
  return route(ended, { step, failure, severity: severityOf(failure) }, failure.message);
}

/** A step that is not the next one by the plan as it is now: what the plan is made of has changed since it was called. */
function strayOf({ name, input }: EndedCall['call']): PlanStep {
  const { key = name, objective } = input as unknown as StepInput; // Written by the conductor.
  return { key, capability: name, objective, inputs: {} };
}

/** What is done is done all the same, and is not to be done again. */
function keepStray(ended: EndedCall, step: PlanStep): PlanState {
  const { state, record } = ended;
  if (record.status !== 'ok' || state.done.includes(step.key)) return state;
  const kept = finish(ended, step);
  // The place stays as it is, unless it is a step: that one may be done now.
  return state.at.type === 'step' ? kept : { ...kept, at: state.at };
}

/** The first thing that a person must do about it is to look. */
function inDoubt(step: PlanStep, failure: Failure): Failure {
  const named = stepFailure(step, failure, 'critical');
  const hint = `Find out whether "${step.capability}" has happened before you run the task again.`;
  return Object.freeze({ ...named, hint: named.hint ?? hint });
}

function finish(ended: EndedCall, step: PlanStep): PlanState {
  const { planning, state, record } = ended;
  const capability = planning.definition.capabilities.find(({ name }) => name === step.capability);
  const given = readValues(record.content);
  const provides = capability?.provides ?? Object.keys(given);
  const missing = provides.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) return endAt(ended, valuesMissing(step, missing), { isFinal: true });
  const { key } = step;
  const values = Object.fromEntries(provides.map((name) => [name, given[name] ?? null]));
  return moveOn(planning, {
    ...state,
    values: { ...state.values, [key]: values },
    done: [...state.done, key],
    finished: [...state.finished, step],
    difference: undefined,
  });
}

/** What a step provides. A text of a person who checked whether it happened may be no JSON: then nothing is known of it. */
function readValues(content: string | undefined): Readonly<Record<string, Json>> {
  try {
    const read: unknown = JSON.parse(content ?? '{}');
    return isRecord(read) ? (read as Readonly<Record<string, Json>>) : {}; // JSON holds nothing else.
  } catch {
    return {}; // The step that misses a value reports it.
  }
}

const maxReasonCharacters = 1000;

/** Severity is the route; each is bounded. */
function route(ended: EndedCall, failed: FailedStep, why: string): PlanState {
  const { planning, state, record } = ended;
  const { definition } = planning;
  const { step, failure, severity } = failed;
  const named = stepFailure(step, failure, severity);
  const because = boundText(`Step "${step.key}" (${step.capability}): ${why}`, maxReasonCharacters);
  const rungsOf = (recovery: Rung['recovery']): readonly Rung[] =>
    // A no is no failure.
    record.status === 'denied'
      ? []
      : [{ failure, recovery, reason: because, ...defined({ lostMs: record.lostMs }) }];
  switch (routes[severity]) {
    case 'replan': {
      const isOver = state.replans >= definition.limits.maxReplans;
      if (!isOver) return { ...planAgain(state, because, failed), rungs: rungsOf('replan') };
      return endAt(ended, limitFailure('maxReplans', definition, named));
    }
    case 'reclassify': {
      const isOver = state.reclassifications >= definition.limits.maxReclassifications;
      if (!isOver) return { ...chooseAgain(state, because, failed), rungs: rungsOf('reclassify') };
      return endAt(ended, limitFailure('maxReclassifications', definition, named));
    }
    default:
      return endAt(ended, named);
  }
}
