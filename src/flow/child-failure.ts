import type { RunOutcome } from '../agent/run-outcome.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';

type NotCompleted = Extract<RunOutcome, { type: 'failed' | 'stopped' | 'cancelled' }>;

/**
 * What a run that did not complete means to the one above. To continue a run that failed does not repeat what it has done, so that
 * more may be tried again than elsewhere. `hint` takes the place of the failure's own.
 */
export function failureOf(outcome: NotCompleted, childId: string, hint?: string): Failure {
  if (outcome.type === 'cancelled')
    return createFailure('CANCELLED', { origin: 'flow', message: `The run "${childId}" was cancelled` });
  const { failure } = outcome;
  if (failure === undefined)
    return createFailure('UNKNOWN', { origin: 'flow', message: `The run "${childId}" was stopped` });
  const retryable = outcome.type === 'failed' && (failure.retryable || mayGoBetter.has(failure.code));
  return createFailure(failure.code, {
    ...failure,
    ...(hint === undefined ? {} : { hint }),
    retryable,
    context: { ...failure.context, childId },
  });
}

/** What a model may do better when it is asked to continue. */
const mayGoBetter: ReadonlySet<string> = new Set([
  'EMPTY_RESPONSE',
  'INVALID_RESPONSE',
  'OUTPUT_PARSE_ERROR',
  'STREAM_INTERRUPTED',
  'TOOL_CALL_INVALID',
  'TOOL_EXECUTION_ERROR',
  'TOOL_NOT_FOUND',
  'VALIDATION_ERROR',
]);
