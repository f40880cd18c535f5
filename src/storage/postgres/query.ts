import type { SqlRow } from './driver.ts';
import type { Connection, Held, Rows, Statement, Values } from './held.ts';
import { connectionError } from './storage-errors.ts';

/** All rows: the statement says how many at most. */
export async function getRows(
  connection: Connection,
  statement: Statement,
  values: Values = [],
): Promise<Rows> {
  return (await send(connection, statement, values)).rows;
}

/** The first row, if there is one. */
export async function getRow(
  connection: Connection,
  statement: Statement,
  values: Values = [],
): Promise<SqlRow | undefined> {
  return (await send(connection, statement, values)).rows[0];
}

/** Changes rows by one statement, which outside of a transaction is one of its own. Gives how many. */
export function change(connection: Connection, statement: Statement, values: Values = []): Promise<number> {
  // Without an async function around it: this is done for every step.
  return write(connection, statement, values).then(({ rowCount }) => rowCount ?? 0);
}

/** The same, with the rows it gives. */
export async function changeRows(
  connection: Connection,
  statement: Statement,
  values: Values = [],
): Promise<Rows> {
  return (await write(connection, statement, values)).rows;
}

/** Several statements, all or none. What is thrown inside undoes them. */
export async function inTransaction<T>(
  connection: Connection,
  work: () => Promise<T>,
  { begin, changes }: TransactionKind = changing,
): Promise<T> {
  const before = connection.isInDoubt;
  await send(connection, { text: begin }, []);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // Undone, whatever was sent in it: also by a server that lost the connection.
    connection.isInDoubt = before;
    await rollBack(connection);
    throw error;
  }
  connection.isInDoubt = before || changes;
  await send(connection, { text: 'COMMIT' }, []);
  connection.isInDoubt = before;
  return result;
}

interface TransactionKind {
  readonly begin: string;
  /** What is only looked at is never in doubt. */
  readonly changes: boolean;
}

const changing: TransactionKind = { begin: 'BEGIN', changes: true };
const looking: TransactionKind = {
  begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  changes: false,
};

async function rollBack(connection: Connection): Promise<void> {
  // It is thrown away, and the server undoes what was not committed.
  if (connection.isBroken) return;
  try {
    await send(connection, { text: 'ROLLBACK' }, []);
  } catch {
    // The first failure is what is reported; a connection that cannot even do this is thrown away.
    connection.isBroken = true;
  }
}

/** Several looks at one state of the database. */
export function atOnce<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  return inTransaction(connection, work, looking);
}

type Sent = Awaited<ReturnType<Connection['client']['query']>>;

function write(connection: Connection, statement: Statement, values: Values): Promise<Sent> {
  connection.isInDoubt = true;
  return send(connection, statement, values).then((sent) => {
    connection.isInDoubt = false;
    return sent;
  });
}

function send(connection: Connection, { name, text }: Statement, values: Values): Promise<Sent> {
  const { held, client } = connection;
  const whole = textOf(held, text);
  return inTime(connection, () =>
    client.query(name === undefined ? { text: whole, values } : { text: whole, values, name }),
  );
}

function textOf({ texts, settings }: Held, text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const whole = text.replaceAll('@.', `"${settings.schema}".`);
  if (texts.size < maxTexts) texts.set(text, whole);
  return whole;
}

const maxTexts = 2000;

/** The server ends a statement by itself; this is for a server that says nothing any more. */
const answerMarginMs = 2000;

function inTime<T>(connection: Connection, ask: () => Promise<T>): Promise<T> {
  const waitMs = connection.held.settings.statementTimeoutMs + answerMarginMs;
  return new Promise<T>((resolve, reject) => {
    const answer = ask();
    const giveUp = (): void => {
      // A server that does not answer this does not answer the next one either.
      connection.isBroken = true;
      reject(connectionError(`No answer for ${waitMs} ms`));
    };
    const mine = { untilMs: performance.now() + waitMs, giveUp };
    connection.asked = mine;
    // One watch for many statements: a timer for each costs as much as the rest of what is done here.
    if (connection.watch === undefined) watchOver(connection, waitMs);
    answer.then(
      (value) => {
        forget(connection, mine);
        return resolve(value);
      },
      (error: unknown) => {
        forget(connection, mine);
        reject(error);
      },
    );
  });
}

/** What was given up may still be answered, while the next one is waited for. */
function forget(connection: Connection, answered: Connection['asked']): void {
  if (connection.asked === answered) connection.asked = undefined;
}

/** It keeps no process alive: the wait for an answer keeps the connection. */
function watchOver(connection: Connection, delayMs: number): void {
  connection.watch = setTimeout(() => {
    connection.watch = undefined;
    const { asked } = connection;
    if (asked === undefined) return;
    const leftMs = asked.untilMs - performance.now();
    if (leftMs > 0) watchOver(connection, leftMs);
    else asked.giveUp();
  }, delayMs).unref();
}
