import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ProvenRecords, ProvenRun } from '../../model/store/proven.ts';
import type { RunRow, StoredEvent } from '../../model/store/store.ts';
import type { WholeSignal } from '../../model/store/whole-run.ts';
import { proveEvent, proveRun } from '../common/prove-run.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { findBlob } from './blobs.ts';
import { loadDriver } from './driver.ts';
import type { Database, SqlRow, SqlValue } from './driver.ts';
import { closeHeads, createHeads, readHeads } from './heads.ts';
import type { Heads } from './heads.ts';
import { statement } from './held.ts';
import type { Connection } from './held.ts';
import { checkedRecord, toRunRow } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { withHead } from './run-head.ts';
import { findTexts } from './run-texts.ts';
import { readWholeSession } from './sessions.ts';
import { readSignal, signalNames } from './signals.ts';
import { toStorageError } from './storage-errors.ts';

/** Reads what a file still proves, from a copy: the file itself, its log and its heads are not touched. */
export async function openProven(file: string): Promise<ProvenRecords> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-proven-'));
  const copy = path.join(folder, 'runs.db');
  try {
    for (const end of ['', '-wal', '-heads'])
      if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    const heads = createHeads(copy);
    readHeads(heads);
    const reading: Reading = {
      connection: connectionOf(openCopy(copy)),
      heads,
      numbers: undefined,
      isInOrder: undefined,
    };
    return recordsOf(reading, folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw toStorageError(error, file);
  }
}

interface Reading {
  /** Absent where the file is no database any more. */
  readonly connection: Connection | undefined;
  readonly heads: Heads;
  /** Where events stand whose index is damaged; looked for when it is first needed. */
  numbers: ReadonlyMap<string, number> | undefined;
  /** Whether the table of the events is in order; looked at when it is first needed. */
  isInOrder: boolean | undefined;
}

/** With its log; without, where the log makes it unreadable. */
function openCopy(copy: string): Database | undefined {
  for (const isWithLog of [true, false]) {
    if (!isWithLog) for (const end of ['-wal', '-shm']) rmSync(copy + end, { force: true });
    if (!existsSync(copy)) return undefined;
    const database = orNothing(() => loadDriver()(copy));
    if (database === undefined) continue;
    if (orNothing(() => database.prepare('SELECT count(*) FROM runs').get()) !== undefined || !isWithLog)
      return database;
    database.close();
  }
  return undefined;
}

function connectionOf(database: Database | undefined): Connection | undefined {
  if (database === undefined) return undefined;
  return { database, statements: new Map(), file: { device: 0, inode: 0 }, storeId: '', damage: undefined };
}

