import type { RunOutcome } from '../../agent/run-outcome.ts';
import { onAbort } from '../../base/abort.ts';
import { defined } from '../../base/defined.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { childPlace, takePlace } from '../children/child-place.ts';
import { bySignal, endRun, joinRun, obeySignal, refusedOutcome } from './held-runs.ts';
import type { Begun, HeldRuns, Joining } from './held-runs.ts';
import { leftError } from './leave-run.ts';
import { createLiveRun } from './live-run.ts';
import type { LiveRun, Watcher } from './live-run.ts';
import { beginAgain, loadRun } from './resume-run.ts';
import { checkRunOptions, readInput } from './run-input.ts';
import type { RunInput } from './run-input.ts';
import { existsError } from '../record/run-keeper.ts';
import { partsOfRun } from './run-parts.ts';
import { startInSession } from './run-session.ts';
import { watchRun } from '../watch/run-watchers.ts';
import { startRun } from './start-run.ts';

/** Starts a run, or finds the one of that name. */
export function beginRun(held: HeldRuns, input: RunInput, joining: Joining): Begun {
  const { options, watcher } = joining;
  // Of a run below another one they are ours.
  if (options[childPlace] === undefined) checkRunOptions(options, 'run');
  const { parts, runs } = held;
  const runId = options.runId ?? parts.newId();
  const known = runs.get(runId);
  if (known !== undefined) {
    if (known.ended === undefined || known.unbegun === undefined) return joinRun(held, known, joining);
    beginOnceMore(held, known, joining);
    return begunBy(held, known, joining);
  }
  const own = partsOfRun(held, options);
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  live.parts = own;
  takePlace(live, options);
  runs.set(runId, live);
  const listener = watchRun(parts, live, options.onEvent);
  if (watcher !== undefined) live.watchers.add(watcher);
  // The engine begins at once, and can cancel only what has begun: a cancel request from before must be known to the driver itself.
  live.isCancelled = options.signal?.aborted === true;
  const start = readInput(parts, input);
  const { sessionId } = options;
  // Where the session cannot be read, the run can be begun again.
  if (sessionId !== undefined && held.keeper !== undefined) live.unbegun = start;
  const starting =
    sessionId === undefined || start.refused !== undefined
      ? startRun(held, live, start)
      : startInSession(held, live, { start, sessionId, signal: options.signal }).then((whole) =>
          startRun(held, live, whole),
        );
  const started = starting.catch((error: unknown) => failStart(held, live, error));
  if (held.keeper !== undefined && options[childPlace] === undefined)
    return onceKnown(held, live, { joining, listener, started });
  if (!live.isCancelled) obeySignal(held, live, options.signal);
  return begunBy(held, live, joining);
}

/** To break off the stream that began a run is to cancel it, unless another caller waits for it meanwhile. */
function begunBy(held: HeldRuns, live: LiveRun, { watcher }: Joining): Begun {
  const { runId } = live;
  const leave = (): void => {
    if (watcher !== undefined) live.watchers.delete(watcher);
    if (live.joined.size === 0) held.wishEnd(runId, 'no reader of its events is left');
  };
  return { runId, outcome: live.outcome.promise, leave };
}

interface Starting {
  readonly joining: Joining;
  /** The caller's own. */
  readonly listener: Watcher | undefined;
  /** Never rejects. */
  readonly started: Promise<void>;
}

/** With a store the name may be one of a run that waits for something: then this caller has joined it, and leaving does not cancel it. */
function onceKnown(held: HeldRuns, live: LiveRun, { joining, listener, started }: Starting): Begun {
  const { runId } = live;
  const { options, watcher } = joining;
  const { signal } = options;
  const begun = begunBy(held, live, joining);
  let isKnown = false;
  const awaitStart = async (): Promise<void> => {
    await started;
    isKnown = true;
  };
  const known = awaitStart();
  const whenKnown = (end: () => void): void => (isKnown ? end() : void known.then(end));
  const leaveFound = (): void => {
    for (const each of [watcher, listener]) if (each !== undefined) live.watchers.delete(each);
  };
  // Of a run that has an outcome here, or that another process runs, there is nothing for this caller to end.
  const leave = (): void =>
    whenKnown(() => (live.isFound || live.ended !== undefined ? leaveFound() : begun.leave()));
  if (signal === undefined) return { ...begun, leave };
  // A run that begins with an aborted signal knows it by itself.
  const isTold = live.isCancelled;
  const outcome = new Promise<RunOutcome>((resolve, reject) => {
    const end = (): void => {
      if (live.ended !== undefined) return;
      if (!live.isFound) return isTold ? undefined : held.wishEnd(runId, bySignal);
      leaveFound();
      reject(leftError(runId, signal.reason));
    };
    const stopListening = onAbort(signal, () => whenKnown(end));
    void begun.outcome.then(resolve, reject).finally(stopListening);
  });
  return { runId, outcome, leave };
}

/** It could not be written down that it begins: the next call of the run tries it again. */
function beginOnceMore(held: HeldRuns, live: LiveRun, { options, watcher }: Joining): void {
  const { signal, onEvent } = options;
  const beginning = beginAgain(held, live, defined({ signal, onEvent }));
  if (watcher !== undefined) live.watchers.add(watcher);
  const { outcome } = live;
  void beginning.then(outcome.resolve, (error: unknown) => failStart(held, live, error));
}

/** The run could not begin: that is an outcome too. */
async function failStart(held: HeldRuns, live: LiveRun, error: unknown): Promise<void> {
  if (error === existsError) {
    live.unbegun = undefined;
    // A second run of that name is the first one.
    return loadRun(held, live).catch((reason: unknown) => failStart(held, live, reason));
  }
  if (!RerailError.isInstance(error) || error.failure.origin !== 'storage') live.unbegun = undefined;
  endRun(held, live, refusedOutcome(held, live, error));
}
