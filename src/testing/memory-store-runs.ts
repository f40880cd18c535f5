import type { Json } from '../base/json.ts';
import { deepFreeze } from '../base/plain-copy.ts';
import type { RerailError } from '../errors/rerail-error.ts';
import type {
  Addition,
  Claimed,
  Created,
  EventRange,
  Lease,
  LeaseOwner,
  NewRun,
  NewSignal,
  SignalKept,
  StoredEvent,
  StoredSignal,
} from '../model/store/store.ts';
import { bodyTextOf } from '../storage/common/text-addition.ts';
import { findChangedSeq, isHeld, rowOf, storageError } from './memory-store-data.ts';
import type { HeldEvent, HeldRun, StoreData } from './memory-store-data.ts';

/** Signals that nobody takes must not fill the store. */
const maxSignals = 1000;

export function createRun(data: StoreData, newRun: NewRun, owner: LeaseOwner): Created {
  const { runId, agent, sessionId } = newRun;
  if (data.runs.has(runId)) return { type: 'exists' };
  const texts = bodyTextsOf(newRun);
  const nowMs = data.nowMs();
  const run: HeldRun = {
    runId,
    agent,
    sessionId,
    createdAtMs: nowMs,
    events: [],
    signals: new Map(),
    signalIds: new Map(),
    updatedAtMs: nowMs,
    headSeq: 0,
    lostHash: undefined,
    generationSeq: 1,
    listed: fresh,
    lease: undefined,
  };
  data.runs.set(runId, run);
  write(data, { run, addition: newRun, texts });
  return { type: 'created', lease: lend(data, run, owner) };
}

export function claimRun(data: StoreData, runId: string, owner: LeaseOwner): Claimed {
  const run = data.runs.get(runId);
  if (run === undefined) return { type: 'unknown' };
  const before = run.lease;
  // Its own owner could not give it back: the store had failed.
  if (before !== undefined && before.ownerId !== owner.id && isHeld(data, run)) {
    return { type: 'held', ownerId: before.ownerId, untilMs: before.untilMs };
  }
  const lease = lend(data, run, owner);
  const wasAbandoned = before !== undefined && before.ownerId !== owner.id;
  return { type: 'claimed', lease, row: rowOf(data, run), wasAbandoned };
}

/** Checks everything first: what is refused has changed nothing. */
export function appendEvents(data: StoreData, lease: Lease, addition: Addition): void {
  const run = data.runs.get(lease.runId);
  if (run === undefined) throw goneError(lease.runId);
  if (run.lease?.epoch !== lease.epoch || run.lease.ownerId !== lease.ownerId) throw fencedError(run, lease);
  if (run.events.length !== run.headSeq) throw divergedError(run);
  write(data, { run, addition, texts: bodyTextsOf(addition) });
}

/** Gives the runs that are no longer his, once: he is told, and they are forgotten. */
export function renewLeases(data: StoreData, { id, leaseMs }: LeaseOwner): readonly string[] {
  const believed = data.believed.get(id);
  if (believed === undefined) return [];
  const untilMs = data.nowMs() + leaseMs;
  const lost: string[] = [];
  for (const [runId, epoch] of believed) {
    const lease = data.runs.get(runId)?.lease;
    if (lease?.epoch === epoch) {
      lease.untilMs = untilMs;
      continue;
    }
    believed.delete(runId);
    lost.push(runId);
  }
  return lost;
}

export function releaseRun(data: StoreData, { runId, ownerId, epoch }: Lease): void {
  const believed = data.believed.get(ownerId);
  if (believed?.get(runId) === epoch) believed.delete(runId);
  const run = data.runs.get(runId);
  if (run?.lease?.epoch === epoch && run.lease.ownerId === ownerId) run.lease = undefined;
}

export function readEvents(data: StoreData, runId: string, range: EventRange): readonly StoredEvent[] {
  const run = data.runs.get(runId);
  if (run === undefined) return [];
  const from = Math.max(1, range.from ?? 1);
  const to = Math.min(range.to ?? run.headSeq, run.headSeq);
  if (to > run.events.length) throw divergedError(run);
  const changed = findChangedSeq(run, from, to);
  if (changed !== undefined) throw corruptError(run, changed);
  return run.events.slice(from - 1, to).map((event, index) => ({
    seq: from + index,
    atMs: event.atMs,
    type: event.type,
    body: data.isFrozen ? sharedBody(event) : parse(event.bodyText),
    hash: event.hash ?? '',
  }));
}

function parse(bodyText: string): Json {
  return JSON.parse(bodyText) as Json; // Written by us, from what was JSON.
}

