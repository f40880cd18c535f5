import type { Json } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import type { RowChange, Store, StoredStatus } from '../model/store.ts';
import { showValue } from '../model/show-value.ts';
import { alreadyThere, writeCopy } from './copy-run.ts';
import type { RunCopy } from './copy-run.ts';
import { renameBlobs } from './export-run.ts';
import { readBundle } from './read-bundle.ts';
import { recordPieces, renameId, renamePiece, renameRun } from './rename-run.ts';
import type { Renaming } from './rename-run.ts';
import type { BundledRun, RunPart } from './run-bundle.ts';
import { toEvent } from './stored-run.ts';

export interface ImportOptions {
  /** The name that the run gets here; its own unless told. */
  readonly as?: string;
}

/** A run that was taken in. */
export interface ImportedRun {
  readonly runId: string;
  /** Its name where it came from. */
  readonly from: string;
  readonly status: StoredStatus;
  /** So many of its own. */
  readonly events: number;
  /** So many runs below it came along. */
  readonly children: number;
}

/**
 * Takes a run out of a bundle into a store, with the runs below it. It can be looked at and replayed. One that had not ended is parked: it goes on only
 * where somebody resumes it by hand. Rejects with `STORAGE_CORRUPT` or `STORAGE_NEWER_SCHEMA` for a bundle that cannot be read,
 * and with `ALREADY_REGISTERED` where the store has a run of that name; nothing is written then.
 *
 * @example await importRun(store, await readFile('run.json', 'utf8'), { as: 'order-17-copy' });
 */
export async function importRun(
  store: Store,
  text: string,
  options: ImportOptions = {},
): Promise<ImportedRun> {
  const bundle = readBundle(text);
  const { run, events, children = [] } = bundle;
  const runId = readName(options, run.runId);
  const names: Renaming = { from: run.runId, to: runId };
  await checkFree(store, children, names);
  const copyBelow = async (): Promise<void> => {
    for (const child of children) await writeCopy(store, copyOf(store, child, names));
  };
  const copy = copyOf(store, bundle, names);
  await writeCopy(store, children.length === 0 ? copy : { ...copy, copyBelow });
  const { status } = rowOf(run);
  return { runId, from: run.runId, status, events: events.length, children: children.length };
}

/** Nothing is written where a name is taken. What a copy has left that was broken off is taken away with the run above it. */
async function checkFree(store: Store, children: readonly RunPart[], names: Renaming): Promise<void> {
  if (children.length === 0 || (await store.runs.find(names.to)) !== undefined) return;
  for (const { run } of children) {
    const runId = renameId(run.runId, names);
    if ((await store.runs.find(runId)) !== undefined) throw alreadyThere(store, runId);
  }
}

/** The run under its new name, which begins with that of the whole bundle. */
function copyOf(store: Store, { run, events, signals, blobs }: RunPart, names: Renaming): RunCopy {
  const runId = renameId(run.runId, names);
  const own: Renaming = { from: run.runId, to: runId };
  return {
    runId,
    agent: run.agent,
    sessionId: run.sessionId,
    prepare: async () => {
      const hashes = new Map<string, string>();
      const pieces = recordPieces(events);
      for (const { hash, content } of blobs) {
        const kept = pieces.has(hash) ? renamePiece(content, own) : content;
        hashes.set(hash, await store.blobs.put(kept, runId));
      }
      const renamed = events.map((event) => {
        const { type, body } = renameBlobs(renameRun(event, own), hashes);
        return { type, body };
      });
      const body = { run, atMs: events.map(({ atMs }) => atMs) } as unknown as Json; // A row is JSON.
      return [...renamed, toEvent({ type: 'imported', body })];
    },
    row: rowOf(run),
    signals,
  };
}

function readName({ as }: ImportOptions, own: string): string {
  if (as === undefined) return own;
  if (typeof as !== 'string' || as === '')
    throw configError(`"as" names the imported run, got ${showValue(as)}`);
  return as;
}

const parkedReason = 'It was imported before it had ended: resume it by hand if it is to go on here';

function rowOf(run: BundledRun): RowChange & { readonly status: StoredStatus } {
  const { status, text, tools, code, reason, turns, costUsd } = run;
  const isOpen = status === 'running' || status === 'suspended' || status === 'parked';
  return {
    status: isOpen ? 'parked' : status,
    text,
    tools,
    turns,
    crashes: 0,
    code: code ?? null,
    reason: isOpen ? parkedReason : (reason ?? null),
    costUsd: costUsd ?? null,
    resumeAtMs: null,
  };
}
