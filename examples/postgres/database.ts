import { Client } from 'pg';
import { startPostgres } from '../../test/postgres/start-postgres.ts';

/** A database for this example, and the ledger in it. */
export interface Database {
  readonly address: string;
  /** Notes a letter, once for each key. */
  readonly send: (letter: {
    readonly key: string;
    readonly customer: number;
    readonly by: string;
  }) => Promise<void>;
  readonly readLedger: () => Promise<readonly { readonly customer: number; readonly by: string }[]>;
  /** Takes away what was made. */
  readonly remove: () => Promise<void>;
}

const schema = 'rerail_example';

/** The schema of the runs. */
export const runSchema = `${schema}_runs`;

/** The database that is named by the second argument or by DATABASE_URL; else a server of its own, as the tests of this repository have it. */
export async function openDatabase(): Promise<Database> {
  const known = process.argv[3] ?? process.env['DATABASE_URL'];
  const server = known === undefined ? await startOwn() : undefined;
  const address = known ?? server?.address ?? '';
  const ask = async (sql: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: address });
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows as readonly { customer: number; by: string }[];
    } finally {
      await client.end();
    }
  };
  const drop = `DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP SCHEMA IF EXISTS ${runSchema} CASCADE`;
  if (process.argv[3] === undefined)
    await ask(`${drop}; CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.letters (key text PRIMARY KEY, customer int, by text)`);
  return {
    address,
    send: async ({ key, customer, by }) => {
      const sql = `INSERT INTO ${schema}.letters VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`;
      await ask(sql, [key, customer, by]);
    },
    readLedger: () => ask(`SELECT customer, by FROM ${schema}.letters ORDER BY customer`),
    remove: async () => {
      await ask(drop);
      await server?.stop();
    },
  };
}

async function startOwn(): Promise<Awaited<ReturnType<typeof startPostgres>>> {
  try {
    return await startPostgres();
  } catch (error) {
    console.error(
      `No Postgres could be started here: ${error instanceof Error ? error.message : String(error)}`,
    );
    console.error('Name a database of yours: DATABASE_URL=postgres://user:password@host/database');
    return process.exit(1);
  }
}
