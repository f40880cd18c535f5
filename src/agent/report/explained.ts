import type { FailureCode } from '../../errors/codes.ts';
import { severityOf } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { addLedgers } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { changeState } from '../change-state.ts';
import type { RunExplanation } from './error-report.ts';
import type { Ended, RunState } from '../state.ts';

/** What came of asking for an explanation, and what it used up. */
export interface ExplanationMade {
  /** Absent where there is none, for whatever reason: the report stands without it. */
  readonly explanation?: RunExplanation;
  readonly charge: Ledger;
  readonly tookMs: number;
}

/** An end that is explained on request. */
export type Unhappy = Extract<Ended, { readonly end: 'failed' | 'stopped' }>;

/**
 * Whether a model is to be asked why the run ended. By the state alone, so that a replay asks at the same place; who is asked, and
 * whether there is anything left to ask with, is found out there.
 */
export function wantsExplanation(state: RunState): boolean {
  const { config, phase } = state;
  if (config.explain === undefined || !isUnhappy(phase)) return false;
  const { failure } = phase;
  if (failure !== undefined && (severityOf(failure) === 'fatal' || neverTold.has(failure.code))) return false;
  if (config.explain === 'always') return true;
  // Of what never began the report says all there is.
  if (phase.end !== 'failed' || state.turn === 0) return false;
  return config.isConducted === true || config.models.some((model) => canExplain(state, model));
}

/** A cancel request; and what a rule withholds from the model must not reach it this way. */
const neverTold: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'CANCELLED',
  'HOOK_TERMINATED',
  'HOOK_FAILED',
]);

/** The failed and the stopped ones. */
export function isUnhappy(phase: RunState['phase']): phase is Unhappy {
  return phase.type === 'ended' && (phase.end === 'failed' || phase.end === 'stopped');
}

/** A model as far as it is recognised. */
export interface NamedModel {
  readonly provider: string;
  readonly name: string;
}

/** Whether nothing on record speaks against asking this model: it does not rest, and it was not what the run failed by. */
export function canExplain(state: RunState, model: NamedModel): boolean {
  if (isResting(state, model)) return false;
  const last = state.records.findLast(
    (record) => record.provider === model.provider && record.model === model.name,
  );
  const ended = isUnhappy(state.phase) ? state.phase.failure : undefined;
  const isEndedBy = ended?.provider?.provider === model.provider && ended.provider.model === model.name;
  return !isAboutModel(last?.failure) && !(isEndedBy && isAboutModel(ended));
}

/** Whether it asked not to be called now, or a person must fix something first. */
export function isResting({ resting, wallMs, config }: RunState, { provider, name }: NamedModel): boolean {
  return resting.some(({ target, untilMs }) => {
    const model = config.models[target];
    return untilMs > wallMs && model?.provider === provider && model.name === name;
  });
}

function isAboutModel(failure: Failure | undefined): boolean {
  return failure?.origin === 'model' && aboutModels.has(failure.code);
}

/** A second request would most likely end as the first did. */
const aboutModels: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'PROVIDER_NOT_CONFIGURED',
  'PROVIDER_NOT_SUPPORTED',
  'AUTHENTICATION_ERROR',
  'PERMISSION_DENIED',
  'MODEL_NOT_FOUND',
  'MODEL_LOADING',
  'RATE_LIMITED',
  'QUOTA_EXCEEDED',
  'OVERLOADED',
  'SERVER_ERROR',
  'NETWORK_ERROR',
  'TIMEOUT',
  'STREAM_INTERRUPTED',
  'INVALID_RESPONSE',
  'EMPTY_RESPONSE',
  'CONTENT_FILTERED',
]);

/** The same end with what came of explaining it. */
export function withExplanation(state: RunState, { explanation, charge, tookMs }: ExplanationMade): RunState {
  const { phase } = state;
  const explained = explanation === undefined || !isUnhappy(phase) ? phase : { ...phase, explanation };
  return changeState(state, {
    phase: explained,
    ledger: addLedgers(state.ledger, charge),
    elapsedMs: state.elapsedMs + tookMs,
  });
}
