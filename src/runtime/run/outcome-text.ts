import type { RunOutcome } from '../../agent/run-outcome.ts';
import { unwrittenText } from '../../agent/report/unwritten.ts';
import { unreachable } from '../../base/assert.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** The answer, or the message for a person. */
export function answerText(outcome: RunOutcome): string {
  switch (outcome.type) {
    case 'completed':
      return outcome.text;
    case 'stopped': {
      const message = renderFailure(failureOf(outcome), 'person', { retrying: false });
      return outcome.partial === '' ? message : `${outcome.partial}\n\n(${message})`;
    }
    case 'suspended':
      return outcome.reason === 'storage' && outcome.failure !== undefined
        ? unwrittenText(outcome.failure)
        : renderFailure(failureOf(outcome), 'person', { retrying: false });
    case 'failed':
    case 'cancelled':
      return renderFailure(failureOf(outcome), 'person', { retrying: false });
    default:
      return unreachable(outcome);
  }
}

/** The outcome where it is completed; everything else is thrown. */
export function throwUnlessCompleted(outcome: RunOutcome): Extract<RunOutcome, { type: 'completed' }> {
  if (outcome.type === 'completed') return outcome;
  const failure = failureOf(outcome);
  throw RerailError.from(
    createFailure(failure.code, {
      ...failure,
      context: { ...failure.context, runId: outcome.runId, outcome: outcome.type },
    }),
  );
}

/** What kept the run from an answer. */
function failureOf(outcome: Exclude<RunOutcome, { type: 'completed' }>): Failure {
  switch (outcome.type) {
    case 'failed':
      return outcome.failure;
    case 'cancelled':
      return createFailure('CANCELLED', { origin: 'agent', message: 'The run was cancelled' });
    case 'stopped':
      return (
        outcome.failure ??
        createFailure('INVALID_STATE', { origin: 'agent', message: `The run was stopped: ${outcome.reason}` })
      );
    case 'suspended':
      return outcome.failure ?? waiting(outcome);
    default:
      return unreachable(outcome);
  }
}

function waiting({ reason, request, runId }: Extract<RunOutcome, { type: 'suspended' }>): Failure {
  const why = request === undefined ? '' : `: ${request.why}`;
  const code = reason === 'in-doubt' ? 'UNKNOWN_OUTCOME' : 'INVALID_STATE';
  return createFailure(code, {
    origin: code === 'UNKNOWN_OUTCOME' ? 'tool' : 'agent',
    message: `The run is waiting for a person (${reason})${why}`,
    hint: `Answer it with agent.resume('${runId}', { answer }).`,
    context: request !== undefined && 'tool' in request ? { tool: request.tool } : {},
  });
}
