import * as fc from 'fast-check';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import { describe, expect, it } from 'vitest';
import { firstDifference, jsonFlaw } from './json-compare.ts';

const circular: { self?: unknown } = {};
circular.self = circular;

describe('jsonFlaw', () => {
  it.each([
    { value: { a: [{ b: undefined }] }, flaw: '.a[0].b is undefined' },
    { value: { 'a b': () => 1 }, flaw: '["a b"] is a function' },
    { value: [1n], flaw: '[0] is a bigint' },
    { value: { a: Number.NEGATIVE_INFINITY }, flaw: '.a is -Infinity' },
    { value: { at: new Date(0) }, flaw: '.at is a Date' },
    { value: { toJSON: () => 1 }, flaw: 'the value is an object with a toJSON of its own' },
    { value: circular, flaw: '.self is a cycle' },
    { value: { a: { [Symbol('x')]: 1 } }, flaw: '.a has a member named by a symbol' },
    // oxlint-disable-next-line no-sparse-arrays
    { value: [1, , 2], flaw: '[1] is undefined' },
    { value: undefined, flaw: 'the value is undefined' },
  ])('finds that $flaw', ({ value, flaw }) => {
    expect(jsonFlaw(value)).toBe(flaw);
  });

  it('finds nothing in JSON, nor in a value that occurs twice', () => {
    const twice = { a: 1 };
    expect(jsonFlaw([twice, twice, Object.create(null)])).toBeUndefined();
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonFlaw(value) === undefined));
  });
});

describe('firstDifference', () => {
  it.each([
    { left: 1, right: '1', path: '' },
    { left: { a: [1, { b: 2 }] }, right: { a: [1, { b: 3 }] }, path: '.a[1].b' },
    { left: [1], right: [1, 2], path: '[1]' },
    { left: { a: 1 }, right: { a: 1, b: null }, path: '.b' },
    { left: {}, right: [], path: '' },
    { left: null, right: {}, path: '' },
    { left: {}, right: JSON.parse('{"__proto__": 1}') as unknown, path: '.__proto__' },
  ])('of $left and $right is at "$path"', ({ left, right, path }) => {
    expect(firstDifference(left, right)?.path).toBe(path);
  });

  it('does not mind the order of members, nor a member that is undefined', () => {
    expect(firstDifference({ a: 1, b: 2, c: undefined }, { b: 2, a: 1 })).toBeUndefined();
  });

  it('finds none exactly where the JSON is the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const copy: unknown = JSON.parse(JSON.stringify(left));
        expect(firstDifference(left, copy)).toBeUndefined();
        const isSame = firstDifference(left, right) === undefined;
        expect(isSame).toBe(canonicalJson(left as Json) === canonicalJson(right as Json));
      }),
    );
  });
});
