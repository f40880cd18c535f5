import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { Created, Lease, LeaseOwner, NewRun, RowChange } from '../../model/store/store.ts';
import { storageError } from '../common/storage-error.ts';
import { encodeText } from '../common/stored-text.ts';
import { changedFields, hashEvents, maxBodyCharacters } from '../common/text-addition.ts';
import type { HashedEvent, TextAddition } from '../common/text-addition.ts';
import { keepBlob } from './blobs.ts';
import { checkHead } from './head-check.ts';
import { readHeads } from './heads.ts';
import type { SqlValue } from './driver.ts';
import { change } from './held.ts';
import type { Connection, Transaction } from './held.ts';
import { leaseLost, nextEpoch, recall, remember, rewrite, takenBy } from './leases.ts';
import { findRecord, hashTexts, insertRecord } from './run-record.ts';
import type { RunRecord, RunTexts } from './run-record.ts';
import { changeTexts, newTexts, writeTexts } from './run-texts.ts';
import { takeSignals } from './signals.ts';

/** What a run begins with. */
export interface Beginning {
  readonly run: Pick<NewRun, 'runId' | 'agent' | 'sessionId'>;
  readonly addition: TextAddition;
  readonly owner: LeaseOwner;
}

export function createRun(transaction: Transaction, { run, addition, owner }: Beginning): Created {
  const { held, connection, nowMs } = transaction;
  const { runId, agent, sessionId } = run;
  if (findRecord(connection, runId) !== undefined) return { type: 'exists' };
  readHeads(held.heads);
  // A known run that is not there is lost, and its id is not used for another history.
  checkHead(held, connection, { runId, record: undefined });
  const epoch = nextEpoch(connection);
  const empty: RunRecord = {
    ...blank,
    runId,
    agent,
    sessionId: sessionId ?? null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...takenBy(owner, { epoch, nowMs }),
  };
  const events = insertEvents(connection, empty, { addition, nowMs });
  const texts = changeTexts(noTexts, addition.row);
  const filled = { ...empty, ...events, ...changedFields(addition.row), textHash: hashTexts(texts) };
  const record = insertRecord(connection, filled);
  writeTexts(connection, runId, texts);
  remember(held, record);
  if (events.headSeq > 0)
    transaction.facts.push({ type: 'h', runId, seq: events.headSeq, hash: events.headHash });
  return { type: 'created', lease: { runId, ownerId: owner.id, epoch } };
}

/** Refuses the process that has not the current lease. The run is as it is taken to be: no other process writes while this transaction lasts. */
export function appendEvents(transaction: Transaction, lease: Lease, addition: TextAddition): void {
  const { held, connection, nowMs } = transaction;
  const { runId } = lease;
  const before = recall(held, connection, runId) ?? findChecked(transaction, runId);
  if (before === undefined) throw goneError(runId);
  if (before.epoch !== lease.epoch || before.owner !== lease.ownerId) throw leaseLost(lease, before);
  const hashed = hashEvents(before, addition, nowMs);
  const last = hashed.at(-1);
  const headed: RunRecord = {
    ...before,
    updatedAtMs: nowMs,
    headSeq: before.headSeq + hashed.length,
    headHash: last?.hash ?? before.headHash,
    isHeadDamaged: before.isHeadDamaged && last === undefined,
  };
  const isPlain = addition.row === undefined && last !== undefined && before.status === 'running';
  const record = isPlain ? headed : changeRow(connection, headed, { before, row: addition.row });
  writeEvents(connection, runId, hashed);
  if (addition.took !== undefined) takeSignals(connection, runId, addition.took);
  remember(held, record);
  if (last !== undefined) transaction.facts.push({ type: 'h', runId, seq: last.seq, hash: last.hash });
}

/**
 * The same for a few plain events, by one statement that is a transaction of its own: it writes only where the run still has the
 * lease that is remembered, and no event at this place. Gives false, with nothing written, where that is not so or not so simple.
 */
