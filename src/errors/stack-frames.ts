import { isList, readEntries, readProperty } from './classify/safe-read.ts';

/** The frames that one cause keeps. */
export const maxFrames = 12;

const maxScanLength = 20_000;
const maxScannedLines = 200;

/**
 * The frames of a stack, innermost first, each on one line with its `file:line:column`. Without the message, which may be anything, and
 * without Node's own frames. Empty for what has no stack.
 */
export function stackFrames(thrown: unknown): readonly string[] {
  if (hasGiantMessage(thrown)) return [];
  return linesOf(readProperty(thrown, 'stack'), thrown)
    .map((line) => line.trim())
    .filter((line) => isFrame.test(line) && !isOfNode.test(line))
    .slice(0, maxFrames)
    .map(boundFrame);
}

/** A stack repeats its message, and an error keeps its stack once it was read: a copy of a message of this length is not made. */
const maxMessageLength = 1_000_000;

function hasGiantMessage(thrown: unknown): boolean {
  const message = readProperty(thrown, 'message');
  return typeof message === 'string' && message.length > maxMessageLength;
}

/** `at charge (/app/tools.ts:12:5)` as V8 writes it, and `charge@/app/tools.ts:12:5` as others do. */
const isFrame = /^at (?:.*:\d+:\d+\)?|.*\((?:<anonymous>|native)\))$|^[^\s@]*@\S.*:\d+:\d+$/;
const isOfNode = /\bnode:internal\//;

/** A stack is a text, or what somebody's `Error.prepareStackTrace` made of it. */
function linesOf(stack: unknown, thrown: unknown): readonly string[] {
  if (typeof stack === 'string') return withoutMessage(stack, thrown).split('\n').slice(0, maxScannedLines);
  if (!isList(stack)) return [];
  return readEntries(stack, maxFrames).map(([, site]) => `at ${textOf(site)}`);
}

/** A message may have lines that look like frames. */
function withoutMessage(stack: string, thrown: unknown): string {
  const message = readProperty(thrown, 'message');
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) : -1;
  const end = start === -1 ? 0 : start + String(message).length;
  return stack.slice(end, end + maxScanLength);
}

function textOf(site: unknown): string {
  try {
    return String(site).replaceAll('\n', ' ');
  } catch {
    return ''; // It refuses to be written, and so is no frame.
  }
}

const maxFrameLength = 400;
const keptHead = 100;

/** A long frame keeps its end: that is where an editor finds the line. */
export function boundFrame(frame: string): string {
  if (frame.length <= maxFrameLength) return frame;
  return `${frame.slice(0, keptHead)}…${frame.slice(keptHead + 1 - maxFrameLength)}`;
}
