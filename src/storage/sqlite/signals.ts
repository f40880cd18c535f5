import type { Json } from '../../base/json.ts';
import type { NewSignal, SignalKept, StoredSignal } from '../../model/store/store.ts';
import { storageError } from '../common/storage-error.ts';
import { checkOf, decodeText, encodeText } from '../common/stored-text.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { change, getRow, getRows } from './held.ts';
import type { Connection, Transaction } from './held.ts';
import { findRecord } from './run-record.ts';

/** Signals that no process takes must not fill the disk. */
const maxSignals = 1000;

/** A signal whose payload is text already. */
export interface TextSignal extends Omit<NewSignal, 'payload'> {
  readonly payloadText: string;
}

export function keepSignal(
  { connection, nowMs }: Transaction,
  runId: string,
  signal: TextSignal,
): SignalKept {
  if (findRecord(connection, runId) === undefined) return 'unknown';
  const run = encodeText(runId);
  const id = encodeText(signal.id);
  if (getRow(connection, 'SELECT 1 FROM signals WHERE run_id = ? AND id = ?', [run, id]) !== undefined)
    return 'duplicate';
  const found = getRow(connection, waitingSql, [run]);
  if (Number(found?.['waiting']) >= maxSignals) return 'full';
  const place = Number(found?.['last'] ?? 0) + 1;
  const values = [run, place, id, encodeText(signal.name), signal.payloadText, nowMs];
  change(connection, insertSql, [...values, 0, checkOf([...values, 0])]);
  return 'added';
}

export function findSignals(connection: Connection, runId: string): readonly StoredSignal[] {
  return getRows(connection, findSql, [encodeText(runId)]).map(readSignal);
}

/** Marks them as taken: their ids stay known, so that none is delivered twice. */
export function takeSignals(connection: Connection, runId: string, ids: readonly string[]): void {
  const run = encodeText(runId);
  for (const id of ids) {
    const row = getRow(connection, `SELECT ${signalNames} FROM signals WHERE run_id = ? AND id = ?`, [
      run,
      encodeText(id),
    ]);
    if (row === undefined) continue;
    const values = columns.map((name) => (name === 'payload' ? 'null' : (row[name] ?? null)));
    change(connection, takeSql, [checkOf([...values.slice(0, -1), 1]), run, encodeText(id)]);
  }
}

/** A row as it was written, or `STORAGE_CORRUPT`. */
export function readSignal(row: SqlRow): StoredSignal {
  const values = columns.map((name): SqlValue => row[name] ?? null);
  if (checkOf(values) !== row['row_check']) {
    throw storageError('STORAGE_CORRUPT', {
      message: `A signal of the run "${String(row['run_id'])}" is damaged: it does not match its checksum`,
      hint: 'Restore a copy of the file. Other runs are not affected.',
      context: { runId: String(row['run_id']) },
    });
  }
  return {
    id: decodeText(String(row['id'])),
    name: decodeText(String(row['name'])),
    payload: JSON.parse(String(row['payload'])) as Json, // As it was written, which the check has shown.
    atMs: Number(row['at_ms']),
  };
}

const columns = ['run_id', 'place', 'id', 'name', 'payload', 'at_ms', 'is_taken'] as const;
/** What a query must select to read signals. */
export const signalNames: string = columns.join(', ');
export const insertSql = `INSERT INTO signals (${signalNames}, row_check) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const findSql = `SELECT ${signalNames}, row_check FROM signals WHERE run_id = ? AND is_taken = 0 ORDER BY place LIMIT ${maxSignals}`;
const takeSql = `UPDATE signals SET is_taken = 1, payload = 'null', row_check = ? WHERE run_id = ? AND id = ?`;
const waitingSql = `SELECT
  (SELECT count(*) FROM signals WHERE run_id = ?1 AND is_taken = 0) AS waiting,
  (SELECT max(place) FROM signals WHERE run_id = ?1) AS last`;
