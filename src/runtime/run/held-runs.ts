import { outcomeOfLetGo } from '../../agent/let-go.ts';
import { outcomeOf } from '../../agent/outcome.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { RunState } from '../../agent/state.ts';
import { transition } from '../../agent/transition.ts';
import { onAbort } from '../../base/abort.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { childPlace } from '../children/child-place.ts';
import { viewOf } from '../children/conduct-effect.ts';
import { untilLeft } from './leave-run.ts';
import { createDeferred, joinWatchers } from './live-run.ts';
import type { LiveRun, Watcher } from './live-run.ts';
import type { MemoryEngine } from '../record/memory-engine.ts';
import type { RunOptions } from './run-input.ts';
import type { ExtendableAgent } from './run-parts.ts';
import type { RunKeeper } from '../record/run-keeper.ts';
import { createLateListener } from '../watch/run-watchers.ts';
import { createSoFar } from '../watch/so-far.ts';

/** The runs of one agent in this process. */
export interface HeldRuns extends ExtendableAgent {
  readonly engine: MemoryEngine;
  /** Where they outlive the process. */
  readonly keeper: RunKeeper | undefined;
  readonly runs: Map<string, LiveRun>;
  /** The one that ended first in front. */
  readonly ended: Set<string>;
  /** Of those, all together. */
  messages: number;
  /** Stops a run, for a caller that does not wait for that. */
  readonly wishEnd: (runId: string, reason: string) => void;
}

/** Of the driver: what an engine must find again to carry a run on. */
export const driverVersion = '1';

/** Ended runs that are kept, so that they can be resumed and asked for again. */
const maxEndedRuns = 200;
const maxEndedMessages = 5000;

/** The run has this outcome: waiting callers and listeners are informed. */
export function endRun(held: HeldRuns, live: LiveRun, given: RunOutcome): void {
  const outcome = withNodes(
    held,
    live,
    live.unsaved === undefined ? given : { ...given, unsaved: live.unsaved },
  );
  live.ended = outcome;
  live.turn = undefined;
  live.inputs = undefined;
  live.isQuiet = false;
  // Nothing continues from there; its outcome is all that is kept.
  if (outcome.type === 'completed' || outcome.type === 'stopped') {
    live.state = undefined;
    forgetBelow(live);
  }
  // Where runs outlive the process, they need not be kept here: their record is what counts, also for the engine.
  if (held.keeper !== undefined && live.unbegun === undefined) {
    held.runs.delete(live.runId);
    if (outcome.type !== 'suspended') held.engine.letGo(live.runId);
  } else if (outcome.type !== 'suspended') remember(held, live.runId);
  live.outcome.resolve(outcome);
  // A caller that receives it may resume the run at once, and then it has other watchers.
  const watchers = [...live.watchers];
  for (const watcher of watchers) if (watcher.endsWithRun === true) live.watchers.delete(watcher);
  live.soFar = createSoFar();
  for (const { hear } of watchers) hear({ type: 'run-finished', outcome });
}

/** Of a flow or a plan: what became of its parts. */
function withNodes({ parts }: HeldRuns, { state }: LiveRun, outcome: RunOutcome): RunOutcome {
  if (parts.conductor === undefined || state === undefined) return outcome;
  try {
    return { ...outcome, nodes: parts.conductor.report(viewOf(state, outcome.messages), outcome) };
  } catch {
    // What cannot be said of the parts must not keep anybody waiting for the whole.
    return outcome;
  }
}

function remember(held: HeldRuns, runId: string): void {
  forget(held, runId);
  held.ended.add(runId);
  held.messages += messagesIn(held, runId);
  for (const oldest of held.ended) {
    if (held.ended.size <= maxEndedRuns && held.messages <= maxEndedMessages) return;
    // The latest one stays, however long it is.
    if (oldest === runId) return;
    forget(held, oldest);
    const forgotten = held.runs.get(oldest);
    if (forgotten !== undefined) forgetBelow(forgotten);
    held.runs.delete(oldest);
    // It cannot be asked for here any more, so the engine need not remember how it ended.
    held.engine.letGo(oldest);
  }
}

/** Runs below it were kept in case it is continued. */
function forgetBelow(live: LiveRun): void {
  const { below } = live;
  live.below = undefined;
  for (const forgetOne of below ?? []) forgetOne();
}

/** A run that has ended is not kept here any longer; nothing where it lives, or is on record. */
export function forgetRun(held: HeldRuns, runId: string): void {
  const live = held.runs.get(runId);
  if (live?.ended === undefined || live.ended.type === 'suspended') return;
  forgetBelow(live);
  forget(held, runId);
  held.runs.delete(runId);
  held.engine.letGo(runId);
}

