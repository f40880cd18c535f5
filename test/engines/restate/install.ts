import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

const repository = findRepository(import.meta.dirname);
const folder = path.join(repository, 'test/engines/restate');
// Outside of the folder that npm removes first, and where git sees nothing.
const locks = path.join(repository, 'node_modules/.cache');
const lock = path.join(locks, 'rerail-engine-restate.lock');
const maxWaitMs = 240_000;
/** Of this folder's packages, not of the project's. */
const sdkName = '@restatedev/restate-sdk';

/** What the tests of this engine need, installed into this folder when it is not there yet. Throws where it cannot be had. */
export async function installRestate(): Promise<Installed> {
  if (!isInstalled()) await underLock(install);
  const require = createRequire(path.join(folder, 'package.json'));
  const { platform, arch } = process;
  return {
    server: require.resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`),
    sdkPath: require.resolve(sdkName),
    sdk: require(sdkName) as unknown,
  };
}

/** Where things are. */
export interface Installed {
  /** The program. */
  readonly server: string;
  readonly sdkPath: string;
  readonly sdk: unknown;
}

/** The lockfile that was installed is the one that is here. */
function isInstalled(): boolean {
  const stamp = path.join(folder, 'node_modules', '.rerail-lock');
  if (!existsSync(stamp)) return false;
  return readFileSync(stamp, 'utf8') === readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
}

function install(): void {
  if (isInstalled()) return;
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: maxWaitMs,
  });
  if (status !== 0) throw new Error(`Restate cannot be installed into ${folder}: ${stderr}`);
  const stamp = path.join(folder, 'node_modules', '.rerail-lock');
  writeFileSync(stamp, readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
}

/** One test file installs, the others wait. A lock whose owner has died is old, and is taken over. */
async function underLock(work: () => void): Promise<void> {
  const untilMs = Date.now() + maxWaitMs;
  while (Date.now() < untilMs) {
    if (isInstalled()) return;
    if (take()) {
      try {
        return work();
      } finally {
        rmSync(lock, { force: true });
      }
    }
    await setTimeout(200);
  }
  throw new Error(`Another test has been installing Restate for too long; remove ${lock} if there is none`);
}

function take(): boolean {
  if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > maxWaitMs) rmSync(lock, { force: true });
  mkdirSync(locks, { recursive: true });
  try {
    closeSync(openSync(lock, 'wx'));
    return true;
  } catch {
    return false;
  }
}

/** Also from a program that was bundled somewhere below. */
function findRepository(below: string): string {
  if (existsSync(path.join(below, 'test/engines/restate/package.json'))) return below;
  if (below === path.dirname(below)) throw new Error('This works in a checkout of the repository only');
  return findRepository(path.dirname(below));
}
