import type { Json } from '../../base/json.ts';
import type { NewSignal, SignalKept, StoredSignal } from '../../model/store/store.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import type { SqlRow } from './driver.ts';
import { nowOf } from './held.ts';
import type { Connection } from './held.ts';
import { changeRows, getRow, getRows } from './query.ts';

/** Signals that no process takes must not fill the disk. */
const maxSignals = 1000;

/** A signal whose payload is text already. */
export interface TextSignal extends Omit<NewSignal, 'payload'> {
  readonly payloadText: string;
  /** Of this very call: by it an attempt knows what an earlier one has written. */
  readonly writer: string;
}

export async function keepSignal(
  connection: Connection,
  runId: string,
  signal: TextSignal,
): Promise<SignalKept> {
  const [run, id] = [encodeText(runId), encodeText(signal.id)];
  const values = [
    run,
    id,
    encodeText(signal.name),
    signal.payloadText,
    nowOf(connection.held),
    signal.writer,
  ];
  const [row] = await changeRows(connection, keepStatement, values);
  if (row?.['is_added'] === true) return 'added';
  if (row?.['is_run'] !== true) return 'unknown';
  // Another one with the same id may have come at the same time, or an earlier attempt of our own.
  const found = await getRow(connection, findWriterStatement, [run, id]);
  if (found === undefined) return 'full';
  return found['writer'] === signal.writer ? 'added' : 'duplicate';
}

export async function findSignals(connection: Connection, runId: string): Promise<readonly StoredSignal[]> {
  return (await getRows(connection, findStatement, [encodeText(runId)])).map(readSignal);
}

export function readSignal(row: SqlRow): StoredSignal {
  return {
    id: decodeText(String(row['id'])),
    name: decodeText(String(row['name'])),
    payload: JSON.parse(String(row['payload'])) as Json, // Written by us.
    atMs: Number(row['at_ms']),
  };
}

// The run is locked against being removed, and against nothing else.
const keepStatement = {
  text: `WITH run AS (SELECT run_id FROM @.runs WHERE run_id = $1 FOR KEY SHARE),
    added AS (INSERT INTO @.signals (run_id, id, name, payload, at_ms, is_taken, writer)
      SELECT run.run_id, $2, $3, $4, $5, false, $6 FROM run
      WHERE (SELECT count(*) FROM @.signals WHERE run_id = $1 AND NOT is_taken) < ${maxSignals}
      ON CONFLICT (run_id, id) DO NOTHING RETURNING 1)
    SELECT EXISTS (SELECT 1 FROM run) AS is_run, EXISTS (SELECT 1 FROM added) AS is_added`,
};
const findWriterStatement = { text: 'SELECT writer FROM @.signals WHERE run_id = $1 AND id = $2' };
const findStatement = {
  text: `SELECT id, name, payload, at_ms FROM @.signals WHERE run_id = $1 AND NOT is_taken
    ORDER BY place LIMIT ${maxSignals}`,
};
