import { RerailError } from '../../errors/rerail-error.ts';
import { hashBytes, rememberSeen } from './memory.ts';
import type { FileChange, Workspace } from './workspace.ts';
import { putInPlace, removeTarget, withTarget } from './write-inside.ts';
import type { WriteTarget } from './write-inside.ts';

/** What became of one file: its former contents are back, it is gone as before, or somebody else has changed it since. */
export interface TakenBack {
  readonly path: string;
  readonly result: 'restored' | 'removed' | 'changed-since';
}

/**
 * Undoes what one run has changed, file by file, where each is still as the tools left it. A file that somebody else has changed
 * after or in between stays as it is. Folders that were made for a file stay. Goes back as far as the memory does.
 */
export async function takeBack(workspace: Workspace, runId: string): Promise<readonly TakenBack[]> {
  const { changes } = workspace.memory;
  const own = changes.filter((change) => change.runId === runId);
  const results: TakenBack[] = [];
  for (const path of new Set(own.map((change) => change.path))) {
    const ofFile = own.filter((change) => change.path === path);
    const result = await takeBackFile(workspace, ofFile).catch(whenUnusable);
    results.push({ path, result });
    if (result !== 'changed-since') forget(changes, ofFile);
  }
  return results;
}

// Nobody waits long: each file is bounded, and so is their number.
const { signal } = new AbortController();

async function takeBackFile(
  workspace: Workspace,
  ofFile: readonly FileChange[],
): Promise<TakenBack['result']> {
  const [first] = ofFile;
  const last = ofFile.at(-1);
  if (first === undefined || last === undefined || !isUnbroken(ofFile)) return 'changed-since';
  return withTarget(workspace, { path: `./${first.path}`, signal, createFolders: false }, async (target) => {
    if (target.path !== first.path || target.old?.hash !== last.afterHash) return 'changed-since';
    return putBack(workspace, target, first.before);
  });
}

/** Whether each change began with what the one before it had left. */
function isUnbroken(ofFile: readonly FileChange[]): boolean {
  return ofFile.every((change, index) => {
    const former = ofFile[index - 1];
    if (former === undefined) return true;
    return change.before !== undefined && hashBytes(change.before) === former.afterHash;
  });
}

/** What can no longer be opened for writing, or is no file any more, was changed by somebody else. A sick disk is no such reason. */
function whenUnusable(error: unknown): 'changed-since' {
  if (RerailError.isInstance(error) && error.code !== 'IO_ERROR') return 'changed-since';
  throw error;
}

async function putBack(
  workspace: Workspace,
  target: WriteTarget,
  before: Uint8Array | undefined,
): Promise<TakenBack['result']> {
  if (before === undefined) {
    await removeTarget(workspace, target);
    return 'removed';
  }
  await putInPlace(workspace, target, { bytes: before, signal });
  rememberSeen(workspace.memory, target.path, hashBytes(before));
  return 'restored';
}

/** What is taken back cannot be taken back twice. */
function forget(changes: FileChange[], undone: readonly FileChange[]): void {
  for (const change of undone) changes.splice(changes.indexOf(change), 1);
}
