import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { isInside } from './clean-environment.ts';

/** A bubblewrap that can be used. */
export interface Bubblewrap {
  /** Absolute, and with no link in it. */
  readonly path: string;
  /** It can forbid namespaces inside. Older ones cannot; the filter of system calls does it then. */
  readonly canDisableNamespaces: boolean;
}

/** Where the system puts programs. `PATH` is not asked: a workspace may be in it. */
const usualPlaces = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
];
const versionTimeoutMs = 5000;
const oldest: Version = [0, 5];
const disables: Version = [0, 8];

/** The first usable bubblewrap, or why there is none. */
export async function findBubblewrap(
  root: string,
  places: readonly string[] = usualPlaces,
): Promise<Bubblewrap | string> {
  const problems: string[] = [];
  for (const place of places) {
    const found = await tryPlace(root, place);
    if (typeof found !== 'string') return found;
    problems.push(found);
  }
  return problems.every((problem) => problem === '')
    ? `bubblewrap is not installed (looked at ${places.join(', ')})`
    : problems.filter(Boolean).join('; ');
}

/** An empty problem means that there is nothing. */
async function tryPlace(root: string, place: string): Promise<Bubblewrap | string> {
  const path = await realpath(place).catch(() => undefined);
  if (path === undefined) return '';
  if (isInside(root, path) || isInside(root, place)) return `${place} lies in the workspace and is not used`;
  const stats = await stat(path);
  if (!stats.isFile()) return `${place} is no program`;
  if ((stats.mode & 0o022) !== 0) return `${place} can be written by others and is not used`;
  const version = await askVersion(path);
  if (typeof version === 'string') return version;
  if (isBefore(version, oldest))
    return `${place} is version ${version.join('.')}, too old: 0.5 or later is needed`;
  return { path, canDisableNamespaces: !isBefore(version, disables) };
}

type Version = readonly [number, number];

function askVersion(path: string): Promise<Version | string> {
  return new Promise((resolve) => {
    const options = { timeout: versionTimeoutMs, env: {}, cwd: '/', killSignal: 'SIGKILL' } as const;
    execFile(path, ['--version'], options, (error, stdout) => {
      const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
      if (error !== null || major === undefined) {
        resolve(`${path} --version failed: ${error?.message ?? stdout}`);
        return;
      }
      resolve([Number(major), Number(minor)]);
    });
  });
}

function isBefore([major, minor]: Version, [otherMajor, otherMinor]: Version): boolean {
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
