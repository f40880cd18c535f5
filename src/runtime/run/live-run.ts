import type { HookPoint, Moments } from '../../agent/hooks/hook.ts';
import type { RunLimits } from '../../agent/limits.ts';
import type { Provenance } from '../../agent/approval/provenance.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { RunState } from '../../agent/state.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { DriveInput, SessionPart } from '../drive.ts';
import type { Family } from './family.ts';
import type { ModelTurn, RequestChanges } from '../model-call/model-turn.ts';
import type { ResourceLocks } from '../tool-call/resource-locks.ts';
import type { Slots } from '../tool-call/slots.ts';
import { createSoFar, eventsSoFar, noteEvent } from '../watch/so-far.ts';
import type { SoFar } from '../watch/so-far.ts';

/** A run in this process: its latest state, and who watches it. It changes in place; the journal is what counts. */
export interface LiveRun {
  readonly runId: string;
  readonly maxConcurrentTools: number;
  /** Made when the first tool is called, as are the locks when the first tool needs one. */
  slots: Slots | undefined;
  locks: ResourceLocks | undefined;
  readonly watchers: Set<Watcher>;
  state: RunState | undefined;
  /** The agent's with tools and a choice of this run, where it has them: see `run-parts.ts`. */
  parts: AgentParts | undefined;
  /** The call of a model that is under way, kept between its attempts so that a broken answer can be continued. */
  turn: ModelTurn | undefined;
  /** The ids of its calls so far, as far as this process has seen them, and the part of the conversation that was looked through last. */
  readonly callIds: { readonly taken: Set<string>; settled: readonly Message[] };
  /** What hooks made of the inputs of this turn's calls, by their place. */
  inputs: Map<number, Json> | undefined;
  /** Tokens of this turn's intents that were used: each is good once. */
  readonly tokens: Set<string>;
  /** Intents of this turn that were written in this process. */
  readonly issued: Set<string>;
  /** Hashes of results that were too long to be shown, and that the model may read on in. */
  readonly spilled: Set<string>;
  /** What hooks are asked about, by point and place: it stays outside the journal. */
  readonly moments: Map<string, Moments[HookPoint]>;
  /** What hooks put in the place of what this turn would ask, for all of its attempts. */
  changes: RequestChanges | undefined;
  session: SessionPart | undefined;
  /** Where the run came from, if its record was not written here. */
  provenance: Provenance | undefined;
  /** The conversation that it belongs to. */
  sessionId: string | undefined;
  /** What happens has happened before, in a previous process of the run: it is not reported again. */
  isQuiet: boolean;
  /** Nothing has been done since it was taken from its record. */
  isUntouched: boolean;
  isCancelled: boolean;
  /** It was on record already and waited for something: the caller that asked for it here has joined it. */
  isFound: boolean;
  /** It is carried elsewhere: a cancel request is obeyed when it comes from there. */
  isCopy: boolean;
  /** Of a run below another one: what it may use up of what that one has left. */
  bounds: RunBounds | undefined;
  /** It and all runs below it; made when the first one is begun. */
  family: Family | undefined;
  /** Runs above it. */
  depth: number;
  /** Forgets the runs below it that are kept for it. */
  below: (() => void)[] | undefined;
  /** It could not be written down that the run begins: this is what it would begin with. */
  unbegun: Extract<DriveInput, { type: 'start' }> | undefined;
  /** Why it is not on record, where it went on without. */
  unsaved: Failure | undefined;
  /** How it ended, until that is written down. */
  ending: RunOutcome | undefined;
  /** Something that led to it is not on record yet. */
  isEndUncertain: boolean;
  outcome: Deferred<RunOutcome>;
  /** Callers that wait for an outcome of a run that another one began. */
  joined: Set<() => void>;
  /** What a late subscriber gets. */
  soFar: SoFar;
  /** The latest outcome, once there is one. */
  ended: RunOutcome | undefined;
}

export interface Watcher {
  readonly hear: (event: RunEvent) => void;
  /** Whether every piece of text is wanted, or only what the journal holds. */
  readonly wantsDeltas: boolean;
  /** Receives nothing after the end of the run, and must not be kept with it: what it holds may be much. */
  readonly endsWithRun?: true;
}

/** The most that a run below another one may use up. */
export type RunBounds = Partial<Pick<RunLimits, 'timeoutMs' | 'maxTokens' | 'maxCostUsd' | 'maxRequests'>>;

/** A run that has not begun. */
export function createLiveRun(runId: string, maxConcurrentTools: number): LiveRun {
  return {
    runId,
    maxConcurrentTools,
    slots: undefined,
    locks: undefined,
    watchers: new Set(),
    tokens: new Set(),
    issued: new Set(),
    spilled: new Set(),
    moments: new Map(),
    state: undefined,
    parts: undefined,
    turn: undefined,
    callIds: { taken: new Set(), settled: [] },
    inputs: undefined,
    changes: undefined,
    session: undefined,
    provenance: undefined,
    sessionId: undefined,
    isQuiet: false,
    isUntouched: false,
    isCancelled: false,
    isFound: false,
    isCopy: false,
    bounds: undefined,
    family: undefined,
    depth: 0,
    below: undefined,
    unbegun: undefined,
    unsaved: undefined,
    ending: undefined,
    isEndUncertain: false,
    outcome: createDeferred(),
    joined: new Set(),
    soFar: createSoFar(),
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

/** Informs all listeners. What they make of it is theirs: `hear` never throws. */
export function publish(live: LiveRun, event: RunEvent): void {
  if (live.isQuiet) return;
  noteEvent(live.soFar, event);
  const isPiece = pieces.has(event.type);
  for (const watcher of live.watchers) if (!isPiece || watcher.wantsDeltas) watcher.hear(event);
}

/** Emitted only to listeners that want an answer while it comes. */
const pieces: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'text-delta',
  'text-retracted',
  'reasoning-delta',
  'tool-call-started',
  'tool-call-delta',
]);

/** A watcher that comes late begins with what is known so far. */
export function joinWatchers({ watchers, soFar }: LiveRun, watcher: Watcher): void {
  for (const event of eventsSoFar(soFar)) watcher.hear(event);
  watchers.add(watcher);
}
