import { reopen, unknownRun } from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import { takeUpRun } from './resume-run.ts';
import { createLiveRun } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { watchRun } from '../watch/run-watchers.ts';
import { sendSignal } from './send-signal.ts';

/** Stops a run, wherever it is. Resolves when it has stopped; where another process runs it, when the request is delivered. */
export async function cancelRun(held: HeldRuns, runId: string, reason: string): Promise<void> {
  const { engine, runs, parts, keeper } = held;
  const live = runs.get(runId);
  if (live === undefined) {
    if (keeper === undefined) throw unknownRun(held, runId);
    return cancelStored(held, runId, reason);
  }
  if (live.ended !== undefined && live.ended.type !== 'suspended') return;
  // It is unknown whether its start was recorded: its record shows it.
  if (live.ended !== undefined && keeper !== undefined && !engine.carries(runId)) {
    runs.delete(runId);
    return cancelStored(held, runId, reason);
  }
  // It is being given back: the cancel request is for the process that has it next.
  const isLeaving = keeper !== undefined && engine.carries(runId) && !keeper.holds(runId);
  if (live.ended === undefined && isLeaving) return cancelNext(held, live, reason);
  live.isCancelled = true;
  // It is being taken from its record, and the code that resumes it finds the cancel request; or this process has released it.
  if (live.ended === undefined && keeper !== undefined && !engine.carries(runId))
    return cancelNext(held, live, reason);
  if (live.ended?.type === 'suspended') {
    reopen(live);
    watchRun(parts, live);
  }
  await engine.cancel(runId, reason);
  // A caller that awaits it may continue the run at once.
  await live.outcome.promise;
}

/** Stops a run that has another outcome first, unless that is an end. */
async function cancelNext(held: HeldRuns, live: LiveRun, reason: string): Promise<void> {
  const { type } = await live.outcome.promise;
  if (type === 'suspended') await cancelRun(held, live.runId, reason);
}

/** The cancel request is kept with the run: the process that runs it, or resumes it next, obeys. */
async function cancelStored(held: HeldRuns, runId: string, reason: string): Promise<void> {
  const { keeper, parts, runs } = held;
  const row = await keeper?.store.runs.find(runId);
  if (keeper === undefined || row === undefined) throw unknownRun(held, runId);
  if (row.status !== 'running' && row.status !== 'suspended' && row.status !== 'parked') return;
  await sendSignal(keeper, runId, { id: `cancel:${row.headSeq}`, name: 'cancel', payload: reason });
  if (row.agent !== parts.name || row.owner !== undefined) return;
  // This process may have resumed it meanwhile; it has the cancel request by its record.
  const known = runs.get(runId);
  if (known !== undefined) return void (await known.outcome.promise);
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  runs.set(runId, live);
  watchRun(parts, live);
  await takeUpRun(held, live);
  await live.outcome.promise;
}
