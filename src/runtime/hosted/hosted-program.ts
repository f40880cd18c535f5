import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { drive, labelled } from '../drive.ts';
import type { DriveInput } from '../drive.ts';
import type { Durable, DurableProgram } from '../record/durable.ts';
import { resultOf } from './hosted-result.ts';
import type { HostedRuns } from './hosted-runs.ts';
import { createLiveRun } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import { withMovedRuns } from './moved-run.ts';
import { watchRun } from '../watch/run-watchers.ts';

/** The one driver as an engine outside runs it: what it comes to is announced, or returned with what it takes to continue. */
export function createHostedProgram(held: HostedRuns): DurableProgram {
  return withMovedRuns(async (durable, input) => {
    const live = takeUp(held, durable.runId);
    live.isCopy = durable.isCopy === true;
    try {
      return await carry(held, live, { durable, input: input as unknown as DriveInput }); // What `begin` and `resume` start it with.
    } finally {
      held.carried.delete(live.runId);
      if (held.runs.get(live.runId) === live) held.runs.delete(live.runId);
    }
  });
}

/** A caller that waits for it in this process learns of it from here on. */
function takeUp({ parts, runs, carried }: HostedRuns, runId: string): LiveRun {
  const waited = runs.get(runId);
  // A second copy of the run must not share what the first one has in its hands.
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  for (const watcher of waited?.watchers ?? []) live.watchers.add(watcher);
  watchRun(parts, live);
  runs.set(runId, live);
  carried.add(runId);
  return live;
}

interface Carrying {
  readonly durable: Durable;
  readonly input: DriveInput;
}

async function carry(held: HostedRuns, live: LiveRun, { durable, input }: Carrying): Promise<Json> {
  let questions = 0;
  let ending: RunOutcome | undefined;
  // Also what was answered in an earlier life counts: else the next question would have its number, and its answer.
  const waitFor: Durable['waitFor'] = (signal, options) => {
    if (signal === 'resume') questions += 1;
    return durable.waitFor(signal, options);
  };
  const onOutcome = async (_live: LiveRun, outcome: RunOutcome): Promise<void> => {
    if (outcome.type !== 'suspended') {
      ending = outcome;
      return;
    }
    const { provenance } = live;
    const seq = durable.generation * maxQuestions + questions;
    const announced = provenance === undefined ? { seq, outcome } : { seq, outcome, provenance };
    await durable.announce?.(announced as unknown as Json); // Outcomes are JSON.
    tellEnd(live, outcome);
  };
  await drive({ parts: held.parts, live, onOutcome }, { ...durable, waitFor }, input);
  const result = resultOf(ending, live.state === undefined ? undefined : labelled(live, live.state));
  tellEnd(live, result.outcome);
  return result as unknown as Json; // Outcomes and states are JSON.
}

function tellEnd({ watchers }: LiveRun, outcome: RunOutcome): void {
  for (const { hear } of watchers) hear({ type: 'run-finished', outcome });
}

/** Of one generation: each takes a step, and a generation has at most some thousands. */
const maxQuestions = 1_000_000;
