import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const installTimeoutMs = 180_000;

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

/** Installs what is not there yet, by the lock file of a folder, and gives where. */
export function installDbos(here: string = path.dirname(fileURLToPath(import.meta.url))): string {
  const lock = readFileSync(path.join(here, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const cache = path.join(os.tmpdir(), `rerail-dbos-${hash}-${process.getuid?.() ?? 0}`);
  if (existsSync(cache)) return cache;
  const fresh = mkdtempSync(`${cache}-`);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(path.join(here, name), path.join(fresh, name));
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--silent'], {
    cwd: fresh,
    encoding: 'utf8',
    timeout: installTimeoutMs,
  });
  if (status !== 0) throw new Error(`DBOS cannot be installed for the tests: ${stderr}`);
  try {
    renameSync(fresh, cache);
  } catch {
    // Another test was quicker; its copy is as good.
    rmSync(fresh, { recursive: true, force: true });
  }
  return cache;
}
