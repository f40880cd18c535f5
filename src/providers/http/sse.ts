import { Buffer } from 'node:buffer';

/** What a parser of server-sent events is given. */
export interface SseOptions {
  /** The bound for one line and for all lines of one event. */
  readonly maxEventBytes?: number;
  readonly onEvent: (name: string, data: string) => void;
  /** A comment: servers send them to show that they are alive. */
  readonly onComment?: () => void;
}

/** `too-large`: an event is over the bound. The parser has let go of everything and takes nothing more. */
export type SseVerdict = 'ok' | 'too-large';

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
  ...listeners
}: SseOptions): SseParser {
  const lines = createLineReader({ maxEventBytes, ...listeners });
  const rest = createRest();
  let isFirst = true;
  let skipLineFeed = false;
  let isDead = false;

  function push(chunk: Uint8Array): SseVerdict {
    if (isDead) return 'too-large';
    if (chunk.length === 0) return 'ok';
    const bytes = toBuffer(chunk);
    // The second half of a CR LF that was cut in two.
    const start = skipLineFeed && bytes[0] === lineFeed ? 1 : 0;
    skipLineFeed = false;
    const end = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
    if (end > start) {
      skipLineFeed = end === bytes.length && bytes[end - 1] === carriageReturn;
      const text =
        rest.size() === 0 ? bytes.toString('utf8', start, end) : rest.take(bytes.subarray(start, end));
      if (!lines.read(plainLines(text))) return die();
    }
    const left = bytes.length - Math.max(end, start);
    if (left === 0) return 'ok';
    if (lines.openBytes() + rest.size() + left > maxEventBytes) return die();
    rest.add(bytes.subarray(bytes.length - left));
    return 'ok';
  }

  /** Without the mark that may stand at the very beginning, and with one kind of line end. */
  function plainLines(text: string): string {
    const hasMark = isFirst && text.charCodeAt(0) === 0xfeff;
    isFirst = false;
    const unmarked = hasMark ? text.slice(1) : text;
    return unmarked.includes('\r') ? unmarked.replaceAll(/\r\n?/g, '\n') : unmarked;
  }

  function die(): SseVerdict {
    isDead = true;
    rest.clear();
    lines.clear();
    return 'too-large';
  }

  return { push, end: () => ({ droppedBytes: lines.openBytes() + rest.size() }) };
}

function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

interface LineReader {
  /** Reads lines that all end with a line feed. Returns false when one is over the bound. */
  readonly read: (text: string) => boolean;
  /** The size of the event that has not ended yet. */
  readonly openBytes: () => number;
  readonly clear: () => void;
}

function createLineReader({ maxEventBytes = 0, onEvent, onComment }: SseOptions): LineReader {
  const event = createOpenEvent(onEvent);
  let openBytes = 0;

  function readLine(text: string, start: number, end: number): boolean {
    const length = end - start;
    // A character is one to three bytes; they are counted only where it may matter.
    const isClose = length * 3 + openBytes > maxEventBytes;
    const bytes = isClose ? Buffer.byteLength(text.slice(start, end)) : length;
    if (openBytes + bytes > maxEventBytes) return false;
    if (text.charCodeAt(start) === colonUnit) {
      onComment?.();
      return true;
    }
    openBytes += bytes;
    // Nearly every line is this one, so it is cut out once.
    if (text.startsWith('data:', start)) event.addData(text.slice(valueStart(text, start + 4), end));
    else event.readField(text.slice(start, end));
    return true;
  }

  function read(text: string): boolean {
    let start = 0;
    let end = text.indexOf('\n');
    while (end !== -1) {
      if (end === start) {
        openBytes = 0;
        event.dispatch();
      } else if (!readLine(text, start, end)) return false;
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    return true;
  }

  function clear(): void {
    openBytes = 0;
    event.clear();
  }

  return { read, openBytes: () => openBytes, clear };
}

interface OpenEvent {
  readonly addData: (value: string) => void;
  readonly readField: (line: string) => void;
  readonly dispatch: () => void;
  readonly clear: () => void;
}

function createOpenEvent(onEvent: SseOptions['onEvent']): OpenEvent {
  let name = '';
  let data: string | undefined;

  function addData(value: string): void {
    data = data === undefined ? value : `${data}\n${value}`;
  }

  function readField(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(valueStart(line, colon));
    if (field === 'data') addData(value);
    if (field === 'event') name = value;
    // `id` and `retry` ask for a reconnection, which nobody makes here; whatever else there is means nothing.
  }

  function clear(): void {
    name = '';
    data = undefined;
  }

  function dispatch(): void {
    const event = { name, data };
    clear();
    if (event.data !== undefined) onEvent(event.name === '' ? 'message' : event.name, event.data);
  }

  return { addData, readField, dispatch, clear };
}

const colonUnit = 58;
const spaceUnit = 32;

/** One space after the colon belongs to the format, not to the value. */
function valueStart(text: string, colon: number): number {
  return text.charCodeAt(colon + 1) === spaceUnit ? colon + 2 : colon + 1;
}

interface Rest {
  readonly size: () => number;
  readonly add: (bytes: Buffer) => void;
  /** The text of what was kept and `bytes` behind it; keeps nothing. */
  readonly take: (bytes: Buffer) => string;
  readonly clear: () => void;
}

const initialRestBytes = 4096;
const nothing = Buffer.alloc(0);

/** The beginning of a line, in one buffer that doubles: as cheap for many small chunks as for one large. */
function createRest(): Rest {
  let buffer = nothing;
  let size = 0;

  function add(bytes: Buffer): void {
    const needed = size + bytes.length;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(initialRestBytes, buffer.length * 2, needed));
      buffer.copy(larger, 0, 0, size);
      buffer = larger;
    }
    bytes.copy(buffer, size);
    size = needed;
  }

  return {
    size: () => size,
    add,
    take: (bytes) => {
      add(bytes);
      const text = buffer.toString('utf8', 0, size);
      size = 0;
      return text;
    },
    clear: () => {
      buffer = nothing;
      size = 0;
    },
  };
}
