import type { Json } from '../../base/json.ts';
import type { Message } from '../message.ts';
import type { ProvenRecords } from './proven.ts';
import type { LatestOf, Restored, WholeRun, WholeSession } from './whole-run.ts';

/**
 * Where runs are kept so that they outlive the process. Every verb may reject with a `RerailError` whose failure is of the origin
 * `storage` (`STORAGE_FULL`, `STORAGE_LOCKED` …) and with nothing else.
 *
 * - A run is a list of events, numbered from 1 without a gap; each has the hash of the one before it.
 * - A verb that resolves has written what it was given: it survives `kill -9` and, by the store's promise, a loss of power.
 * - A run belongs to one owner at a time. A lease has an epoch; the process that holds an old one is refused.
 */
export interface Store {
  /** For people: what it is and where, such as `sqlite runs.db`. */
  readonly name: string;
  /** `required`: what cannot be written is not done. `bestEffort`: the run continues in memory, and says so. */
  readonly durability: Durability;
  readonly runs: RunStore;
  readonly blobs: BlobStore;
  readonly sessions: SessionStore;
  /** Opens it, if it is not open yet: every other verb does so by itself. Rejects with what is wrong with it. */
  readonly open: () => Promise<void>;
  /** Looks at everything that is kept, event by event. */
  readonly check: (options?: { readonly signal?: AbortSignal }) => Promise<StoreCheck>;
  /** Opens what can still be proven of a damaged store, also where `open` rejects. Reads only. */
  readonly proven?: () => Promise<ProvenRecords>;
  /** Waits for what is being written, then closes. Leases stay until they end by themselves, or are released. */
  readonly close: () => Promise<void>;
}

export type Durability = 'required' | 'bestEffort';

/** Runs and their events. */
export interface RunStore {
  /** Begins a run with its first events and takes its lease. */
  readonly create: (run: NewRun, owner: LeaseOwner) => Promise<Created>;
  /** Takes the lease of a run that no process holds, whose lease has run out, or whose owner is known to be dead. */
  readonly claim: (runId: string, owner: LeaseOwner) => Promise<Claimed>;
  /** Adds events to a run, and changes what is listed of it: both or neither. In the order of the calls. */
  readonly append: (lease: Lease, addition: Addition) => Promise<void>;
  /** Renews all leases of this owner. Gives the runs that are no longer his. */
  readonly renew: (owner: LeaseOwner) => Promise<readonly string[]>;
  /** Gives a run back. Does nothing where the lease is not the current one. */
  readonly release: (lease: Lease) => Promise<void>;
  /** What is listed of a run. */
  readonly find: (runId: string) => Promise<RunRow | undefined>;
  /** Its events in order, their hashes checked; `STORAGE_CORRUPT` names run and number where they are not whole. */
  readonly events: (runId: string, range?: EventRange) => Promise<readonly StoredEvent[]>;
  readonly list: (query?: RunQuery) => Promise<RunPage>;
  readonly latestOf?: LatestOf;
  /** Keeps a signal for a run until it is taken: also while no process runs the run. Once per id. */
  readonly signal: (runId: string, signal: NewSignal) => Promise<SignalKept>;
  /** Signals that are not taken yet, the oldest first. */
  readonly signals: (runId: string) => Promise<readonly StoredSignal[]>;
  /** Runs that should be resumed now: interrupted, due, or signalled. The longest waiting first. */
  readonly waiting: (query: WaitingQuery) => Promise<readonly WaitingRun[]>;
  /**
   * Removes ended runs by age or number, and whatever only they need. Gives how many. A run goes with those below it, and none of
   * those without it: what a flow has not finished may still need them.
   */
  readonly prune: (rule: Retention) => Promise<number>;
  /** Removes a run and those below it. */
  readonly remove: (runId: string) => Promise<boolean>;
  /** Accepts what is there as the whole truth, where the record of the head says that there was more. */
  readonly acceptHead: (runId: string) => Promise<void>;
  /** All that is kept of a run, at one moment, whichever process holds it. */
  readonly whole: (runId: string) => Promise<WholeRun | undefined>;
  /**
   * Keeps a run as another store had it, with its times and hashes; no process holds it then. Its contents must be here already, for they
   * come one by one. `STORAGE_CORRUPT` where its hashes do not hold.
   */
  readonly restore: (run: WholeRun) => Promise<Restored>;
}

/** Who holds leases. Where it runs on this machine, the store can tell whether it is alive. */
export interface LeaseOwner {
  /** Of this process and start: no other has it. */
  readonly id: string;
  /** How long a lease lasts without being renewed. */
  readonly leaseMs: number;
}

/** The right to add to a run. */
export interface Lease {
  readonly runId: string;
  readonly ownerId: string;
  /** Grows with every owner. */
  readonly epoch: number;
}

export interface NewRun extends Addition {
  readonly runId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly sessionId?: string;
}

export type Created = { readonly type: 'created'; readonly lease: Lease } | { readonly type: 'exists' };

export type Claimed =
  | {
      readonly type: 'claimed';
      readonly lease: Lease;
      readonly row: RunRow;
      /** Another process had it and never gave it back: he crashed, or was too slow. */
      readonly wasAbandoned: boolean;
    }
  | { readonly type: 'held'; readonly ownerId: string; readonly untilMs: number }
  | { readonly type: 'unknown' };

/** What is written at once. */
export interface Addition {
  readonly events: readonly NewEvent[];
  readonly row?: RowChange;
  /** Ids of signals that these events have taken in. */
  readonly took?: readonly string[];
}

