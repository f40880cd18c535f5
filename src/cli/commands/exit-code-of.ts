import type { RunOutcome } from '../../agent/run-outcome.ts';
import { unreachable } from '../../base/assert.ts';
import { exitCodes, failureTraits } from '../../errors/codes.ts';

/** What a command line ends with after a run: a script can tell what to do next. */
export function exitCodeOf(outcome: RunOutcome): number {
  switch (outcome.type) {
    case 'completed':
      return 0;
    case 'stopped':
      return exitCodeOfStop(outcome);
    case 'suspended':
      return exitCodeOfWait(outcome);
    case 'cancelled':
      return exitCodes.cancelled;
    case 'failed':
      return failureTraits[outcome.failure.code].exitCode;
    default:
      return unreachable(outcome);
  }
}

function exitCodeOfStop({ reason, failure }: Extract<RunOutcome, { type: 'stopped' }>): number {
  if (reason === 'rejected' || reason === 'guardrail') return exitCodes.denied;
  // A provider's filter and a limit of the run's own are two things to do something about.
  return reason === 'refused' && failure !== undefined
    ? failureTraits[failure.code].exitCode
    : exitCodes.stopped;
}

/** The cause that blocks it says what to do: fix the key, top up, try later. A person's answer, or a new process, is a mere wait. */
function exitCodeOfWait({ reason, failure }: Extract<RunOutcome, { type: 'suspended' }>): number {
  switch (reason) {
    case 'approval':
    case 'in-doubt':
    case 'clarification':
    case 'released':
      return exitCodes.waiting;
    case 'credentials':
    case 'credit':
    case 'long-wait':
      return failure === undefined ? exitCodes.waiting : failureTraits[failure.code].exitCode;
    case 'storage':
      return failure === undefined ? exitCodes.storage : failureTraits[failure.code].exitCode;
    default:
      return unreachable(reason);
  }
}
