import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.ts';

/** What the engine is handed in tests: the SDK, which is no dependency of this package. */
export interface DbosPackages {
  readonly sdk: unknown;
  readonly pg: unknown;
}

/** The SDK by the lock file beside this one, installed into a folder for temporary files the first time. Throws where that cannot be done. */
export function findDbos(): DbosPackages {
  return loadDbos(installDbos());
}

/** The same from a folder that is known. */
export function loadDbos(folder: string): DbosPackages {
  const load = createRequire(path.join(folder, 'package.json'));
  return { sdk: load('@dbos-inc/dbos-sdk'), pg: load('pg') };
}

/** Where DBOS is, by the lock file of a folder. */
export function installDbos(here: string = path.dirname(fileURLToPath(import.meta.url))): string {
  return installPackages('dbos', here);
}
