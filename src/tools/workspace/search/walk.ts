import type { Dir, Dirent, Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../base/system.ts';
import { RerailError } from '../../../errors/rerail-error.ts';
import { inFolder, useInside } from '../confine.ts';
import type { ConfinedFile } from '../confine.ts';
import type { Workspace } from '../workspace.ts';

/** One thing that lies in a folder. */
export interface WalkEntry {
  /** From the root, with `/`. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** 1 for what lies directly in the folder where the walk began. */
  readonly depth: number;
  /** It is named and not entered: `.git` and `node_modules`. */
  readonly isSkipped: boolean;
  /** Its size and the like, of the link itself where it is one. Only while it is told; nothing where it has gone. */
  readonly stat: () => Promise<Stats | undefined>;
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** At most so many are told. */
  readonly maxEntries: number;
  /** 1 for the folder itself only. */
  readonly maxDepth: number;
  /** Told each in turn. `skip` does not enter that folder, `stop` ends the walk. */
  readonly onEntry: (entry: WalkEntry) => WalkWish | Promise<WalkWish>;
}

export type WalkWish = 'skip' | 'stop' | undefined;

/** How a walk ended, and what it did not see. */
export interface WalkEnd {
  readonly entries: number;
  readonly end: 'complete' | 'stopped' | 'too-many';
  /** Folders that were not entered because they lie too deep. */
  readonly tooDeep: number;
  /** Folders that could not be opened, at most 20. */
  readonly unreadable: readonly string[];
}

const skippedFolders: ReadonlySet<string> = new Set(['.git', 'node_modules']);
const maxUnreadable = 20;
/** How long others wait for us. */
const maxTurnMs = 20;

/**
 * Tells everything in a folder, the nearest first and each folder sorted by name. Follows no link. Each folder is opened and
 * verified by itself, so that one which is swapped for a link meanwhile is left out.
 */
export async function walkInside(workspace: Workspace, path: string, options: WalkOptions): Promise<WalkEnd> {
  const start = await useInside(workspace, { path, kind: 'folder' }, (folder) =>
    Promise.resolve(folder.path),
  );
  const walk: Walk = {
    workspace,
    options,
    pending: [],
    unreadable: [],
    entries: 0,
    tooDeep: 0,
    end: 'complete',
    turnMs: systemClock.monotonicMs(),
  };
  await walkFolder(walk, { path: start, depth: 0 });
  // Bounded by `maxEntries`: every pending folder was an entry.
  for (let index = 0; index < walk.pending.length && walk.end === 'complete'; index += 1) {
    const folder = walk.pending[index];
    if (folder === undefined) break;
    await walkFolder(walk, folder).catch((error: unknown) => noteUnreadable(walk, folder.path, error));
  }
  const { entries, end, tooDeep, unreadable } = walk;
  return { entries, end, tooDeep, unreadable };
}

interface PendingFolder {
  readonly path: string;
  readonly depth: number;
}

interface Walk {
  readonly workspace: Workspace;
  readonly options: WalkOptions;
  readonly pending: PendingFolder[];
  readonly unreadable: string[];
  entries: number;
  tooDeep: number;
  end: WalkEnd['end'];
  /** When others had their last turn. */
  turnMs: number;
}

async function walkFolder(walk: Walk, { path, depth }: PendingFolder): Promise<void> {
  const { workspace, options } = walk;
  options.signal.throwIfAborted();
  // With `./`, because a name may begin with a sign that has a meaning at the beginning of a path.
  await useInside(workspace, { path: `./${path}`, kind: 'folder' }, async (folder) => {
    // A link was put in its place after it had been seen.
    if (folder.path !== path) return;
    const found = await readSorted(walk, await opendir(inFolder(workspace, folder, '.')));
    for (const entry of found) {
      await letOthersRun(walk);
      options.signal.throwIfAborted();
      await tell(walk, toEntry(walk, folder, { entry, depth: depth + 1 }));
      if (walk.end === 'stopped') return;
    }
  });
}

/** Names and patterns are somebody else's: whatever it costs to compare them, timers and cancellation must not wait for the end. */
async function letOthersRun(walk: Walk): Promise<void> {
  if (systemClock.monotonicMs() - walk.turnMs < maxTurnMs) return;
  await nextTurn();
  walk.turnMs = systemClock.monotonicMs();
}

/** At most as many as may still be told: a folder with a million names costs no more than the bound. */
async function readSorted(walk: Walk, entries: Dir): Promise<readonly Dirent[]> {
  const room = walk.options.maxEntries - walk.entries;
  const found: Dirent[] = [];
  for await (const entry of entries) {
    if (found.length >= room) {
      walk.end = 'too-many';
      break;
    }
    found.push(entry);
  }
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

interface Found {
  readonly entry: Dirent;
  readonly depth: number;
}

function toEntry({ workspace }: Walk, folder: ConfinedFile, { entry, depth }: Found): WalkEntry {
  const { name } = entry;
  const kind = kindOf(entry);
  return {
    path: folder.path === '' ? name : `${folder.path}/${name}`,
    name,
    kind,
    depth,
    isSkipped: kind === 'folder' && skippedFolders.has(name.toLowerCase()),
    // Whatever has gone meanwhile has no size; the walk goes on.
    stat: () => lstat(inFolder(workspace, folder, name)).catch(() => undefined),
  };
}

function kindOf(entry: Dirent): WalkEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

async function tell(walk: Walk, entry: WalkEntry): Promise<void> {
  walk.entries += 1;
  const wish = await walk.options.onEntry(entry);
  if (wish === 'stop') walk.end = 'stopped';
  if (entry.kind !== 'folder' || entry.isSkipped || wish !== undefined) return;
  if (entry.depth >= walk.options.maxDepth) {
    walk.tooDeep += 1;
    return;
  }
  walk.pending.push({ path: entry.path, depth: entry.depth });
}

/** A folder below that cannot be opened is told at the end; the others are walked all the same. */
function noteUnreadable(walk: Walk, path: string, error: unknown): void {
  if (walk.options.signal.aborted || !RerailError.isInstance(error)) throw error;
  if (walk.unreadable.length < maxUnreadable) walk.unreadable.push(path);
}
