import { setTimeout as sleep } from 'node:timers/promises';
import { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import { abandon, connect } from './connect.ts';
import { readHash } from './head-check.ts';
import { isOvergrown, keepPending, readHeads, rewriteHeads, writePending } from './heads.ts';
import { getRow, statement } from './held.ts';
import type { Connection, Held, Transaction, Write } from './held.ts';
import { rollBack } from './open-database.ts';
import { isBusy, isConnectionBroken, isMisfit, toStorageError } from './storage-errors.ts';

/**
 * Group commit: whatever is asked for in one turn of the event loop is written in one transaction, in the order of the calls,
 * and answered when it is on the disk. A change that is refused takes no other with it.
 */
export function enqueue<T>(
  held: Held,
  perform: (transaction: Transaction) => T,
  performAlone?: Write['performAlone'],
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // What `perform` returns is what `resolve` is given: the queue holds changes of every kind.
    held.queue.push({ perform, performAlone, resolve: resolve as Write['resolve'], reject });
    held.asked += 1;
    if (!held.isFlushing) flushSoon(held);
  });
}

/**
 * In the next turn of the event loop, so that what other runs ask for in this one is written with it. Where this process runs
 * only one run there are no others: then after whatever the present callback sets off, but not for long without a turn.
 */
function flushSoon(held: Held): void {
  held.isFlushing = true;
  const nowMs = performance.now();
  if (nowMs - held.turnedAtMs < maxWithoutTurnMs && isLone(held)) {
    process.nextTick(flush, held);
    return;
  }
  held.turnedAtMs = nowMs;
  setImmediate(flush, held);
}

const maxWithoutTurnMs = 5;

function isLone({ believed }: Held): boolean {
  let runs = 0;
  for (const own of believed.values()) {
    runs += own.size;
    if (runs > 1) return false;
  }
  return true;
}

/** Waits for what was asked for until now; what others ask for meanwhile is not waited for. */
export async function settled(held: Held): Promise<void> {
  const mine = held.asked;
  while (held.answered < mine && held.isFlushing)
    await new Promise<void>((resolve) => {
      held.onFlushed.push(resolve);
    });
}

/** Reads when what was asked for before is written: no caller misses what it has just added. */
export async function read<T>(held: Held, work: (connection: Connection) => T): Promise<T> {
  await settled(held);
  try {
    return work(connect(held));
  } catch (thrown) {
    throw settleFailure(held, thrown);
  }
}

/** Several looks at one state of the database. */
export function atOnce<T>(connection: Connection, work: () => T): T {
  statement(connection, 'BEGIN').run();
  try {
    return work();
  } finally {
    rollBack(connection.database);
  }
}

/** Reads by a key. In a file whose inner order is broken, nothing found may be something that is not found. */
export function lookUp<T>(held: Held, work: (connection: Connection) => T): Promise<T> {
  return read(held, (connection) => {
    const found = work(connection);
    const isNothing = found === undefined || (Array.isArray(found) && found.length === 0);
    if (isNothing && connection.damage !== undefined) throw damagedError(held, connection.damage);
    return found;
  });
}

/** Reads by an index, which a file with a broken order may answer wrongly. */
export function scan<T>(held: Held, work: (connection: Connection) => T): Promise<T> {
  return read(held, (connection) => {
    if (connection.damage !== undefined) throw damagedError(held, connection.damage);
    return work(connection);
  });
}

/** The failure of a database whose inner order is broken: it may be read run by run, and nothing more. */
function damagedError(held: Held, damage: string): RerailError {
  const { file } = held.settings;
  return storageError('STORAGE_CORRUPT', {
    message: `The internal structure of "${file}" is broken: ${damage}`,
    hint: 'Single runs can still be read, nothing is written. Keep the file, and restore a copy or save it with: sqlite3 FILE .recover',
    context: { path: file },
  });
}

const maxBatch = 1000;
const maxWaitStepMs = 25;

/** One transaction: every change is answered. */
function flush(held: Held): void {
  try {
    if (commitAlone(held)) return finishFlush(held);
  } catch (thrown) {
    rejectAll(held, held.queue.splice(0), thrown);
    return finishFlush(held);
  }
  void commitTogether(held);
}

function finishFlush(held: Held): void {
  if (held.queue.length === 0) held.isFlushing = false;
  else flushSoon(held);
  if (held.onFlushed.length > 0) for (const tell of held.onFlushed.splice(0)) tell();
}

async function commitTogether(held: Held): Promise<void> {
  try {
    const connection = await begin(held);
    commit(held, connection, held.queue.splice(0, maxBatch));
  } catch (thrown) {
    rejectAll(held, held.queue.splice(0), thrown);
  }
  finishFlush(held);
}

