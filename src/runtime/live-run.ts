import type { HookPoint, Moments } from '../agent/hook.ts';
import type { RunEvent } from '../agent/run-event.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { RunState } from '../agent/state.ts';
import type { Json } from '../base/json.ts';
import type { ModelTurn } from './model-turn.ts';
import { createResourceLocks } from './resource-locks.ts';
import type { ResourceLocks } from './resource-locks.ts';
import { createSlots } from './slots.ts';
import type { Slots } from './slots.ts';

/** A run in this process: its latest state, and who watches it. It changes in place; the journal is what counts. */
export interface LiveRun {
  readonly runId: string;
  readonly slots: Slots;
  readonly locks: ResourceLocks;
  readonly watchers: Set<Watcher>;
  state: RunState | undefined;
  /** The call of a model that is under way, kept between its attempts so that a broken answer can be continued. */
  turn: ModelTurn | undefined;
  /** What hooks made of the inputs of this turn's calls, by their place. */
  inputs: Map<number, Json> | undefined;
  /** Tokens of this turn's intents that were used: each is good once. */
  readonly tokens: Set<string>;
  /** What hooks are asked about, by point and place: it stays outside the journal. */
  readonly moments: Map<string, Moments[HookPoint]>;
  isCancelled: boolean;
  outcome: Deferred<RunOutcome>;
  /** The latest outcome, once there is one. */
  ended: RunOutcome | undefined;
}

export interface Watcher {
  readonly hear: (event: RunEvent) => void;
  /** Whether every piece of text is wanted, or only what the journal holds. */
  readonly wantsDeltas: boolean;
}

/** A run that has not begun. */
export function createLiveRun(runId: string, maxConcurrentTools: number): LiveRun {
  return {
    runId,
    slots: createSlots(maxConcurrentTools),
    locks: createResourceLocks(),
    watchers: new Set(),
    tokens: new Set(),
    moments: new Map(),
    state: undefined,
    turn: undefined,
    inputs: undefined,
    isCancelled: false,
    outcome: createDeferred(),
    ended: undefined,
  };
}

/** A promise and how to keep it. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

/** Not kept yet. */
export function createDeferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((keep) => {
    resolve = keep;
  });
  return { promise, resolve };
}

/** Tells all who watch. What they make of it is theirs: `hear` never throws. */
export function publish(live: LiveRun, event: RunEvent): void {
  const isPiece =
    event.type === 'text-delta' || event.type === 'text-retracted' || event.type === 'reasoning-delta';
  for (const watcher of live.watchers) if (!isPiece || watcher.wantsDeltas) watcher.hear(event);
}

/** Whether anybody wants the text while it comes. */
export function wantsDeltas({ watchers }: LiveRun): boolean {
  for (const watcher of watchers) if (watcher.wantsDeltas) return true;
  return false;
}
