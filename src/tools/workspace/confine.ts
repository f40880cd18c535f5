import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, opendir, readlink, realpath, stat, statfs } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { explainMissing } from './explain-missing.ts';
import { pathName } from './path-name.ts';
import { errnoOf, fromSystem, showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';

// Invariants. A name decides nothing: it is opened, and where the descriptor really lies decides. Whatever is done afterwards
// goes through that descriptor, so that a link which is swapped meanwhile changes nothing. Nothing but regular files and
// folders is opened, and without waiting, so that neither a pipe nor a terminal can hold us.

/** A file or a folder that was opened and lies inside. Whoever opened it closes its handle. */
export interface ConfinedFile {
  readonly handle: FileHandle;
  /** Where it really lies, from the root, with `/`; empty for the root itself. */
  readonly path: string;
  readonly stats: Stats;
}

export type ConfinedKind = 'file' | 'folder';

/** Opens what lies inside, for reading. Links that lead to inside are followed. Throws a failure that names the path asked for. */
export async function openInside(
  workspace: Workspace,
  asked: string,
  kind: ConfinedKind,
): Promise<ConfinedFile> {
  const name = pathName(workspace.root, asked);
  const real = await realPathOf(path.join(workspace.root, name)).catch(async (error: unknown) => {
    throw await explainMissing(error, {
      root: workspace.root,
      name,
      kind,
      namesIn: (folder) => namesIn(workspace, folder),
    });
  });
  // Before it is opened, because some things outside do something when they are.
  relativeInside(workspace, real, asked);
  try {
    checkKind(await stat(real), asked, kind);
    const isFolder = kind === 'folder' ? constants.O_DIRECTORY : 0;
    const handle = await open(real, constants.O_RDONLY | safeFlags | isFolder);
    return await verified(workspace, handle, { asked, opened: real, kind });
  } catch (error) {
    throw fromSystem(error, asked);
  }
}

/** Opens, works with it and closes it, whatever happens. */
export async function useInside<Result>(
  workspace: Workspace,
  { path: asked, kind }: { readonly path: string; readonly kind: ConfinedKind },
  use: (file: ConfinedFile) => Promise<Result>,
): Promise<Result> {
  const file = await openInside(workspace, asked, kind);
  try {
    return await use(file);
  } finally {
    await file.handle.close();
  }
}

/** Not through a link, not waiting for the other end of a pipe, and never a terminal of ours. Windows has none of them. */
export const safeFlags =
  (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** What to verify of a handle: what was asked for, under which name it was opened, and what it must be. */
export interface Opened {
  readonly asked: string;
  readonly opened: string;
  readonly kind: ConfinedKind;
}

/** The opened object, where it lies inside and is what it should be; otherwise closes it and throws. */
export async function verified(
  workspace: Workspace,
  handle: FileHandle,
  { asked, opened, kind }: Opened,
): Promise<ConfinedFile> {
  try {
    const real = await whereIs(handle, opened);
    const relative = relativeInside(workspace, real, asked);
    const stats = await handle.stat();
    checkKind(stats, asked, kind);
    if (kind === 'file') await checkFile(workspace, { handle, path: relative, stats }, asked);
    return { handle, path: relative, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Where a descriptor lies now. */
export async function whereIs(handle: FileHandle, opened: string): Promise<string> {
  if (hasProc) return readlink(`/proc/self/fd/${handle.fd}`);
  // Elsewhere no descriptor tells its path. The name is resolved again and must be the very object that was opened; whoever
  // swaps it in between and back is not seen, which is why `docs/workspace.md` promises this for Linux only.
  const real = await realPathOf(opened);
  const [named, held] = await Promise.all([lstat(real), handle.stat()]);
  if (named.dev === held.dev && named.ino === held.ino) return real;
  throw workspaceError('PATH_OUTSIDE_WORKSPACE', `Cannot use ${showPath(opened)}: it was swapped meanwhile`);
}

/**
 * A name in an opened folder, for a call of the file system. On Linux it goes through the descriptor, so that it stays that
 * folder whatever becomes of its path.
 */
export function inFolder(workspace: Workspace, folder: ConfinedFile, name: string): string {
  return hasProc ? `/proc/self/fd/${folder.handle.fd}/${name}` : path.join(workspace.root, folder.path, name);
}

/** Bytes of a file, and whether they are all of them. */
export interface BoundedBytes {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

const chunkBytes = 256 * 1024;
const maxNames = 1000;

/** Reads a file from its beginning. What comes is counted, not what the file says of its size. */
export async function readBounded(
  file: ConfinedFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<BoundedBytes> {
  const chunks: Buffer[] = [];
  let total = 0;
  // Ends at the bound: every round reads at least one byte, and one byte more than allowed shows that there are more.
  while (total <= maxBytes) {
    signal.throwIfAborted();
    const expected = Math.max(file.stats.size - total, 0) + 1;
    const length = Math.min(maxBytes + 1 - total, Math.min(Math.max(expected, 4096), chunkBytes));
    const { bytesRead, buffer } = await file.handle.read(Buffer.allocUnsafe(length), 0, length, total);
    if (bytesRead === 0) return { bytes: Buffer.concat(chunks, total), isWhole: true };
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  return { bytes: Buffer.concat(chunks, total).subarray(0, maxBytes), isWhole: false };
}

// A Linux without procfs cannot tell where a descriptor lies: there every call fails, and nothing is opened on trust.
const hasProc = process.platform === 'linux';

async function realPathOf(name: string): Promise<string> {
  const real = await realpath(name);
  return path.sep === '/' ? real : real.replaceAll(path.sep, '/');
}

/** The names are only a help: where the folder cannot be opened, or lies outside by now, there are none to offer. */
async function namesIn(workspace: Workspace, folder: string): Promise<readonly string[]> {
  try {
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | safeFlags);
    const held = await verified(workspace, handle, { asked: folder, opened: folder, kind: 'folder' });
    try {
      return await readNames(inFolder(workspace, held, '.'));
    } finally {
      await handle.close();
    }
  } catch {
    return [];
  }
}

async function readNames(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  // Leaving the loop closes the folder.
  for await (const { name } of await opendir(folder)) {
    names.push(name);
    if (names.length >= maxNames) break;
  }
  return names.toSorted();
}

/** The path from the root. Throws for what lies elsewhere. */
function relativeInside({ root }: Workspace, real: string, asked: string): string {
  if (real === root) return '';
  if (real.startsWith(`${root}/`)) return real.slice(root.length + 1);
  throw workspaceError(
    'PATH_OUTSIDE_WORKSPACE',
    `Cannot use ${showPath(asked)}: it is a link that leads out of the workspace`,
    { hint: 'Use a file that lies in the workspace itself.' },
  );
}

function checkKind(stats: Stats, asked: string, kind: ConfinedKind): void {
  if (kind === 'file' ? stats.isFile() : stats.isDirectory()) return;
  const seen = kindOf(stats);
  const isSpecial = seen !== 'file' && seen !== 'folder';
  const next = seen === 'folder' ? '; list_files shows what is in it' : '';
  throw workspaceError(
    isSpecial ? 'PATH_OUTSIDE_WORKSPACE' : 'VALIDATION_ERROR',
    `Cannot use ${showPath(asked)} as a ${kind}: it is a ${seen}${next}`,
  );
}

function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isFIFO()) return 'pipe';
  if (stats.isSocket()) return 'socket';
  return stats.isSymbolicLink() ? 'link' : 'device';
}

async function checkFile(
  workspace: Workspace,
  { handle, stats }: ConfinedFile,
  asked: string,
): Promise<void> {
  if (stats.nlink === 0) {
    throw workspaceError('NOT_FOUND', `Cannot use ${showPath(asked)}: it was removed while it was opened`);
  }
  if (stats.nlink > 1 && !workspace.options.allowHardLinks) {
    throw workspaceError(
      'PATH_OUTSIDE_WORKSPACE',
      `Cannot use ${showPath(asked)}: the file has ${stats.nlink} names (hard links), and another may lie outside of the workspace`,
      { hint: 'Copy the file, or open the workspace with allowHardLinks: true.' },
    );
  }
  // What the kernel makes up says that it is empty; nothing of a real disk is asked this.
  if (stats.size > 0 || !hasProc) return;
  const { type } = await statfs(`/proc/self/fd/${handle.fd}`);
  if (!kernelFileSystems.includes(type)) return;
  throw workspaceError(
    'PATH_OUTSIDE_WORKSPACE',
    `Cannot use ${showPath(asked)}: it is made up by the kernel and not a file`,
  );
}

/** The magic numbers of procfs, sysfs, debugfs, tracefs and securityfs. */
const kernelFileSystems: readonly number[] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673];

/** Whether the system says that something is not there. */
export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}
