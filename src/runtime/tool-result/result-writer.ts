import { types } from 'node:util';
import type { BoundedText } from '../watch/bounded-text.ts';
import { bytesOf, headOf, sniff } from './result-bytes.ts';

/** Where a value is being written to, and what must be said about it. */
export interface Writing {
  readonly out: BoundedText;
  readonly maxCharacters: number;
  /** What the text does not show as it was. Each once. */
  readonly notes: Set<string>;
  /** From the outside in, to know a cycle. */
  readonly above: object[];
}

/**
 * Writes any value as JSON text. What JSON has no word for is written in a defined way and noted, never silently lost.
 * Throws what a getter, a Proxy or a `toJSON` of the value throws.
 */
export function writeValue(value: unknown, writing: Writing): void {
  switch (typeof value) {
    case 'string':
      return writeText(value, writing);
    case 'number':
      return writeNumber(value, writing);
    case 'boolean':
      return writing.out.write(String(value));
    case 'bigint':
      return writing.out.write(`"${value}"`);
    case 'undefined':
      return writing.out.write('null');
    case 'function':
    case 'symbol':
      writing.notes.add(`a ${typeof value} has no text and is left out`);
      return writing.out.write('null');
    default:
      return writeObject(value as object | null, writing); // All that is left; `unknown` does not narrow so far.
  }
}

/**
 * Whether the engine itself can write a value, which is much faster: nothing but what JSON has, and not too much of it.
 * Never true for what would be cut or noted.
 */
export function isPlain(value: unknown, maxCharacters: number): boolean {
  return fits(value, { left: maxCharacters }, 0);
}

/** No more is shown, so what lies further on is not walked, however long it is. */
const maxWalkedCharacters = 1_000_000;
const maxNotes = 10;
const maxDepth = 64;
/** How many members at the end of a list that is too long are still written: they become the tail. */
const lastMembers = 50;

/** What is said about the text, in words for the model; empty where nothing is. */
export function renderNotes(notes: ReadonlySet<string>): string {
  if (notes.size === 0) return '';
  return `\n[Note: ${[...notes].slice(0, maxNotes).join('; ')}]`;
}

/** Counted down over the whole value. */
interface Budget {
  left: number;
}

/** Whether a value is plain and fits; takes from the budget at least what it will need. */
function fits(value: unknown, budget: Budget, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      // Six characters are the longest that one can become.
      return take(budget, 6 * value.length + 3);
    case 'number':
      return Number.isFinite(value) && take(budget, 26);
    case 'boolean':
      return take(budget, 6);
    case 'object':
      return take(budget, 5) && (value === null || membersFit(value, budget, depth + 1));
    default:
      return false;
  }
}

function membersFit(value: object, budget: Budget, depth: number): boolean {
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (!fits(value[index], budget, depth)) return false;
    }
    return true;
  }
  if (!isPlainRecord(value)) return false;
  for (const name of Object.keys(value)) {
    if (!take(budget, 6 * name.length + 4)) return false;
    if (!fits(Reflect.get(value, name), budget, depth)) return false;
  }
  return true;
}

function take(budget: Budget, characters: number): boolean {
  budget.left -= characters;
  return budget.left >= 0;
}

function isPlainRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof Reflect.get(value, 'toJSON') !== 'function' && !(Symbol.iterator in value);
}

function writeText(text: string, { out, maxCharacters }: Writing): void {
  // Longer than both ends that can be shown: the middle is counted, not written.
  if (text.length <= 4 * maxCharacters) return out.write(JSON.stringify(text));
  out.write(JSON.stringify(text.slice(0, 2 * maxCharacters)).slice(0, -1));
  out.skip(text.length - 4 * maxCharacters);
  out.write(JSON.stringify(text.slice(-2 * maxCharacters)).slice(1));
}

function writeNumber(value: number, { out, notes }: Writing): void {
  if (Number.isFinite(value)) return out.write(Object.is(value, -0) ? '-0' : String(value));
  notes.add('numbers that JSON does not have (NaN, Infinity) are written as texts');
  return out.write(`"${value}"`);
}

function writeObject(value: object | null, writing: Writing): void {
  const { out, notes, above } = writing;
  if (value === null) return out.write('null');
  if (above.includes(value)) {
    notes.add('a value that contains itself is written as "[circular]"');
    return out.write('"[circular]"');
  }
  if (above.length >= maxDepth) {
    notes.add(`what lies deeper than ${maxDepth} levels is left out`);
    return out.write('"[left out]"');
  }
  above.push(value);
  writeInside(value, writing);
  above.pop();
  return undefined;
}