/** Most often one run adds one event, and nothing else has asked for anything: one statement costs a third less than four. */
function commitAlone(held: Held): boolean {
  const [write, other] = held.queue;
  if (write?.performAlone === undefined || other !== undefined) return false;
  const connection = connect(held);
  if (connection.damage !== undefined) return false;
  const transaction = openTransaction(held, connection);
  try {
    if (!write.performAlone(transaction)) return false;
  } catch (thrown) {
    // Other writers are waited for, and what does not fit is looked at, by the long way.
    if (isBusy(thrown) || isMisfit(thrown)) return false;
    held.records.clear();
    throw thrown;
  }
  held.queue.pop();
  // Whether others have removed runs was not looked at: the record of heads is written by a transaction that does.
  keepPending(held.heads, transaction.facts);
  held.headsTimer ??= setTimeout(() => void noteHeadsNow(held), headsDelayMs).unref();
  held.answered += 1;
  write.resolve(undefined);
  return true;
}

function openTransaction(held: Held, connection: Connection): Transaction {
  const nowMs = Math.round(held.settings.clock.wallMs());
  return { held, connection, nowMs, facts: [], mustNoteHeads: false };
}

function rejectAll(held: Held, batch: readonly Write[], thrown: unknown): void {
  const failure = settleFailure(held, thrown);
  held.answered += batch.length;
  for (const { reject } of batch) reject(failure);
}

/** Takes the lock, or waits for it: not longer than given, and while others may work. */
async function begin(held: Held): Promise<Connection> {
  const startMs = performance.now();
  for (let stepMs = 1; ; stepMs = Math.min(stepMs * 2, maxWaitStepMs)) {
    const connection = connect(held);
    if (connection.damage !== undefined) throw damagedError(held, connection.damage);
    try {
      statement(connection, 'BEGIN IMMEDIATE').run();
      return connection;
    } catch (error) {
      const waitedMs = performance.now() - startMs;
      if (!isBusy(error) || waitedMs >= held.settings.busyTimeoutMs) throw error;
    }
    await sleep(stepMs);
  }
}

type Answer =
  { readonly type: 'done'; readonly value: unknown } | { readonly type: 'refused'; readonly thrown: unknown };

function commit(held: Held, connection: Connection, batch: readonly Write[]): void {
  const transaction = openTransaction(held, connection);
  try {
    lookForOthers(held, connection);
    const answers = batch.map((write) => answer(write, transaction));
    compact(held, connection);
    statement(connection, 'COMMIT').run();
    noteHeads(transaction);
    held.answered += batch.length;
    for (const [index, { resolve, reject }] of batch.entries()) {
      const given = answers[index];
      if (given?.type === 'done') resolve(given.value);
      else reject(given?.thrown);
    }
  } catch (thrown) {
    rollBack(connection.database);
    held.records.clear();
    rejectAll(held, batch, thrown);
  }
}

function answer({ perform }: Write, transaction: Transaction): Answer {
  try {
    return { type: 'done', value: perform(transaction) };
  } catch (thrown) {
    if (!RerailError.isInstance(thrown)) throw thrown;
    return { type: 'refused', thrown };
  }
}

function compact({ heads }: Held, { storeId }: Connection): void {
  if (!isOvergrown(heads)) return;
  try {
    readHeads(heads);
    rewriteHeads(heads, storeId);
  } catch {
    // The long one is still there and still right.
  }
}

/** What others have written since our last transaction makes what is remembered doubtful, and may have removed a run. */
function lookForOthers(held: Held, connection: Connection): void {
  const version = Number(getRow(connection, 'PRAGMA data_version')?.['data_version']);
  if (version === held.version) return;
  held.version = version;
  const { pending } = held.heads;
  for (const [runId, { seq, hash }] of pending) {
    if (readHash(connection, runId, seq) !== hash) pending.delete(runId);
  }
}

/** How long the record of heads may be behind: a write for every commit would cost as much as the commit does besides its sync. */
const headsDelayMs = 50;

function noteHeads({ held, facts, mustNoteHeads }: Transaction): void {
  const { heads } = held;
  keepPending(heads, facts);
  if (heads.pending.size === 0) return;
  const dueInMs = mustNoteHeads ? 0 : heads.writtenAtMs + headsDelayMs - performance.now();
  if (dueInMs > 0) {
    held.headsTimer ??= setTimeout(() => void noteHeadsNow(held), dueInMs).unref();
    return;
  }
  clearTimeout(held.headsTimer);
  held.headsTimer = undefined;
  heads.writtenAtMs = performance.now();
  try {
    writePending(heads);
  } catch {
    // It is committed, and that counts. A record that is behind does no harm; the next commit reports a full disk.
  }
}

/** By a transaction that changes nothing: under the lock no process removes a run of which it is just being said how far it came. */
export async function noteHeadsNow(held: Held): Promise<void> {
  clearTimeout(held.headsTimer);
  held.headsTimer = undefined;
  if (held.heads.pending.size === 0 || held.connection === undefined) return;
  try {
    await enqueue(held, (transaction) => void (transaction.mustNoteHeads = true));
  } catch {
    // As above: it stays behind.
  }
}

function settleFailure(held: Held, thrown: unknown): unknown {
  const failure = toStorageError(thrown, held.settings.file);
  if (isConnectionBroken(thrown)) abandon(held);
  return failure;
}
