import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { whyProtected } from '../workspace/protected-paths.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { isInside } from './clean-environment.ts';

/** What of a workspace is protected and there. */
export interface ProtectedPlaces {
  /** By path from the root: what it is, so that another thing in its place is noticed. */
  readonly found: ReadonlyMap<string, string>;
  /** What must be held read-only, absolute; for a link also where it leads inside. */
  readonly held: readonly string[];
  /** Folders above them, the outermost first: one that can be moved away takes what it holds along. */
  readonly above: readonly string[];
  /** Folders that could not be listed. */
  readonly unreadable: readonly string[];
  /** There were more names than are looked at, or more places than can be held: not everything protected is among them. */
  readonly isCut: boolean;
}

/** Bounds of the search. */
export const placeBounds = { names: 200_000, held: 500, found: 2000 } as const;
const foldersAtOnce = 16;

/** Looks for everything protected that is there. Enters neither `node_modules` nor links, and looks at so many names and no more. */
export async function findProtected(
  workspace: Workspace,
  { maxNames = placeBounds.names }: { readonly maxNames?: number } = {},
): Promise<ProtectedPlaces> {
  const search: Search = {
    workspace,
    maxNames,
    found: new Map(),
    held: [],
    unreadable: [],
    names: 0,
    isCut: false,
  };
  // The nearest first, so that the bound cuts off what lies deepest. Every folder was a name that was counted.
  for (let wave: readonly string[] = ['']; wave.length > 0 && !search.isCut;)
    wave = await searchWave(search, wave);
  const { found, held, unreadable } = search;
  const isCut = search.isCut || held.length > placeBounds.held;
  return { found, held, above: foldersAbove(workspace.root, held), unreadable, isCut };
}

interface Search {
  readonly workspace: Workspace;
  readonly maxNames: number;
  readonly found: Map<string, string>;
  readonly held: string[];
  readonly unreadable: string[];
  names: number;
  isCut: boolean;
}

/** The folders of one depth; returns those of the next. */
async function searchWave(search: Search, folders: readonly string[]): Promise<readonly string[]> {
  const next: string[] = [];
  for (let from = 0; from < folders.length && !search.isCut; from += foldersAtOnce) {
    const some = folders.slice(from, from + foldersAtOnce);
    const inner = await Promise.all(some.map((folder) => searchFolder(search, folder)));
    for (const names of inner) next.push(...names);
  }
  return next;
}

async function searchFolder(search: Search, folder: string): Promise<readonly string[]> {
  const absolute = path.join(search.workspace.root, folder);
  const entries = await readdir(absolute, { withFileTypes: true }).catch(
    (): Dirent[] | undefined => undefined,
  );
  if (entries === undefined) {
    search.unreadable.push(folder);
    return [];
  }
  search.names += entries.length;
  // Its own names are looked at all the same: otherwise whoever fills the root could hide what lies beside.
  search.isCut ||= search.names > search.maxNames;
  const isAny = search.workspace.options.protect.length > 0;
  const last = path.posix.basename(folder);
  const inner: string[] = [];
  for (const entry of entries) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    // What lies above is known to be free; only patterns of the workspace need the whole path.
    const asked = isAny || folder === '' ? name : `${last}/${entry.name}`;
    if (whyProtected(search.workspace, asked) !== undefined) await note(search, name);
    else if (entry.isDirectory() && entry.name !== 'node_modules') inner.push(name);
  }
  return inner;
}

async function note(search: Search, name: string): Promise<void> {
  const { root } = search.workspace;
  const absolute = path.join(root, name);
  // Whatever goes while it is looked at is not there.
  const stats = await lstat(absolute).catch(() => undefined);
  if (stats === undefined) return;
  if (search.found.size >= placeBounds.found) {
    search.isCut = true;
    return;
  }
  if (!stats.isSymbolicLink()) {
    search.found.set(name, `${stats.dev}:${stats.ino}`);
    if (stats.isDirectory() || stats.isFile()) search.held.push(absolute);
    return;
  }
  search.found.set(name, `link to ${await readlink(absolute).catch(() => 'nowhere')}`);
  const leadsTo = await realpath(absolute).catch(() => undefined);
  if (leadsTo !== undefined && leadsTo !== root && isInside(root, leadsTo)) search.held.push(leadsTo);
}

function foldersAbove(root: string, held: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const name of held) {
    for (
      let above = path.dirname(name);
      above !== root && isInside(root, above);
      above = path.dirname(above)
    ) {
      all.add(above);
    }
  }
  return [...all]
    .filter((folder) => !held.includes(folder))
    .toSorted((one, other) => one.length - other.length);
}