function writeInside(value: object, writing: Writing): void {
  if (Array.isArray(value)) return writeList(value, writing);
  if (isPlainRecord(value)) return writeRecord(value, writing);
  const bytes = bytesOf(value);
  if (bytes !== undefined) return writeBytes(bytes, writing);
  if (types.isDate(value)) return writeDate(value, writing);
  const toJson: unknown = Reflect.get(value, 'toJSON');
  // As JSON does: what it returns is written as it is, whether it has a `toJSON` of its own or not.
  if (typeof toJson === 'function') return writeConverted(Reflect.apply(toJson, value, ['']), writing);
  if (types.isMap(value)) return writeMap(value, writing);
  if (types.isSet(value)) return writeMembers(value, { writing, what: 'a Set is written as a list' });
  if (types.isTypedArray(value)) return writeMembers(value, { writing });
  if (types.isNativeError(value)) return writeError(value, writing);
  if (types.isBoxedPrimitive(value)) return writeValue(value.valueOf(), writing);
  if (types.isRegExp(value)) return writeText(String(value), writing);
  if (isIterator(value)) return writeMembers(value, { writing, what: 'an iterator is written as a list' });
  return writeRecord(value, writing);
}

function writeConverted(value: unknown, writing: Writing): void {
  if (typeof value !== 'object' || value === null) return writeValue(value, writing);
  if (Array.isArray(value)) return writeList(value, writing);
  return writeRecord(value, writing);
}

function writeList(list: readonly unknown[], writing: Writing): void {
  const { out, notes } = writing;
  out.write('[');
  // Bounded: by the walked characters, then by the last members. Each member writes at least one.
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) out.write(',');
    if (isTired(writing) && index < list.length - lastMembers) {
      const leftOut = list.length - lastMembers - index;
      notes.add(
        `${leftOut.toLocaleString('en-US')} of ${list.length.toLocaleString('en-US')} list members are left out`,
      );
      out.stop();
      index = list.length - lastMembers;
    }
    writeValue(list[index], writing);
  }
  out.write(']');
}

function writeMembers(
  members: Iterable<unknown>,
  { writing, what }: { readonly writing: Writing; readonly what?: string },
): void {
  const { out, notes } = writing;
  if (what !== undefined) notes.add(what);
  out.write('[');
  let count = 0;
  for (const member of members) {
    if (isTired(writing)) {
      notes.add(`the list is longer than the first ${count.toLocaleString('en-US')} members`);
      out.stop();
      break;
    }
    if (count > 0) out.write(',');
    writeValue(member, writing);
    count += 1;
  }
  out.write(']');
}

function writeMap(map: ReadonlyMap<unknown, unknown>, writing: Writing): void {
  writeMembers(map, { writing, what: 'a Map is written as a list of [key, value] pairs' });
}

function writeDate(date: Date, { out, notes }: Writing): void {
  if (!Number.isNaN(date.getTime())) return out.write(`"${date.toISOString()}"`);
  notes.add('a date that is none is written as "Invalid Date"');
  return out.write('"Invalid Date"');
}

/** Without its stack: paths of the machine are private. */
function writeError(error: Error, writing: Writing): void {
  const { name, message, cause, ...rest } = error;
  const shown = { name, message, ...rest, ...(cause === undefined ? {} : { cause }) };
  writeRecord(shown, writing);
}

function writeBytes(bytes: Buffer, writing: Writing): void {
  const sniffed = sniff(bytes);
  const maxBytes = 3 * writing.maxCharacters;
  const shown = headOf(bytes, maxBytes);
  if (shown.length < bytes.length) writing.out.stop();
  if (sniffed.type === 'text') return writeText(shown.toString('utf8'), writing);
  writing.notes.add('bytes that are no text are written as base64');
  return writeRecord(
    { mediaType: sniffed.mediaType, bytes: bytes.length, base64: shown.toString('base64') },
    writing,
  );
}

function writeRecord(value: object, writing: Writing): void {
  const { out, notes } = writing;
  const names = Object.keys(value);
  if (names.length === 0) noteEmpty(value, notes);
  out.write('{');
  let written = 0;
  for (const name of names) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined) continue;
    if (typeof member === 'function' || typeof member === 'symbol') {
      notes.add(`a ${typeof member} has no text and is left out`);
      continue;
    }
    if (isTired(writing)) {
      notes.add(`fields are left out, of ${names.length.toLocaleString('en-US')}`);
      out.stop();
      break;
    }
    if (written > 0) out.write(',');
    writeText(name, writing);
    out.write(':');
    writeValue(member, writing);
    written += 1;
  }
  out.write('}');
}

/** `{}` says nothing of a Response, a Promise or a class with private fields, so their name is given. */
function noteEmpty(value: object, notes: Set<string>): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return;
  const owner: unknown = Reflect.get(value, 'constructor');
  const name = typeof owner === 'function' && owner.name !== '' ? owner.name.slice(0, 100) : 'a class';
  if (name === 'Object') return;
  notes.add(`{} represents an object of ${name}, which has no fields of its own to show`);
}

function isIterator(value: object): value is Iterable<unknown> {
  return (
    typeof Reflect.get(value, Symbol.iterator) === 'function' &&
    typeof Reflect.get(value, 'next') === 'function'
  );
}

function isTired({ out, maxCharacters }: Writing): boolean {
  return out.total() > Math.max(maxWalkedCharacters, 4 * maxCharacters);
}
