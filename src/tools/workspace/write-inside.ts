import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { causesOf } from '../../errors/classify/causes.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { inFolder, isMissing, openInside, readBounded, safeFlags, verified, whereIs } from './confine.ts';
import type { ConfinedFile } from './confine.ts';
import { inTurn } from './in-turn.ts';
import { hashBytes, rememberChange } from './memory.ts';
import { pathName } from './path-name.ts';
import { refuseProtected } from './protected-paths.ts';
import { refuseProtectedObject } from './protected-objects.ts';
import { errnoOf, fromSystem, showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';

// Invariants. A file is never written in place: a new one is made beside it, in a folder that was opened and verified, and then
// takes its name. So nobody sees half a file, and a link of that name is replaced at most, never followed. The name asked for
// and the place where it really lies must both be free to change.

/** A place that may be written: its folder is open, and what is there now has been read. */
export interface WriteTarget {
  readonly folder: ConfinedFile;
  readonly name: string;
  /** Where it really lies, from the root. */
  readonly path: string;
  readonly old: OldFile | undefined;
}

export interface OldFile {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly stats: Stats;
}

export interface WriteOptions {
  readonly path: string;
  readonly signal: AbortSignal;
  /** Folders that are not there are made. */
  readonly createFolders: boolean;
}

/** Opens a place for writing, works with it and closes it, whatever happens. Throws where it may not be changed. */
export async function withTarget<Result>(
  workspace: Workspace,
  { path: asked, signal, createFolders }: WriteOptions,
  use: (target: WriteTarget) => Promise<Result>,
): Promise<Result> {
  const named = pathName(workspace.root, asked);
  if (named === '')
    throw workspaceError('VALIDATION_ERROR', `Cannot change ${showPath(asked)}: it is a folder`);
  refuseProtected(workspace, named);
  signal.throwIfAborted();
  const parent = path.posix.dirname(named);
  const folder = createFolders ? await makeFolders(workspace, parent) : await openFolder(workspace, parent);
  try {
    const name = path.posix.basename(named);
    const place = joined(folder.path, name);
    refuseProtected(workspace, place);
    await refuseProtectedObject(workspace, place);
    // A file may be asked for by several names, and what was read must still be there when it is replaced.
    return await inTurn(`${workspace.root}/${place}`.toLowerCase(), async () => {
      signal.throwIfAborted();
      const old = await readOld(workspace, { folder, name, path: place }, signal);
      return use({ folder, name, path: place, old });
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw fromSystem(error, asked);
  } finally {
    await folder.handle.close();
  }
}

export interface NewContent {
  readonly bytes: Uint8Array;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** Puts new contents in the place of the old, all at once, and remembers the change. Returns the hash of the new. */
export async function replaceTarget(
  workspace: Workspace,
  target: WriteTarget,
  { bytes, runId, signal }: NewContent,
): Promise<string> {
  const { maxFileBytes } = workspace.options;
  if (bytes.length > maxFileBytes) {
    const says = `it would have ${bytes.length} bytes, and at most ${maxFileBytes} are allowed (maxFileBytes)`;
    throw workspaceError('VALIDATION_ERROR', `Cannot write ${showPath(target.path)}: ${says}`);
  }
  await putInPlace(workspace, target, { bytes, signal });
  const afterHash = hashBytes(bytes);
  rememberChange(workspace.memory, { runId, path: target.path, before: target.old?.bytes, afterHash });
  return afterHash;
}

/** Writes a file beside the old one and gives it the name. Remembers nothing. */
export async function putInPlace(
  workspace: Workspace,
  target: WriteTarget,
  { bytes, signal }: Omit<NewContent, 'runId'>,
): Promise<void> {
  const { folder, name, old } = target;
  const temporary = inFolder(workspace, folder, `.rerail-${randomUUID()}.tmp`);
  // Closed to others while it is written: the old one may have been. A new file gets what the process gives to new files.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | safeFlags;
  const handle = await open(temporary, flags, old === undefined ? 0o666 : 0o600);
  let isThere = true;
  try {
    await fill(handle, { bytes, old });
    signal.throwIfAborted();
    await checkStill(workspace, target);
    await rename(temporary, inFolder(workspace, folder, name));
    isThere = false;
    await checkFolder(workspace, folder, 'certain');
  } finally {
    // What went wrong before is what matters; a temporary file that stays is visible and harmless.
    if (isThere) await unlink(temporary).catch(() => undefined);
  }
}

/** Removes what is there, if it is still what was read. */
export async function removeTarget(workspace: Workspace, target: WriteTarget): Promise<void> {
  await checkStill(workspace, target);
  await unlink(inFolder(workspace, target.folder, target.name));
  workspace.memory.seen.delete(target.path);
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function openFolder(workspace: Workspace, name: string): Promise<ConfinedFile> {
  return openInside(workspace, `./${name}`, 'folder');
}

/** Opens a folder and makes what is missing of it, part by part, each verified before the next is made in it. */
async function makeFolders(workspace: Workspace, name: string): Promise<ConfinedFile> {
  let folder = await openFolder(workspace, '.');
  for (const part of name.split('/').filter((each) => each !== '.')) {
    const parent = folder;
    try {
      folder = await enterOrMake(workspace, parent, part);
    } finally {
      await parent.handle.close();
    }
  }
  return folder;
}

async function enterOrMake(workspace: Workspace, parent: ConfinedFile, part: string): Promise<ConfinedFile> {
  const place = joined(parent.path, part);
  try {
    return await openFolder(workspace, place);
  } catch (error) {
    if (!RerailError.isInstance(error) || error.code !== 'NOT_FOUND') throw error;
  }
  refuseProtected(workspace, place);
  try {
    await mkdir(inFolder(workspace, parent, part));
  } catch (error) {
    // Somebody else has just made it; whatever it is, it is verified below.
    if (errnoOf(error) !== 'EEXIST') throw fromSystem(error, place);
  }
  return openFolder(workspace, place);
}

async function readOld(
  workspace: Workspace,
  { folder, name, path: place }: Omit<WriteTarget, 'old'>,
  signal: AbortSignal,
): Promise<OldFile | undefined> {
  const opened = inFolder(workspace, folder, name);
  const seen = await lstat(opened).catch(whenMissing);
  if (seen === undefined) return undefined;
  if (seen.isSymbolicLink()) {
    const says =
      'it is a link; links are not written through. Change the file that it leads to by its own name';
    throw workspaceError('PATH_OUTSIDE_WORKSPACE', `Cannot change ${showPath(place)}: ${says}`);
  }
  // What is no file is told apart before it is opened: opening a device may do something.
  const handle =
    seen.isFile() || seen.isDirectory() ? await open(opened, constants.O_RDONLY | safeFlags) : undefined;
  if (handle === undefined) {
    throw workspaceError('PATH_OUTSIDE_WORKSPACE', `Cannot change ${showPath(place)}: it is no regular file`);
  }
  const file = await verified(workspace, handle, { asked: place, opened, kind: 'file' });
  try {
    return await readWhole(workspace, file, signal);
  } finally {
    await handle.close();
  }
}

async function readWhole(workspace: Workspace, file: ConfinedFile, signal: AbortSignal): Promise<OldFile> {
  refuseProtected(workspace, file.path);
  const { stats } = file;
  if ((stats.mode & 0o222) === 0) {
    const says = 'it is marked as read-only (its mode has no write permission)';
    throw workspaceError('PERMISSION_DENIED', `Cannot change ${showPath(file.path)}: ${says}`);
  }
  const { maxFileBytes } = workspace.options;
  const { bytes, isWhole } = await readBounded(file, maxFileBytes, signal);
  if (isWhole) return { bytes, hash: hashBytes(bytes), stats };
  const says = `it has more than ${maxFileBytes} bytes (maxFileBytes), so what is in it has not been seen`;
  throw workspaceError('VALIDATION_ERROR', `Cannot change ${showPath(file.path)}: ${says}`);
}

function whenMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Writes the contents, gives the file the mode and the owner of the old one, and closes it. */
async function fill(
  handle: FileHandle,
  { bytes, old }: { readonly bytes: Uint8Array; readonly old: OldFile | undefined },
): Promise<void> {
  try {
    await handle.writeFile(bytes);
    if (old === undefined) return;
    const own = await handle.stat();
    if (own.uid !== old.stats.uid || own.gid !== old.stats.gid) {
      await handle.chown(old.stats.uid, old.stats.gid).catch(whenNotAllowed);
    }
    // Without the bits that lend the owner's rights: they belonged to other contents.
    await handle.chmod(old.stats.mode & 0o777);
  } finally {
    await handle.close();
  }
}

/** Nobody but root can give a file away: then it becomes ours, as with every editor that replaces files. */
function whenNotAllowed(error: unknown): void {
  if (errnoOf(error) !== 'EPERM') throw error;
}

/** Just before the name changes hands: the folder is where it was, and what is to be replaced is what was read. */
async function checkStill(workspace: Workspace, target: WriteTarget): Promise<void> {
  const { folder, name, old } = target;
  await checkFolder(workspace, folder, 'none');
  const now = await lstat(inFolder(workspace, folder, name)).catch(whenMissing);
  if (now === undefined && old === undefined) return;
  const isSame =
    now !== undefined &&
    old !== undefined &&
    now.ino === old.stats.ino &&
    now.dev === old.stats.dev &&
    now.size === old.stats.size &&
    now.mtimeMs === old.stats.mtimeMs;
  if (isSame) return;
  const says = 'somebody else has changed it in this moment; read it again with read_file';
  throw workspaceError('VALIDATION_ERROR', `Cannot change ${showPath(target.path)}: ${says}`);
}

/** Whether the opened folder still lies where it was verified. */
async function checkFolder(
  workspace: Workspace,
  folder: ConfinedFile,
  sideEffect: 'none' | 'certain',
): Promise<void> {
  const expected = path.posix.join(workspace.root, folder.path);
  const found = await whereIs(folder.handle, expected).catch((error: unknown) =>
    fromSystem(error, folder.path),
  );
  if (found === expected) return;
  const done =
    sideEffect === 'none' ? 'Nothing was written' : 'The file was written into the folder that was moved';
  throw workspaceError(
    'PATH_OUTSIDE_WORKSPACE',
    `Cannot use the folder ${showPath(folder.path)}: somebody has moved or removed it meanwhile. ${done}`,
    { sideEffect, causes: typeof found === 'string' ? [] : causesOf(found) },
  );
}
