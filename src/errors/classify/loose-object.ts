/**
 * Reads the first object or list in a text, whoever wrote it: JSON, a Python repr, a JavaScript inspection, escaped
 * once more, or cut off in the middle. Providers' errors reach us in all of these.
 *
 * Invariants: never throws; every character is looked at once, so it is linear; depth and number of values are bounded;
 * the result holds only plain values, and `__proto__` is an ordinary key.
 */
export function parseLoosely(text: string, from: number): LooseResult {
  const cursor: Cursor = {
    text,
    at: from,
    values: 0,
    broken: false,
    escaped: text.startsWith('\\"', from + 1),
  };
  const value = readValue(cursor, 0);
  return { value, end: cursor.at, broken: cursor.broken };
}

export interface LooseResult {
  readonly value: unknown;
  /** Where reading stopped, so that a caller can go on behind it. */
  readonly end: number;
  /** Quotes or commas were not where they belong, so that parts may be lost. */
  readonly broken: boolean;
}

interface Cursor {
  readonly text: string;
  /** Quotes are written as `\"`, as in a log that holds JSON inside JSON. */
  readonly escaped: boolean;
  at: number;
  values: number;
  broken: boolean;
}

const maxDepth = 16;
const maxValues = 2000;
const words: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  undefined: null,
};

function readValue(cursor: Cursor, depth: number): unknown {
  skipSpace(cursor);
  cursor.values += 1;
  if (depth > maxDepth || cursor.values > maxValues) return skipAll(cursor);
  const character = cursor.text[cursor.at];
  if (character === '{') return readObject(cursor, depth);
  if (character === '[' || character === '(') return readList(cursor, depth);
  if (isQuote(cursor)) return readString(cursor);
  return readWord(cursor);
}

function readObject(cursor: Cursor, depth: number): Readonly<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  cursor.at += 1;
  while (cursor.at < cursor.text.length) {
    skipSeparators(cursor);
    if (cursor.text[cursor.at] === '}' || cursor.at >= cursor.text.length) break;
    const key = isQuote(cursor) ? readString(cursor) : readKey(cursor);
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== ':' && cursor.text[cursor.at] !== '=') {
      cursor.broken = true;
      if (key === '') cursor.at += 1; // Neither key nor separator: step over it, so that reading always advances.
      continue;
    }
    cursor.at += 1;
    entries.push([key, readValue(cursor, depth + 1)]);
  }
  cursor.at += 1;
  return Object.fromEntries(entries);
}

function readList(cursor: Cursor, depth: number): readonly unknown[] {
  const values: unknown[] = [];
  cursor.at += 1;
  while (cursor.at < cursor.text.length) {
    skipSeparators(cursor);
    const character = cursor.text[cursor.at];
    if (character === undefined || character === ']' || character === ')') break;
    const before = cursor.at;
    values.push(readValue(cursor, depth + 1));
    if (cursor.at === before) cursor.at += 1;
  }
  cursor.at += 1;
  return values;
}

function readString(cursor: Cursor): string {
  if (cursor.escaped && cursor.text[cursor.at] === '\\') cursor.at += 1;
  const quote = cursor.text[cursor.at];
  cursor.at += 1;
  const pieces: string[] = [];
  let start = cursor.at;
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at];
    if (character === quote) break;
    if (character !== '\\') {
      cursor.at += 1;
      continue;
    }
    pieces.push(cursor.text.slice(start, cursor.at));
    if (cursor.escaped && cursor.text[cursor.at + 1] === quote) {
      cursor.at += 1;
      start = cursor.at;
      break;
    }
    pieces.push(unescape(cursor));
    start = cursor.at;
  }
  pieces.push(cursor.text.slice(start, cursor.at));
  cursor.at += 1;
  return pieces.join('');
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function unescape(cursor: Cursor): string {
  const next = cursor.text[cursor.at + 1] ?? '';
  if (next === 'u') {
    const digits = cursor.text.slice(cursor.at + 2, cursor.at + 6);
    cursor.at += 6;
    const unit = Number.parseInt(digits, 16);
    return Number.isNaN(unit) ? digits : String.fromCharCode(unit);
  }
  cursor.at += 2;
  return escapes[next] ?? next;
}

/** A bare word or number. An unknown word is kept as text: `type: invalid_request_error` in an inspection. */
function readWord(cursor: Cursor): unknown {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !',}])\n'.includes(cursor.text.charAt(cursor.at))) {
    // `<BlockedReason.OTHER: 'OTHER'>` is one value in a Python repr.
    if (cursor.text[cursor.at] === '(') break;
    cursor.at += 1;
  }
  const word = cursor.text.slice(start, cursor.at).trim();
  if (Object.hasOwn(words, word)) return words[word];
  const number = Number(word);
  return word !== '' && Number.isFinite(number) ? number : word;
}

function readKey(cursor: Cursor): string {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && isKeyCharacter(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
  return cursor.text.slice(start, cursor.at);
}

function isKeyCharacter(unit: number): boolean {
  const isLetter = (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
  const isDigit = unit >= 48 && unit <= 57;
  return isLetter || isDigit || unit === 95 || unit === 36 || unit === 64 || unit === 45; // _ $ @ -
}

function isQuote(cursor: Cursor): boolean {
  const character = cursor.text[cursor.at];
  if (character === '"' || character === "'") return true;
  return cursor.escaped && character === '\\' && cursor.text[cursor.at + 1] === '"';
}

function skipSpace(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && isSpace(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
}

function skipSeparators(cursor: Cursor): void {
  while (cursor.at < cursor.text.length) {
    const unit = cursor.text.charCodeAt(cursor.at);
    if (!isSpace(unit) && unit !== 44) return; // A comma.
    cursor.at += 1;
  }
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function skipAll(cursor: Cursor): null {
  cursor.at = cursor.text.length;
  return null;
}
