import { describe, expect, it } from 'vitest';
import { parseIgnoreRules } from './ignore-rules.ts';

describe('parseIgnoreRules()', () => {
  it.each([
    { rules: '', kept: ['a', 'a/b'], left: [] },
    { rules: '# a\n\n   \n', kept: ['a', '# a'], left: [] },
    { rules: 'a', kept: ['ab', 'b/ab'], left: ['a', 'b/a'] },
    { rules: 'a/', kept: ['a', 'ab/'], left: ['a/', 'b/a/'] },
    { rules: '/a', kept: ['b/a'], left: ['a', 'a/'] },
    { rules: 'a/b', kept: ['x/a/b', 'b'], left: ['a/b'] },
    { rules: '*.log\r\n!keep.log', kept: ['keep.log', 'x/keep.log'], left: ['a.log', 'x/a.log'] },
    { rules: '!keep.log\n*.log', kept: [], left: ['keep.log'] },
    { rules: '**/a', kept: ['ab'], left: ['a', 'x/a', 'x/y/a'] },
    { rules: 'a/**/b', kept: ['a/xb'], left: ['a/b', 'a/x/b', 'a/x/y/b'] },
    { rules: 'a/**', kept: ['a', 'b/a/x'], left: ['a/x', 'a/x/y'] },
    { rules: '{a,b}', kept: ['a', 'b'], left: ['{a,b}'] },
    { rules: '[ab].t?t', kept: ['c.txt'], left: ['a.txt', 'x/b.tst'] },
    { rules: String.raw`\#a`, kept: ['a'], left: ['#a'] },
    { rules: 'a  ', kept: ['a  '], left: ['a'] },
    { rules: '[open\na', kept: ['[open'], left: ['a'] },
    { rules: '/\n!\n', kept: ['a', 'a/'], left: [] },
  ])('reads $rules', ({ rules, kept, left }) => {
    const ignores = parseIgnoreRules(rules);
    // A slash at the end says that it is a folder.
    const isLeft = (path: string): boolean => ignores(path.replace(/\/$/, ''), path.endsWith('/'));
    expect(kept.filter(isLeft)).toEqual([]);
    expect(left.filter((path) => !isLeft(path))).toEqual([]);
  });

  it.each([
    { what: 'a rule of more than 200 characters', rules: `${'*'.repeat(200)}a\n*a*` },
    { what: 'what comes after 10,000 characters', rules: `*a*\n${`${'b'.repeat(199)}\n`.repeat(51)}!*a*` },
  ])('takes no notice of $what', ({ rules }) => {
    expect(parseIgnoreRules(rules)('xay', false)).toBe(true);
  });

  it('looks at 300 rules and no more', () => {
    const ignores = parseIgnoreRules([...Array(301).keys()].map((index) => `file-${index}`).join('\n'));
    expect(ignores('file-299', false)).toBe(true);
    expect(ignores('file-300', false)).toBe(false);
  });
});
