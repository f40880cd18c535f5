import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { storageError } from '../common/storage-error.ts';
import { checkOf } from '../common/stored-text.ts';
import type { Database, OpenFile, SqlRow } from './driver.ts';
import type { FileIdentity } from './held.ts';
import type { Migration } from './schema.ts';
import { applicationId } from './schema.ts';
import { isDamaged } from './storage-errors.ts';

/** What opening a file needs to know. */
export interface OpenOptions {
  readonly file: string;
  readonly openFile: OpenFile;
  readonly sync: 'full' | 'normal';
  readonly busyTimeoutMs: number;
  readonly migrations: readonly Migration[];
  /** A record of heads is there: then the database must be, too. */
  readonly isExpected: boolean;
}

/** Opens the database, makes or migrates it. A file that is not ours, or is newer, is left as it is. */
export function openDatabase(options: OpenOptions): Database {
  const { file, openFile } = options;
  prepareFile(options);
  inspectFile(options);
  const database = openFile(file);
  try {
    configure(database, options);
    migrate(database, options);
    verifySchema(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Which file it is, whatever it is called. */
export function identityOf(file: string): FileIdentity | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return undefined;
  return { device: found.dev, inode: found.ino };
}

/** The failure of a database that is no longer there, or is another one. */
export function lostError(file: string, what: string): Error {
  return storageError('STORAGE_LOST', {
    message: `The database "${file}" ${what}`,
    hint: `Nothing was created in its place. Restore the file, with its -wal, if you have it. To start empty, remove "${file}-heads" as well.`,
    context: { path: file },
  });
}

function prepareFile({ file, isExpected }: OpenOptions): void {
  if (identityOf(file) !== undefined) return;
  const walBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (isExpected || walBytes > 0) throw lostError(file, 'is missing or empty, but there was one');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Made by us, for SQLite would let everybody read it; what it makes beside has the same mode.
  closeSync(openSync(file, 'a', 0o600));
}

/**
 * Looks before anything is written, by SQLite itself: to open and close the file by hand would take away the locks of another
 * connection in this process.
 */
function inspectFile(options: OpenOptions): void {
  const { file, openFile } = options;
  if (identityOf(file) === undefined) return;
  const url = `${pathToFileURL(file).href}?immutable=1`;
  const walBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (walBytes === 0) return judge(look(openFile, url) ?? look(openFile, file), options);
  judge(lookWithoutLog(openFile, url), options);
  // What is only in the log counts as well, and a read-only look at it leaves it there.
  judge(look(openFile, file), options);
}

/** Who was stopped while the log was taken into the file has left a file that makes sense only with the log. */
function lookWithoutLog(openFile: OpenFile, url: string): Look | undefined {
  try {
    return look(openFile, url);
  } catch (error) {
    if (isDamaged(error)) return undefined;
    throw error;
  }
}

interface Look {
  readonly version: number;
  readonly application: number;
  readonly objects: number;
}

/** Nothing where it cannot be opened so: an early driver takes an address for a name. */
function look(openFile: OpenFile, name: string): Look | undefined {
  const database = openOrUndefined(openFile, name);
  if (database === undefined) return undefined;
  try {
    return {
      version: readNumber(database, 'PRAGMA user_version'),
      application: readNumber(database, 'PRAGMA application_id'),
      objects: readNumber(database, 'SELECT count(*) FROM sqlite_master'),
    };
  } finally {
    database.close();
  }
}

function openOrUndefined(openFile: OpenFile, name: string): Database | undefined {
  try {
    return openFile(name, { readOnly: true });
  } catch {
    // The file is opened again for writing, and whatever is wrong is said then.
    return undefined;
  }
}

function judge(found: Look | undefined, { file, migrations }: OpenOptions): void {
  if (found === undefined) return;
  const newest = migrations.at(-1)?.version ?? 0;
  const isNew = found.version === 0 && found.application === 0 && found.objects === 0;
  if (isNew) return;
  if (found.application !== applicationId || found.version === 0) {
    throw storageError('STORAGE_CORRUPT', {
      message: `"${file}" is an SQLite database, but not one of Rerail: its application id is ${found.application}, its version ${found.version}`,
      hint: 'It was left as it is. Give the store a file of its own; if this was one, restore a copy of it.',
      context: { path: file },
    });
  }
  if (found.version <= newest) return;
  throw storageError('STORAGE_NEWER_SCHEMA', {
    message: `"${file}" was written by a newer Rerail: its schema is ${found.version}, this program knows ${newest}`,
    hint: 'It was left as it is. Update the rerail package, or use another file.',
    context: { path: file, found: found.version, known: newest },
  });
}

function configure(database: Database, { file, sync, busyTimeoutMs }: OpenOptions): void {
  database.exec(`PRAGMA busy_timeout = ${Math.ceil(busyTimeoutMs)}`);
  database.exec('PRAGMA trusted_schema = OFF');
  database.exec('PRAGMA cell_size_check = ON');
  const mode = Object.values(database.prepare('PRAGMA journal_mode = WAL').get() as SqlRow)[0];
  const wanted = sync === 'full' ? 2 : 1;
  database.exec(`PRAGMA synchronous = ${wanted}`);
  const synchronous = readNumber(database, 'PRAGMA synchronous');
  if (mode !== 'wal' || synchronous !== wanted) {
    throw storageError('STORAGE_IO', {
      message: `"${file}" cannot be made safe: its journal mode is ${String(mode)} instead of wal, its sync ${synchronous} instead of ${wanted}`,
      hint: 'A network file system cannot hold it. Use a file on a local disk.',
      context: { path: file },
    });
  }
  database.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
  database.exec(`PRAGMA journal_size_limit = ${maxLogBytes}`);
}

/**
 * A page that is written often goes into the file once, and a log that is soon written over is quicker to sync than one that
 * grows; more than this is waited for at the next start after a crash.
 */
const logPages = 1000;
const maxLogBytes = 33_554_432;

function migrate(database: Database, options: OpenOptions): void {
  const { file, migrations } = options;
  const newest = migrations.at(-1)?.version ?? 0;
  const before = readNumber(database, 'PRAGMA user_version');
  // The process that wrote the record of heads had made the tables first: they are lost, perhaps with a log.
  if (before === 0 && options.isExpected) throw lostError(file, 'is empty, but there was something in it');
  if (before === newest) {
    // The start after a migration: it has shown that the new schema works.
    for (let version = 1; version < newest; version += 1) rmSync(backupOf(file, version), { force: true });
    chmodSync(file, 0o600);
    return;
  }
  if (before > 0) keepBackup(database, options, before);
  for (const migration of migrations) applyMigration(database, migration);
  chmodSync(file, 0o600);
}

function backupOf(file: string, version: number): string {
  return `${file}.v${version}.bak`;
}

/** By SQLite, so that what is only in the log is in it too. There as a whole or not at all. */
function keepBackup(database: Database, { file, openFile }: OpenOptions, version: number): void {
  const temporary = `${backupOf(file, version)}.${randomUUID()}.new`;
  closeSync(openSync(temporary, 'wx', 0o600));
  database.prepare('VACUUM INTO ?').run(temporary);
  // Another process may have migrated meanwhile, and have made a backup itself.
  if (look(openFile, temporary)?.version === version) renameSync(temporary, backupOf(file, version));
  else rmSync(temporary, { force: true });
}

/** One transaction with its number: a process that is killed in it leaves what was there before. */
function applyMigration(database: Database, { version, statements }: Migration): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been quicker.
    if (readNumber(database, 'PRAGMA user_version') >= version) {
      database.exec('ROLLBACK');
      return;
    }
    for (const statement of statements) {
      if (typeof statement === 'string') database.exec(statement);
      else statement(database);
    }
    const sum = schemaSum(database);
    database.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('schema', ?)`).run(sum);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Where SQLite has already undone it there is nothing to undo, and the first error is the one to tell. */
export function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // See above.
  }
}

/** A flipped bit in the text of a table may leave a schema that works, and means something else. */
function verifySchema(database: Database, file: string): void {
  const row = database.prepare(`SELECT value FROM meta WHERE name = 'schema'`).get() as SqlRow | undefined;
  if (row?.['value'] === schemaSum(database)) return;
  throw storageError('STORAGE_CORRUPT', {
    message: `The tables of "${file}" differ from how they were created`,
    hint: 'Keep the file with its -wal and -heads as they are, and restore a copy.',
    context: { path: file },
  });
}

function schemaSum(database: Database): string {
  const rows = database
    .prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name')
    .all() as readonly SqlRow[];
  return checkOf(rows.map(({ type, name, tbl_name: table, sql }) => [type, name, table, sql]));
}

function readNumber(database: Database, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() as SqlRow)[0]);
}
