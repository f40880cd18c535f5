import { describe, expect, it } from 'vitest';
import { describeNearest, findPlaces, showLine } from './find-match.ts';

describe('describeNearest()', () => {
  it.each([
    { what: 'only blanks are wanted', lines: ['a'], wanted: ' \n ' },
    { what: 'there are no lines', lines: [], wanted: 'a' },
    { what: 'no line is like it', lines: ['alpha', 'beta'], wanted: '0123456789' },
  ])('has nothing to say where $what', ({ lines, wanted }) => {
    expect(describeNearest(lines, wanted)).toBeUndefined();
  });

  it('prefers, among lines that begin alike, where the most lines agree', () => {
    const lines = ['if (a) {', '  x();', '}', 'if (a) {', '  y();', '  z();', '}'];
    expect(describeNearest(lines, 'if (a) {\n  y();\n  w();')).toBe(
      'its first 2 lines are at line 4, but line 6 is:   z();',
    );
  });

  it('says where the file ends too early', () => {
    expect(describeNearest(['alpha', 'beta'], 'beta\ngamma')).toBe(
      'the text begins at line 2, but the file ends before it does',
    );
  });

  it('looks past blank lines at the beginning', () => {
    expect(describeNearest(['alpha', 'beta'], '\nbeto')).toContain('line 1');
  });
});

describe('findPlaces()', () => {
  it('finds nothing in nothing', () => {
    expect(findPlaces('', 'a')).toEqual([]);
  });

  it('does not count overlapping places twice', () => {
    expect(findPlaces('aaaa', 'aa')).toEqual([0, 2]);
  });
});

describe('showLine()', () => {
  it('bounds a line and shows what cannot be seen', () => {
    expect(showLine('a\tb\u001b[2J')).toBe('a<U+0009>b<U+001B>[2J');
    expect(showLine('x'.repeat(1000)).length).toBeLessThan(130);
  });
});
