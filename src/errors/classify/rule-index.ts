import { assert } from '../../base/assert.ts';
import { requiredLiterals } from './required-literals.ts';
import type { WordingRule } from './verdict.ts';

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

/** Texts by their first two bytes. Bytes in flat tables, for every failure is scanned once through them. */
interface Starts {
  /** The bucket of a pair of bytes; 0 means that no text begins so. */
  readonly bucketOfPair: Uint16Array;
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
  const starts: Starts = { bucketOfPair: new Uint16Array(65_536), buckets: [[]] };
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

function addEntry({ bucketOfPair, buckets }: Starts, entry: Entry): void {
  const pair = pairAt(entry.bytes, 0);
  const known = bucketOfPair[pair] ?? 0;
  if (known === 0) bucketOfPair[pair] = buckets.length;
  const bucket = known === 0 ? [] : (buckets[known] ?? []);
  bucket.push(entry);
  if (known === 0) buckets.push(bucket);
}

function findCandidates(text: string, always: Uint8Array, { bucketOfPair, buckets }: Starts): Uint8Array {
  const found = always.slice();
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length - 2; at += 1) {
    const number = bucketOfPair[pairAt(bytes, at)] ?? 0;
    if (number === 0) continue;
    for (const entry of buckets[number] ?? []) {
      if (found[entry.id] === 0 && standsAt(bytes, at, entry.bytes)) found[entry.id] = 1;
    }
  }
  return found;
}

const encoder = new TextEncoder();

/** The first two bytes are known to be there. */
function standsAt(bytes: Uint8Array, at: number, literal: Uint8Array): boolean {
  for (let offset = 2; offset < literal.length; offset += 1) {
    if (bytes[at + offset] !== literal[offset]) return false;
  }
  return true;
}

function pairAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
}
