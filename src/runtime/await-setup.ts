import type { Failure } from '../errors/failure.ts';
import type { Effect, EffectContext, EffectEnd } from './record/durable.ts';
import { bareFailure, endRun } from './run/held-runs.ts';
import type { HeldRuns } from './run/held-runs.ts';
import type { LiveRun } from './run/live-run.ts';
import type { Setup } from './setup.ts';

type Effects = Readonly<Record<string, Effect>>;

/** The same effects, each of which waits until the agent is set up. Every run passes here before it touches the world. */
export function awaitSetup(effects: Effects, setup: Setup | undefined, held: () => HeldRuns): Effects {
  if (setup === undefined) return effects;
  const gated: Record<string, Effect> = {};
  for (const [name, effect] of Object.entries(effects)) {
    gated[name] = (input, context) =>
      setup.isReady()
        ? effect(input, context)
        : afterSetup(setup, held(), { context, go: () => effect(input, context) });
  }
  return gated;
}

interface Gated {
  readonly context: EffectContext;
  readonly go: () => Promise<EffectEnd> | EffectEnd;
}

async function afterSetup(setup: Setup, held: HeldRuns, { context, go }: Gated): Promise<EffectEnd> {
  const failure = await setup.prepare({ signal: context.signal, clock: held.parts.clock });
  if (failure === undefined) return go();
  const live = held.runs.get(context.runId);
  if (live?.isUntouched === true) await letGo(held, live, failure);
  return { type: 'failed', failure };
}

/**
 * A run that was taken from its record stays there as it was: what was approved stays approved, and a call that never began is
 * not in doubt. Only the caller that wanted it to continue learns it.
 */
async function letGo(held: HeldRuns, live: LiveRun, failure: Failure): Promise<void> {
  held.engine.letGo(live.runId);
  await held.keeper?.release(live.runId);
  if (live.ended === undefined) endRun(held, live, bareFailure(held, live, failure));
}
