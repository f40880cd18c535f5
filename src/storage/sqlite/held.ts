import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Database, SqlRow, SqlValue, Statement } from './driver.ts';
import { createHeads } from './heads.ts';
import type { Head, HeadFact, Heads } from './heads.ts';
import type { RunRecord } from './run-record.ts';

/** What a store is made of, checked and with its defaults. */
export interface Settings {
  /** Absolute. */
  readonly file: string;
  readonly sync: 'full' | 'normal';
  readonly clock: Clock;
  readonly busyTimeoutMs: number;
}

/** All that one store holds. */
export interface Held {
  readonly settings: Settings;
  readonly heads: Heads;
  readonly queue: Write[];
  /** The latest state of runs whose lease this store has given, so that adding to one needs no look. */
  readonly records: Map<string, Remembered>;
  /** For each owner the runs that he believes to have, with the epoch he has them by. */
  readonly believed: Map<string, Map<string, number>>;
  connection: Connection | undefined;
  /** SQLite's count of what other connections have written, as the last transaction of this one found it. */
  version: number;
  /** A transaction is under way, or will be soon. */
  isFlushing: boolean;
  /** Called when it is over. */
  readonly onFlushed: (() => void)[];
  /** When the event loop was last given a turn before a transaction, by the clock of the process. */
  turnedAtMs: number;
  /** How many changes were asked for, and how many answered. */
  asked: number;
  answered: number;
  isClosed: boolean;
  /** Until the record of heads is written. */
  headsTimer: NodeJS.Timeout | undefined;
}

/** The state of a run, and by what count of others' writes it was so. */
export interface Remembered {
  readonly record: RunRecord;
  readonly version: number;
  /** How far it has come since, by plain events alone. */
  head: (Head & { readonly atMs: number }) | undefined;
}

/** An open database. */
export interface Connection {
  readonly database: Database;
  readonly statements: Map<string, Statement>;
  readonly file: FileIdentity;
  readonly storeId: string;
  /** What a look at its inner order has found: nothing is written to such a file, and no list is made of it. */
  readonly damage: string | undefined;
}

export interface FileIdentity {
  readonly device: number;
  readonly inode: number;
}

/** One change that waits for the next transaction. */
export interface Write {
  /** Refuses by throwing a `RerailError` before it has changed anything; whatever else it throws undoes the whole transaction. */
  readonly perform: (transaction: Transaction) => unknown;
  /**
   * Does the same by one statement, which is a transaction of its own and checks by itself what `perform` would look at first. Gives
   * false where that is not so simple, and then has changed nothing.
   */
  readonly performAlone: ((transaction: Transaction) => boolean) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (thrown: unknown) => void;
}

/** What a change works on. */
export interface Transaction {
  readonly held: Held;
  readonly connection: Connection;
  readonly nowMs: number;
  /** To be said of the heads once it is committed. */
  readonly facts: (HeadFact & Head)[];
  /** They are said at once: a run was given back. */
  mustNoteHeads: boolean;
}

/** Nothing is open yet. */
export function createHeld(settings: Settings): Held {
  return {
    settings,
    heads: createHeads(settings.file),
    queue: [],
    records: new Map(),
    believed: new Map(),
    connection: undefined,
    version: 0,
    isFlushing: false,
    onFlushed: [],
    turnedAtMs: -Infinity,
    asked: 0,
    answered: 0,
    isClosed: false,
    headsTimer: undefined,
  };
}

/** A statement, prepared once. The texts are constants of this folder: nothing from outside is ever part of one. */
export function statement({ database, statements }: Connection, sql: string): Statement {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  assert(
    statements.size < maxStatements,
    `More than ${maxStatements} statements: a text was made of a value`,
  );
  const prepared = database.prepare(sql);
  statements.set(sql, prepared);
  return prepared;
}

/** The first row, if there is one. */
export function getRow(
  connection: Connection,
  sql: string,
  values: readonly SqlValue[] = [],
): SqlRow | undefined {
  // Every row of the drivers is an object by column name.
  return statement(connection, sql).get(...values) as SqlRow | undefined;
}

/** All rows: the statement says how many at most. */
export function getRows(
  connection: Connection,
  sql: string,
  values: readonly SqlValue[] = [],
): readonly SqlRow[] {
  return statement(connection, sql).all(...values) as readonly SqlRow[];
}

/** Changes rows and gives how many. */
export function change(connection: Connection, sql: string, values: readonly SqlValue[] = []): number {
  return Number(statement(connection, sql).run(...values).changes);
}

/** Every form of every query: a list has nine conditions, each there or not. */
const maxStatements = 2000;
