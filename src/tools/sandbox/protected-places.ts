import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ownCode } from '../own-code.ts';
import { protectedWithin, whyProtected } from '../workspace/protected-paths.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { isInside } from './clean-environment.ts';
import { gitPlaces, isGitFolder } from './git-places.ts';
import { otherNames } from './other-names.ts';

/** What of a workspace is protected. */
export interface ProtectedPlaces {
  /** What is there, by path from the root: what it is, so that another thing in its place is noticed. */
  readonly found: ReadonlyMap<string, string>;
  /** What must be held read-only, absolute; for a link also where it leads inside. */
  readonly held: readonly string[];
  /** Folders above them, the outermost first: one that can be moved away takes what it holds along. */
  readonly above: readonly string[];
  /** What is protected though its own name does not say so, whether it is there or not: absolute, and why. */
  readonly objects: ReadonlyMap<string, string>;
  /** Folders that could not be listed. */
  readonly unreadable: readonly string[];
  /** There were more names than are looked at: what lies behind them is not among all this. */
  readonly isCut: boolean;
  /** There are no more places than can be held. */
  readonly canHoldAll: boolean;
}

/** Bounds of the search. What a command has left is searched further, so that it cannot hide anything behind many names. */
export const placeBounds = { names: 200_000, namesLeft: 2_000_000, held: 500, found: 2000 } as const;
const foldersAtOnce = 16;
const maxHops = 40;

/**
 * Looks for everything protected: by name, and what such a name leads to. Enters no links, and of `node_modules` looks at Rerail itself
 * only. Looks at so many names and no more.
 */
export async function findProtected(
  workspace: Workspace,
  { maxNames = placeBounds.names }: { readonly maxNames?: number } = {},
): Promise<ProtectedPlaces> {
  const search: Search = {
    workspace,
    maxNames,
    found: new Map(),
    held: new Set(),
    objects: new Map(),
    unreadable: [],
    names: 0,
    isCut: false,
    isFull: false,
  };
  // The nearest first, so that the bound cuts off what lies deepest. Every folder was a name that was counted.
  for (let wave: readonly string[] = ['']; wave.length > 0 && !search.isCut;)
    wave = await searchWave(search, wave);
  await noteOtherNames(search);
  const canHoldAll = !search.isFull && search.held.size <= placeBounds.held;
  // Not counted: they are as many as this program has, and no command adds to them.
  const { root } = workspace;
  for (const place of ownCode().filter((own) => isInside(root, own) || isInside(own, root)))
    await noteObject(search, place, 'Rerail itself runs from it');
  const { found, objects, unreadable, isCut } = search;
  const held = [...search.held];
  return { found, held, above: foldersAbove(root, held), objects, unreadable, isCut, canHoldAll };
}

async function noteOtherNames(search: Search): Promise<void> {
  const { workspace, held, maxNames } = search;
  const names = await otherNames(workspace.root, { held: [...held], maxNames });
  search.isCut ||= names === undefined;
  for (const name of names ?? []) await noteObject(search, name, 'it is another name of a protected file');
}

interface Search {
  readonly workspace: Workspace;
  readonly maxNames: number;
  readonly found: Map<string, string>;
  readonly held: Set<string>;
  readonly objects: Map<string, string>;
  readonly unreadable: string[];
  names: number;
  isCut: boolean;
  isFull: boolean;
}

/** The folders of one depth; returns those of the next. */
async function searchWave(search: Search, folders: readonly string[]): Promise<readonly string[]> {
  const next: string[] = [];
  for (let from = 0; from < folders.length && !search.isCut; from += foldersAtOnce) {
    const some = folders.slice(from, from + foldersAtOnce);
    const inner = await Promise.all(some.map((folder) => searchFolder(search, folder)));
    for (const names of inner) for (const name of names) next.push(name);
  }
  return next;
}

async function searchFolder(search: Search, folder: string): Promise<readonly string[]> {
  const entries = await listFolder(search, folder);
  if (entries === undefined) {
    search.unreadable.push(folder);
    return [];
  }
  if (isGitFolder(entries.map(({ name }) => name))) {
    await noteGitFolder(search, folder);
    if (folder !== '') return [];
  }
  const isAny = search.workspace.options.protect.length > 0;
  const last = path.posix.basename(folder);
  const inner: string[] = [];
  for (const entry of entries) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    // What lies above is known to be free; only patterns of the workspace need the whole path.
    const asked = isAny || folder === '' ? name : `${last}/${entry.name}`;
    if (whyProtected(search.workspace, asked) !== undefined) await note(search, name);
    else if (await leadsOn(search, name, entry)) inner.push(name);
  }
  return inner;
}

