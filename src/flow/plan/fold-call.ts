import type { CallRecord, RecordedCall } from '../../agent/conducted.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import { readChild } from '../child-record.ts';
import type { Planning } from './plan-about.ts';
import { nodeFailure, recordFailure, unusableFailure } from './plan-failures.ts';
import { callKey, openStep, withEntry, withoutEntry } from './plan-state.ts';
import type { PlanEnd, PlanState } from './plan-state.ts';

/** A call of the plan that has ended, and the plan as it was before. */
export interface EndedCall {
  readonly planning: Planning;
  readonly state: PlanState;
  readonly call: RecordedCall;
  readonly record: CallRecord;
}

/** What a call is known by: its name, with the capability or the step that it is about. */
export function keyOf({ name, input }: Pick<RecordedCall, 'name' | 'input'>): string {
  const about = isRecord(input) ? (input['subject'] ?? input['key']) : undefined;
  return callKey(name, typeof about === 'string' ? about : undefined);
}

/** The run ends here until it is resumed: then the same call is made again. */
export function endAt(
  { state, call, record }: EndedCall,
  failure: Failure,
  how: Pick<PlanEnd, 'isFinal'> & { readonly type?: PlanEnd['type'] } = {},
): PlanState {
  const end: PlanEnd = { type: 'fail', ...how, failure, resumes: record.resumes };
  return { ...state, ends: withEntry(state.ends, keyOf(call), end) };
}

/** A call that asks a model or a person has failed: nothing can take its place. */
export function failNode(ended: EndedCall): PlanState {
  const { call, record } = ended;
  return endAt(ended, nodeFailure(call.name, recordFailure(call.name, record)));
}

/** The answer cannot be used: it is asked for again, with what was wrong, as often as that is allowed. */
export function askAgain(ended: EndedCall, problem: string): PlanState {
  const { planning, state, call } = ended;
  const key = keyOf(call);
  const before = state.unusable.get(key)?.attempts ?? 0;
  const isLast = before >= planning.definition.limits.maxPlanAttempts;
  // After a resume there is one more try, and the model is informed then too.
  const told = { attempts: isLast ? before : before + 1, problem };
  const next = { ...state, unusable: withEntry(state.unusable, key, told) };
  return isLast ? endAt({ ...ended, state: next }, unusableFailure(call.name, problem, before + 1)) : next;
}

/** The answer could be used, so that what was wrong before counts no more. */
export function used({ state, call }: EndedCall): PlanState {
  return { ...state, unusable: withoutEntry(state.unusable, keyOf(call)) };
}

/** What a model said. */
export function answerOf({ content }: CallRecord): Json {
  const { text, output } = readChild(content);
  return output ?? text;
}

/** The next step by the plan; where there is none, the answer, or the question what is next. */
export function moveOn({ definition }: Planning, state: PlanState): PlanState {
  const step = openStep(state);
  if (step !== undefined) return { ...state, at: { type: 'step', step } };
  return { ...state, at: { type: definition.mode === 'plan-first' ? 'respond' : 'plan' } };
}
