import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextBuilder } from './text-builder.ts';

describe('createTextBuilder()', () => {
  it('gives what a plain concatenation gives', () => {
    const pieces = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x'.repeat(5000))));
    fc.assert(
      fc.property(fc.string(), pieces, (first, rest) => {
        const builder = createTextBuilder(first);
        for (const piece of rest) builder.append(piece);
        expect(builder.read()).toBe(first + rest.join(''));
        expect(builder.read()).toBe(first + rest.join(''));
      }),
    );
  });
});
