import { chmodSync, statSync } from 'node:fs';
import { storageError } from '../common/storage-error.ts';
import { decodeText } from '../common/stored-text.ts';
import { loadDriver } from './driver.ts';
import type { Database, SqlRow } from './driver.ts';
import { isOvergrown, readHeads, rewriteHeads } from './heads.ts';
import { getRows } from './held.ts';
import type { Connection, Held } from './held.ts';
import { identityOf, lostError, openDatabase, rollBack } from './open-database.ts';
import { migrations } from './schema.ts';
import { toStorageError } from './storage-errors.ts';

/** The open database, opened if it is not; the file must still be the one that was opened. */
export function connect(held: Held): Connection {
  const { file } = held.settings;
  if (held.isClosed) {
    throw storageError('STORAGE_IO', {
      message: `The store "${file}" is closed`,
      hint: 'Close it after everything that uses it, or open another one on the same file.',
      context: { path: file },
    });
  }
  if (held.connection === undefined) {
    held.connection = openConnection(held);
    return held.connection;
  }
  const found = identityOf(file);
  const { inode, device } = held.connection.file;
  if (found === undefined) throw lostError(file, 'was deleted or emptied while it was open');
  if (found.inode !== inode || found.device !== device)
    throw lostError(file, 'was replaced by another file while it was open');
  return held.connection;
}

/** After an error that leaves the state of a connection unknown: the next call opens the file again and reads it again. */
export function abandon(held: Held): void {
  const { connection } = held;
  held.connection = undefined;
  held.records.clear();
  try {
    connection?.database.close();
  } catch {
    // It is given up because it is broken; that it cannot be closed either is no news.
  }
}

function openConnection(held: Held): Connection {
  const { file, sync, busyTimeoutMs } = held.settings;
  const openFile = loadDriver();
  try {
    // Before the look at the database: a process that creates both creates the database first.
    const isExpected = readHeads(held.heads);
    const database = openDatabase({ file, openFile, sync, busyTimeoutMs, migrations, isExpected });
    try {
      return finishOpening(held, database);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw toStorageError(error, file);
  }
}

function finishOpening(held: Held, database: Database): Connection {
  const { file } = held.settings;
  const identity = identityOf(file);
  if (identity === undefined) throw lostError(file, 'vanished while it was being opened');
  const connection: Connection = {
    database,
    statements: new Map(),
    file: identity,
    storeId: readStoreId(database),
    damage: findDamage(database, file),
  };
  prepareHeads(held, connection);
  for (const companion of ['-wal', '-shm']) {
    if (statSync(file + companion, { throwIfNoEntry: false }) !== undefined)
      chmodSync(file + companion, 0o600);
  }
  // From here on the lock is waited for without holding up the event loop.
  database.exec(`PRAGMA busy_timeout = ${blockingMs}`);
  return connection;
}

const blockingMs = 5;

function readStoreId(database: Database): string {
  const row = database.prepare(`SELECT value FROM meta WHERE name = 'store_id'`).get() as SqlRow | undefined;
  return String(row?.['value']);
}

/** A larger file would take too long at every start; the check of the whole store looks at it. */
const maxCheckedBytes = 16_777_216;

function findDamage(database: Database, file: string): string | undefined {
  if (statSync(file).size > maxCheckedBytes) return undefined;
  const [first] = database.prepare('PRAGMA integrity_check(1)').all() as readonly SqlRow[];
  const found = String(Object.values(first ?? {})[0]);
  return found === 'ok' ? undefined : found;
}

function prepareHeads(held: Held, connection: Connection): void {
  const { heads, settings } = held;
  const { storeId } = connection;
  const isThere = readHeads(heads);
  if (isThere && heads.storeId === undefined) {
    throw storageError('STORAGE_CORRUPT', {
      message: `The first line of "${heads.file}" is damaged: it no longer says to which store it belongs`,
      hint: `If the database is the right one, remove "${heads.file}": it is created again from the database.`,
      context: { path: settings.file },
    });
  }
  if (isThere && heads.storeId !== storeId) {
    throw lostError(
      settings.file,
      `was replaced by another one: its id is ${storeId}, "${heads.file}" names ${heads.storeId}`,
    );
  }
  if (isThere && !isOvergrown(heads)) return;
  writeHeads(held, connection, isThere);
}

/** Under the lock, so that no process writes an older one over a newer. */
function writeHeads({ heads }: Held, connection: Connection, isThere: boolean): void {
  const { database, storeId } = connection;
  database.exec('BEGIN IMMEDIATE');
  try {
    const isStillThere = readHeads(heads);
    if (isStillThere && !isThere) return;
    if (!isStillThere) learnFromDatabase(heads.known, connection);
    rewriteHeads(heads, storeId);
  } finally {
    rollBack(database);
  }
}

function learnFromDatabase(known: Held['heads']['known'], connection: Connection): void {
  for (let last = 0; ;) {
    // Ends with the last run: numbers only grow.
    const rows = getRows(connection, headsSql, [last]);
    for (const row of rows) {
      known.set(decodeText(String(row['run_id'])), {
        seq: Number(row['head_seq']),
        hash: String(row['head_hash']),
      });
    }
    if (rows.length === 0) return;
    last = Number(rows.at(-1)?.['number']);
  }
}

const lastOf = (name: 'seq' | 'hash'): string => `coalesce((SELECT ${name} FROM events
  WHERE events.run_id = runs.run_id AND seq > head_seq ORDER BY seq DESC LIMIT 1), head_${name})`;
const headsSql = `SELECT number, run_id, ${lastOf('seq')} AS head_seq, ${lastOf('hash')} AS head_hash
  FROM runs WHERE number > ? ORDER BY number LIMIT 1000`;
