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
export async function change(
  connection: Connection,
  statement: Statement,
  values: Values = [],
): Promise<number> {
  return (await write(connection, statement, values)).count;
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
  try {
    await send(connection, { text: 'ROLLBACK' }, []);
  } catch {
    // What went wrong first is what is told; a connection that cannot even do this is thrown away.
    connection.isBroken = true;
  }
}

/** Several looks at one state of the database. */
export function atOnce<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  return inTransaction(connection, work, looking);
}

interface Sent {
  readonly rows: Rows;
  readonly count: number;
}

async function write(connection: Connection, statement: Statement, values: Values): Promise<Sent> {
  connection.isInDoubt = true;
  const sent = await send(connection, statement, values);
  connection.isInDoubt = false;
  return sent;
}

async function send(connection: Connection, { name, text }: Statement, values: Values): Promise<Sent> {
  const { held, client } = connection;
  const query = { text: textOf(held, text), values, ...(name === undefined ? {} : { name }) };
  const { rows, rowCount } = await inTime(client.query(query), held);
  return { rows, count: rowCount ?? 0 };
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

function inTime<T>(answer: Promise<T>, { settings }: Held): Promise<T> {
  const waitMs = settings.statementTimeoutMs + answerMarginMs;
  return new Promise<T>((resolve, reject) => {
    const overdue = setTimeout(() => reject(connectionError(`No answer for ${waitMs} ms`)), waitMs);
    answer.then(
      (value) => {
        clearTimeout(overdue);
        return resolve(value);
      },
      (error: unknown) => {
        clearTimeout(overdue);
        reject(error);
      },
    );
  });
}
