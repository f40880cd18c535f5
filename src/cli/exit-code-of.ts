import type { RunOutcome } from '../agent/run-outcome.ts';
import { unreachable } from '../base/assert.ts';
import { exitCodes, failureTraits } from '../errors/codes.ts';

/** What a command line ends with after a run: a script can tell what to do next. */
export function exitCodeOf(outcome: RunOutcome): number {
  switch (outcome.type) {
    case 'completed':
      return 0;
    case 'stopped':
      return outcome.reason === 'rejected' || outcome.reason === 'guardrail'
        ? exitCodes.denied
        : exitCodes.stopped;
    case 'suspended':
      if (outcome.reason !== 'storage') return exitCodes.waiting;
      // The store must be looked at first: that is no mere wait. Where another process has it, that is said.
      return outcome.failure === undefined ? exitCodes.storage : failureTraits[outcome.failure.code].exitCode;
    case 'cancelled':
      return exitCodes.cancelled;
    case 'failed':
      return failureTraits[outcome.failure.code].exitCode;
    default:
      return unreachable(outcome);
  }
}
