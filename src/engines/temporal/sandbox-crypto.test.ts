import { hash as nodeHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHash, hash } from './sandbox-crypto.ts';

describe('hash() inside a workflow', () => {
  it('refuses what it cannot do', () => {
    expect(() => hash('md5', 'a', 'hex')).toThrow(/only sha256/);
  });

  it('gives the digests of node:crypto, whatever the text and its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(hash('sha256', text, 'hex')).toBe(nodeHash('sha256', text, 'hex'));
        expect(hash('sha256', text, 'base64url')).toBe(nodeHash('sha256', text, 'base64url'));
        expect(createHash('sha256').update(text).digest('hex')).toBe(nodeHash('sha256', text, 'hex'));
      }),
      { seed: 7 },
    );
  });
});
