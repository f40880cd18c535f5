import type { Failure } from '../errors/failure.ts';
import { hookFailed } from '../agent/hook-failure.ts';
import type { HookFault, HookPlace } from '../agent/hook-failure.ts';
import type { EventSource } from '../agent/hook.ts';

/** An observer that failed: noted, and nothing else. */
export interface FailedHook {
  readonly runId: string;
  readonly agent: string;
  readonly hook: string;
  /** A point, or `event`. */
  readonly point: string;
  readonly failure: Failure;
}

/** Tells of observers that failed, within a bound. */
export interface HookNotes {
  readonly note: (place: HookPlace, what: { readonly about: EventSource; readonly fault: HookFault }) => void;
}

/** An observer that fails at every event must not fill the journal. */
export const maxNotesPerRun = 20;
/** Pairs of run and hook that are counted at a time; beyond, the oldest is forgotten. */
const maxCounted = 1000;

/** Counts by run and hook, so that one that always fails is told of in every run, and in none without end. */
export function createHookNotes(onFailed: ((failed: FailedHook) => void) | undefined): HookNotes {
  const counts = new Map<string, number>();
  return {
    note: (place, { about: { runId, agent }, fault }) => {
      const key = `${runId}\n${place.hook}`;
      const count = (counts.get(key) ?? 0) + 1;
      if (onFailed === undefined || count > maxNotesPerRun) return;
      if (count === 1 && counts.size >= maxCounted) forgetOldest(counts);
      counts.set(key, count);
      onFailed({ runId, agent, hook: place.hook, point: place.point, failure: hookFailed(place, fault) });
    },
  };
}

function forgetOldest(counts: Map<string, number>): void {
  for (const key of counts.keys()) {
    counts.delete(key);
    return;
  }
}
