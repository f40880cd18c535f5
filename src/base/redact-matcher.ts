import { mark } from './redact-marks.ts';
import { replaceSpans } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/** One thing to look for: the text it is made from, and the source of a pattern that finds all its forms. */
export interface Needle {
  readonly text: string;
  /** Asked for when the needle may be there, and not before: a process may hold the keys of ten thousand tenants. */
  readonly pattern: () => string;
}

/** Finds any number of needles in a text, in a time that does not depend on their number. */
export interface Matcher {
  readonly add: (needles: readonly Needle[]) => void;
  /** Takes back what was added, by the same objects. */
  readonly remove: (needles: readonly Needle[]) => void;
  /** Replaces every needle in a text by the mark. */
  readonly replace: (text: string) => string;
}

// Hundreds of alternatives in one pattern would cost milliseconds a message, and nearly no message holds a secret. So the
// text is looked through once for the hashes of the first four characters of all anchors. An anchor is a part of a needle
// that no encoding changes: its beginning, or one inside it. Keys of one provider begin alike, so that where a hash is met the
// whole anchor is looked up, and only the patterns of the needles that have it are tried: a handful, for a needle whose
// beginning many others have (as all tokens with the same header do) is found by another part.

export function createMatcher(): Matcher {
  const index: Index = { hashes: new Uint8Array(hashMask + 1), buckets: new Map() };
  /** Without an anchor: each is tried on every text. Only values of nothing but signs are. */
  const loose = new Set<Held>();
  const heldOf = new Map<Needle, Held>();
  return {
    add: (needles) => {
      for (const needle of needles) {
        const held = hold(needle, index);
        heldOf.set(needle, held);
        if (held.anchor === '') loose.add(held);
        else addTo(index, held);
      }
    },
    remove: (needles) => {
      for (const needle of needles) {
        const held = heldOf.get(needle);
        heldOf.delete(needle);
        if (held === undefined) continue;
        if (held.anchor === '') loose.delete(held);
        else removeFrom(index, held);
      }
    },
    replace: (text) => {
      const whole = replaceSpans(text, findAnchored(text, index), mark);
      return [...loose]
        .toSorted(longestFirst)
        .reduce((result, { search }) => result.replace(search(), mark), whole);
    },
  };
}

/** A needle with the part of it by which it is found. */
interface Held {
  readonly text: string;
  /** Empty where it has no part of four characters that are the same in every encoding. */
  readonly anchor: string;
  /** How many characters of the needle stand before its anchor. */
  readonly offset: number;
  /** Finds it anywhere, and at a place. */
  readonly search: () => RegExp;
  readonly at: () => RegExp;
}

const startCharacters = 4;
const maxAnchorCharacters = 32;
const maxAnchors = 8;
/** More needles than these with one anchor, and another part is looked at. */
const fewNeedles = 8;
/** Characters that no encoding changes. */
const steadyStart = /^[\w~-]{4,32}/;
const steadyRun = /[\w~-]{4,}/g;

