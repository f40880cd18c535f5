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

/** Texts by their first bytes. Bytes, for they are read several times faster than characters. */
interface Starts {
  /** Whether any text begins with these two bytes: sorts out most places without a look-up. */
  readonly pairs: Uint8Array;
  readonly entries: Map<number, Entry[]>;
}

interface Entry {
  readonly bytes: Uint8Array;
  readonly id: number;
}

/** Finds rules by the texts they require. A rule whose requirement is unknown is always a candidate. */
export function createRuleIndex(rules: readonly WordingRule[]): RuleIndex {
  const ids = new Map([...new Set(rules)].map((rule, id) => [rule, id]));
  const always = new Uint8Array(ids.size);
  const starts: Starts = { pairs: new Uint8Array(65_536), entries: new Map<number, Entry[]>() };
  for (const [rule, id] of ids) {
    const literals = requiredLiterals(rule.pattern);
    if (literals === undefined) always[id] = 1;
    for (const literal of literals ?? []) {
      const bytes = encoder.encode(literal);
      const pair = pairAt(bytes, 0);
      starts.pairs[pair] = 1;
      const start = pair * 256 + byteAt(bytes, 2);
      starts.entries.set(start, [...(starts.entries.get(start) ?? []), { bytes, id }]);
    }
  }
  return {
    indexed: (given) => given.map((rule) => ({ rule, id: idOf(ids, rule) })),
    candidates: (text) => findCandidates(text, always, starts),
  };
}

function idOf(ids: ReadonlyMap<WordingRule, number>, rule: WordingRule): number {
  const id = ids.get(rule);
  assert(id !== undefined, `The rule for "${rule.seen}" is not in the index`);
  return id;
}

function findCandidates(text: string, always: Uint8Array, { pairs, entries }: Starts): Uint8Array {
  const found = always.slice();
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length - 2; at += 1) {
    const pair = pairAt(bytes, at);
    if (pairs[pair] === 0) continue;
    for (const entry of entries.get(pair * 256 + byteAt(bytes, at + 2)) ?? none) {
      if (found[entry.id] === 0 && standsAt(bytes, at, entry.bytes)) found[entry.id] = 1;
    }
  }
  return found;
}

const encoder = new TextEncoder();
const none: readonly Entry[] = [];

function standsAt(bytes: Uint8Array, at: number, literal: Uint8Array): boolean {
  for (let offset = 3; offset < literal.length; offset += 1) {
    if (bytes[at + offset] !== literal[offset]) return false;
  }
  return true;
}

function pairAt(bytes: Uint8Array, at: number): number {
  return byteAt(bytes, at) * 256 + byteAt(bytes, at + 1);
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
