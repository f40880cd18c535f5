import { assert } from '../../base/assert.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import type { Claimed, Lease, LeaseOwner } from '../../model/store/store.ts';
import { ownProcess } from '../common/owner-process.ts';
import { storageError } from '../common/storage-error.ts';
import { encodeText } from '../common/stored-text.ts';
import { checkHead } from './head-check.ts';
import { readHeads } from './heads.ts';
import { getRow, getRows } from './held.ts';
import type { Connection, Held, Remembered, Transaction } from './held.ts';
import {
  findRecord,
  heldUntilMs,
  readWholeRecord,
  recordColumns,
  toRunRow,
  updateRecord,
} from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { findTexts } from './run-texts.ts';

export function claimRun(transaction: Transaction, runId: string, owner: LeaseOwner): Claimed {
  const { held, connection, nowMs } = transaction;
  readHeads(held.heads);
  const before = findRecord(connection, runId);
  checkHead(held, connection, { runId, record: before });
  if (before === undefined) return { type: 'unknown' };
  const untilMs = heldUntilMs(before, nowMs);
  if (before.owner !== null && untilMs !== undefined && before.owner !== owner.id) {
    shorten(transaction, before);
    return { type: 'held', ownerId: before.owner, untilMs };
  }
  const texts = findTexts(connection, before);
  const epoch = nextEpoch(connection);
  const record = rewrite(connection, { ...before, ...takenBy(owner, { epoch, nowMs }) }, before);
  remember(held, record);
  const wasAbandoned = before.owner !== null && before.owner !== owner.id;
  const lease = { runId, ownerId: owner.id, epoch };
  return { type: 'claimed', lease, row: toRunRow(record, texts, nowMs), wasAbandoned };
}

/** Renews all leases of an owner; gives the runs that are no longer his, once. */
export function renewLeases(transaction: Transaction, owner: LeaseOwner): readonly string[] {
  const { held, connection, nowMs } = transaction;
  const current = new Map<string, RunRecord>();
  for (const row of getRows(connection, ownedSql, [encodeText(owner.id)])) {
    const record = readWholeRecord(connection, row);
    if (record !== undefined) current.set(record.runId, record);
  }
  const believed = held.believed.get(owner.id) ?? new Map<string, number>();
  const lost = [...believed].filter(([runId, epoch]) => current.get(runId)?.epoch !== epoch);
  for (const [runId] of lost) {
    believed.delete(runId);
    held.records.delete(runId);
  }
  for (const before of current.values()) {
    const renewed = { ...before, leaseUntilMs: nowMs + owner.leaseMs, leaseMs: owner.leaseMs };
    const record = rewrite(connection, renewed, before);
    if (believed.has(record.runId)) remember(held, record);
  }
  return lost.map(([runId]) => runId);
}

export function releaseRun(transaction: Transaction, { runId, ownerId, epoch }: Lease): void {
  const { held, connection } = transaction;
  const before = recall(held, connection, runId) ?? findRecord(connection, runId);
  const believed = held.believed.get(ownerId);
  if (believed?.get(runId) === epoch) believed.delete(runId);
  if (before === undefined || before.epoch !== epoch || before.owner !== ownerId) return;
  held.records.delete(runId);
  transaction.mustNoteHeads = true;
  rewrite(connection, { ...before, owner: null, leaseUntilMs: 0, process: '' }, before);
}

/**
 * A lease that lasts longer than any was given for was given before the clock was set back. It begins now, so that it ends:
 * its owner may well be alive.
 */
export function shorten({ held, connection, nowMs }: Transaction, before: RunRecord): void {
  if (!isTooLong(before, nowMs)) return;
  const record = rewrite(connection, { ...before, leaseUntilMs: nowMs + before.leaseMs }, before);
  if (held.records.has(record.runId)) remember(held, record);
}

export function isTooLong({ owner, leaseUntilMs, leaseMs }: RunRecord, nowMs: number): boolean {
  return owner !== null && leaseUntilMs > nowMs + leaseMs;
}

/** The fields of a row that say who has it. */
export function takenBy(
  { id, leaseMs }: LeaseOwner,
  { epoch, nowMs }: { readonly epoch: number; readonly nowMs: number },
): Pick<RunRecord, 'owner' | 'epoch' | 'leaseUntilMs' | 'leaseMs' | 'process'> {
  return { owner: id, epoch, leaseUntilMs: nowMs + leaseMs, leaseMs, process: ownProcess() };
}

/** Of the whole store, so that a run that was removed and made again never meets an old lease again. */
export function nextEpoch(connection: Connection): number {
  return Number(getRow(connection, nextEpochSql)?.['value']);
}

/** What is remembered of a run, if it still holds: where others have written since, the row and the head are looked at again. */
export function recall(
  { records, version }: Held,
  connection: Connection,
  runId: string,
): RunRecord | undefined {
  const remembered = records.get(runId);
  if (remembered === undefined) return undefined;
  const record = recordNow(remembered);
  if (remembered.version === version) return record;
  const now = getRow(connection, recallSql, [encodeText(runId)]);
  const isSame = now?.['row_check'] === record.check && now['last'] === record.headHash;
  if (isSame) return record;
  records.delete(runId);
  return undefined;
}

function recordNow({ record, head }: Remembered): RunRecord {
  if (head === undefined) return record;
  return { ...record, updatedAtMs: head.atMs, headSeq: head.seq, headHash: head.hash };
}

/** Keeps the state of a run that this store has given the lease of. */
export function remember({ records, believed, version }: Held, record: RunRecord): void {
  const { runId, owner, epoch } = record;
  if (owner === null) return;
  // Moved to the end, so that the one forgotten is the one longest unused.
  records.delete(runId);
  records.set(runId, { record, version, head: undefined });
  if (records.size > maxRecords) records.delete(records.keys().next().value ?? '');
  const own = believed.get(owner) ?? new Map<string, number>();
  if (own.get(runId) === epoch) return;
  believed.set(owner, own.set(runId, epoch));
}

/** The failure of the process that writes by an old lease. */
export function leaseLost({ runId, ownerId, epoch }: Lease, current: RunRecord | undefined): RerailError {
  const holder =
    current?.owner === null || current === undefined
      ? 'no process has it'
      : `"${current.owner}" has it by epoch ${current.epoch}`;
  return storageError('STORAGE_LOCKED', {
    message: `Cannot write to the run "${runId}": "${ownerId}" held it by epoch ${epoch}, and holds it no longer; ${holder}`,
    hint: 'Another process has taken the run over, or this one gave it back. Nothing was written; stop working on it here.',
    // The same lease never becomes the current one again.
    retryable: false,
    context: { runId, leaseLost: true, epoch, currentEpoch: current?.epoch ?? null },
  });
}

/** Of a row that is known to be so in this very transaction. */
export function rewrite(connection: Connection, record: RunRecord, before: RunRecord): RunRecord {
  const written = updateRecord(connection, record, before);
  assert(written !== undefined, 'A row has changed under a lock');
  return written;
}

const ownedSql = `SELECT ${recordColumns.join(', ')}, row_check FROM runs WHERE owner = ?`;
const nextEpochSql = `UPDATE meta SET value = CAST(value + 1 AS TEXT) WHERE name = 'epochs' RETURNING value`;
const recallSql = `SELECT row_check,
  coalesce((SELECT hash FROM events WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1), '') AS last
  FROM runs WHERE run_id = ?1`;
const maxRecords = 10_000;
