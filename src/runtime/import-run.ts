import type { Json } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import type { RowChange, Store, StoredStatus } from '../model/store.ts';
import { showValue } from '../model/show-value.ts';
import { writeCopy } from './copy-run.ts';
import { renameBlobs } from './export-run.ts';
import { readBundle } from './read-bundle.ts';
import { renameRun } from './rename-run.ts';
import type { BundledRun } from './run-bundle.ts';
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
}

/**
 * Takes a run out of a bundle into a store. It can be looked at and replayed. One that had not ended is parked: it goes on only
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
  const { run, events, signals, blobs } = readBundle(text);
  const runId = readName(options, run.runId);
  const row = rowOf(run);
  await writeCopy(store, {
    runId,
    agent: run.agent,
    sessionId: run.sessionId,
    prepare: async () => {
      const names = new Map<string, string>();
      for (const { hash, content } of blobs) names.set(hash, await store.blobs.put(content, runId));
      const own = events.map((event) => {
        const { type, body } = renameBlobs(renameRun(event, { from: run.runId, to: runId }), names);
        return { type, body };
      });
      const body = { run, atMs: events.map(({ atMs }) => atMs) } as unknown as Json; // A row is JSON.
      return [...own, toEvent({ type: 'imported', body })];
    },
    row,
    signals,
  });
  return { runId, from: run.runId, status: row.status, events: events.length };
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
