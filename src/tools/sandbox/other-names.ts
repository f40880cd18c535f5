import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Of a repository: what is named by its hash, which a clone on the same disk shares, and what names no program. */
const passedBy: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs']);
/** Of a folder that is held the nearest are looked at: what others run lies there, and what lies deeper is storage. */
const maxInFolder = 2000;
const atOnce = 64;

/**
 * Other names in a folder (hard links) of files that are held, as absolute paths: a mount holds a name and not the file behind it. Only
 * where a held file has several names is the folder looked through for them. Nothing where it has more names than are looked at.
 */
export async function otherNames(
  root: string,
  { held, maxNames }: { readonly held: readonly string[]; readonly maxNames: number },
): Promise<readonly string[] | undefined> {
  const linked = new Set<string>();
  for (const place of held) {
    const names = await namesBelow(place, { maxNames: maxInFolder, without: passedBy });
    for (const { id } of await linkedAmong([place, ...names.slice(0, maxInFolder)])) linked.add(id);
  }
  if (linked.size === 0) return [];
  const all = await namesBelow(root, { maxNames, without: new Set() });
  if (all.length > maxNames) return undefined;
  const isHeld = (name: string): boolean =>
    held.some((place) => name === place || name.startsWith(`${place}${path.sep}`));
  const found = (await linkedAmong(all)).filter(({ id, name }) => linked.has(id) && !isHeld(name));
  return found.map(({ name }) => name);
}

/** What lies in a folder, at any depth, until there are more than so many. In a file there is nothing. */
async function namesBelow(
  folder: string,
  { maxNames, without }: { readonly maxNames: number; readonly without: ReadonlySet<string> },
): Promise<readonly string[]> {
  const names: string[] = [];
  const pending = [folder];
  // Grows while it is walked, up to the bound.
  for (const at of pending) {
    if (names.length > maxNames) break;
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      names.push(path.join(at, entry.name));
      if (entry.isDirectory() && !without.has(entry.name)) pending.push(path.join(at, entry.name));
    }
  }
  return names;
}

interface Linked {
  readonly name: string;
  readonly id: string;
}

/** Those that are files with several names. */
async function linkedAmong(names: readonly string[]): Promise<readonly Linked[]> {
  const linked: Linked[] = [];
  for (let from = 0; from < names.length; from += atOnce) {
    const some = await Promise.all(names.slice(from, from + atOnce).map(linkedOf));
    for (const one of some) if (one !== undefined) linked.push(one);
  }
  return linked;
}

async function linkedOf(name: string): Promise<Linked | undefined> {
  const stats = await lstat(name).catch(() => undefined);
  if (stats?.isFile() !== true || stats.nlink === 1) return undefined;
  return { name, id: `${stats.dev}:${stats.ino}` };
}
