import { hashText } from '../../base/hash.ts';
import { defined } from '../../base/defined.ts';
import { redact, redactJson } from '../../base/redact.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { NewEvent, NewSignal, RunRow, Store, StoredEvent } from '../../model/store/store.ts';
import { readBelow } from '../children/child-runs.ts';
import { readBundledRun } from './read-bundle.ts';
import { redactEvent } from './redact-run.ts';
import { recordPieces, renamePiece, renameRun } from './rename-run.ts';
import { at, readRunBlobs } from '../record/run-blobs.ts';
import type { RunBlob } from '../record/run-blobs.ts';
import { bundleFormat, bundleVersion, chainEvents, maxBundleCharacters, writeBundle } from './run-bundle.ts';
import type { BundledBlob, BundledRun, RunPart } from './run-bundle.ts';
import { aFlag, aSignal, checkOptions } from '../../model/check/check-options.ts';

export interface ExportOptions {
  /** Whether the runs below it go along: of a flow, a team or a plan. They do by default. */
  readonly children?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * A run as one text: all its events, redacted, with whatever they refer to, and the runs below it. It is replayed by `replayRun`, and taken into another
 * store by `importRun`. Rejects with `STORAGE_NOT_FOUND` where there is no such run.
 *
 * @example await writeFile('run.json', await exportRun(store, 'order-17'));
 */
export async function exportRun(store: Store, runId: string, options: ExportOptions = {}): Promise<string> {
  checkOptions({ of: 'exportRun()', rules: { children: aFlag, signal: aSignal } }, options);
  const { signal, children = true } = options;
  signal?.throwIfAborted();
  const row = await store.runs.find(runId);
  if (row === undefined) throw noSuchRun(store, runId);
  const { part, isAsItCame } = await readPart(store, row, { mayBeAsItCame: true });
  const below: RunPart[] = [];
  for (const child of children ? await readBelow(store, runId) : []) {
    signal?.throwIfAborted();
    below.push((await readPart(store, child, { mayBeAsItCame: isAsItCame })).part);
  }
  const text = writeBundle({
    format: bundleFormat,
    version: bundleVersion,
    ...part,
    ...(below.length === 0 ? {} : { children: below }),
  });
  if (text.length > maxBundleCharacters) throw tooLong(runId, text.length, below.length);
  return text;
}

interface ReadPart {
  readonly part: RunPart;
  /** Under the name that it had where it came from. */
  readonly isAsItCame: boolean;
}

async function readPart(
  store: Store,
  row: RunRow,
  { mayBeAsItCame }: { readonly mayBeAsItCame: boolean },
): Promise<ReadPart> {
  const { runId } = row;
  const [events, signals] = await Promise.all([
    // No further than what is listed: a process may be running it.
    store.runs.events(runId, { to: row.headSeq }),
    store.runs.signals(runId),
  ]);
  const isAsItCame = mayBeAsItCame && events.at(-1)?.type === 'imported';
  const whole = isAsItCame ? asItCame(row, events) : { run: readBundledRun(row), events };
  const { run } = whole;
  const pieces = recordPieces(whole.events);
  const names = { from: runId, to: run.runId };
  const blobs = (await readRunBlobs(store.blobs, runId, whole.events)).map((blob) =>
    pieces.has(blob.hash) ? { ...blob, content: renamePiece(blob.content, names) } : blob,
  );
  const redacted = redactBlobs(blobs);
  const named = whole.events.map((event) => nameBlobs(redactEvent(event), redacted));
  const part: RunPart = {
    run: redactRun(run),
    events: chainEvents(run.runId, named),
    signals: signals.map(({ id, name, payload }): NewSignal => ({ id, name, payload: redactJson(payload) })),
    blobs: blobsOf(redacted),
  };
  return { part, isAsItCame };
}

interface WholeRun {
  readonly run: BundledRun;
  readonly events: readonly StoredEvent[];
}

/** A run that was imported and not touched since is the one that was exported: under its name, with its times. */
function asItCame(row: RunRow, events: readonly StoredEvent[]): WholeRun {
  const { body } = events.at(-1) ?? {};
  const run = readBundledRun(at(body, ['run']));
  const times = at(body, ['atMs']);
  const timeOf = (index: number): unknown => (Array.isArray(times) ? times[index] : undefined);
  const own = events.slice(0, -1).map((event, index) => {
    const atMs = timeOf(index);
    const renamed = renameRun(event, { from: row.runId, to: run.runId });
    return typeof atMs === 'number' ? { ...renamed, atMs } : renamed;
  });
  return { run, events: own };
}

function redactRun(run: BundledRun): BundledRun {
  const { text, reason, sessionId } = run;
  return defined({
    ...run,
    text: redact(text),
    reason: reason === undefined ? undefined : redact(reason),
    sessionId: sessionId === undefined ? undefined : redact(sessionId),
  });
}

/** By the hash that the store knows it by. */
type RedactedBlobs = ReadonlyMap<string, BundledBlob>;

function redactBlobs(blobs: readonly RunBlob[]): RedactedBlobs {
  return new Map(
    blobs.map(({ hash, content, type }) => {
      const redacted =
        type === 'text' ? redact(content) : JSON.stringify(redactJson(JSON.parse(content) as Json)); // Just read.
      return [hash, { hash: hashText(redacted), content: redacted }];
    }),
  );
}

/** The event with the names that its blobs have in the bundle. */
function nameBlobs<Event extends NewEvent>(event: Event, blobs: RedactedBlobs): Event {
  return renameBlobs(event, new Map([...blobs].map(([before, { hash }]) => [before, hash])));
}

function blobsOf(blobs: RedactedBlobs): readonly BundledBlob[] {
  const byHash = new Map([...blobs.values()].map((blob) => [blob.hash, blob]));
  return [...byHash.values()].toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
}

/** Puts other names in the place of hashes, wherever they stand in the event. */
export function renameBlobs<Event extends NewEvent>(event: Event, names: ReadonlyMap<string, string>): Event {
  const changed = [...names].filter(([before, now]) => before !== now);
  if (changed.length === 0) return event;
  let text = JSON.stringify(event.body);
  // A hash is too long to stand anywhere by chance, and has no character that JSON writes in another way.
  for (const [before, now] of changed) text = text.replaceAll(before, now);
  return { ...event, body: JSON.parse(text) as Json }; // As it was, but for the names.
}

/** There is no run of this name in the store. */
export function noSuchRun({ name }: Store, runId: string): RerailError {
  return RerailError.from(
    createFailure('STORAGE_NOT_FOUND', {
      origin: 'storage',
      message: `There is no run "${runId}" in ${name}`,
      hint: 'List the runs that are there with `store.runs.list()`.',
      context: { runId },
    }),
  );
}

function tooLong(runId: string, characters: number, children: number): RerailError {
  const below = children === 0 ? '' : ` with its ${children}`;
  return RerailError.from(
    createFailure('INVALID_STATE', {
      origin: 'durable',
      message: `The run "${runId}" is too long for one bundle${below}: ${characters} characters, at most ${maxBundleCharacters}`,
      hint:
        children === 0
          ? 'Copy the store itself instead.'
          : 'Leave its child runs out (`children: false`), or copy the store itself.',
      context: { runId, characters },
    }),
  );
}