export interface NewEvent {
  readonly type: string;
  readonly body: Json;
}

export interface StoredEvent extends NewEvent {
  /** From 1. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly hash: string;
}

export interface EventRange {
  /** Inclusive; 1 by default. */
  readonly from?: number;
  /** Inclusive. */
  readonly to?: number;
}

/** What a run is doing, as it is listed. */
export type StoredStatus =
  'running' | 'suspended' | 'completed' | 'stopped' | 'cancelled' | 'failed' | 'parked';

/** What is listed of a run: an index over its events, never the truth itself. */
export interface RunRow {
  readonly runId: string;
  readonly agent: string;
  readonly status: StoredStatus;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Number and hash of the latest event. */
  readonly headSeq: number;
  readonly headHash: string;
  /** The event that the current generation begins with. */
  readonly generationSeq: number;
  /** How often its owner vanished while it was running, since it was last resumed manually. */
  readonly crashes: number;
  readonly sessionId?: string;
  /** What it was asked and what it answered, bounded: for searching. */
  readonly text: string;
  /** Names of the tools it has called. */
  readonly tools: readonly string[];
  /** Of the failure it ended with or waits for. */
  readonly code?: string;
  /** Why it was stopped or suspended; `denied:1` where it completed without so many calls, that were not approved. */
  readonly reason?: string;
  /** Not to be resumed before. Milliseconds since 1970. */
  readonly resumeAtMs?: number;
  readonly turns: number;
  readonly costUsd?: number;
  /** Who holds it now, if the lease has not run out. */
  readonly owner?: { readonly id: string; readonly untilMs: number };
}

/** `null` takes a value away. What is not named stays. */
export interface RowChange {
  readonly status?: StoredStatus;
  readonly text?: string;
  readonly tools?: readonly string[];
  readonly code?: string | null;
  readonly reason?: string | null;
  readonly resumeAtMs?: number | null;
  readonly turns?: number;
  readonly costUsd?: number | null;
  readonly crashes?: number;
  /** The first event of this very addition begins a generation. */
  readonly beginsGeneration?: boolean;
}

/** All that are given must hold. */
export interface RunQuery {
  readonly status?: readonly StoredStatus[];
  readonly agent?: string;
  readonly sessionId?: string;
  readonly code?: string;
  readonly tool?: string;
  /** Occurs in what was asked or answered; letter case does not matter. */
  readonly text?: string;
  /** Created at or after; before. Milliseconds since 1970. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Only runs below this one; `false`: only those that stand below none. See `run-tree.ts`. */
  readonly below?: string | false;
  /** At most so many, 50 by default, at most 1000. */
  readonly limit?: number;
  /** From the page before. */
  readonly cursor?: string;
}

/** The latest created first; runs of the same moment by their id. */
export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Absent on the last page. */
  readonly next?: string;
}

export interface NewSignal {
  readonly id: string;
  readonly name: string;
  readonly payload: Json;
}

export interface StoredSignal extends NewSignal {
  readonly atMs: number;
}

export type SignalKept = 'added' | 'duplicate' | 'full' | 'unknown';

export interface WaitingQuery {
  readonly agents: readonly string[];
  /** Runs of this owner are not given: he knows of them. */
  readonly ownerId: string;
  readonly limit: number;
}

/** A run that no process runs and that could continue. */
export interface WaitingRun {
  readonly row: RunRow;
  /** Its owner vanished; its time has come; a person has answered. */
  readonly why: 'interrupted' | 'due' | 'signalled';
}

/** Which ended runs may go. Suspended and running ones never do. */
export interface Retention {
  readonly maxAgeMs?: number;
  readonly maxRuns?: number;
}

/** Content by its hash: written once, however often it is kept. */
export interface BlobStore {
  /** Gives the hash. `runId` says on whose behalf it is kept. */
  readonly put: (content: string, runId: string) => Promise<string>;
  readonly get: (hash: string) => Promise<string | undefined>;
}

/** Conversations across runs. */
export interface SessionStore {
  /** Creates it where there is none. `runId` makes it idempotent: a run adds once. */
  readonly append: (sessionId: string, messages: readonly Message[], runId: string) => Promise<void>;
  /** The latest so many, in order; all by default. Empty where there is no such session. */
  readonly messages: (sessionId: string, range?: { readonly last?: number }) => Promise<readonly Message[]>;
  readonly find: (sessionId: string) => Promise<SessionRow | undefined>;
  readonly list: (query?: { readonly limit?: number; readonly cursor?: string }) => Promise<SessionPage>;
  /** Removes its last messages: what a person takes back. Gives how many were removed. */
  readonly trim: (sessionId: string, count: number) => Promise<number>;
  readonly remove: (sessionId: string) => Promise<boolean>;
  /** All that is kept of a session, at one moment. */
  readonly whole: (sessionId: string) => Promise<WholeSession | undefined>;
  /** Keeps a session as another store had it. */
  readonly restore: (session: WholeSession) => Promise<Restored>;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly messages: number;
}

export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  readonly next?: string;
}

/** What a look at everything has found. */
export interface StoreCheck {
  readonly runs: number;
  readonly events: number;
  readonly blobs: number;
  /** Empty where all is well. */
  readonly problems: readonly StoreProblem[];
}

export interface StoreProblem {
  readonly code: 'STORAGE_CORRUPT' | 'STORAGE_DIVERGED';
  /** The run, where one is meant. */
  readonly runId?: string;
  readonly seq?: number;
  readonly message: string;
}
