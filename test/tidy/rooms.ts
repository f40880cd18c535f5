import type { Problem } from './problem.ts';

/** A reader takes in so many names at a glance; tests are not counted. */
const maxEntries = 40;

/** Finds folders of the sources with too many entries: files and folders directly in them. */
export function findCrowdedFolders(paths: Iterable<string>): readonly Problem[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    if (!path.startsWith('src/') || path.endsWith('.test.ts')) continue;
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[depth] ?? ''));
    }
  }
  return [...entries]
    .filter(([, names]) => names.size > maxEntries)
    .map(([folder, { size }]) => ({
      rule: 'folder-size',
      path: folder,
      line: 1,
      message: `A folder has at most ${maxEntries} entries, not ${size}: which room is missing?`,
    }));
}
