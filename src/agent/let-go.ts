import type { Failure } from '../errors/failure.ts';
import { outcomeOf } from './outcome.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { RunState } from './state.ts';
import { transition } from './transition.ts';

/** The outcome of a run that is no longer carried here, in the middle of whatever it did: it can be resumed from its record. */
export function outcomeOfLetGo(
  state: RunState,
  reason: 'storage' | 'released',
  failure?: Failure,
): Extract<RunOutcome, { type: 'suspended' }> {
  // What is under way has no result yet; code that takes the conversation elsewhere needs a true one.
  const { runId, messages, usage, turns, recoveries } = outcomeOf(
    transition(state, { type: 'cancelled' }).state,
  ) as RunOutcome; // A run that is cancelled has ended.
  const facts = { runId, messages, usage, turns, recoveries };
  return { type: 'suspended', ...facts, reason, ...(failure === undefined ? {} : { failure }) };
}
