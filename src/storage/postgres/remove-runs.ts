import { chainStart } from '../../model/store/event-chain.ts';
import type { Retention } from '../../model/store/store.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { givenNow, nowSql } from './held.ts';
import type { Connection, Held } from './held.ts';
import { change, getRow, getRows, inTransaction } from './query.ts';
import { readHash } from './run-events.ts';
import { heldUntilMs, lastSeqColumn, readRecord, recordColumns } from './run-record.ts';
import { isBelowOneSql, isBelowSql } from './run-tree.ts';

/** One step of removing ended runs: the caller asks again until it is over. */
export interface PruneStep {
  readonly removed: number;
  readonly isOver: boolean;
}

export function pruneRuns(connection: Connection, { maxAgeMs, maxRuns }: Retention): Promise<PruneStep> {
  if (maxAgeMs === undefined && maxRuns === undefined) return Promise.resolve({ removed: 0, isOver: true });
  return inTransaction(connection, async () => {
    const rows = await getRows(connection, pruneStatement, [
      givenNow(connection.held),
      maxAgeMs ?? null,
      maxRuns ?? null,
    ]);
    // A process may still be about to end it.
    const free = rows
      .filter((row) => heldUntilMs(readRecord(row), Number(row['now_ms'])) === undefined)
      .map((row) => decodeText(String(row['run_id'])));
    for (const runId of free) await removeUnderLock(connection, runId);
    return { removed: free.length, isOver: rows.length < pruneStep || free.length === 0 };
  });
}

/** Removes a run with everything that only it needs, and with the runs below it. */
export function removeRun(connection: Connection, runId: string): Promise<boolean> {
  return inTransaction(connection, () => removeUnderLock(connection, runId));
}

async function removeUnderLock(connection: Connection, runId: string): Promise<boolean> {
  const rows = await getRows(connection, familyStatement, [encodeText(runId)]);
  const ids = rows.map((row) => String(row['run_id']));
  // Also without a run: what was kept for one that was never begun.
  const family = [...new Set([...ids, encodeText(runId)])];
  const hashes = (await getRows(connection, blobsStatement, [family])).map((row) => String(row['hash']));
  for (const text of deletions) await change(connection, { text }, [family]);
  if (hashes.length > 0) {
    // One after the other: a concurrent writer of one is waited for, and then seen.
    await getRows(
      connection,
      { text: 'SELECT 1 FROM @.blobs WHERE hash = ANY($1::text[]) ORDER BY hash FOR UPDATE' },
      [hashes],
    );
    await change(connection, orphansStatement, [hashes]);
  }
  for (const id of family) forget(connection.held, decodeText(id));
  return ids.includes(encodeText(runId));
}

function forget({ records, heads, doubts }: Held, runId: string): void {
  records.delete(runId);
  heads.delete(runId);
  doubts.delete(runId);
}

/** Accepts what is there, or that there is nothing. */
export async function acceptHead(connection: Connection, runId: string): Promise<void> {
  const { held } = connection;
  await inTransaction(connection, async () => {
    await getRow(connection, lockStatement, [encodeText(runId)]);
    const row = await getRow(connection, lookStatement, [encodeText(runId)]);
    if (row === undefined) return;
    const record = readRecord(row);
    const seq = Math.min(record.headSeq, Number(row['last_seq']));
    if (seq === record.headSeq) return;
    const hash = seq === 0 ? chainStart : ((await readHash(connection, runId, seq)) ?? record.headHash);
    // Where a generation began that is lost, only the whole is left to begin with.
    const generationSeq = record.generationSeq > seq ? 1 : record.generationSeq;
    await change(connection, acceptStatement, [encodeText(runId), seq, hash, generationSeq]);
  });
  forget(held, runId);
}

/** One transaction must not hold up the others for long. */
const pruneStep = 100;

const ended = `('completed', 'stopped', 'cancelled', 'failed')`;
const pruneStatement = {
  text: `SELECT ${recordColumns}, ${nowSql('$1')} AS now_ms FROM @.runs AS runs
    JOIN (SELECT run_id, row_number() OVER (ORDER BY updated_at DESC, run_id) AS place
      FROM @.runs AS runs WHERE status IN ${ended} AND NOT ${isBelowSql}) AS ranked ON ranked.run_id = runs.run_id
    WHERE runs.status IN ${ended} AND (runs.updated_at < ${nowSql('$1')} - $2::float8 OR ranked.place > $3::float8)
    ORDER BY runs.updated_at, runs.run_id LIMIT ${pruneStep} FOR UPDATE OF runs SKIP LOCKED`,
};
const familyStatement = {
  text: `SELECT below.run_id FROM @.runs AS below WHERE below.run_id = $1 OR ${isBelowOneSql('$1')}
    ORDER BY below.run_id FOR UPDATE`,
};
const blobsStatement = { text: 'SELECT DISTINCT hash FROM @.run_blobs WHERE run_id = ANY($1::text[])' };
const deletions = ['runs', 'events', 'signals', 'run_texts', 'run_blobs'].map(
  (table) => `DELETE FROM @.${table} WHERE run_id = ANY($1::text[])`,
);
const orphansStatement = {
  text: `DELETE FROM @.blobs AS blobs WHERE hash = ANY($1::text[])
    AND NOT EXISTS (SELECT 1 FROM @.run_blobs AS other WHERE other.hash = blobs.hash)`,
};
// Two statements: what the first one has waited for is seen by the second one, in all tables.
const lockStatement = { text: 'SELECT 1 FROM @.runs WHERE run_id = $1 FOR UPDATE' };
const lookStatement = {
  text: `SELECT ${recordColumns}, ${lastSeqColumn} FROM @.runs AS runs WHERE runs.run_id = $1`,
};
const acceptStatement = {
  text: 'UPDATE @.runs SET head_seq = $2, head_hash = $3, generation_seq = $4 WHERE run_id = $1',
};
