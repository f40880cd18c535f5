import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyStrictJson } from './strict-json.ts';

const circular: unknown[] = [];
circular.push(circular);
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const throwing = {
  get field(): never {
    throw new Error('no');
  },
};

describe('copyStrictJson()', () => {
  it.each([
    { what: 'nothing', value: undefined },
    { what: 'NaN', value: [Number.NaN] },
    { what: 'a bigint', value: { a: 1n } },
    { what: 'a function', value: { a: () => 1 } },
    { what: 'a date', value: [new Date(0)] },
    { what: 'a map', value: new Map() },
    { what: 'a cycle', value: circular },
    { what: 'a hole', value: Array.from({ length: 3 }) },
    { what: 'a list too long to be meant', value: Array.from({ length: 300_000 }, () => 1) },
    { what: 'a revoked Proxy', value: revoked.proxy },
    { what: 'a getter that throws', value: throwing },
  ])('refuses $what', ({ value }) => {
    expect(copyStrictJson(value)).toBeUndefined();
  });

  it('gives the same JSON again, and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(JSON.stringify(copyStrictJson(value))).toBe(JSON.stringify(value));
      }),
    );
    const inner = { a: 1 };
    const copied = copyStrictJson({ inner, none: undefined });
    inner.a = 2;
    expect(copied).toEqual({ inner: { a: 1 } });
  });
});
