import type { Json } from '../../base/json.ts';
import { configFor } from '../children/child-place.ts';
import type { DriveInput } from '../drive.ts';
import { driverVersion } from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import type { LiveRun } from './live-run.ts';
import { existsError } from '../record/run-keeper.ts';

/** What a run begins with. */
export type StartInput = Extract<DriveInput, { type: 'start' }>;

/** Begins it, on record where there is one. */
export function startRun(held: HeldRuns, live: LiveRun, input: StartInput): Promise<void> {
  const { engine, keeper, parts } = held;
  const { bounds, isCancelled } = live;
  const own = live.parts ?? parts;
  // Where nothing is written down, the driver asks for itself whether cancellation was requested.
  if (keeper === undefined)
    return begin(engine, live, bounds === undefined ? input : { ...input, config: configFor(own, bounds) });
  const recorded: StartInput = { ...input, config: configFor(own, bounds) };
  const whole: StartInput = isCancelled ? { ...recorded, isCancelled: true } : recorded;
  live.unbegun = whole;
  return begin(engine, live, whole).then(() => void (live.unbegun = undefined));
}

async function begin(engine: HeldRuns['engine'], { runId }: LiveRun, input: StartInput): Promise<void> {
  const started = await engine.start(input as unknown as Json, { runId, version: driverVersion }); // Messages are JSON.
  // Nothing has begun that could end: its record knows what became of it.
  if (started === 'known') throw existsError;
}
