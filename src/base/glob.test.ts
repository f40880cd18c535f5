import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesGlob } from './glob.ts';

describe('matchesGlob()', () => {
  it.each([
    { text: 'git_status', glob: 'git', fits: false },
    { text: 'Git_status', glob: 'git_*', fits: false },
    { text: 'a.b', glob: 'a?b', fits: false },
    { text: 'aa', glob: 'a*a*a', fits: false },
    { text: 'ab', glob: 'ab*b', fits: false },
    { text: 'axxb', glob: 'a*xxx*b', fits: false },
    { text: '', glob: '', fits: true },
    { text: '', glob: '*', fits: true },
    { text: 'anything\nat all', glob: '*', fits: true },
    { text: 'git_status', glob: 'git_*', fits: true },
    { text: 'read_file', glob: '*_file', fits: true },
    { text: 'a-b-c', glob: 'a*b*c', fits: true },
    { text: 'aaa', glob: 'a**a', fits: true },
    { text: '.*', glob: '.*', fits: true },
  ])('$text and $glob: $fits', ({ text, glob, fits }) => {
    expect(matchesGlob(text, glob)).toBe(fits);
  });

  it('agrees with a regular expression of the same meaning', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const words = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(words, letters, (text, glob) => {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text);
        expect(matchesGlob(text, glob)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('is quick with a pattern that makes others slow', () => {
    // Backtracking would take longer than the universe has.
    expect(matchesGlob(`${'a'.repeat(20_000)}b`, `${'a*'.repeat(200)}c`)).toBe(false);
  });
});
