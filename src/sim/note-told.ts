import type { RunOutcome } from '../agent/run-outcome.ts';
import { findHistoryProblems } from '../model/check/check-history.ts';
import { report, tell } from './world.ts';
import type { World } from './world.ts';

/** Somebody was told this outcome: from now on it must be found again. */
export function noteOutcome(world: World, outcome: RunOutcome): void {
  const { promised } = world;
  const why = 'failure' in outcome ? outcome.failure?.message : undefined;
  tell(world, `outcome: ${outcome.type} ${'reason' in outcome ? outcome.reason : ''} ${why ?? ''}`.trimEnd());
  const [problem] = findHistoryProblems(outcome.messages);
  if (problem !== undefined) report(world, 'history-invalid', `In the messages of the outcome: ${problem}`);
  if (outcome.type !== 'suspended') {
    if (promised.outcome !== undefined && !isSameOutcome(promised.outcome, outcome))
      report(
        world,
        'acknowledged-lost',
        `The run was told to be ${promised.outcome.type}, then ${outcome.type}`,
      );
    promised.outcome = outcome;
    return;
  }
  // The disk could not be asked: that says nothing of the run itself.
  if (outcome.reason === 'storage') return;
  if (promised.outcome !== undefined)
    report(world, 'acknowledged-lost', `The run was told to be ${promised.outcome.type}, then suspended`);
  const id = outcome.request?.id;
  if (id !== undefined && promised.answers.has(id))
    report(world, 'acknowledged-lost', `The answer to ${id} was on record, and somebody is asked again`);
}

/** The same end, whether or not it could be written down at once. */
export function isSameOutcome(one: RunOutcome, other: RunOutcome): boolean {
  return JSON.stringify({ ...one, unsaved: undefined }) === JSON.stringify({ ...other, unsaved: undefined });
}
