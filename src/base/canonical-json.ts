import { assert } from './assert.ts';
import type { Json } from './json.ts';

/** Above what any value of ours nests, and far below what overflows the stack. */
const maxDepth = 2000;

/** Writes JSON so that equal values give equal texts: members sorted by name, no blanks. */
export function canonicalJson(value: Json): string {
  return write(value, 0);
}

function write(value: Json, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Not cut: two values that differ further down must never be taken for one another.
  assert(depth < maxDepth, `Cannot write JSON that nests more than ${maxDepth} levels deep`);
  return isList(value) ? writeList(value, depth) : writeMembers(value, depth);
}

/** `Array.isArray` does not see through readonly lists. */
function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function writeList(list: readonly Json[], depth: number): string {
  let text = '[';
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) text += ',';
    text += write(list[index] ?? null, depth + 1);
  }
  return `${text}]`;
}

function writeMembers(record: Readonly<Record<string, Json>>, depth: number): string {
  const names = Object.keys(record);
  if (names.length > 1) names.sort();
  let text = '{';
  for (const name of names) {
    const member: Json | undefined = record[name];
    // Not JSON, but harmless: `JSON.stringify` leaves it out too.
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(name)}:${write(member, depth + 1)}`;
  }
  return `${text}}`;
}
