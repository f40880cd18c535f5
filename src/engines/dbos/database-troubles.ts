/** Connection exceptions and shutdowns of Postgres, and what a socket says. */
const connectionSigns =
  /^(?:08...|57P0[1-5]|53300|25P03|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** What the driver says without a code. */
const connectionWords =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|not queryable/i;

/** Read-only after a failover, files that cannot be read, conflicts and locks. */
const passingSigns = /^(?:25006|58...|40001|40P01|55P03)$/;

/** What a server refuses until something is changed there, by SQLSTATE. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in `databaseUrl`.',
  '28000': 'Check the user in `databaseUrl`, and the entry for this address in pg_hba.conf.',
  '3D000': 'Create the database with: createdb NAME, or name another one in `databaseUrl`.',
  '42501':
    'Grant the user CREATE on the database for the first start, and all rights on the schema and its tables.',
};

/** The server is not there, or has gone away. */
export function isConnection(error: unknown): boolean {
  return some(error, ({ code, message }) => connectionSigns.test(code) || connectionWords.test(message));
}

/** What to do about a server that refuses; undefined where it does not. */
export function refusalOf(error: unknown): string | undefined {
  let hint: string | undefined;
  some(error, ({ code }) => (hint = refusals[code]) !== undefined);
  return hint;
}

/**
 * DBOS waits for a database that is away, but gives a workflow up for what it does not know: a standby that is about to become
 * the primary, a password that is being changed. Such an error is marked, so that the run stands still until it is over.
 */
export function asPassing(error: unknown): unknown {
  const isOne = isConnection(error) || refusalOf(error) !== undefined;
  if (!isOne && !some(error, ({ code }) => passingSigns.test(code))) return error;
  // The one sign of a lost connection that DBOS reads in every release.
  return Object.assign(new Error(reasonOf(error), { cause: error }), { code: 'ECONNRESET' });
}

/** What was said, in one line. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const [first] = partsOf(cause);
  // A refused connection over two addresses says nothing itself.
  return cause.message === '' && first instanceof Error ? first.message : cause.message;
}

interface Said {
  readonly code: string;
  readonly message: string;
}

const maxDepth = 5;

function some(error: unknown, fits: (said: Said) => boolean, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const code: unknown = Reflect.get(error, 'code');
  if (fits({ code: typeof code === 'string' ? code : '', message: error.message })) return true;
  return [...partsOf(error), error.cause].some((part) => some(part, fits, depth + 1));
}

function partsOf(error: Error): readonly unknown[] {
  const inner: unknown = Reflect.get(error, 'errors');
  return Array.isArray(inner) ? inner : [];
}
