import { Buffer } from 'node:buffer';

/** A text that is written piece by piece and of which only the head and the tail are kept. Its memory is bounded. */
export interface BoundedText {
  readonly write: (text: string) => void;
  /** Counts what is known to be there and not worth writing. */
  readonly skip: (characters: number) => void;
  /** The writer has stopped early: the total is a lower bound from now on. */
  readonly stop: () => void;
  /** Characters written and skipped so far. */
  readonly total: () => number;
  readonly finish: () => CutText;
}

/** A text within its bound, and how long it was where it was cut. */
export interface CutText {
  readonly text: string;
  readonly totalCharacters?: number;
}

export function createBoundedText(maxCharacters: number): BoundedText {
  const held: Held = { head: '', tail: '', total: 0, hasStopped: false };
  return {
    write: (text) => write(held, text, maxCharacters),
    skip: (characters) => {
      held.total += characters;
    },
    stop: () => {
      held.hasStopped = true;
    },
    total: () => held.total,
    finish: () => finish(held, maxCharacters),
  };
}

/** Head and tail of a text that is too long, with a note of what lies between them. */
export function cutText(text: string, maxCharacters: number): CutText {
  if (text.length <= maxCharacters) return { text };
  const ends = { head: text, tail: text, total: text.length, hasStopped: false };
  return joinEnds(ends, maxCharacters);
}

interface Held {
  head: string;
  tail: string;
  total: number;
  hasStopped: boolean;
}

function write(held: Held, text: string, maxCharacters: number): void {
  const room = maxCharacters - held.head.length;
  held.total += text.length;
  if (text.length <= room) {
    held.head += text;
    return;
  }
  if (room > 0) held.head += text.slice(0, room);
  held.tail += text.slice(Math.max(0, room, text.length - 2 * maxCharacters));
  if (held.tail.length > 4 * maxCharacters + 4096)
    held.tail = detach(held.tail.slice(-2 * maxCharacters - 1));
}

function finish(held: Held, maxCharacters: number): CutText {
  if (held.total <= maxCharacters && !held.hasStopped) return { text: held.head };
  if (held.tail === '') return joinEnds({ ...held, tail: held.head }, maxCharacters);
  return joinEnds({ ...held, tail: held.head + held.tail }, maxCharacters);
}

/** What is shown of the head, against the tail. */
const headShare = 2 / 3;

function joinEnds({ head, tail, total, hasStopped }: Held, maxCharacters: number): CutText {
  const longestNote = noteOf({ left: total, total, hasStopped });
  const room = Math.max(0, maxCharacters - longestNote.length);
  const headEnd = Math.min(head.length, Math.ceil(room * headShare));
  // A short text of which the rest is unknown has no tail of its own.
  const tailLength = Math.min(room - headEnd, Math.max(0, total - headEnd), tail.length);
  const shownHead = head.slice(0, splitsPair(head, headEnd) ? headEnd - 1 : headEnd);
  const tailStart = tail.length - tailLength;
  const shownTail = tail.slice(splitsPair(tail, tailStart) ? tailStart + 1 : tailStart);
  const left = total - shownHead.length - shownTail.length;
  const text = shownHead + noteOf({ left, total, hasStopped }) + shownTail;
  return { text: detach(text), totalCharacters: total };
}

interface LeftOut {
  readonly left: number;
  readonly total: number;
  readonly hasStopped: boolean;
}

function noteOf({ left, total, hasStopped }: LeftOut): string {
  const [shownLeft, shownTotal] = [left.toLocaleString('en-US'), total.toLocaleString('en-US')];
  return hasStopped
    ? `\n… [${shownLeft} or more characters left out, of at least ${shownTotal}] …\n`
    : `\n… [${shownLeft} of ${shownTotal} characters left out] …\n`;
}

function splitsPair(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  return isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** A copy of its own. The engine lets a slice keep the whole text alive, which may be a gigabyte. */
function detach(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
