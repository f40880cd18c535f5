import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * The record of heads: a file beside the database that says how far each run had come. It is written after the commit, at most
 * 50 ms later, and never forced to the disk: where it is behind the database nothing is wrong; where it is ahead, a tail was lost.
 *
 * - The first line names the store. Every other line is one fact: `h` a run has come so far, `a` this is accepted as its head
 *   whatever was said before, `g` the run is gone.
 * - Lines are only ever added; a file that has grown too long is replaced by a shorter one, and a process that has the old one open
 *   notices by its inode.
 * - A line that was not written whole, or has a flipped bit, does not fit its sum and is passed over: that is being behind.
 */
export interface Heads {
  readonly file: string;
  readonly known: Map<string, Head>;
  /** The latest heads that are committed and not yet written here. */
  readonly pending: Map<string, HeadFact & Head>;
  /** By the clock of the process. */
  writtenAtMs: number;
  storeId: string | undefined;
  inode: number;
  /** How far it has been read. */
  offset: number;
  /** What follows the last line break. */
  rest: string;
  descriptor: number | undefined;
}

export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** One fact about a run. */
export type HeadFact =
  | ({ readonly type: 'h' | 'a'; readonly runId: string } & Head)
  | { readonly type: 'g'; readonly runId: string };

export function createHeads(databaseFile: string): Heads {
  return {
    file: `${databaseFile}-heads`,
    known: new Map(),
    pending: new Map(),
    writtenAtMs: -Infinity,
    storeId: undefined,
    inode: 0,
    offset: 0,
    rest: '',
    descriptor: undefined,
  };
}

/** Reads what others have added. Gives whether there is such a file at all. */
export function readHeads(heads: Heads): boolean {
  const found = statSync(heads.file, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return false;
  if (found.ino !== heads.inode || found.size < heads.offset) {
    closeHeads(heads);
    heads.known.clear();
    for (const fact of heads.pending.values()) learn(heads.known, fact);
    Object.assign(heads, { inode: found.ino, offset: 0, rest: '', storeId: undefined });
  }
  if (found.size === heads.offset) return true;
  const descriptor = heads.descriptor ?? openSync(heads.file, 'a+', 0o600);
  heads.descriptor = descriptor;
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, found.size - heads.offset));
  let bytes = readSync(descriptor, chunk, 0, chunk.length, heads.offset);
  while (bytes > 0) {
    heads.offset += bytes;
    takeIn(heads, chunk.toString('latin1', 0, bytes));
    bytes = readSync(descriptor, chunk, 0, chunk.length, heads.offset);
  }
  return true;
}

/** Takes facts of a commit to be written later: of each run the latest. */
export function keepPending(heads: Heads, facts: readonly (HeadFact & Head)[]): void {
  for (const fact of facts) {
    learn(heads.known, fact);
    heads.pending.set(fact.runId, fact);
  }
}

/** Writes what is pending. What cannot be written stays away: the next head of the run says it too. */
export function writePending(heads: Heads): void {
  const facts = [...heads.pending.values()];
  heads.pending.clear();
  addHeads(heads, facts);
}

/** Adds facts at once; they outdo what is pending of their runs. Where the file is gone it is written again. */
export function addHeads(heads: Heads, facts: readonly HeadFact[]): void {
  for (const fact of facts) {
    learn(heads.known, fact);
    heads.pending.delete(fact.runId);
  }
  const found = statSync(heads.file, { throwIfNoEntry: false });
  if (found === undefined) {
    if (heads.storeId !== undefined) rewriteHeads(heads, heads.storeId);
    return;
  }
  // Another process has put a shorter one in its place: what it says is read at the next look.
  if (found.ino !== heads.inode) closeHeads(heads);
  heads.descriptor ??= openSync(heads.file, 'a+', 0o600);
  // The line break in front ends whatever a full disk has left half written.
  const bytes = writeSync(heads.descriptor, `\n${facts.map(lineOf).join('\n')}\n`, null, 'latin1');
  // No other process has written: then there is nothing in it that is not known.
  if (found.ino === heads.inode && found.size === heads.offset) heads.offset += bytes;
}

