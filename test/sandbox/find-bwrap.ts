import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const installed = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'];
const downloadTimeoutMs = 60_000;

/** Somebody has said that the strongest level cannot be tested here. */
export const isLeftOut = process.env['RERAIL_WITHOUT_BWRAP'] === '1';

/** A bubblewrap that is installed, or Debian's package unpacked into a folder for temporary files. Nothing is installed. */
export function findBwrap(): string | undefined {
  if (isLeftOut || process.platform !== 'linux') return undefined;
  return installed.find(isProgram) ?? unpacked();
}

/** Says loudly what is missing: without it the strongest level is not tested at all. */
export const withoutBwrap =
  'bubblewrap is neither installed nor to be had with "apt-get download bubblewrap". ' +
  'Install it, or set RERAIL_WITHOUT_BWRAP=1 to leave the contained level untested.';

function unpacked(): string | undefined {
  const cache = path.join(os.tmpdir(), `rerail-bwrap-${process.getuid?.() ?? 0}`);
  const program = path.join(cache, 'usr', 'bin', 'bwrap');
  if (isOurs(cache) && isProgram(program)) return program;
  const fresh = mkdtempSync(`${cache}-`);
  chmodSync(fresh, 0o755);
  const options = { cwd: fresh, stdio: 'ignore', timeout: downloadTimeoutMs } as const;
  spawnSync('apt-get', ['download', 'bubblewrap'], options);
  const packed = readdirSync(fresh).find((name) => name.endsWith('.deb'));
  if (packed !== undefined) spawnSync('dpkg', ['-x', packed, '.'], options);
  if (!isProgram(path.join(fresh, 'usr', 'bin', 'bwrap'))) {
    rmSync(fresh, { recursive: true, force: true });
    return undefined;
  }
  return keep(fresh, { cache, program });
}

/** Another test may have been quicker; then its copy is as good. */
function keep(
  fresh: string,
  { cache, program }: { readonly cache: string; readonly program: string },
): string {
  try {
    renameSync(fresh, cache);
    return program;
  } catch {
    if (!isOurs(cache) || !isProgram(program)) return path.join(fresh, 'usr', 'bin', 'bwrap');
    rmSync(fresh, { recursive: true, force: true });
    return program;
  }
}

function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return (
    found !== undefined &&
    found.isDirectory() &&
    found.uid === process.getuid?.() &&
    (found.mode & 0o022) === 0
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
