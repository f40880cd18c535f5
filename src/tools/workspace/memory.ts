import { hash } from 'node:crypto';
import type { ToolContext } from '../../model/tool.ts';
import { showPath, workspaceError } from './workspace-error.ts';
import type { FileChange, Workspace, WorkspaceMemory } from './workspace.ts';

const maxSeen = 10_000;
const maxChanges = 1000;
const maxFormerBytes = 50_000_000;
const maxDone = 1000;
/** With what stands before it, a run can remember it. */
const maxNameLength = 900;

/** The hash by which contents are known again. */
export function hashBytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** The memory of the run, which outlives the process. */
export type RunMemory = Pick<ToolContext, 'remember' | 'recall'>;

/** A file as it was, by its path from the root. */
export interface SeenFile {
  readonly path: string;
  readonly contentHash: string;
}

/** Remembers what is in a file, here and with the run: whoever carries the run on may write over what it has seen. */
export function noteSeen({ memory }: Workspace, run: RunMemory, { path, contentHash }: SeenFile): void {
  rememberSeen(memory, path, contentHash);
  // A name that is too long for the run is known here only: elsewhere the file is read again.
  if (path.length <= maxNameLength) run.remember(nameOf(path), contentHash);
}

/** Whether the file, as it is, was read or written before: in this process, or by this run in another one. */
export function isSeen({ memory }: Workspace, run: RunMemory, { path, contentHash }: SeenFile): boolean {
  return memory.seen.get(path) === contentHash || run.recall(nameOf(path)) === contentHash;
}

/** Remembers what is in a file, for whoever wants to write over it. The longest unseen is forgotten first. */
export function rememberSeen({ seen }: WorkspaceMemory, path: string, contentHash: string): void {
  seen.delete(path);
  seen.set(path, contentHash);
  dropOldest(seen, maxSeen);
}

/** Remembers a change, so that it can be taken back. The oldest are forgotten first. */
export function rememberChange({ changes }: WorkspaceMemory, change: FileChange): void {
  changes.push(change);
  let formerBytes = changes.reduce((sum, { before }) => sum + (before?.length ?? 0), 0);
  while (changes.length > maxChanges || (formerBytes > maxFormerBytes && changes.length > 0)) {
    formerBytes -= changes.shift()?.before?.length ?? 0;
  }
}

/** Throws where a file is not what was last read or written: whoever writes over it would destroy what he has not seen. */
export function refuseUnseen(workspace: Workspace, run: RunMemory, file: SeenFile): void {
  if (isSeen(workspace, run, file)) return;
  const { path } = file;
  const why =
    workspace.memory.seen.get(path) === undefined && run.recall(nameOf(path)) === undefined
      ? 'it is there already and has not been read; read it with read_file first'
      : 'it has changed since it was read; read it again with read_file';
  throw workspaceError(
    'VALIDATION_ERROR',
    `Cannot change ${showPath(path)}: ${why}, then decide what to change`,
  );
}

// Not in the memory itself, because nobody but the tool that did it needs it.
const doneByMemory = new WeakMap<WorkspaceMemory, Map<string, DoneChange>>();

/** What a call has done, so that the same call, come again, does not do it twice. */
export interface DoneChange {
  readonly path: string;
  readonly afterHash: string;
  readonly result: string;
}

/** What the call with this key has done before, as far as known. */
export function doneBefore({ memory }: Workspace, idempotencyKey: string): DoneChange | undefined {
  return doneByMemory.get(memory)?.get(idempotencyKey);
}

/** Remembers what the call with this key has done. */
export function rememberDone({ memory }: Workspace, idempotencyKey: string, done: DoneChange): void {
  const known = doneByMemory.get(memory) ?? new Map<string, DoneChange>();
  doneByMemory.set(memory, known);
  known.set(idempotencyKey, done);
  dropOldest(known, maxDone);
}

function nameOf(path: string): string {
  return `workspace-file:${path}`;
}

function dropOldest(map: Map<string, unknown>, maxSize: number): void {
  // A map keeps its order: the first is the oldest.
  for (const key of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(key);
  }
}
