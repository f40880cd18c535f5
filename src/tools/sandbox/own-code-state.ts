import { lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { ownCode } from '../own-code.ts';
import { isInside } from './clean-environment.ts';

/** What the files of the own code in a workspace look like, by path. */
export type OwnCodeState = ReadonlyMap<string, string>;

/** At most so many are looked at. Rerail and what it needs have some hundred. */
const maxFiles = 20_000;

/**
 * Looks at the code of this program that lies in a workspace. Levels that cannot hold it, and a second name of one of its files
 * (a hard link), let a command change it: that is seen by comparing. The time of the last change is the kernel's and cannot be set.
 */
export async function lookAtOwnCode(root: string): Promise<OwnCodeState> {
  const seen = new Map<string, string>();
  const pending = ownCode().filter((place) => isInside(root, place));
  // Grows while it is walked, up to the bound.
  for (const place of pending) {
    if (seen.has(place) || seen.size >= maxFiles) continue;
    const stats = await lstat(place, { bigint: true }).catch(() => undefined);
    if (stats?.isDirectory() === true) {
      const names = await readdir(place).catch(() => []);
      pending.push(...names.map((name) => path.join(place, name)));
    }
    const target = stats?.isSymbolicLink() === true ? await readlink(place).catch(() => '') : '';
    // Of a folder its names count: programs keep caches in some, and what is new among the code is seen by itself.
    const changed = stats?.isDirectory() === true ? '' : `${stats?.size}:${stats?.mtimeNs}:${stats?.ctimeNs}`;
    seen.set(place, stats === undefined ? 'absent' : `${stats.dev}:${stats.ino}:${changed}:${target}`);
  }
  return seen;
}

/** What differs, from the root. */
export function changedOwnCode(root: string, before: OwnCodeState, after: OwnCodeState): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all]
    .filter((place) => before.get(place) !== after.get(place))
    .map((place) => path.relative(root, place));
}
