import type { Json } from '../base/json.ts';
import { configFor } from './child-place.ts';
import type { DriveInput } from './drive.ts';
import { driverVersion } from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import type { LiveRun } from './live-run.ts';

/** What a run begins with. */
export type StartInput = Extract<DriveInput, { type: 'start' }>;

/** Begins it, on record where there is one. */
export async function startRun(held: HeldRuns, live: LiveRun, input: StartInput): Promise<void> {
  const { runId } = live;
  const { engine, keeper, parts } = held;
  const options = { runId, version: driverVersion };
  if (keeper === undefined && live.bounds === undefined)
    return engine.start(input as unknown as Json, options); // Messages are JSON.
  const recorded: StartInput = { ...input, config: configFor(parts, live.bounds) };
  const whole: StartInput = live.isCancelled ? { ...recorded, isCancelled: true } : recorded;
  live.unbegun = whole;
  await engine.start(whole as unknown as Json, options);
  live.unbegun = undefined;
}
