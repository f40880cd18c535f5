import { noRejections } from '../../agent/approval/approval.ts';
import type { Rejections } from '../../agent/approval/approval.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { endRun } from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import type { LiveRun } from './live-run.ts';
import { runToolsIn } from './run-parts.ts';
import { addToSession } from './run-session.ts';
import { rowOfOutcome } from '../record/stored-rows.ts';
import type { RecordedEvent } from '../record/stored-run.ts';

/** The driver has come to an outcome. It is reported once it is on record, where there is one. */
export function noteOutcome(held: HeldRuns, live: LiveRun, outcome: RunOutcome): void | Promise<void> {
  const { keeper } = held;
  if (outcome.type === 'suspended') {
    if (keeper === undefined) return endRun(held, live, outcome);
    return suspend(held, live, outcome);
  }
  const behind = keeper?.pending(live.runId);
  live.ending = outcome;
  live.isEndUncertain = behind !== undefined;
  const certain = behind?.then(() => void (live.isEndUncertain = false));
  keeper?.describe(live.runId, rowOfOutcome(outcome, rejectionsOf(live)));
  if (live.session === undefined) {
    // What cannot be written down stops the run, which is reported there.
    certain?.catch(() => undefined);
    return undefined;
  }
  return certain === undefined
    ? addToSession(held, live, outcome)
    : certain.then(() => addToSession(held, live, outcome));
}

function rejectionsOf({ state }: LiveRun): Rejections {
  return state?.tallies.rejections ?? noRejections;
}

/** Anybody may take it up from here: nothing of it stays in this process. */
async function suspend(
  held: HeldRuns,
  live: LiveRun,
  outcome: Extract<RunOutcome, { type: 'suspended' }>,
): Promise<void> {
  const { runId } = live;
  const { reason, request } = outcome;
  const event: RecordedEvent = {
    type: 'suspended',
    body: {
      reason,
      ...(request === undefined ? {} : { request: request as unknown as Json }), // Requests are JSON.
      ...defined({ provenance: live.provenance, tools: runToolsIn(live.state?.config) }),
    },
  };
  try {
    await held.keeper?.suspend(runId, event, rowOfOutcome(outcome, rejectionsOf(live)));
  } catch (error) {
    // Everything that led here is on record, and leads here again.
    live.unsaved = classifyFailure(error, 'storage');
    await held.keeper?.release(runId);
  }
  held.engine.letGo(runId);
  if (live.ended === undefined) endRun(held, live, outcome);
}