/** Its own names are looked at all the same where they are too many: otherwise whoever fills the root could hide what lies beside. */
async function listFolder(search: Search, folder: string): Promise<readonly Dirent[] | undefined> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(path.join(search.workspace.root, folder), { bufferSize: 256 })) {
      entries.push(entry);
      search.names += 1;
      // Beyond any bound it is no longer worth the memory.
      if (search.names > search.maxNames + placeBounds.names) break;
    }
  } catch {
    return undefined;
  }
  search.isCut ||= search.names > search.maxNames;
  return entries;
}

/** Whether a folder is to be looked into. What is protected in one that is not is noted here. */
async function leadsOn(search: Search, name: string, entry: Dirent): Promise<boolean> {
  const absolute = path.join(search.workspace.root, name);
  const isFolder =
    entry.isDirectory() || (isUnknown(entry) && (await lstatOf(absolute))?.isDirectory() === true);
  const isModules = entry.name.toLowerCase() === 'node_modules';
  if (isFolder && !isModules) return true;
  if (!isFolder && !entry.isSymbolicLink()) return false;
  const pairs = protectedWithin(entry.name).map((inner) => [entry.name, inner] as const);
  const programs = isModules ? protectedWithin('.bin').map((inner) => ['.bin', inner] as const) : [];
  for (const [above, inner] of [...pairs, ...programs]) {
    const place = above === '.bin' ? path.join(absolute, above, inner) : path.join(absolute, inner);
    await noteObject(search, place, whyProtected(search.workspace, `${above}/${inner}`) ?? '');
  }
  return false;
}

/** Some file systems do not say what a name is. */
function isUnknown(entry: Dirent): boolean {
  return !(
    entry.isFile() ||
    entry.isDirectory() ||
    entry.isSymbolicLink() ||
    entry.isSocket() ||
    entry.isFIFO()
  );
}

async function note(search: Search, name: string): Promise<void> {
  const { root } = search.workspace;
  const absolute = path.join(root, name);
  // Whatever goes while it is looked at is not there.
  const stats = await lstatOf(absolute);
  if (stats === undefined) return;
  if (path.posix.basename(name).toLowerCase() === '.git') {
    for (const place of await gitPlaces(absolute))
      await noteObject(search, place, 'git runs and trusts what is in it');
  }
  search.isFull ||= search.found.size >= placeBounds.found;
  if (!stats.isSymbolicLink()) return search.isFull ? undefined : keep(search, absolute, stats);
  const leadsTo = await realpath(absolute).catch(() => 'nowhere');
  search.found.set(name, `link to ${await readlink(absolute).catch(() => '')} and so to ${leadsTo}`);
  for (const hop of await hopsOf(absolute))
    await noteObject(search, hop, `${name}, which is protected, leads to it`);
}

function keep({ workspace, found, held }: Search, absolute: string, stats: Stats): void {
  const canHold = stats.isDirectory() || stats.isFile();
  // What is held cannot be replaced by a command, only by somebody outside, who may.
  found.set(toName(workspace.root, absolute), canHold ? 'held' : `${stats.dev}:${stats.ino}`);
  if (canHold) held.add(absolute);
}

/** Notes something that its own name does not protect. The root itself cannot be: it is the workspace. */
async function noteObject(search: Search, place: string, why: string): Promise<void> {
  const { root } = search.workspace;
  const parent = await realpath(path.dirname(place)).catch(() => path.dirname(place));
  const absolute = path.join(parent, path.basename(place));
  if (absolute === root || !(isInside(root, absolute) || isInside(absolute, root))) return;
  if (search.objects.has(absolute)) return;
  search.objects.set(absolute, why);
  const stats = await lstatOf(absolute);
  if (stats === undefined) return;
  // The workspace lies in it, so all of the workspace is.
  if (!isInside(root, absolute)) return void search.held.add(root);
  if (!stats.isSymbolicLink()) return keep(search, absolute, stats);
  search.found.set(toName(root, absolute), `link to ${await readlink(absolute).catch(() => '')}`);
  const [next] = await hopsOf(absolute);
  if (next !== undefined) await noteObject(search, next, why);
}

/** A repository without `.git`: all of it, or at the root what git runs. */
async function noteGitFolder(search: Search, folder: string): Promise<void> {
  const absolute = path.join(search.workspace.root, folder);
  const why = 'git takes the folder for a repository, and runs and trusts what is in it';
  const places =
    folder === ''
      ? ['config', 'config.worktree', 'hooks', 'commondir'].map((name) => path.join(absolute, name))
      : [absolute];
  for (const place of places) await noteObject(search, place, why);
}

/** Where a link leads, step by step, also where nothing lies at the end. */
async function hopsOf(link: string): Promise<readonly string[]> {
  const hops: string[] = [];
  for (let at = link; hops.length < maxHops;) {
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) break;
    at = path.resolve(path.dirname(at), target);
    hops.push(at);
  }
  return hops;
}

function lstatOf(absolute: string): Promise<Stats | undefined> {
  return lstat(absolute).catch(() => undefined);
}

function toName(root: string, absolute: string): string {
  return path.relative(root, absolute).replaceAll(path.sep, '/');
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