/** It has not ended any more. */
export function forget(held: HeldRuns, runId: string): void {
  if (held.ended.delete(runId)) held.messages -= messagesIn(held, runId);
}

function messagesIn({ runs }: HeldRuns, runId: string): number {
  return runs.get(runId)?.ended?.messages.length ?? 0;
}

/** The run has more to say: the next outcome is another promise. */
export function reopen(live: LiveRun): void {
  live.watchers.clear();
  live.ended = undefined;
  live.ending = undefined;
  live.outcome = createDeferred();
  live.joined = new Set();
  live.soFar = createSoFar();
}

/** A caller's side of a run. */
export interface Begun {
  readonly runId: string;
  readonly outcome: Promise<RunOutcome>;
  /** The caller reads no more. */
  readonly leave: () => void;
}

/**
 * A caller of a run that another one began: it gets what is known so far and what is still to come, and waits for the same
 * outcome. It may leave, by its signal or by reading no more, and the run continues.
 */
export function joinRun(held: HeldRuns, live: LiveRun, { options, watcher }: Joining): Begun {
  const { onEvent, signal } = options;
  const { runId, watchers, joined, ended } = live;
  const { promise } = live.outcome;
  const own = [watcher, onEvent === undefined ? undefined : createLateListener(live, onEvent)];
  for (const each of own) {
    if (each === undefined) continue;
    if (ended !== undefined) each.hear({ type: 'run-finished', outcome: ended });
    else joinWatchers(live, each);
  }
  const leave = (): void => {
    joined.delete(leave);
    for (const each of own) if (each !== undefined) watchers.delete(each);
  };
  if (ended !== undefined) return { runId, outcome: promise, leave };
  // A run below another one belongs to that one, whose cancel request is its own.
  if (options[childPlace] !== undefined) {
    obeySignal(held, live, signal);
    return { runId, outcome: promise, leave };
  }
  joined.add(leave);
  return { runId, outcome: untilLeft(promise, { runId, signal, onLeft: leave }), leave };
}

export interface Joining {
  readonly options: RunOptions;
  readonly watcher?: Watcher | undefined;
}

/** Why a run was cancelled: its caller aborted. */
export const bySignal = 'the signal of the caller';

/** The caller's cancel request is the run's. */
export function obeySignal(held: HeldRuns, live: LiveRun, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const stopListening = onAbort(signal, () => held.wishEnd(live.runId, bySignal));
  void live.outcome.promise.then(stopListening);
}

/** A run of which no state is left to say more. */
export function bareFailure(held: HeldRuns, live: LiveRun, failure: Failure): RunOutcome {
  return outcomeOf(transition(stateOf(held, live), { type: 'broken', failure }).state) as RunOutcome; // It has ended.
}

/** The run is no longer carried here. Where its record can be fixed it can be resumed. */
export function letGoOutcome(held: HeldRuns, live: LiveRun, failure: Failure | undefined): RunOutcome {
  if (failure === undefined) return outcomeOfLetGo(stateOf(held, live), 'released');
  return lostForGood.has(failure.code)
    ? bareFailure(held, live, failure)
    : outcomeOfLetGo(stateOf(held, live), 'storage', failure);
}

/** The run could not be begun or resumed: that is an outcome too. */
export function refusedOutcome(held: HeldRuns, live: LiveRun, error: unknown): RunOutcome {
  const failure = RerailError.isInstance(error) ? error.failure : classifyFailure(error, 'agent');
  return failure.origin === 'storage' ? letGoOutcome(held, live, failure) : bareFailure(held, live, failure);
}

/** To wait does not fix these. */
const lostForGood: ReadonlySet<string> = new Set([
  'STORAGE_NOT_FOUND',
  'STORAGE_CORRUPT',
  'STORAGE_LOST',
  'STORAGE_DIVERGED',
  'STORAGE_NEWER_SCHEMA',
]);

/** Of a run that has not begun: as if it had just done so. */
function stateOf({ parts: { config } }: HeldRuns, { runId, state }: LiveRun): RunState {
  return (
    state ?? transition(undefined, { type: 'run-started', runId, config, messages: [], repairs: [] }).state
  );
}

/** The run is neither here nor on record. */
export function unknownRun({ keeper }: HeldRuns, runId: string): RerailError {
  if (keeper === undefined) {
    const message = `There is no run "${runId}" in this process: it was never started here, or it ended long ago`;
    return RerailError.from(createFailure('NOT_REGISTERED', { origin: 'registry', message }));
  }
  const message = `There is no run "${runId}" in ${keeper.store.name}`;
  const hint = 'List the runs that are there with `store.runs.list()`.';
  return RerailError.from(createFailure('STORAGE_NOT_FOUND', { origin: 'storage', message, hint }));
}
