import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { copyPlain, deepFreeze } from './plain-copy.ts';

describe('deepFreeze()', () => {
  it('lets nobody change what lies deep inside', () => {
    const value = deepFreeze({ list: [{ n: 1 }] });
    expect(() => {
      (value.list[0] as { n: number }).n = 2;
    }).toThrow(TypeError);
    expect(value).toEqual({ list: [{ n: 1 }] });
  });
});

describe('copyPlain()', () => {
  it('keeps a member called __proto__ as a member', () => {
    const copy = copyPlain(JSON.parse('{"__proto__":{"polluted":true}}') as Json);
    expect(Object.keys(copy as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('is equal to what it was made from, and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const value = given as Json;
        const text = JSON.stringify(value);
        const copy = copyPlain(deepFreeze(value));
        expect(JSON.stringify(copy)).toBe(text);
        expect(typeof copy === 'object' && copy !== null && Object.isFrozen(copy) && text.length > 2).toBe(
          false,
        );
      }),
    );
  });
});
