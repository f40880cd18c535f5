import { existsSync } from 'node:fs';
import path from 'node:path';
import { installDbos, loadDbos } from '../../test/engines/dbos/find-dbos.ts';
import { startPostgres } from '../../test/postgres/start-postgres.ts';

// Only for a checkout of this repository: a Postgres of its own, and the SDK as the tests have it. In a program of yours the address of
// a Postgres is all: npm install @dbos-inc/dbos-sdk pg, and dbos({ databaseUrl }).

interface Backend {
  readonly options: { readonly databaseUrl: string; readonly sdk: unknown; readonly pg: unknown };
  /** Another process has started it already. */
  readonly isChild: boolean;
  readonly stop: () => Promise<void>;
}

/** Starts a Postgres, or takes the one that is named by the first argument. */
export async function startBackend(): Promise<Backend> {
  const packages = loadDbos(installDbos(path.join(repository(), 'test/engines/dbos')));
  const [, , given] = process.argv;
  if (given !== undefined)
    return { options: { databaseUrl: given, ...packages }, isChild: true, stop: () => Promise.resolve() };
  const postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase();
  return { options: { databaseUrl, ...packages }, isChild: false, stop: postgres.stop };
}

function repository(folder = import.meta.dirname): string {
  const isIt = existsSync(path.join(folder, 'test', 'engines', 'dbos'));
  return isIt || folder === path.dirname(folder) ? folder : repository(path.dirname(folder));
}
