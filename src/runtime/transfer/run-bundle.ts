import { canonicalJson } from '../../base/canonical-json.ts';
import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { NewEvent, NewSignal, RunRow, StoredEvent } from '../../model/store/store.ts';

/**
 * A run in one text, to be replayed elsewhere: all events of all its generations, and what they refer to. Nothing in it is a
 * secret that the redactor knows. The checksum and the hashes tell damage; they are no signature.
 */
export interface RunBundle extends RunPart {
  readonly format: typeof bundleFormat;
  readonly version: number;
  /** Of everything else here. */
  readonly checksum: string;
  /** The runs below it, at every depth; absent where there are none. It can be replayed without them. */
  readonly children?: readonly RunPart[];
}

/** One run of a bundle, with all that it needs. */
export interface RunPart {
  readonly run: BundledRun;
  readonly events: readonly StoredEvent[];
  /** What was sent to the run and not taken by it yet. */
  readonly signals: readonly NewSignal[];
  readonly blobs: readonly BundledBlob[];
}

/** What was listed of the run where it came from. Leases are not carried over. */
export type BundledRun = Omit<RunRow, 'headSeq' | 'headHash' | 'generationSeq' | 'owner'>;

export interface BundledBlob {
  /** By which the events name it. */
  readonly hash: string;
  readonly content: string;
}

export const bundleFormat = 'rerail-run';

/** Grows when an older program could no longer read what is written. */
export const bundleVersion = 1;

/** What fits into one text of every engine, with room to work on it. */
export const maxBundleCharacters = 100_000_000;

/** Chains the events again, as they are in the bundle. */
export function chainEvents(
  runId: string,
  events: readonly (NewEvent & { readonly atMs: number })[],
): readonly StoredEvent[] {
  let hash = chainStart;
  return events.map(({ type, body, atMs }, index) => {
    const seq = index + 1;
    hash = hashEvent(hash, { runId, seq, atMs, type, bodyText: canonicalJson(body) });
    return { seq, atMs, type, body, hash };
  });
}

/** Of a bundle, whatever its checksum says. The order of members and blanks in the text mean nothing. */
export function checksumOf({ checksum: _, ...rest }: Readonly<Record<string, unknown>>): string {
  return hashText(canonicalJson(rest as Json)); // Parsed from JSON, or about to be written as such.
}

/** One event a line, so that two bundles can be compared by any tool. */
export function writeBundle(content: Omit<RunBundle, 'checksum'>): string {
  const { format, version, children = [], ...own } = content;
  const lines = [
    `"format":${JSON.stringify(format)}`,
    `"version":${version}`,
    `"checksum":${JSON.stringify(checksumOf({ ...content }))}`,
    ...linesOf(own),
    ...(children.length === 0
      ? []
      : [`"children":[\n${children.map((part) => `{\n${linesOf(part).join(',\n')}\n}`).join(',\n')}\n]`]),
  ];
  return `{\n${lines.join(',\n')}\n}\n`;
}

function linesOf({ run, events, signals, blobs }: RunPart): readonly string[] {
  return [
    `"run":${JSON.stringify(run)}`,
    `"events":${listOf(events)}`,
    `"signals":${listOf(signals)}`,
    `"blobs":${listOf(blobs)}`,
  ];
}

function listOf(items: readonly object[]): string {
  if (items.length === 0) return '[]';
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
}

/** What is wrong with a bundle, as an error to reject with. */
export function badBundle(why: string, context: Readonly<Record<string, Json>> = {}): RerailError {
  return RerailError.from(
    createFailure('STORAGE_CORRUPT', {
      origin: 'storage',
      message: `The bundle cannot be used: ${why}`,
      hint: 'Export the run again at its source, and transfer the file unchanged.',
      context,
    }),
  );
}
