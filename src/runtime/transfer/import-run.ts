import type { Provenance } from '../../agent/approval/provenance.ts';
import type { Json } from '../../base/json.ts';
import { systemClock, systemId } from '../../base/system.ts';
import { configError } from '../../errors/config-error.ts';
import { clean } from '../../errors/failure.ts';
import type { NamedRun } from '../../model/store/run-tree.ts';
import { readSalvageMark } from '../../model/store/proven.ts';
import type { RowChange, Store, StoredStatus } from '../../model/store/store.ts';
import { showValue } from '../../model/check/show-value.ts';
import { alreadyThere, writeCopy } from './copy-run.ts';
import type { RunCopy } from './copy-run.ts';
import { renameBlobs } from './export-run.ts';
import { readBundle } from './read-bundle.ts';
import { recordPieces, renameId, renamePiece, renameRun } from './rename-run.ts';
import type { Renaming } from './rename-run.ts';
import type { BundledRun, RunPart } from './run-bundle.ts';
import { toEvent } from '../record/stored-run.ts';
import { checkOptions } from '../../model/check/check-options.ts';

export interface ImportOptions {
  /** The name that the run gets here; its own by default. */
  readonly as?: string;
  /** Where the bundle came from, such as the name of its file: it is kept with the run, and shown with every question. */
  readonly from?: string;
  /** The account that imports it, likewise. */
  readonly by?: string;
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
 * Takes a run out of a bundle into a store, with its child runs. It can be looked at and replayed. One that had not ended is parked: it is
 * resumed only by hand. A bundle brings no rights: signals in it are dropped, no approval in it counts, and every call without a result is
 * judged by the rules of the agent that resumes the run, and asked about. Rejects with `STORAGE_CORRUPT` or `STORAGE_NEWER_SCHEMA` for a bundle that cannot be read,
 * with `ALREADY_REGISTERED` where the store has a run of that name, and with `CONFIG_ERROR` where the name is that of a run below another one;
 * nothing is written then.
 *
 * @example await importRun(store, await readFile('run.json', 'utf8'), { as: 'order-17-copy' });
 */
export async function importRun(
  store: Store,
  text: string,
  options: ImportOptions = {},
): Promise<ImportedRun> {
  checkOptions({ of: 'importRun()', rules: ['as', 'from', 'by'] }, options);
  const bundle = readBundle(text);
  const { run, events, children = [] } = bundle;
  const runId = readName(options, run.runId);
  const names: Renaming = { from: run.runId, to: runId };
  await checkOnTop(store, { runId, agent: run.agent });
  const provenance = provenanceOf(options);
  await checkFree(store, children, names);
  const copyBelow = async (): Promise<void> => {
    for (const child of children) await writeCopy(store, copyOf(store, child, { names, provenance }));
  };
  const copy = copyOf(store, bundle, { names, provenance });
  await writeCopy(store, children.length === 0 ? copy : { ...copy, copyBelow });
  const { status } = rowOf(run);
  return { runId, from: run.runId, status, events: events.length, children: children.length };
}

/** A flow joins the runs of its nodes by their names: one from elsewhere would be taken for what a node of it came to. */
async function checkOnTop(store: Store, { runId, agent }: NamedRun): Promise<void> {
  const names = [...runId.matchAll(/\//g)].map(({ index }) => runId.slice(0, index));
  for (const above of names) {
    if (!agent.includes('/') && (await store.runs.find(above)) === undefined) continue;
    throw configError(
      `"${runId}" is the name of a child run of "${above}", which would take it for its own`,
      {
        hint: 'Give the copy another name with "as", without "/".',
        context: { field: 'as' },
      },
    );
  }
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
function copyOf(
  store: Store,
  { run, events, blobs }: RunPart,
  { names, provenance }: { readonly names: Renaming; readonly provenance: Provenance },
): RunCopy {
  const runId = renameId(run.runId, names);
  const own: Renaming = { from: run.runId, to: runId };
  return {
    runId,
    agent: run.agent,
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
      const body = { run, atMs: events.map(({ atMs }) => atMs), provenance } as unknown as Json; // A row is JSON.
      return [...renamed, toEvent({ type: 'imported', body })];
    },
    row: rowOf(run),
  };
}

const maxPlaceCharacters = 1000;

function provenanceOf({ from, by }: ImportOptions): Provenance {
  return {
    id: systemId(),
    type: 'imported',
    atMs: systemClock.wallMs(),
    ...(from === undefined ? {} : { from: placeIn(from, 'from') }),
    ...(by === undefined ? {} : { by: placeIn(by, 'by') }),
  };
}

function placeIn(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return clean(value, maxPlaceCharacters);
  throw configError(`"${name}" must be a text that is not empty, got ${showValue(value)}`);
}

function readName({ as }: ImportOptions, own: string): string {
  if (as === undefined) return own;
  if (typeof as !== 'string' || as === '')
    throw configError(`"as" names the imported run, got ${showValue(as)}`);
  return as;
}

const parkedReason = 'It was imported before it had ended: resume it manually to continue it here';

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
    // One whose end is lost stays marked: it is resumed only once a person has accepted that.
    reason: isOpen && readSalvageMark(run) === undefined ? parkedReason : (reason ?? null),
    costUsd: costUsd ?? null,
    resumeAtMs: null,
  };
}
