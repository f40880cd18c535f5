import type { Json } from './json.ts';
import { markLookAlikes } from './look-alikes.ts';

// What came from outside may hold sequences that move the cursor, write the clipboard, forge a link or turn the reading
// direction. Every text passes through here, once, before it is laid out; what is laid out is never escaped again.

/** Nearly every text: words of printable ASCII with single spaces between them, in which there is nothing to look for. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/**
 * What a terminal obeys instead of showing, or shows as nothing: controls (C0, C1), formats (bidi, zero-width, soft
 * hyphen), lone surrogates, private use, line and paragraph separators, and whatever else is drawn as nothing.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The same, and every blank that is not the one of the space bar: it looks like it and is another character. */
const unsafeOrBlank = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text from outside as one line that is safe to show: line breaks and tabs become a space, the rest of what a terminal
 * would obey becomes visible.
 *
 * @example printable('\u001b[2Jdone'); // '<U+001B>[2Jdone'
 */
export function printable(text: string): string {
  if (plain.test(text)) return text;
  return text
    .replaceAll(/[\t\n\r ]+/g, ' ')
    .trim()
    .replaceAll(unsafe, mark);
}

/**
 * A text exactly as it is, on one line: what cannot be seen is marked, line breaks and strange blanks too, and so is what is drawn like
 * another letter or sign; nothing is joined or dropped. For whoever must decide about that very text.
 *
 * @example visible('rm a\nrm b'); // 'rm a<U+000A>rm b'
 */
export function visible(text: string): string {
  return markLookAlikes(text, mark).replaceAll(unsafeOrBlank, mark);
}

/** The same JSON, of which every text and every name is printable. */
export function printableValue(value: Json): Json {
  if (typeof value === 'string') return printable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(printableValue);
  const entries = Object.entries(value as Readonly<Record<string, Json>>); // `isArray` does not narrow readonly lists.
  return Object.fromEntries(entries.map(([key, member]) => [printable(key), printableValue(member)]));
}

/** JSON on one line. JSON escapes C0 by itself; what a terminal would obey beyond that is escaped the same way. */
export function printableJson(value: unknown): string {
  return escapeUnsafe(JSON.stringify(value));
}

/** The same, in which what is drawn like another letter or sign is escaped too. For whoever must decide about that very value. */
export function exactJson(value: unknown): string {
  return escapeUnsafe(markLookAlikes(JSON.stringify(value), escape));
}

/** What a terminal would obey or show as nothing, as JSON and shells write it: `\u001b`. In JSON this changes no value. */
export function escapeUnsafe(text: string): string {
  return text.replaceAll(unsafe, escape);
}

function escape(found: string): string {
  return [...Array(found.length).keys()]
    .map((index) => String.raw`\u${hex(found.charCodeAt(index)).toLowerCase()}`)
    .join('');
}

function mark(found: string): string {
  return `<U+${hex(found.codePointAt(0) ?? 0)}>`;
}

function hex(codePoint: number): string {
  return codePoint.toString(16).toUpperCase().padStart(4, '0');
}