function recordsOf(reading: Reading, folder: string): ProvenRecords {
  return {
    runIds: async () => runIdsOf(reading),
    run: async (runId) => provenOf(reading, runId),
    blob: async (hash) => contentOf(reading, hash),
    sessionIds: async () => textsOf(reading, 'SELECT session_id AS text FROM sessions'),
    session: async (sessionId) =>
      orNothing(() => reading.connection && readWholeSession(reading.connection, sessionId)),
    close: async () => {
      reading.connection?.database.close();
      closeHeads(reading.heads);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What cannot be read is lost; the caller sees it by what is missing. */
function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** All rows up to the first that cannot be read. */
function rowsOf({ connection }: Reading, sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
  const rows: SqlRow[] = [];
  if (connection === undefined) return rows;
  try {
    for (const row of statement(connection, sql).iterate(...values)) rows.push(row as SqlRow);
  } catch {
    // What came before stands. The statement is in the middle of its rows, and is of no use to the next one.
    connection.statements.delete(sql);
  }
  return rows;
}

function textsOf(reading: Reading, sql: string, values: readonly SqlValue[] = []): readonly string[] {
  return rowsOf(reading, sql, values).flatMap(
    ({ text }) => orNothing(() => [decodeText(String(text))]) ?? [],
  );
}

/** From wherever an id still stands: one that was garbled has neither events nor a row that fits its sum. */
function runIdsOf(reading: Reading): readonly string[] {
  const ids = new Set(reading.heads.known.keys());
  const found = idSqls.flatMap((sql) => textsOf(reading, sql));
  for (const runId of new Set(found)) {
    if (ids.has(runId)) continue;
    if (recordOf(reading, runId) !== undefined || eventsOf(reading, runId, 1).length > 0) ids.add(runId);
  }
  return [...ids].toSorted();
}

const idSqls = [
  'SELECT run_id AS text FROM runs ORDER BY number',
  'SELECT run_id AS text FROM runs ORDER BY number DESC',
  'SELECT run_id AS text FROM runs ORDER BY sort_key, run_id',
  'SELECT DISTINCT run_id AS text FROM events',
  'SELECT DISTINCT run_id AS text FROM events NOT INDEXED',
];

function provenOf(reading: Reading, runId: string): ProvenRun {
  const record = recordOf(reading, runId);
  const events = eventsOf(reading, runId, mayHave(reading, runId, record));
  const key = [encodeText(runId)];
  const blobs = textsOf(reading, 'SELECT hash AS text FROM run_blobs WHERE run_id = ?', key);
  const there = blobs.filter((hash) => contentOf(reading, hash) !== undefined);
  return proveRun({
    runId,
    row: record === undefined ? undefined : rowOf(reading, record),
    events,
    signals: rowsOf(reading, signalsSql, key).flatMap((row): readonly WholeSignal[] => {
      const signal = orNothing(() => readSignal(row));
      return signal === undefined ? [] : [{ ...signal, isTaken: row['is_taken'] === 1 }];
    }),
    blobs: there,
    lostBlobs: blobs.length - there.length,
    knownSeq: knownSeqOf(reading, { runId, record, events }),
  });
}

/** Where its last events cannot be read, it is unknown how many there were. */
function mayHave({ heads }: Reading, runId: string, record: FoundRecord | undefined): number {
  if (record === undefined || record.isCutOff) return Infinity;
  return Math.max(record.headSeq, heads.known.get(runId)?.seq ?? 0);
}

/**
 * How far it had come. The row of a running one may be behind: what vouches for its last event is the record of heads, or that the
 * table of the events is in order.
 */
function knownSeqOf(
  reading: Reading,
  { runId, record, events }: Pick<ProvenFrom, 'runId' | 'record' | 'events'>,
): number {
  const headSeq = reading.heads.known.get(runId)?.seq ?? 0;
  if (record?.status !== 'running') return headSeq;
  const isVouched = headSeq === events.length || areEventsInOrder(reading);
  return isVouched && !record.isCutOff ? headSeq : Math.max(headSeq, events.length + 1);
}

interface ProvenFrom {
  readonly runId: string;
  readonly record: FoundRecord | undefined;
  readonly events: readonly StoredEvent[];
}

function areEventsInOrder(reading: Reading): boolean {
  reading.isInOrder ??= Object.values(rowsOf(reading, 'PRAGMA integrity_check(events)')[0] ?? {})[0] === 'ok';
  return reading.isInOrder;
}

/** A row that fits its sum. */
interface FoundRecord extends RunRecord {
  /** It is running, and its last events cannot be read. */
  readonly isCutOff: boolean;
}

function recordOf(reading: Reading, runId: string): FoundRecord | undefined {
  const { connection } = reading;
  const key = [encodeText(runId)];
  const [indexed] = rowsOf(reading, 'SELECT * FROM runs WHERE run_id = ?', key);
  const row = indexed ?? rowsOf(reading, 'SELECT * FROM runs NOT INDEXED WHERE run_id = ?', key)[0];
  const kept = row === undefined ? undefined : orNothing(() => checkedRecord(row));
  if (kept === undefined || kept.runId !== runId || connection === undefined) return undefined;
  const whole = orNothing(() => withHead(connection, kept));
  return whole === undefined || whole.isHeadDamaged
    ? { ...kept, isCutOff: true }
    : { ...whole, isCutOff: false };
}

/** The texts are for searching: a run without them is whole all the same. */
function rowOf({ connection }: Reading, record: RunRecord): RunRow {
  const texts = orNothing(() => connection && findTexts(connection, record)) ?? { text: '', tools: [] };
  return toRunRow(record, texts, 0);
}

/** The proven events, at most so many as there may be. */
function eventsOf(reading: Reading, runId: string, maxSeq: number): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  while (events.length < maxSeq) {
    const before = events.at(-1);
    const proving = { runId, before, contentOf: (hash: string) => contentOf(reading, hash) };
    const place = [encodeText(runId), events.length + 1] as const;
    const [row] = rowsOf(reading, eventSql, place);
    const event = row === undefined ? undefined : proveEvent(row, proving);
    // Beyond what is known nothing need be there.
    const mayBeElsewhere = event === undefined && (row !== undefined || maxSeq !== Infinity);
    const found = mayBeElsewhere ? scannedEvent(reading, place) : undefined;
    const next = event ?? (found === undefined ? undefined : proveEvent(found, proving));
    if (next === undefined) break;
    events.push(next);
  }
  return events;
}

/** The same event past its index, which may be what is damaged. */
function scannedEvent(reading: Reading, [runId, seq]: readonly [string, number]): SqlRow | undefined {
  reading.numbers ??= new Map(
    scanSqls.flatMap((sql) =>
      rowsOf(reading, sql).map((row): [string, number] => [
        `${String(row['seq'])} ${String(row['run_id'])}`,
        Number(row['number']),
      ]),
    ),
  );
  const number = reading.numbers.get(`${seq} ${runId}`);
  return number === undefined ? undefined : rowsOf(reading, numberSql, [number])[0];
}

function contentOf({ connection }: Reading, hash: string): string | undefined {
  return orNothing(() => connection && findBlob(connection, hash));
}

const signalsSql = `SELECT ${signalNames}, row_check FROM signals WHERE run_id = ? ORDER BY place`;
const eventSql = 'SELECT seq, at_ms, type, body, hash FROM events WHERE run_id = ? AND seq = ?';
const numberSql = 'SELECT seq, at_ms, type, body, hash FROM events NOT INDEXED WHERE number = ?';
// From both ends, so that a page in the middle hides only what is on it.
const scanSqls = ['ASC', 'DESC'].map(
  (order) => `SELECT number, run_id, seq FROM events NOT INDEXED ORDER BY number ${order}`,
);