function sharedBody(event: HeldEvent): Json {
  const { bodyText } = event;
  if (event.read?.bodyText !== bodyText) event.read = { bodyText, body: deepFreeze(parse(bodyText)) };
  return event.read.body;
}

export function keepSignal(data: StoreData, runId: string, signal: NewSignal): SignalKept {
  const run = data.runs.get(runId);
  if (run === undefined) return 'unknown';
  const { id, name } = signal;
  if (run.signalIds.has(id)) return 'duplicate';
  if (run.signals.size >= maxSignals) return 'full';
  const atMs = data.nowMs();
  run.signals.set(id, { id, name, payloadText: JSON.stringify(signal.payload), atMs });
  run.signalIds.set(id, { id, name, atMs });
  return 'added';
}

export function readSignals(data: StoreData, runId: string): readonly StoredSignal[] {
  return [...(data.runs.get(runId)?.signals.values() ?? [])].map(({ payloadText, ...signal }) => ({
    ...signal,
    payload: JSON.parse(payloadText) as Json, // As above.
  }));
}

export function acceptHead(data: StoreData, runId: string): void {
  const run = data.runs.get(runId);
  if (run === undefined) throw goneError(runId);
  run.headSeq = run.events.length;
  run.lostHash = undefined;
}

const fresh: HeldRun['listed'] = {
  status: 'running',
  text: '',
  tools: [],
  code: null,
  reason: null,
  resumeAtMs: null,
  turns: 0,
  costUsd: null,
  crashes: 0,
};

/** The text is made at once: whatever the caller does to the body afterwards is no longer ours. */
function bodyTextsOf({ events }: Addition): readonly string[] {
  return events.map(({ body }) => bodyTextOf(body));
}

interface Writing {
  readonly run: HeldRun;
  readonly addition: Addition;
  readonly texts: readonly string[];
}

function write(data: StoreData, { run, addition, texts }: Writing): void {
  const atMs = data.nowMs();
  const { events, row, took } = addition;
  if (row !== undefined) {
    const { beginsGeneration, ...change } = row;
    run.listed = { ...run.listed, ...change };
    if (change.tools !== undefined) run.listed = { ...run.listed, tools: [...change.tools] };
    if (beginsGeneration === true) run.generationSeq = run.headSeq + 1;
  }
  for (const [index, { type }] of events.entries()) {
    run.events.push({ atMs, type, bodyText: texts[index] ?? 'null', hash: undefined, hashed: undefined });
  }
  run.headSeq = run.events.length;
  run.updatedAtMs = atMs;
  if (took !== undefined) for (const id of took) run.signals.delete(id);
}

function lend(data: StoreData, run: HeldRun, { id, leaseMs }: LeaseOwner): Lease {
  data.epochs += 1;
  const epoch = data.epochs;
  run.lease = { ownerId: id, epoch, untilMs: data.nowMs() + leaseMs };
  const believed = data.believed.get(id) ?? new Map<string, number>();
  data.believed.set(id, believed.set(run.runId, epoch));
  return { runId: run.runId, ownerId: id, epoch };
}

function goneError(runId: string): RerailError {
  return storageError('STORAGE_NOT_FOUND', {
    message: `Cannot write to the run "${runId}": the store does not have it`,
    hint: 'It was never begun here, or it was removed meanwhile. Look for it with the list of runs.',
    context: { runId },
  });
}

function fencedError(run: HeldRun, { runId, ownerId, epoch }: Lease): RerailError {
  const holder = run.lease === undefined ? 'nobody' : `"${run.lease.ownerId}" by epoch ${run.lease.epoch}`;
  return storageError('STORAGE_LOCKED', {
    message: `Cannot write to the run "${runId}": "${ownerId}" has it no longer by epoch ${epoch}; ${holder} has it`,
    hint: 'Another process has taken the run up, or this one gave it back. Nothing was written; stop working on it here.',
    // The same lease never becomes the current one again.
    retryable: false,
    context: { runId, ownerId, epoch, currentEpoch: run.lease?.epoch ?? null },
  });
}

function divergedError({ runId, headSeq, events }: HeldRun): RerailError {
  return storageError('STORAGE_DIVERGED', {
    message: `The run "${runId}" had ${headSeq} events, of which only ${events.length} are there: the latest ones are lost`,
    hint: 'An older copy was put back. What the lost events did has happened: look at it first, then accept what is there.',
    context: { runId, headSeq, seq: events.length },
  });
}

function corruptError({ runId }: HeldRun, seq: number): RerailError {
  return storageError('STORAGE_CORRUPT', {
    message: `Event ${seq} of the run "${runId}" is not what was written: its hash does not fit`,
    hint: `Events 1 to ${seq - 1} can still be read. Put back a copy, or go on from there as a new run.`,
    context: { runId, seq },
  });
}
