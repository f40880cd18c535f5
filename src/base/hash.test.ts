import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint, hashText } from './hash.ts';

describe('hashText()', () => {
  it('is the SHA-256 that everybody else computes', () => {
    expect(hashText('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('fingerprint()', () => {
  it('tells texts apart that differ in one place, short and long', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 600 }), fc.nat(), (text, place) => {
        const at = place % (text.length + 1);
        const other = `${text.slice(0, at)}x${text.slice(at)}`;
        expect(fingerprint(other)).not.toBe(fingerprint(text));
        expect(fingerprint(text)).toBe(fingerprint(text.slice()));
      }),
    );
  });

  it('meets no other among a hundred thousand small results', () => {
    const seen = new Set<string>();
    for (let number = 0; number < 100_000; number += 1) seen.add(fingerprint(`{"n":${number}}`));
    expect(seen.size).toBe(100_000);
  });
});
