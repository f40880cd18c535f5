import { assert } from '../../../base/assert.ts';
import { requiredLiterals } from './required-literals.ts';
import type { WordingRule } from '../verdict.ts';

/** A rule with its place in the index. */
export interface IndexedRule {
  readonly rule: WordingRule;
  readonly id: number;
}

/** Says in one pass over a text which rules can match it at all. */
export interface RuleIndex {
  readonly indexed: (rules: readonly WordingRule[]) => readonly IndexedRule[];
  /** One flag per id. */
  readonly candidates: (text: string) => Uint8Array;
}

/** Texts by a hash of their first three bytes. Bytes in flat tables, for every failure is scanned once through them. */
interface Starts {
  /** The bucket of a hash; 0 means that no text begins so. */
  readonly bucketOfStart: Uint16Array;
  readonly buckets: Entry[][];
}

interface Entry {
  readonly bytes: Uint8Array;
  readonly id: number;
}

/** Finds rules by the texts they require. A rule whose requirement is unknown is always a candidate. */
export function createRuleIndex(rules: readonly WordingRule[]): RuleIndex {
  const ids = new Map([...new Set(rules)].map((rule, id) => [rule, id]));
  const always = new Uint8Array(ids.size);
  const starts: Starts = { bucketOfStart: new Uint16Array(hashSize), buckets: [[]] };
  for (const [rule, id] of ids) {
    const literals = requiredLiterals(rule.pattern);
    if (literals === undefined) always[id] = 1;
    for (const literal of literals ?? []) {
      addEntry(starts, { bytes: encoder.encode(literal), id });
    }
  }
  return {
    indexed: (given) => given.map((rule) => ({ rule, id: idOf(ids, rule) })),
    candidates: (text) => findCandidates(text, always, starts),
  };
}

function idOf(ids: ReadonlyMap<WordingRule, number>, rule: WordingRule): number {
  const id = ids.get(rule);
  assert(id !== undefined, `The rule for "${rule.example}" is not in the index`);
  return id;
}

function addEntry({ bucketOfStart, buckets }: Starts, entry: Entry): void {
  const [first = 0, second = 0, third = 0] = entry.bytes;
  const start = hashOf(first, second, third);
  const known = bucketOfStart[start] ?? 0;
  const bucket = buckets[known === 0 ? buckets.length : known] ?? [];
  bucket.push(entry);
  if (known !== 0) return;
  bucketOfStart[start] = buckets.length;
  buckets.push(bucket);
}

function findCandidates(text: string, always: Uint8Array, { bucketOfStart, buckets }: Starts): Uint8Array {
  const found = always.slice();
  const bytes = encoder.encode(text);
  let [first, second] = [bytes[0] ?? 0, bytes[1] ?? 0];
  for (let at = 0; at < bytes.length - 2; at += 1) {
    const third = bytes[at + 2] ?? 0;
    const number = bucketOfStart[hashOf(first, second, third)] ?? 0;
    first = second;
    second = third;
    if (number === 0) continue;
    for (const entry of buckets[number] ?? []) {
      if (found[entry.id] === 0 && standsAt(bytes, at, entry.bytes)) found[entry.id] = 1;
    }
  }
  return found;
}

const encoder = new TextEncoder();

function standsAt(bytes: Uint8Array, at: number, literal: Uint8Array): boolean {
  // Backwards, for texts that begin alike differ at their ends.
  for (let offset = literal.length - 1; offset >= 0; offset -= 1) {
    if (bytes[at + offset] !== literal[offset]) return false;
  }
  return true;
}

const hashSize = 32_768;

/** A collision only costs a comparison. */
function hashOf(first: number, second: number, third: number): number {
  return (first * 1021 + second * 61 + third) & (hashSize - 1);
}
