import type { RunState } from '../../agent/state.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { subtractLedgers } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { Family } from './family.ts';
import { countRun, familyLimit } from './family.ts';
import type { LiveRun } from './live-run.ts';

/** Whether the run and its relatives have used up together what the first of them may. */
export function overspentBy({ runId, state }: LiveRun, family: Family): Failure | undefined {
  const begun = state as RunState; // Only a run that has begun asks a model.
  if (family.known.has(runId)) countRun(family, runId, ownLedger(begun));
  else countBefore(family, begun);
  const limit = familyLimit(family);
  if (limit === undefined) return undefined;
  const bound = family.limits[limit] ?? 0;
  return createFailure('BUDGET_EXCEEDED', {
    origin: 'agent',
    message: `The agents that work together have reached "${limit}" (${bound}) of the one at the top`,
    hint: `Raise "limits.${limit}" there, or give them less to do.`,
    context: { limit, bound },
  });
}

/** What the run and those below it had used up before this process resumed it counts too: of each its latest report. */
export function countBefore(family: Family, state: RunState): void {
  if (family.known.has(state.runId)) return;
  family.known.add(state.runId);
  const { runId, children = {}, below } = state;
  countRun(family, runId, ownLedger(state));
  // Nothing has run below it.
  if (below === undefined) return;
  let over = below;
  for (const [childId, used] of Object.entries(children)) {
    over = subtractLedgers(over, used);
    if (!family.spent.has(childId)) countRun(family, childId, used);
  }
  // Of those that are over, together.
  countRun(family, `${runId}/…`, over);
}

/** Without what runs below have used up: they count for themselves. */
function ownLedger({ ledger, below }: RunState): Ledger {
  return below === undefined ? ledger : subtractLedgers(ledger, below);
}