export function appendAlone(
  transaction: Transaction,
  lease: Lease,
  { events, row, took }: TextAddition,
): boolean {
  const { held, connection, nowMs } = transaction;
  const sql = insertFencedSql[events.length];
  if (sql === undefined || row !== undefined || took !== undefined) return false;
  const remembered = held.records.get(lease.runId);
  if (remembered === undefined || remembered.version !== held.version) return false;
  const { record } = remembered;
  const { runId, epoch, owner, status } = record;
  if (epoch !== lease.epoch || owner !== lease.ownerId || status !== 'running' || record.isHeadDamaged)
    return false;
  let { seq, hash } = remembered.head ?? { seq: record.headSeq, hash: record.headHash };
  const values: SqlValue[] = [encodeText(runId), epoch, encodeText(owner), nowMs];
  for (const { type, bodyText } of events) {
    if (bodyText.length > maxBodyCharacters) return false;
    seq += 1;
    hash = hashEvent(hash, { runId, seq, atMs: nowMs, type, bodyText });
    values.push(seq, encodeText(type), bodyText, hash);
  }
  if (change(connection, sql, values) === 0) return false;
  remembered.head = { seq, hash, atMs: nowMs };
  transaction.facts.push({ type: 'h', runId, seq, hash });
  return true;
}

/** A run of which this store remembers nothing, or another process has written to: it may have lost something. */
function findChecked({ held, connection }: Transaction, runId: string): RunRecord | undefined {
  readHeads(held.heads);
  const record = findRecord(connection, runId);
  checkHead(held, connection, { runId, record });
  return record;
}

function changeRow(
  connection: Connection,
  headed: RunRecord,
  { before, row }: { readonly before: RunRecord; readonly row: RowChange | undefined },
): RunRecord {
  const texts = row === undefined ? undefined : newTexts(connection, before, row);
  if (texts !== undefined) writeTexts(connection, before.runId, texts);
  const changed: RunRecord = {
    ...headed,
    ...changedFields(row),
    ...(row?.beginsGeneration === true ? { generationSeq: before.headSeq + 1 } : {}),
    ...(texts === undefined ? {} : { textHash: hashTexts(texts) }),
  };
  return rewrite(connection, changed, before);
}

const noTexts: RunTexts = { text: '', tools: [] };

/** A run that nothing is known of yet. */
export const blank = {
  status: 'running',
  headSeq: 0,
  headHash: chainStart,
  generationSeq: 1,
  crashes: 0,
  code: null,
  reason: null,
  resumeAtMs: null,
  turns: 0,
  costUsd: null,
  textHash: '',
  check: '',
  kept: [],
  isHeadDamaged: false,
} as const;

function goneError(runId: string): Error {
  return storageError('STORAGE_NOT_FOUND', {
    message: `Cannot write to the run "${runId}": the store does not have it`,
    hint: 'It was never started here, or it has been removed. Look for it in the list of runs.',
    context: { runId },
  });
}

function insertEvents(
  connection: Connection,
  record: RunRecord,
  { addition, nowMs }: { readonly addition: TextAddition; readonly nowMs: number },
): { readonly headSeq: number; readonly headHash: string } {
  const hashed = hashEvents(record, addition, nowMs);
  writeEvents(connection, record.runId, hashed);
  return { headSeq: hashed.length, headHash: hashed.at(-1)?.hash ?? chainStart };
}

export function writeEvents(connection: Connection, runId: string, events: readonly HashedEvent[]): void {
  const id = encodeText(runId);
  for (const { seq, atMs, type, bodyText, blob, hash } of events) {
    if (blob !== undefined) keepBlob(connection, blob, runId);
    change(connection, insertEventSql, [id, seq, atMs, encodeText(type), bodyText, hash]);
  }
}

const insertEventSql = 'INSERT INTO events (run_id, seq, at_ms, type, body, hash) VALUES (?, ?, ?, ?, ?, ?)';

/** By the number of events. What is kept together is an answer and the result of a call, or a few results. */
const insertFencedSql = [0, 1, 2, 3, 4].map((count) => {
  if (count === 0) return undefined;
  const rows = Array.from({ length: count }, () => '(?, ?, ?, ?)').join(', ');
  return `INSERT INTO events (run_id, seq, at_ms, type, body, hash)
    SELECT ?1, column1, ?4, column2, column3, column4 FROM (VALUES ${rows}) WHERE EXISTS (
      SELECT 1 FROM runs WHERE run_id = ?1 AND epoch = ?2 AND owner = ?3 AND status = 'running')`;
});