/** Writes the record again, with one line for each run: it is there as a whole or not at all. */
export function rewriteHeads(heads: Heads, storeId: string): void {
  // A name that cannot be guessed, and a file that is new: a link in its place would lead the text elsewhere.
  const temporary = `${heads.file}.${randomUUID()}.new`;
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(descriptor, `${headerOf(storeId)}\n`, null, 'latin1');
    let lines: string[] = [];
    for (const [runId, head] of heads.known) {
      lines.push(lineOf({ type: 'h', runId, ...head }));
      if (lines.length < linesPerWrite) continue;
      writeSync(descriptor, `${lines.join('\n')}\n`, null, 'latin1');
      lines = [];
    }
    writeSync(descriptor, `${lines.join('\n')}\n`, null, 'latin1');
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, heads.file);
  closeHeads(heads);
  const written = statSync(heads.file);
  Object.assign(heads, { storeId, inode: written.ino, offset: written.size, rest: '' });
}

/** Whether it has grown far beyond what it says. */
export function isOvergrown(heads: Heads): boolean {
  return heads.offset > Math.max(maxBytes, heads.known.size * bytesPerLine * 2);
}

export function closeHeads(heads: Heads): void {
  if (heads.descriptor !== undefined) closeSync(heads.descriptor);
  heads.descriptor = undefined;
}

const chunkBytes = 262_144;
const linesPerWrite = 1000;
const maxBytes = 1_048_576;
const bytesPerLine = 120;
/** No line of ours is longer: what continues without a line break is no line. */
const maxLineCharacters = 65_536;

function takeIn(heads: Heads, chunk: string): void {
  const lines = (heads.rest + chunk).split('\n');
  const rest = lines.pop() ?? '';
  heads.rest = rest.length > maxLineCharacters ? '' : rest;
  for (const line of lines) {
    const header = headerPattern.exec(line)?.groups;
    if (header?.['storeId'] !== undefined && headerOf(header['storeId']) === line) {
      heads.storeId = header['storeId'];
      continue;
    }
    const fact = factOf(line);
    if (fact !== undefined) learn(heads.known, fact);
  }
}

function learn(known: Map<string, Head>, fact: HeadFact): void {
  if (fact.type === 'g') {
    known.delete(fact.runId);
    return;
  }
  // A process that was stopped between its commit and this line may write it much later than others theirs.
  if (fact.type === 'h' && (known.get(fact.runId)?.seq ?? 0) > fact.seq) return;
  known.set(fact.runId, { seq: fact.seq, hash: fact.hash });
}

const headerPattern = /^rerail-heads 1 (?<storeId>[0-9a-f]{32}) [0-9a-f]+$/;

function headerOf(storeId: string): string {
  const text = `rerail-heads 1 ${storeId}`;
  return `${text} ${crc32(text).toString(16)}`;
}

function lineOf(fact: HeadFact): string {
  const [seq, hash] = fact.type === 'g' ? [0, '-'] : [fact.seq, fact.hash];
  const text = `${fact.type} ${seq} ${hash} ${asciiJson(fact.runId)}`;
  return `${crc32(text).toString(16)} ${text}`;
}

const linePattern = /^(?<sum>[0-9a-f]+) (?<type>[hag]) (?<seq>\d+) (?<hash>\S+) (?<id>".*")$/;

function factOf(line: string): HeadFact | undefined {
  const { sum = '', type, seq, hash = '', id = '' } = linePattern.exec(line)?.groups ?? {};
  if (type === undefined || crc32(line.slice(sum.length + 1)).toString(16) !== sum) return undefined;
  const runId = String(JSON.parse(id));
  if (type === 'g') return { type, runId };
  return { type: type === 'a' ? 'a' : 'h', runId, seq: Number(seq), hash };
}

/** One byte for each character, so that a chunk may end anywhere. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
