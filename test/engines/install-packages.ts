import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

const maxWaitMs = 240_000;
const stepMs = 200;

/**
 * Installs what the tests of an engine need, by the lock file of a folder, into a cache of this checkout the first time; gives where. One
 * test installs, the others wait. Throws where it cannot be had.
 */
export function installPackages(name: string, here: string): string {
  const lockFile = readFileSync(path.join(here, 'package-lock.json'));
  const hash = createHash('sha256').update(lockFile).digest('hex').slice(0, 12);
  // Where git sees nothing, and whoever runs the same from here finds it again.
  const caches = path.resolve(here, '../../../node_modules/.cache');
  mkdirSync(caches, { recursive: true });
  const cache = path.join(caches, `rerail-${name}-${hash}`);
  const door = `${cache}.lock`;
  for (const untilMs = Date.now() + maxWaitMs; Date.now() < untilMs;) {
    if (existsSync(cache)) return cache;
    if (take(door)) {
      try {
        return install(name, here, cache);
      } finally {
        rmSync(door, { recursive: true, force: true });
      }
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMs);
  }
  throw new Error(`Another test has been installing ${name} for too long; remove ${door} if there is none`);
}

/** One whose owner has died is old, and is taken over. */
function take(door: string): boolean {
  try {
    if (Date.now() - statSync(door).mtimeMs > maxWaitMs) rmSync(door, { recursive: true, force: true });
  } catch {
    // There is none, or it has just gone.
  }
  try {
    mkdirSync(door);
    return true;
  } catch {
    return false;
  }
}

function install(name: string, here: string, cache: string): string {
  if (existsSync(cache)) return cache;
  const fresh = mkdtempSync(`${cache}-`);
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    if (existsSync(path.join(here, file))) cpSync(path.join(here, file), path.join(fresh, file));
  const { status, stderr } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'],
    {
      cwd: fresh,
      encoding: 'utf8',
      timeout: maxWaitMs,
    },
  );
  if (status !== 0) throw new Error(`The packages of ${name} cannot be installed for the tests: ${stderr}`);
  renameSync(fresh, cache);
  return cache;
}
