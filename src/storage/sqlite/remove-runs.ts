import { chainStart } from '../../model/store/event-chain.ts';
import type { Retention } from '../../model/store/store.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { readHash, readLastSeq } from './head-check.ts';
import { addHeads } from './heads.ts';
import type { HeadFact } from './heads.ts';
import { change, getRows } from './held.ts';
import type { Transaction } from './held.ts';
import { findRecord, heldUntilMs, readWholeRecord, recordColumns, updateRecord } from './run-record.ts';
import { belowSql, isBelowSql } from './run-tree.ts';

/** Removes some of the ended runs that the rule allows to remove; the caller asks again until it gives fewer than `pruneStep`. */
export function pruneRuns(transaction: Transaction, { maxAgeMs, maxRuns }: Retention): PruneStep {
  const { connection, nowMs } = transaction;
  const oldestMs = maxAgeMs === undefined ? -Number.MAX_SAFE_INTEGER : nowMs - maxAgeMs;
  const rows = getRows(connection, pruneSql, [oldestMs, maxRuns ?? Number.MAX_SAFE_INTEGER]);
  let removed = 0;
  for (const row of rows) {
    const record = readWholeRecord(connection, row);
    // A process may still be about to end it.
    if (record === undefined || heldUntilMs(record, nowMs) !== undefined) continue;
    if (removeRun(transaction, record.runId)) removed += 1;
  }
  return { removed, isOver: rows.length < pruneStep || removed === 0 };
}

export interface PruneStep {
  readonly removed: number;
  readonly isOver: boolean;
}

/** Removes a run with everything that only it needs, and with the runs below it. */
export function removeRun(transaction: Transaction, runId: string): boolean {
  const rows = getRows(transaction.connection, belowSql, [encodeText(runId)]);
  for (const row of rows) removeAlone(transaction, decodeText(String(row['run_id'])));
  return removeAlone(transaction, runId);
}

function removeAlone(transaction: Transaction, runId: string): boolean {
  const { held, connection } = transaction;
  const id = encodeText(runId);
  const wasThere = change(connection, 'DELETE FROM runs WHERE run_id = ?', [id]) > 0;
  for (const sql of companionSqls) change(connection, sql, [id]);
  held.records.delete(runId);
  // Before the commit: a record that misses a run is behind, one that names a removed run would accuse.
  if (wasThere) sayAtOnce(transaction, { type: 'g', runId });
  return wasThere;
}

/** Accepts what is there, or that there is nothing. */
export function acceptHead(transaction: Transaction, runId: string): void {
  const { held, connection } = transaction;
  const record = findRecord(connection, runId);
  if (record === undefined) {
    sayAtOnce(transaction, { type: 'g', runId });
    return;
  }
  const seq = Math.min(record.headSeq, readLastSeq(connection, runId));
  const hash = seq === 0 ? chainStart : (readHash(connection, runId, seq) ?? record.headHash);
  if (seq < record.headSeq) {
    held.records.delete(runId);
    // Where a generation began that is lost, only the whole is left to begin with.
    const generationSeq = record.generationSeq > seq ? 1 : record.generationSeq;
    updateRecord(connection, { ...record, headSeq: seq, headHash: hash, generationSeq }, record);
  }
  sayAtOnce(transaction, { type: 'a', runId, seq, hash });
}

/** Outdoes what this very transaction has to say of the run when it is committed. */
function sayAtOnce({ held, facts }: Transaction, fact: HeadFact): void {
  const others = facts.filter(({ runId }) => runId !== fact.runId);
  facts.splice(0, facts.length, ...others);
  addHeads(held.heads, [fact]);
}

/** One transaction must not hold up the others for long. */
const pruneStep = 200;

const ended = `('completed', 'stopped', 'cancelled', 'failed')`;
const names = recordColumns.join(', ');
const pruneSql = `SELECT ${names}, row_check FROM (
    SELECT *, row_number() OVER (ORDER BY updated_at DESC, run_id) AS place FROM runs WHERE status IN ${ended}
      AND NOT ${isBelowSql}
  ) WHERE updated_at < ?1 OR place > ?2
  ORDER BY updated_at, run_id LIMIT ${pruneStep}`;

const companionSqls = [
  'DELETE FROM events WHERE run_id = ?',
  'DELETE FROM signals WHERE run_id = ?',
  'DELETE FROM run_texts WHERE run_id = ?',
  `DELETE FROM blobs WHERE hash IN (SELECT hash FROM run_blobs WHERE run_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM run_blobs AS other WHERE other.hash = blobs.hash AND other.run_id <> ?1)`,
  'DELETE FROM run_blobs WHERE run_id = ?',
] as const;
