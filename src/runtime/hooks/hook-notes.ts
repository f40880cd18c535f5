import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { hookFailed } from '../../agent/hooks/hook-failure.ts';
import type { HookFault, HookPlace } from '../../agent/hooks/hook-failure.ts';
import type { EventSource, Hook } from '../../agent/hooks/hook.ts';
import { ownerNamed } from '../../model/stray-errors.ts';
import type { CodeOwner, StrayErrors } from '../../model/stray-errors.ts';

/** An observer that failed: noted, and nothing else. */
export interface FailedHook {
  readonly runId: string;
  readonly agent: string;
  readonly hook: string;
  /** A point, or `event`. */
  readonly point: string;
  readonly failure: Failure;
}

/** Reports of observers that failed, within a bound. */
export interface HookNotes {
  readonly note: (place: HookPlace, what: { readonly about: EventSource; readonly fault: HookFault }) => void;
  readonly add: (failed: FailedHook) => void;
}

/** An observer that fails at every event must not fill the journal. */
export const maxNotesPerRun = 20;
/** Pairs of run and hook that are counted at a time; beyond, the oldest is forgotten. */
const maxCounted = 1000;

/** Counts by run and hook, so that one that always fails is reported in every run, and in none without end. */
export function createHookNotes(onFailed: ((failed: FailedHook) => void) | undefined): HookNotes {
  const counts = new Map<string, number>();
  const add = ({ runId, agent, hook, point, failure }: FailedHook): void => {
    const key = `${runId}\n${hook}`;
    const count = (counts.get(key) ?? 0) + 1;
    if (onFailed === undefined || count > maxNotesPerRun) return;
    if (count === 1 && counts.size >= maxCounted) forgetOldest(counts);
    counts.set(key, count);
    onFailed({ runId, agent, hook, point, failure });
  };
  return {
    add,
    note: (place, { about: { runId, agent }, fault }) =>
      add({ runId, agent, hook: place.hook, point: place.point, failure: hookFailed(place, fault) }),
  };
}

function forgetOldest(counts: Map<string, number>): void {
  for (const key of counts.keys()) {
    counts.delete(key);
    return;
  }
}

/** An error that a hook leaves to the process is noted as one that it threw. */
export function ownerOfHook(
  { notes, strayErrors }: { readonly notes: HookNotes; readonly strayErrors: StrayErrors },
  hook: Hook,
  { point, about: { runId, agent } }: { readonly point: string; readonly about: EventSource },
): CodeOwner {
  return ownerNamed(`The ${hook.kind} "${hook.name}"`, {
    strayErrors,
    details: { context: { hook: hook.name, point } },
    report: (failure) => notes.add({ runId, agent, hook: hook.name, point, failure }),
  });
}

/** What goes wrong while a hook receives failures is not reported, or it would never end. */
export const unheard: CodeOwner = { onStray: () => 'taken' };

/** An observer that is still busy when the process need not stay for it any more. */
export function leftBehindHook(
  { name }: Hook,
  point: string,
): Pick<FailedHook, 'hook' | 'point' | 'failure'> {
  const failure = createFailure('HOOK_FAILED', {
    origin: 'hook',
    message: `The observer "${name}" was still busy at "${point}" after the run had ended: the process does not wait for it`,
    context: { hook: name, kind: 'observer', point, fault: 'left-behind' },
  });
  return { hook: name, point, failure };
}
