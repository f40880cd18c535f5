import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { hashText } from './hash.ts';
import type { Json } from './json.ts';

const anyJson = fc.jsonValue() as fc.Arbitrary<Json>;

function reversed(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: Json) => reversed(member));
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('canonicalJson()', () => {
  it('refuses what would overflow the stack, instead of cutting it', () => {
    expect(() => canonicalJson(nested(2001))).toThrow('nests more than 2000 levels deep');
    expect(canonicalJson(nested(1999))).toHaveLength(1999 * 2 + 1);
  });

  it('tells values apart that JSON tells apart', () => {
    const values: readonly Json[] = [
      '1',
      1,
      true,
      'true',
      null,
      'null',
      [],
      {},
      [[]],
      { a: [] },
      [1, 2],
      [2, 1],
      '',
    ];
    expect(new Set(values.map((value) => canonicalJson(value))).size).toBe(values.length);
  });

  it('keeps a member called __proto__ as a member', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}') as Json)).toBe(
      '{"__proto__":{"x":1},"b":1}',
    );
  });

  it('writes equal values alike, whatever the order of their members', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('writes JSON that reads back as the same value', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('hashText()', () => {
  it('is the SHA-256 that others compute', () => {
    expect(hashText('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
