import type { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import type { Connection, Held } from './held.ts';
import { change, getRow, getRows, inTransaction } from './query.ts';
import { latestVersion, migrations } from './schema.ts';

/**
 * Sees to it that the tables are there and of our version: makes them, or brings them up to it. A newer schema is refused before
 * anything is touched. With every new connection, for another process may have brought it up meanwhile, or put another one there.
 */
export async function openSchema(connection: Connection): Promise<void> {
  const { held } = connection;
  const found = await findMeta(connection);
  if (found === undefined && held.storeId !== undefined) throw lostError(held);
  if (found === undefined && !held.settings.create) throw notThereError(held);
  const meta = found?.version === latestVersion ? found : await migrate(connection, found);
  if (held.storeId !== undefined && held.storeId !== meta.storeId) throw lostError(held);
  held.storeId = meta.storeId;
}

interface Meta {
  readonly version: number;
  readonly storeId: string;
}

async function findMeta(connection: Connection): Promise<Meta | undefined> {
  const found = await getRow(connection, thereStatement, [connection.held.settings.schema]);
  if (found?.['is_table'] !== true) return undefined;
  const rows = await getRows(connection, { text: 'SELECT name, value FROM @.meta' });
  const values = new Map(rows.map(({ name, value }) => [String(name), String(value)]));
  const meta = { version: Number(values.get('version')), storeId: values.get('store_id') ?? '' };
  if (!(meta.version >= 1) || meta.storeId === '') throw foreignError(connection.held);
  if (meta.version > latestVersion) throw newerError(connection.held, meta.version);
  return meta;
}

/** Everybody at once may find old tables: one brings them up, the others wait for him and find that it is done. */
async function migrate(connection: Connection, before: Meta | undefined): Promise<Meta> {
  const { held } = connection;
  const { schema } = held.settings;
  return inTransaction(connection, async () => {
    await getRow(connection, { text: `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))` }, [
      `rerail ${schema}`,
    ]);
    const now = before === undefined ? await makeMeta(connection) : ((await findMeta(connection)) ?? before);
    const due = migrations.filter(({ version }) => version > now.version);
    for (const { statements } of due) await change(connection, { text: statements.join(';\n') });
    await change(
      connection,
      { text: `UPDATE @.meta SET value = $1 WHERE name = 'version' AND value <> $1` },
      [String(latestVersion)],
    );
    return { ...now, version: latestVersion };
  });
}

async function makeMeta(connection: Connection): Promise<Meta> {
  const meta = await findMeta(connection);
  if (meta !== undefined) return meta;
  // By a look first: IF NOT EXISTS asks for the right to make one also where there is one.
  const { schema } = connection.held.settings;
  const found = await getRow(connection, thereStatement, [schema]);
  if (found?.['is_schema'] !== true) await change(connection, { text: `CREATE SCHEMA "${schema}"` });
  await change(connection, { text: 'CREATE TABLE @.meta (name text PRIMARY KEY, value text NOT NULL)' });
  const storeId = crypto.randomUUID();
  const text = `INSERT INTO @.meta (name, value) VALUES ('version', '0'), ('store_id', $1)`;
  await change(connection, { text }, [storeId]);
  return { version: 0, storeId };
}

// By the tables of the catalogue: what to_regclass says may be older than what was committed while we waited for the lock.
const thereStatement = {
  text: `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1) AS is_schema,
    EXISTS (SELECT 1 FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS schema
      ON schema.oid = class.relnamespace WHERE schema.nspname = $1 AND class.relname = 'meta') AS is_table`,
};

function newerError({ settings }: Held, version: number): RerailError {
  const { name, schema } = settings;
  return storageError('STORAGE_NEWER_SCHEMA', {
    message: `The schema "${schema}" of "${name}" is of version ${version}; this version of Rerail knows ${latestVersion} at most`,
    hint: 'Nothing was changed. Update Rerail here, or name another schema.',
    context: { store: name, schema, version, known: latestVersion },
  });
}

function foreignError({ settings }: Held): RerailError {
  const { name, schema } = settings;
  return storageError('STORAGE_CORRUPT', {
    message: `The schema "${schema}" of "${name}" has a table "meta" that is not ours`,
    hint: 'Nothing was changed. Give the store a schema of its own, with the option "schema".',
    context: { store: name, schema },
  });
}

function notThereError({ settings }: Held): RerailError {
  const { name, schema } = settings;
  return storageError('STORAGE_NOT_FOUND', {
    message: `There is no store in the schema "${schema}" of "${name}"`,
    hint: 'Nothing was created. Name the right database and schema; the first program that writes to it creates its tables.',
    context: { store: name, schema },
  });
}

function lostError({ settings }: Held): RerailError {
  const { name, schema } = settings;
  return storageError('STORAGE_LOST', {
    message: `The schema "${schema}" of "${name}" is not the one that was opened: it was dropped, or replaced by another one`,
    hint: 'Nothing was written, and nothing new is created in its place. Restore the right database, or create a new store to start with what is there.',
    context: { store: name, schema },
  });
}
