import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import { readFileBounded } from './read-file-bounded.ts';
import type { StateFolders } from './state-folders.ts';
import { writePrivateFile } from './write-private-file.ts';

/** A file with exactly the content that a person has trusted. */
export interface TrustedFile {
  /** Absolute, its folder without links. */
  readonly path: string;
  readonly sha256: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Which files a person has trusted. */
export interface TrustList {
  readonly file: string;
  readonly entries: readonly TrustedFile[];
  /** Why the list that is there does not count, for a person. */
  readonly notice?: string;
}

const maxEntries = 1000;
const maxBytes = 1_000_000;

/** Reads the list. One that others could have written, or that is not whole, counts as empty, and says so. */
export async function readTrustList({
  state,
  readOnlyState,
}: Pick<StateFolders, 'state' | 'readOnlyState'>): Promise<TrustList> {
  const list = await readListFile(path.join(state, 'trust.json'));
  if (readOnlyState === undefined) return list;
  const former = await readListFile(path.join(readOnlyState, 'trust.json'));
  const notice = list.notice ?? former.notice;
  return {
    ...list,
    entries: [...former.entries, ...list.entries],
    ...(notice === undefined ? {} : { notice }),
  };
}

async function readListFile(file: string): Promise<TrustList> {
  const read = await readFileBounded(file, maxBytes);
  if (read.type === 'missing') return { file, entries: [] };
  const refuse = (why: string): TrustList => ({
    file,
    entries: [],
    notice: `${file} ${why}, so no file of a workspace is trusted. Remove it, then type: rerail trust`,
  });
  if (read.type === 'unreadable') return refuse(read.why);
  if (await isOpenToOthers(file)) return refuse('can be written by others than you');
  const entries = parseEntries(read.bytes);
  return entries === undefined ? refuse('is not a list of trusted files') : { file, entries };
}

/** The hash by which a content is known. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** Whether exactly this content was trusted at exactly this place. */
export function isTrusted(
  list: TrustList,
  file: { readonly path: string; readonly sha256: string },
): boolean {
  return list.entries.some((entry) => entry.path === file.path && entry.sha256 === file.sha256);
}

/** Trusts these files. An earlier content of the same file is no longer trusted; the oldest entries make room. */
export async function addTrust(list: TrustList, files: readonly TrustedFile[]): Promise<TrustList> {
  const named = new Set(files.map((file) => file.path));
  const entries = [...list.entries.filter((entry) => !named.has(entry.path)), ...files].slice(-maxEntries);
  return write(list.file, entries);
}

/** Takes the yes back for everything below a folder, and the folder itself. Gives what was trusted. */
export async function removeTrust(list: TrustList, folder: string): Promise<readonly TrustedFile[]> {
  const isBelow = (file: string): boolean =>
    file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
  const removed = list.entries.filter((entry) => isBelow(entry.path));
  if (removed.length > 0)
    await write(
      list.file,
      list.entries.filter((entry) => !isBelow(entry.path)),
    );
  return removed;
}

async function write(file: string, entries: readonly TrustedFile[]): Promise<TrustList> {
  await writePrivateFile(file, `${JSON.stringify({ version: 1, files: entries }, undefined, 2)}\n`);
  return { file, entries };
}

async function isOpenToOthers(file: string): Promise<boolean> {
  const { mode, uid } = await stat(file);
  const self = process.getuid?.();
  if (self === undefined) return false; // Windows keeps rights elsewhere.
  return (mode & 0o022) !== 0 || (uid !== self && uid !== 0);
}

function parseEntries(bytes: Uint8Array): readonly TrustedFile[] | undefined {
  const document = parseJson(new TextDecoder().decode(bytes));
  const files: unknown = isRecord(document) && document['version'] === 1 ? document['files'] : undefined;
  if (!Array.isArray(files)) return undefined;
  return files.filter(isEntry).slice(-maxEntries);
}

function isEntry(value: unknown): value is TrustedFile {
  if (!isRecord(value)) return false;
  const { path: file, sha256, atMs } = value;
  return typeof file === 'string' && typeof sha256 === 'string' && typeof atMs === 'number';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The caller says that it is not a list.
  }
}
