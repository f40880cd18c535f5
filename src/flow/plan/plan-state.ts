import type { Rung } from '../../agent/conducted.ts';
import type { Failure } from '../../errors/failure.ts';
import type { FailedStep, PlanProgress, PlanStep } from './plan-types.ts';

/** Names of calls that no capability may have. */
export const nodeNames = {
  extract: 'extract_task',
  classify: 'classify',
  plan: 'make_plan',
  approve: 'approve_plan',
  clarify: 'clarify',
  respond: 'respond',
} as const;

/** What comes next. */
export type PlanPlace =
  | { readonly type: 'extract' | 'classify' | 'plan' | 'approve' | 'respond' }
  | { readonly type: 'step'; readonly step: PlanStep }
  /** `back` asks again then. */
  | { readonly type: 'clarify'; readonly question: string; readonly back: 'classify' | 'plan' }
  | { readonly type: 'answered'; readonly text: string };

/** What ended the run, or would: a resumed run calls the same again. */
export interface PlanEnd {
  readonly type: 'fail' | 'stop';
  readonly failure: Failure;
  /** Of the record that it depends on. */
  readonly resumes: number;
  /** It must not be called again, for it is unknown whether it happened. */
  readonly isFinal?: true;
}

/** An answer that could not be used, and how many of them there were in a row. */
export interface Unusable {
  readonly attempts: number;
  readonly problem: string;
}

/** A plan, as the fold of its calls. */
export interface PlanState extends PlanProgress {
  readonly at: PlanPlace;
  readonly finished: readonly PlanStep[];
  /** Of `classify: 'each'`: what was said so far. */
  readonly verdicts: ReadonlyMap<string, boolean>;
  /** By call, see `callKey`. */
  readonly unusable: ReadonlyMap<string, Unusable>;
  /** By call. Where there is one, the place has not moved. */
  readonly ends: ReadonlyMap<string, PlanEnd>;
  /** Why it is chosen or planned again. */
  readonly because: string | undefined;
  /** What the latest plan changed, until its first step is done. */
  readonly difference: readonly string[] | undefined;
  /** What the latest call has led to, where it failed and the plan continues. */
  readonly rungs: readonly Rung[];
  /** The person was informed that no capability fits. */
  readonly hasAskedForCapability: boolean;
}

/** Before the first call. */
export function emptyState(task: string | undefined): PlanState {
  return {
    at: { type: task === undefined ? 'extract' : 'classify' },
    task,
    chosen: undefined,
    steps: undefined,
    isApproved: false,
    values: {},
    done: [],
    finished: [],
    failed: [],
    replans: 0,
    reclassifications: 0,
    clarifications: [],
    verdicts: new Map(),
    unusable: new Map(),
    ends: new Map(),
    because: undefined,
    difference: undefined,
    rungs: [],
    hasAskedForCapability: false,
  };
}

/** What a call is known by: one question about one capability is not another's. */
export function callKey(name: string, subject: string | undefined): string {
  return subject === undefined ? name : `${name} ${subject}`;
}

/** The step that is next by the plan, if there is one. */
export function openStep({ steps, done }: Pick<PlanState, 'steps' | 'done'>): PlanStep | undefined {
  return steps?.find(({ key }) => !done.includes(key));
}

/** A map with one entry more, or another one in its place. */
export function withEntry<Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
  value: Value,
): ReadonlyMap<string, Value> {
  return new Map(map).set(key, value);
}

/** A map without an entry; the same one where there is none. */
export function withoutEntry<Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

/** Planned again, because of a step or a person. Finished steps and their values stay. */
export function planAgain(state: PlanState, because: string, failed?: FailedStep): PlanState {
  return {
    ...state,
    at: { type: 'plan' },
    because,
    isApproved: false,
    replans: state.replans + 1,
    failed: failed === undefined ? state.failed : [...state.failed, failed],
  };
}

/** Capabilities are chosen again, and then it is planned again. */
export function chooseAgain(state: PlanState, because: string, failed?: FailedStep): PlanState {
  return {
    ...state,
    at: { type: 'classify' },
    because,
    isApproved: false,
    verdicts: new Map(),
    reclassifications: state.reclassifications + 1,
    failed: failed === undefined ? state.failed : [...state.failed, failed],
  };
}
