import { storageError } from '../common/storage-error.ts';
import { learnTime, serverNowSql } from './held.ts';
import type { Connection, Held } from './held.ts';
import { openSchema } from './open-schema.ts';
import { getRow } from './query.ts';

/**
 * A connection, set up and with our tables behind it. Waits for one, at most until `deadlineMs` of the process's clock; the code that gets
 * one gives it back.
 */
export async function acquire(held: Held, deadlineMs: number): Promise<Connection> {
  checkOpen(held);
  const known = takeIdle(held);
  if (known !== undefined) return known;
  if (held.freeSlots > 0) held.freeSlots -= 1;
  else await waitForSlot(held, deadlineMs);
  try {
    // A caller that gave its place up may have left its connection.
    const left = held.idle.pop();
    left?.client.ref();
    return left ?? (await connect(held));
  } catch (error) {
    freeSlot(held);
    throw error;
  }
}

/** An open connection that is unused, if there is one. */
export function takeIdle(held: Held): Connection | undefined {
  if (held.freeSlots <= 0) return undefined;
  const connection = held.idle.pop();
  if (connection === undefined) return undefined;
  held.freeSlots -= 1;
  connection.client.ref();
  return connection;
}

/** Gives a connection back, or closes it. */
export function giveBack(connection: Connection): void {
  const { held, client } = connection;
  if (connection.isBroken || held.isClosed) void discard(connection);
  else {
    // A process that has nothing else to do ends.
    client.unref();
    connection.isInDoubt = false;
    connection.usedAtMs = performance.now();
    held.idle.push(connection);
    held.idleTimer ??= setTimeout(() => closeIdle(held), maxIdleMs).unref();
  }
  freeSlot(held);
}

/** Closes all that are unused; the others are closed when they are given back. */
export async function closeAll(held: Held): Promise<void> {
  clearTimeout(held.idleTimer);
  await Promise.all(held.idle.splice(0).map(discard));
}

const maxIdleMs = 30_000;

function closeIdle(held: Held): void {
  held.idleTimer = undefined;
  const sinceMs = performance.now() - maxIdleMs / 2;
  const old = held.idle.filter(({ usedAtMs }) => usedAtMs < sinceMs);
  const left = held.idle.filter(({ usedAtMs }) => usedAtMs >= sinceMs);
  held.idle.splice(0, held.idle.length, ...left);
  for (const connection of old) void discard(connection);
  if (left.length > 0) held.idleTimer = setTimeout(() => closeIdle(held), maxIdleMs).unref();
}

async function connect(held: Held): Promise<Connection> {
  const { address, busyTimeoutMs, loadDriver } = held.settings;
  held.makeClient ??= loadDriver();
  const client = held.makeClient({
    keepAlive: true,
    application_name: 'rerail',
    ...address,
    connectionTimeoutMillis: Math.max(minConnectMs, busyTimeoutMs),
  });
  const connection: Connection = {
    held,
    client,
    isInDoubt: false,
    isBroken: false,
    usedAtMs: 0,
    asked: undefined,
    watch: undefined,
  };
  // Only this listener gets an error between two statements; without a listener it would end the process.
  const drop = (): void => {
    connection.isBroken = true;
    const place = held.idle.indexOf(connection);
    if (place >= 0) held.idle.splice(place, 1);
  };
  client.on('error', drop);
  client.on('end', drop);
  try {
    await client.connect();
    await setUp(connection);
    await openSchema(connection);
    return connection;
  } catch (error) {
    void discard(connection);
    throw error;
  }
}

async function discard({ client, watch }: Connection): Promise<void> {
  clearTimeout(watch);
  // A server that is gone without a word does not answer a goodbye either.
  const overdue = setTimeout(() => client.connection?.stream?.destroy(), maxGoodbyeMs);
  try {
    // A caller that waits for the goodbye must not end before it.
    client.ref();
    await client.end();
  } catch {
    // It is given up; that it cannot even say goodbye is no news.
  } finally {
    clearTimeout(overdue);
  }
}

const maxGoodbyeMs = 1000;

function checkOpen({ isClosed, settings }: Held): void {
  if (!isClosed) return;
  throw storageError('STORAGE_IO', {
    message: `The store "${settings.name}" is closed`,
    hint: 'Close it after everything that uses it, or create another one with the same address.',
    context: { store: settings.name },
  });
}

/** A time of 0 would mean for ever. */
const minConnectMs = 1;

async function waitForSlot(held: Held, deadlineMs: number): Promise<void> {
  const { maxConnections, busyTimeoutMs, name } = held.settings;
  await new Promise<void>((resolve, reject) => {
    const take = (): void => {
      clearTimeout(overdue);
      resolve();
    };
    const overdue = setTimeout(
      () => {
        held.waiters.delete(take);
        reject(
          storageError('STORAGE_LOCKED', {
            message: `All ${maxConnections} connections to "${name}" were in use for ${busyTimeoutMs} ms`,
            hint: 'Raise maxConnections of the store, or let it do less at the same time.',
            context: { store: name, maxConnections },
          }),
        );
      },
      Math.max(0, deadlineMs - performance.now()),
    );
    held.waiters.add(take);
  });
}

/** The slot goes to the call that has waited longest. */
function freeSlot(held: Held): void {
  const [next] = held.waiters;
  if (next === undefined) {
    held.freeSlots += 1;
    return;
  }
  held.waiters.delete(next);
  next();
}

/** Whatever a role or a database sets otherwise: how long to wait, and that a commit is on the disk when it is reported. */
async function setUp(connection: Connection): Promise<void> {
  const { held } = connection;
  const { statementTimeoutMs, busyTimeoutMs, name } = held.settings;
  const askedAtMs = performance.now();
  const row = await getRow(connection, setUpStatement, [
    String(statementTimeoutMs),
    String(Math.max(1, busyTimeoutMs)),
    String(statementTimeoutMs + busyTimeoutMs),
  ]);
  learnTime(held, Number(row?.['now_ms']), askedAtMs);
  if (row?.['is_standby'] === true) throw standbyError();
  if (row?.['encoding'] !== 'UTF8') {
    throw storageError('STORAGE_NOT_FOUND', {
      message: `"${name}" cannot be used: its encoding is ${String(row?.['encoding'])}, and texts of every language need UTF8`,
      hint: 'Create another database with: createdb --encoding=UTF8 --template=template0 NAME',
      context: { store: name },
    });
  }
}

/** As the server itself says it to the writer: what a standby shows may be old, so it is not read either. */
function standbyError(): Error {
  const error = new Error('the server is in recovery');
  return Object.assign(error, { code: '25006', severity: 'ERROR' });
}

const setUpStatement = {
  text: `SELECT
    set_config('statement_timeout', $1, false),
    set_config('lock_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $3, false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    pg_is_in_recovery() AS is_standby,
    getdatabaseencoding() AS encoding,
    ${serverNowSql} AS now_ms`,
};
