/** What the thread is given to begin with. */
export interface SearchOrder {
  readonly source: string;
  readonly flags: string;
  readonly contextLines: number;
  readonly maxLineCharacters: number;
  /** Where the thread writes the number of the file that it is at, so that we know which one it hangs in. */
  readonly place: SharedArrayBuffer;
}

/** Some files, one behind the other. */
export interface SearchBatch {
  readonly bytes: Uint8Array;
  /** Where each of them ends. */
  readonly ends: readonly number[];
  /** How many lines that match are still wanted; others are only counted. */
  readonly room: number;
}

/** What was found in a batch. */
export type SearchReport =
  | { readonly type: 'found'; readonly files: readonly FoundFile[]; readonly matches: number }
  | { readonly type: 'failed'; readonly message: string };

/** The lines of one file, in order. */
export interface FoundFile {
  /** Which one of its batch. */
  readonly index: number;
  readonly lines: readonly FoundLine[];
}

/** A line that matches, or one that stands near to one. */
export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** The program of the thread, as text: so it needs no file that a bundler could lose. */
export const searchProgram = `'use strict';
const { parentPort, workerData: order } = require('node:worker_threads');
const expression = new RegExp(order.source, order.flags);
const place = new Int32Array(order.place);
const decoder = new TextDecoder('utf-8');

parentPort.on('message', (batch) => {
  try {
    parentPort.postMessage(searchBatch(batch));
  } catch (error) {
    parentPort.postMessage({ type: 'failed', message: String(error && error.message) });
  }
});

function searchBatch({ bytes, ends, room }) {
  const files = [];
  let matches = 0;
  ends.forEach((end, index) => {
    Atomics.store(place, 0, index);
    const text = decoder.decode(bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
    const found = searchText(text, Math.max(0, room - matches));
    matches += found.count;
    if (found.lines.length > 0) files.push({ index, lines: found.lines });
  });
  return { type: 'found', files, matches };
}

/** Line by line, for that is how people mean ^ and $; and never as a list of all lines, which may be millions. */
function searchText(text, room) {
  const lines = [];
  const before = [];
  let count = 0;
  let after = 0;
  for (let from = 0, number = 1; from < text.length; number += 1) {
    const found = text.indexOf('\\n', from);
    const end = found === -1 ? text.length : found;
    const line = text.slice(from, end > from && text[end - 1] === '\\r' ? end - 1 : end);
    from = end + 1;
    const match = expression.exec(line);
    if (match !== null) count += 1;
    if (match !== null && count <= room) {
      lines.push(...before.splice(0), { number, text: cut(line, match.index), isMatch: true });
      after = order.contextLines;
    } else if (after > 0) {
      lines.push({ number, text: cut(line, 0), isMatch: false });
      after -= 1;
    } else if (order.contextLines > 0) {
      before.push({ number, text: cut(line, 0), isMatch: false });
      if (before.length > order.contextLines) before.shift();
    }
  }
  return { lines, count };
}

/** The part of a long line around the match. */
function cut(line, column) {
  const width = order.maxLineCharacters;
  if (line.length <= width) return line;
  const from = Math.max(0, Math.min(column - Math.floor(width / 3), line.length - width));
  const to = from + width;
  return (from > 0 ? '…' : '') + line.slice(from, to).toWellFormed() + (to < line.length ? '…' : '');
}
`;
