import { Buffer, isUtf8 } from 'node:buffer';

/** What a parser of server-sent events is given. */
export interface SseOptions {
  /** The bound for one line and for all lines of one event. */
  readonly maxEventBytes?: number;
  readonly onEvent: (name: string, data: string) => void;
  /** A comment: servers send them to show that they are alive. */
  readonly onComment?: () => void;
}

/**
 * `too-large`: an event is over the bound. `not-text`: a line holds bytes that are not UTF-8, and a replacement character would
 * pass for what the server wrote. The parser has then let go of everything and takes nothing more.
 */
export type SseVerdict = 'ok' | 'too-large' | 'not-text';

/** Reads server-sent events from bytes that may be cut anywhere. */
export interface SseParser {
  readonly push: (chunk: Uint8Array) => SseVerdict;
  /** The stream is over. What was not yet a whole event is dropped, and its size is told, a character at least a byte. */
  readonly end: () => { readonly droppedBytes: number };
}

export const defaultMaxEventBytes = 8 * 1024 * 1024;

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Bytes are decoded up to the last end of a line at once: a UTF-8 sequence never holds one, so no sequence is cut. Only the
 * rest of a chunk is copied and kept. Nothing that was given is held on to, for a small piece would pin a large buffer.
 */
export function createSseParser({
  maxEventBytes = defaultMaxEventBytes,
  onEvent,
  onComment,
}: SseOptions): SseParser {
  const held: Held = {
    maxEventBytes,
    onEvent,
    onComment,
    isFirst: true,
    skipLineFeed: false,
    verdict: 'ok',
    name: '',
    data: undefined,
    openBytes: 0,
    rest: nothing,
    restBytes: 0,
  };
  return {
    push: (chunk) => push(held, chunk),
    end: () => ({ droppedBytes: held.openBytes + held.restBytes }),
  };
}

/** What a parser knows. One object that changes in place, for there is a parser for every answer. */
interface Held {
  readonly maxEventBytes: number;
  readonly onEvent: SseOptions['onEvent'];
  readonly onComment: SseOptions['onComment'];
  isFirst: boolean;
  skipLineFeed: boolean;
  verdict: SseVerdict;
  /** Of the event that has not ended yet, as is all below. */
  name: string;
  data: string | undefined;
  /** The size of its whole lines. */
  openBytes: number;
  /** The beginning of a line, in one buffer that doubles: as cheap for many small chunks as for one large. */
  rest: Buffer;
  restBytes: number;
}

const initialRestBytes = 4096;
const nothing = Buffer.alloc(0);

function push(held: Held, chunk: Uint8Array): SseVerdict {
  if (held.verdict !== 'ok') return held.verdict;
  if (chunk.length === 0) return 'ok';
  const bytes = toBuffer(chunk);
  // The second half of a CR LF that was cut in two.
  const start = held.skipLineFeed && bytes[0] === lineFeed ? 1 : 0;
  held.skipLineFeed = false;
  const end = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
  if (end > start) {
    held.skipLineFeed = end === bytes.length && bytes[end - 1] === carriageReturn;
    const lines = takeLines(held, bytes.subarray(start, end));
    const textEnd = isUtf8(lines) ? lines.length : endOfText(lines);
    if (!readLines(held, plainLines(held, lines.toString('utf8', 0, textEnd)))) return die(held, 'too-large');
    if (textEnd < lines.length) return die(held, verdictOn(held, lineLength(lines, textEnd)));
  }
  const left = bytes.length - Math.max(end, start);
  if (left === 0) return 'ok';
  if (held.openBytes + held.restBytes + left > held.maxEventBytes) return die(held, 'too-large');
  addRest(held, bytes.subarray(bytes.length - left));
  return 'ok';
}

function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** What was kept and `bytes` behind it; keeps nothing. Valid until something is kept again. */
function takeLines(held: Held, bytes: Buffer): Buffer {
  if (held.restBytes === 0) return bytes;
  addRest(held, bytes);
  const lines = held.rest.subarray(0, held.restBytes);
  held.restBytes = 0;
  return lines;
}

