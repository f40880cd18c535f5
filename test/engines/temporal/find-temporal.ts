import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const installTimeoutMs = 240_000;

/** Installs Temporal's packages by the lock file of a folder into one for temporary files, the first time; gives where. */
export function installTemporal(here: string = import.meta.dirname): string {
  const lock = readFileSync(path.join(here, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const cache = path.join(os.tmpdir(), `rerail-temporal-${hash}-${process.getuid?.() ?? 0}`);
  if (existsSync(cache)) return cache;
  const fresh = mkdtempSync(`${cache}-`);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(path.join(here, name), path.join(fresh, name));
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--silent'], {
    cwd: fresh,
    encoding: 'utf8',
    timeout: installTimeoutMs,
  });
  if (status !== 0) throw new Error(`Temporal's packages cannot be installed for the tests: ${stderr}`);
  try {
    renameSync(fresh, cache);
  } catch {
    // Another test was quicker; its copy is as good.
    rmSync(fresh, { recursive: true, force: true });
  }
  return cache;
}

/** What loads packages from there. */
export function requireIn(folder: string): NodeJS.Require {
  return createRequire(path.join(folder, 'package.json'));
}
