import { defined } from '../base/defined.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../model/event-chain.ts';
import type { RowChange, RunRow, StoredSignal } from '../model/store.ts';

/** What all handles on one memory store share: what would be on the disk. */
export interface StoreData {
  readonly nowMs: () => number;
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
  /** All that ever came. */
  readonly signalIds: Set<string>;
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
  /** The JSON text of each. */
  readonly messages: string[];
  readonly runIds: Set<string>;
}

/** A store with nothing in it. */
export function createStoreData(nowMs: () => number): StoreData {
  return {
    nowMs,
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
  const { code, reason, resumeAtMs, costUsd, tools, ...listed } = run.listed;
  const { lease } = run;
  return defined({
    ...listed,
    runId: run.runId,
    agent: run.agent,
    sessionId: run.sessionId,
    createdAtMs: run.createdAtMs,
    updatedAtMs: run.updatedAtMs,
    headSeq: run.headSeq,
    headHash: run.lostHash ?? hashAt(run, run.headSeq),
    generationSeq: run.generationSeq,
    tools: [...tools],
    code: code ?? undefined,
    reason: reason ?? undefined,
    resumeAtMs: resumeAtMs ?? undefined,
    costUsd: costUsd ?? undefined,
    owner:
      lease !== undefined && isHeld(data, run) ? { id: lease.ownerId, untilMs: lease.untilMs } : undefined,
  });
}

/** The hash of an event. Those before it are hashed on the way, each once in its life. */
export function hashAt(run: HeldRun, seq: number): string {
  const { events } = run;
  let first = seq;
  while (first > 0 && events[first - 1]?.hash === undefined) first -= 1;
  let hash = events[first - 1]?.hash ?? chainStart;
  for (const event of events.slice(first, seq)) {
    first += 1;
    hash = hashEvent(hash, { runId: run.runId, seq: first, ...event });
    event.hash = hash;
  }
  return hash;
}

/** The first event in this range that is not what was written, by its hash. */
export function findChangedSeq(run: HeldRun, from: number, to: number): number | undefined {
  let previous = hashAt(run, from - 1);
  for (const [index, event] of run.events.slice(from - 1, to).entries()) {
    const seq = from + index;
    const hash = hashEvent(previous, { runId: run.runId, seq, ...event });
    event.hash ??= hash;
    if (event.hash !== hash) return seq;
    previous = hash;
  }
  return undefined;
}