function hold({ text, pattern }: Needle, index: Index): Held {
  const start = steadyStart.exec(text)?.[0];
  const runs = (text.match(steadyRun) ?? []).toSorted((a, b) => b.length - a.length).slice(0, maxAnchors);
  const inside = runs.flatMap((run) => [run.slice(-maxAnchorCharacters), run.slice(0, maxAnchorCharacters)]);
  const anchors = start === undefined ? inside : [start, ...inside];
  const counts = anchors.map((anchor) => countOf(index, anchor));
  const few = counts.findIndex((count) => count < fewNeedles);
  const anchor = anchors[few === -1 ? counts.indexOf(Math.min(...counts)) : few] ?? '';
  return {
    text,
    anchor,
    offset: text.indexOf(anchor),
    search: once(() => new RegExp(pattern(), 'g')),
    at: once(() => new RegExp(pattern(), 'y')),
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

function countOf({ buckets }: Index, anchor: string): number {
  return buckets.get(hashOf(anchor))?.byAnchor.get(anchor)?.length ?? 0;
}

/** Where one needle begins with another, the longer one must be tried first. */
function longestFirst(one: Held, other: Held): number {
  return other.text.length - one.text.length;
}

interface Index {
  /** Which hashes occur: one look at a small table for each character of a text. */
  readonly hashes: Uint8Array;
  /** By the hash of the first four characters of an anchor. */
  readonly buckets: Map<number, Bucket>;
}

interface Bucket {
  readonly byAnchor: Map<string, readonly Held[]>;
  /** Of the anchors, the longest first: at most 29. */
  lengths: readonly number[];
}

function addTo({ hashes, buckets }: Index, held: Held): void {
  const hash = hashOf(held.anchor);
  hashes[hash] = 1;
  const bucket = buckets.get(hash) ?? { byAnchor: new Map<string, readonly Held[]>(), lengths: [] };
  buckets.set(hash, bucket);
  const others = bucket.byAnchor.get(held.anchor) ?? [];
  bucket.byAnchor.set(held.anchor, [...others, held].toSorted(longestFirst));
  if (!bucket.lengths.includes(held.anchor.length))
    bucket.lengths = [...bucket.lengths, held.anchor.length].toSorted((a, b) => b - a);
}

/** Lengths stay: one that no anchor has any more costs a look and finds nothing. */
function removeFrom({ hashes, buckets }: Index, held: Held): void {
  const hash = hashOf(held.anchor);
  const bucket = buckets.get(hash);
  const others = bucket?.byAnchor.get(held.anchor)?.filter((each) => each !== held) ?? [];
  if (others.length > 0) bucket?.byAnchor.set(held.anchor, others);
  else bucket?.byAnchor.delete(held.anchor);
  if (bucket?.byAnchor.size !== 0) return;
  buckets.delete(hash);
  hashes[hash] = 0;
}

const hashMask = 0xf_ffff;

/** Five bits a character in twenty: after four more characters nothing of one is left. */
function nextHash(hash: number, code: number): number {
  return ((hash << 5) ^ (code & 0x7f)) & hashMask;
}

function hashOf(anchor: string): number {
  let hash = 0;
  for (let index = 0; index < startCharacters; index += 1) hash = nextHash(hash, anchor.charCodeAt(index));
  return hash;
}

function findAnchored(text: string, { hashes, buckets }: Index): readonly Span[] {
  const spans: Span[] = [];
  let [hash, floor] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    hash = nextHash(hash, text.charCodeAt(at));
    if (hashes[hash] !== 1) continue;
    const place = { text, floor, start: at + 1 - startCharacters };
    const span = place.start < floor ? undefined : findAt(place, buckets.get(hash));
    if (span === undefined) continue;
    spans.push(span);
    floor = span.end;
    at = span.end - 1;
  }
  return spans;
}

/** A place in a text where an anchor may begin, and the end of what was found before. */
interface Place {
  readonly text: string;
  readonly floor: number;
  readonly start: number;
}

function findAt(place: Place, bucket: Bucket | undefined): Span | undefined {
  const { text, start } = place;
  for (const length of bucket?.lengths ?? []) {
    for (const held of bucket?.byAnchor.get(text.slice(start, start + length)) ?? []) {
      const from = held.offset === 0 ? start : findBefore(place, held);
      const end = from === undefined ? undefined : endOfMatch(text, from, held);
      if (from !== undefined && end !== undefined && end > start) return { start: from, end };
    }
  }
  return undefined;
}

/** No character takes more room than this, in whatever encoding: four bytes, each encoded twice. */
const maxEncodedCharacters = 20;

/** Where a needle begins whose anchor is at this place. */
function findBefore(
  { text, floor, start }: Place,
  { text: needle, offset, search }: Held,
): number | undefined {
  const from = Math.max(floor, start - offset * maxEncodedCharacters);
  const part = text.slice(from, start + (needle.length - offset) * maxEncodedCharacters);
  const pattern = search();
  pattern.lastIndex = 0;
  const found = pattern.exec(part);
  return found === null ? undefined : from + found.index;
}

function endOfMatch(text: string, start: number, { at }: Held): number | undefined {
  const pattern = at();
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
