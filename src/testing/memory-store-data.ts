import type { Json } from '../base/json.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../model/store/event-chain.ts';
import type { RowChange, RunRow, StoredSignal } from '../model/store/store.ts';
import { keptText } from '../storage/common/text-addition.ts';

/** What all handles on one memory store share: what would be on the disk. */
export interface StoreData {
  readonly nowMs: () => number;
  readonly isFrozen: boolean;
  readonly runs: Map<string, HeldRun>;
  /** For each owner the runs he believes to have, with the epoch he has them by. */
  readonly believed: Map<string, Map<string, number>>;
  readonly deadOwners: Set<string>;
  readonly blobs: Map<string, HeldBlob>;
  /** The hashes that each run needs. */
  readonly blobsOfRun: Map<string, Set<string>>;
  readonly sessions: Map<string, HeldSession>;
  /** Of the whole store, so that a run that was removed and made anew never meets an old lease again. */
  epochs: number;
}

export interface HeldRun {
  readonly runId: string;
  readonly agent: string;
  readonly sessionId?: string | undefined;
  readonly createdAtMs: number;
  readonly events: HeldEvent[];
  /** Not taken yet, by id, the oldest first. */
  readonly signals: Map<string, HeldSignal>;
  /** All that ever came, in their order. */
  readonly signalIds: Map<string, Omit<HeldSignal, 'payloadText'>>;
  updatedAtMs: number;
  /** Beside the events, as the head record of a real store: after a loss it says that there was more. */
  headSeq: number;
  lostHash: string | undefined;
  generationSeq: number;
  listed: Listed;
  lease: HeldLease | undefined;
}

type Listed = Omit<Required<RowChange>, 'beginsGeneration'>;

export interface HeldEvent {
  readonly atMs: number;
  readonly type: string;
  bodyText: string;
  /** Absent until somebody wants to see it. */
  hash: string | undefined;
  /** What the hash was made of: as long as it is this very text, it need not be made again. */
  hashed: { readonly bodyText: string; readonly previous: string } | undefined;
  /** What was read of it, where all who read share it. */
  read?: { readonly bodyText: string; readonly body: Json };
}

export interface HeldSignal extends Omit<StoredSignal, 'payload'> {
  readonly payloadText: string;
}

export interface HeldLease {
  readonly ownerId: string;
  readonly epoch: number;
  untilMs: number;
}

export interface HeldBlob {
  readonly content: string;
  readonly runIds: Set<string>;
}

export interface HeldSession {
  readonly sessionId: string;
  readonly createdAtMs: number;
  updatedAtMs: number;
  /** The JSON text of each, and when it was added. */
  readonly messages: string[];
  readonly times: number[];
  readonly runIds: Set<string>;
}

/** A store with nothing in it. */
export function createStoreData(nowMs: () => number, isFrozen: boolean): StoreData {
  return {
    nowMs,
    isFrozen,
    runs: new Map(),
    believed: new Map(),
    deadOwners: new Set(),
    blobs: new Map(),
    blobsOfRun: new Map(),
    sessions: new Map(),
    epochs: 0,
  };
}

/** A failure of the store, to throw. */
export function storageError(code: FailureCode, details: FailureDetails): RerailError {
  return RerailError.from(createFailure(code, { origin: 'storage', ...details }));
}

/** Whether somebody who may be alive holds it now. */
export function isHeld(data: StoreData, { lease }: HeldRun): boolean {
  return lease !== undefined && data.nowMs() < lease.untilMs && !data.deadOwners.has(lease.ownerId);
}

/** What is listed of a run now. */
export function rowOf(data: StoreData, run: HeldRun): RunRow {
  const { status, text, tools, turns, crashes, code, reason, resumeAtMs, costUsd } = run.listed;
  const { sessionId, lease } = run;
  const row: { -readonly [Name in keyof RunRow]: RunRow[Name] } = {
    runId: run.runId,
    agent: run.agent,
    status,
    createdAtMs: run.createdAtMs,
    updatedAtMs: run.updatedAtMs,
    headSeq: run.headSeq,
    headHash: run.lostHash ?? hashAt(run, run.headSeq),
    generationSeq: run.generationSeq,
    crashes,
    text,
    tools: [...tools],
    turns,
  };
  if (sessionId !== undefined) row.sessionId = sessionId;
  if (code !== null) row.code = code;
  if (reason !== null) row.reason = reason;
  if (resumeAtMs !== null) row.resumeAtMs = resumeAtMs;
  if (costUsd !== null) row.costUsd = costUsd;
  if (lease !== undefined && isHeld(data, run)) row.owner = { id: lease.ownerId, untilMs: lease.untilMs };
  return row;
}

/** The hash of an event. Those before it are hashed on the way, each once in its life. */
export function hashAt(run: HeldRun, seq: number): string {
  const { events } = run;
  let first = seq;
  while (first > 0 && events[first - 1]?.hash === undefined) first -= 1;
  let hash = events[first - 1]?.hash ?? chainStart;
  for (; first < seq; first += 1) {
    const event = events[first];
    if (event === undefined) break;
    hash = rehash(run, { event, seq: first + 1, previous: hash });
  }
  return hash;
}

interface Hashing {
  readonly event: HeldEvent;
  readonly seq: number;
  readonly previous: string;
}

/** The hash that the event would have now. The first one it is given is the one it keeps. */
function rehash({ runId }: HeldRun, { event, seq, previous }: Hashing): string {
  const { atMs, type, bodyText, hash, hashed } = event;
  if (hash !== undefined && hashed?.bodyText === bodyText && hashed.previous === previous) return hash;
  const made = hashEvent(previous, { runId, seq, atMs, type, bodyText: keptText(bodyText) });
  if (hash === undefined) {
    event.hash = made;
    event.hashed = { bodyText, previous };
  }
  return made;
}

/** The first event in this range that is not what was written, by its hash. */
export function findChangedSeq(run: HeldRun, from: number, to: number): number | undefined {
  let previous = hashAt(run, from - 1);
  for (let seq = from; seq <= to; seq += 1) {
    const event = run.events[seq - 1];
    if (event === undefined) return undefined;
    const hash = rehash(run, { event, seq, previous });
    if (event.hash !== hash) return seq;
    previous = hash;
  }
  return undefined;
}
