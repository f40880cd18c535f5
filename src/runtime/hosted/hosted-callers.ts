import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { HostedRuns } from './hosted-runs.ts';
import { createLiveRun, joinWatchers } from '../run/live-run.ts';
import type { LiveRun, Watcher } from '../run/live-run.ts';
import type { RunOptions } from '../run/run-input.ts';
import { createLateListener } from '../watch/run-watchers.ts';

/** A caller of this process that waits for a run, and is informed of it as far as this process runs it. */
export interface HostedCaller {
  readonly live: LiveRun;
  /** The run itself reports its end where it is carried here; else this does. */
  readonly tellEnd: (outcome: RunOutcome) => void;
  /** It waits no more. */
  readonly stop: () => void;
}

export interface CallerOptions {
  readonly options: RunOptions;
  readonly watcher?: Watcher;
}

/** Adds a caller: it begins with what is known of the run so far. */
export function callHosted(
  held: HostedRuns,
  runId: string,
  { options, watcher }: CallerOptions,
): HostedCaller {
  const { parts, runs, callers } = held;
  const live = runs.get(runId) ?? createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  runs.set(runId, live);
  let hasHeardEnd = false;
  let isWaiting = true;
  const given = [
    ...(watcher === undefined ? [] : [watcher]),
    ...(options.onEvent === undefined ? [] : [createLateListener(live, options.onEvent)]),
  ];
  const watchers = given.map(({ hear, wantsDeltas }): Watcher => ({
    wantsDeltas,
    hear: (event) => {
      if (event.type === 'run-finished') hasHeardEnd = true;
      hear(event);
    },
  }));
  for (const each of watchers) joinWatchers(live, each);
  callers.set(runId, (callers.get(runId) ?? 0) + 1);
  return {
    live,
    tellEnd: (outcome) => {
      if (!hasHeardEnd) for (const { hear } of watchers) hear({ type: 'run-finished', outcome });
    },
    stop: () => {
      if (!isWaiting) return;
      isWaiting = false;
      // The run may have been handed to this process since, and then its watchers stand there.
      for (const each of watchers) for (const kept of [live, runs.get(runId)]) kept?.watchers.delete(each);
      countOut(held, runId);
    },
  };
}

function countOut({ callers, runs, carried }: HostedRuns, runId: string): void {
  const others = (callers.get(runId) ?? 1) - 1;
  if (others > 0) return void callers.set(runId, others);
  callers.delete(runId);
  if (!carried.has(runId)) runs.delete(runId);
}
