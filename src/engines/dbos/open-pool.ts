import { asPassing } from './database-troubles.ts';
import type { PgClient, PgDriver, PgPool } from './sdk.ts';

/** How a pool is made. */
export interface PoolOptions {
  readonly driver: PgDriver;
  readonly databaseUrl: string;
  /** By which the database knows who is connected. */
  readonly name: string;
  readonly max: number;
  readonly connectTimeoutMs: number;
  /** Of DBOS: whatever may pass is reported as a lost connection, for which it waits. */
  readonly isPatient?: boolean;
  /** For one statement; none by default. */
  readonly queryTimeoutMs?: number;
}

/** A transaction that stands still for so long holds locks that others wait for: the server ends it. */
const idleTransactionMs = 300_000;

/**
 * Opens connections to the database. Whatever becomes of them, the process continues.
 *
 * A pool of `pg` leaves a connection without a listener for a moment, while it is handed out: a server that dies just then would
 * end the process with it. So every connection has a listener of its own from the beginning.
 */
export function openPool(options: PoolOptions): PgPool {
  const { driver, databaseUrl, name, max, connectTimeoutMs, queryTimeoutMs, isPatient = false } = options;
  const pool = new driver.Pool({
    connectionString: databaseUrl,
    max,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    // Not as a parameter of the connection, for which poolers have no ear.
    onConnect: (client: PgClient) =>
      client.query(`SET idle_in_transaction_session_timeout = ${idleTransactionMs}`),
    ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
  });
  // The next call reports what broke: another connection is opened then.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    if (isPatient) Object.assign(client, { query: patiently(client.query.bind(client)) });
  });
  if (!isPatient) return pool;
  const [connect, query] = [pool.connect.bind(pool), pool.query.bind(pool)];
  return Object.assign(pool, { connect: patiently(connect), query: patiently(query) });
}

/** What is asked by promise rejects with what DBOS waits for. The pool itself asks by callback, and is left alone. */
function patiently<Given extends readonly unknown[], Answer>(
  ask: (...given: Given) => Promise<Answer>,
): (...given: Given) => Promise<Answer> {
  return (...given) => {
    const asked: unknown = ask(...given);
    if (!(asked instanceof Promise)) return asked as Promise<Answer>; // Nothing, which is not looked at.
    return asked.catch((error: unknown) => {
      throw asPassing(error);
    }) as Promise<Answer>; // The same, but for how it fails.
  };
}
