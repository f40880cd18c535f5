import type { Claimed, Lease, LeaseOwner } from '../../model/store/store.ts';
import { ownProcess } from '../common/owner-process.ts';
import { encodeText } from '../common/stored-text.ts';
import { checkHead, knownHead } from './head-check.ts';
import { givenNow, learnTime, nowSql } from './held.ts';
import type { Connection, Held } from './held.ts';
import { change, changeRows, getRow, inTransaction } from './query.ts';
import { remember } from './remembered.ts';
import {
  heldUntilMs,
  lastSeqColumn,
  readRecord,
  readTexts,
  recordColumns,
  runsWithTexts,
  textColumns,
  toRunRow,
} from './run-record.ts';
import type { RunRecord } from './run-record.ts';

/** What an earlier attempt has found, of which it is unknown whether it took the run. */
export interface ClaimMemo {
  wasAbandoned: boolean;
}

/** A process that claims, and what. */
export interface Claim {
  readonly runId: string;
  readonly owner: LeaseOwner;
  readonly memo: ClaimMemo;
}

/** The database's time decides whether a lease has run out, and nothing else's. */
export async function claimRun(connection: Connection, claim: Claim): Promise<Claimed> {
  const { held } = connection;
  const { claimed, record } = await inTransaction(connection, () => claimUnderLock(connection, claim));
  if (record !== undefined) remember(held, record);
  return claimed;
}

interface ClaimEnd {
  readonly claimed: Claimed;
  readonly record?: RunRecord;
}

async function claimUnderLock(connection: Connection, { runId, owner, memo }: Claim): Promise<ClaimEnd> {
  const { held } = connection;
  const known = knownHead(held, runId);
  await getRow(connection, lockStatement, [encodeText(runId)]);
  const row = await getRow(connection, lookStatement, [encodeText(runId), givenNow(held)]);
  if (row === undefined) return { claimed: { type: 'unknown' } };
  const before = readRecord(row);
  const nowMs = Number(row['now_ms']);
  checkHead(held, { record: before, lastSeq: Number(row['last_seq']), known });
  const untilMs = heldUntilMs(before, nowMs);
  if (before.owner !== null && untilMs !== undefined && before.owner !== owner.id) {
    await shorten(connection, before, nowMs);
    return { claimed: { type: 'held', ownerId: before.owner, untilMs } };
  }
  const texts = readTexts(row, runId);
  const isOwn = before.owner === owner.id;
  const wasAbandoned = (before.owner !== null && !isOwn) || (isOwn && memo.wasAbandoned);
  memo.wasAbandoned = wasAbandoned;
  const [taken] = await changeRows(connection, takeStatement, [
    encodeText(runId),
    encodeText(owner.id),
    Math.round(owner.leaseMs),
    ownProcess(),
    givenNow(held),
  ]);
  const record = readRecord(taken ?? row);
  const lease = { runId, ownerId: owner.id, epoch: record.epoch };
  return { claimed: { type: 'claimed', lease, row: toRunRow(record, texts, nowMs), wasAbandoned }, record };
}

/**
 * A lease that lasts longer than any was given for was given before the clock of the database was set back. It begins now, so that
 * it ends: its owner may well be alive.
 */
async function shorten(
  connection: Connection,
  { runId, leaseUntilMs, leaseMs }: RunRecord,
  nowMs: number,
): Promise<void> {
  if (leaseUntilMs <= nowMs + leaseMs) return;
  await change(connection, { text: 'UPDATE @.runs SET lease_until = $2 WHERE run_id = $1' }, [
    encodeText(runId),
    nowMs + leaseMs,
  ]);
}

/** Renews all leases of an owner; gives the runs that are no longer his, once. */
export async function renewLeases(connection: Connection, owner: LeaseOwner): Promise<readonly string[]> {
  const { held } = connection;
  const askedAtMs = performance.now();
  const rows = await changeRows(connection, renewStatement, [
    encodeText(owner.id),
    Math.round(owner.leaseMs),
    givenNow(held),
  ]);
  const current = new Map(rows.map(readRecord).map((record) => [record.runId, record.epoch]));
  const [first] = rows;
  if (first !== undefined) learnTime(held, Number(first['server_ms']), askedAtMs);
  const believed = held.believed.get(owner.id) ?? new Map<string, number>();
  const lost = [...believed].filter(([runId, epoch]) => current.get(runId) !== epoch);
  for (const [runId] of lost) {
    believed.delete(runId);
    held.records.delete(runId);
  }
  return lost.map(([runId]) => runId);
}

/** Does nothing where the lease is not the current one. */
export async function releaseRun(connection: Connection, lease: Lease): Promise<void> {
  const { runId, ownerId, epoch } = lease;
  await change(connection, releaseStatement, [encodeText(runId), encodeText(ownerId), epoch]);
  forgetLease(connection.held, lease);
}

function forgetLease({ believed, records, doubts }: Held, { runId, ownerId, epoch }: Lease): void {
  const own = believed.get(ownerId);
  if (own?.get(runId) !== epoch) return;
  own.delete(runId);
  records.delete(runId);
  doubts.delete(runId);
}

// Two statements: what the first one has waited for is seen by the second one, in all tables.
const lockStatement = { text: 'SELECT 1 FROM @.runs WHERE run_id = $1 FOR UPDATE' };
const lookStatement = {
  text: `SELECT ${recordColumns}, ${textColumns}, ${lastSeqColumn}, ${nowSql('$2')} AS now_ms
    FROM ${runsWithTexts} WHERE runs.run_id = $1`,
};

const takeStatement = {
  text: `UPDATE @.runs AS runs SET owner = $2, epoch = nextval('@.epochs'), lease_until = ${nowSql('$5')} + $3::bigint,
      lease_ms = $3::bigint, process = $4
    WHERE run_id = $1 RETURNING ${recordColumns}`,
};

const renewStatement = {
  name: 'rerail-renew',
  text: `UPDATE @.runs AS runs SET lease_until = ${nowSql('$3')} + $2::bigint, lease_ms = $2::bigint
    WHERE owner = $1 RETURNING ${recordColumns}, (extract(epoch from clock_timestamp()) * 1000)::bigint AS server_ms`,
};

const releaseStatement = {
  text: `UPDATE @.runs SET owner = NULL, lease_until = 0, process = '' WHERE run_id = $1 AND owner = $2 AND epoch = $3`,
};
