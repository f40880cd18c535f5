import { mark } from './redact-marks.ts';
import { replaceSpans } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/** One thing to look for: the text it is made from, and the source of a pattern that finds all its forms. */
export interface Needle {
  readonly text: string;
  readonly pattern: string;
}

// Hundreds of alternatives in one pattern would cost milliseconds a message, and nearly no message holds a secret. So the
// first four characters of a needle are noted by their hash, the text is looked through for these hashes once, and only
// where one is met are the patterns of its needles tried.

/** A function that replaces every needle in a text by the mark. */
export function createMatcher(needles: readonly Needle[]): (text: string) => string {
  // Where one needle begins with another, the longer one must be tried first.
  const sorted = needles.toSorted((a, b) => b.text.length - a.text.length);
  const index = createIndex(sorted.filter(({ text }) => steadyStart.test(text)));
  const loose = sorted.filter(({ text }) => !steadyStart.test(text)).map(createLoose);
  return (text) =>
    loose.reduce((result, replace) => replace(result), replaceSpans(text, findIndexed(text, index), mark));
}

const startCharacters = 4;
/** Characters that no encoding changes. */
const steadyStart = /^[\w~-]{4}/;
const steadyRun = /[\w~-]{4,}/g;

interface Index {
  /** Which hashes occur: one look at a small table for each character of a text. */
  readonly hashes: Uint8Array;
  readonly patterns: ReadonlyMap<number, readonly RegExp[]>;
}

function createIndex(needles: readonly Needle[]): Index {
  const hashes = new Uint8Array(hashMask + 1);
  const patterns = new Map<number, RegExp[]>();
  for (const { text, pattern } of needles) {
    let hash = 0;
    for (let index = 0; index < startCharacters; index += 1) hash = nextHash(hash, text.charCodeAt(index));
    hashes[hash] = 1;
    patterns.set(hash, [...(patterns.get(hash) ?? []), new RegExp(pattern, 'y')]);
  }
  return { hashes, patterns };
}

const hashMask = 0xf_ffff;

/** Five bits a character in twenty: after four more characters nothing of one is left. */
function nextHash(hash: number, code: number): number {
  return ((hash << 5) ^ (code & 0x7f)) & hashMask;
}

function findIndexed(text: string, { hashes, patterns }: Index): readonly Span[] {
  const spans: Span[] = [];
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) {
    hash = nextHash(hash, text.charCodeAt(at));
    if (hashes[hash] !== 1) continue;
    const start = at + 1 - startCharacters;
    const end = endOfMatch(text, start, patterns.get(hash) ?? []);
    if (end <= start) continue;
    spans.push({ start, end });
    at = end - 1;
  }
  return spans;
}

function endOfMatch(text: string, start: number, patterns: readonly RegExp[]): number {
  for (const pattern of patterns) {
    pattern.lastIndex = start;
    if (start >= 0 && pattern.test(text)) return pattern.lastIndex;
  }
  return start;
}

/** A needle that begins with characters of many forms is searched by itself, if its longest steady part is there. */
function createLoose({ text, pattern }: Needle): (text: string) => string {
  const runs = (text.match(steadyRun) ?? []).toSorted((a, b) => b.length - a.length);
  const expression = new RegExp(pattern, 'g');
  return (whole) =>
    runs[0] === undefined || whole.includes(runs[0]) ? whole.replace(expression, mark) : whole;
}