/** The end of the last line before the first one that is not UTF-8. */
function endOfText(lines: Buffer): number {
  let end = 0;
  // Ends: one of the lines is not UTF-8.
  for (;;) {
    const length = lineLength(lines, end);
    if (!isUtf8(lines.subarray(end, end + length))) return end;
    end += length + 1;
  }
}

/** Of the line that begins there, without its end. */
function lineLength(lines: Buffer, start: number): number {
  const ends = [lines.indexOf(lineFeed, start), lines.indexOf(carriageReturn, start)];
  return Math.min(...ends.filter((end) => end !== -1)) - start;
}

/** A line that is both is too large: it is that whatever the chunks are. */
function verdictOn({ openBytes, maxEventBytes }: Held, lineBytes: number): SseVerdict {
  return openBytes + lineBytes > maxEventBytes ? 'too-large' : 'not-text';
}

function addRest(held: Held, bytes: Buffer): void {
  const needed = held.restBytes + bytes.length;
  if (needed > held.rest.length) {
    const larger = Buffer.allocUnsafeSlow(Math.max(initialRestBytes, held.rest.length * 2, needed));
    held.rest.copy(larger, 0, 0, held.restBytes);
    held.rest = larger;
  }
  bytes.copy(held.rest, held.restBytes);
  held.restBytes = needed;
}

/** Without the mark that may stand at the very beginning, and with one kind of line end. */
function plainLines(held: Held, text: string): string {
  const hasMark = held.isFirst && text.charCodeAt(0) === 0xfeff;
  held.isFirst = false;
  const unmarked = hasMark ? text.slice(1) : text;
  return unmarked.includes('\r') ? unmarked.replaceAll(/\r\n?/g, '\n') : unmarked;
}

function die(held: Held, verdict: SseVerdict): SseVerdict {
  held.verdict = verdict;
  held.rest = nothing;
  held.restBytes = 0;
  held.openBytes = 0;
  held.name = '';
  held.data = undefined;
  return verdict;
}

/** Reads lines that all end with a line feed. Returns false when one is over the bound. */
function readLines(held: Held, text: string): boolean {
  let start = 0;
  let end = text.indexOf('\n');
  while (end !== -1) {
    if (end === start) dispatch(held);
    else if (!readLine(held, text, { start, end })) return false;
    start = end + 1;
    end = text.indexOf('\n', start);
  }
  return true;
}

function readLine(
  held: Held,
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): boolean {
  const { maxEventBytes, openBytes } = held;
  const length = end - start;
  // A character is one to three bytes; they are counted only where it may matter.
  const isClose = length * 3 + openBytes > maxEventBytes;
  const bytes = isClose ? Buffer.byteLength(text.slice(start, end)) : length;
  if (openBytes + bytes > maxEventBytes) return false;
  if (text.charCodeAt(start) === colonUnit) {
    held.onComment?.();
    return true;
  }
  held.openBytes += bytes;
  // Nearly every line is this one, so it is cut out once.
  if (text.startsWith('data:', start)) addData(held, text.slice(valueStart(text, start + 4), end));
  else readField(held, text.slice(start, end));
  return true;
}

function addData(held: Held, value: string): void {
  held.data = held.data === undefined ? value : `${held.data}\n${value}`;
}

function readField(held: Held, line: string): void {
  const colon = line.indexOf(':');
  const field = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(valueStart(line, colon));
  if (field === 'data') addData(held, value);
  if (field === 'event') held.name = value;
  // `id` and `retry` ask for a reconnection, which nobody makes here; whatever else there is means nothing.
}

function dispatch(held: Held): void {
  const { name, data, onEvent } = held;
  held.openBytes = 0;
  held.name = '';
  held.data = undefined;
  if (data !== undefined) onEvent(name === '' ? 'message' : name, data);
}

const colonUnit = 58;
const spaceUnit = 32;

/** One space after the colon belongs to the format, not to the value. */
function valueStart(text: string, colon: number): number {
  return text.charCodeAt(colon + 1) === spaceUnit ? colon + 2 : colon + 1;
}
