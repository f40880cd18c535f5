import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from './glob-pattern.ts';

function matches(pattern: string, path: string): boolean {
  const glob = compileGlob(pattern);
  if (glob.type === 'invalid') throw new Error(`${glob.problem} at ${glob.at}`);
  return glob.matches(path);
}

describe('compileGlob()', () => {
  it.each([
    { pattern: 'a[b', at: 2, problem: /\[ is not closed/ },
    { pattern: 'a[', at: 2, problem: /\[ is not closed/ },
    { pattern: '[]', at: 1, problem: /\[ is not closed/ },
    { pattern: 'src/{a,b', at: 5, problem: /\{ is not closed/ },
    { pattern: '{a,{b,c}', at: 1, problem: /\{ is not closed/ },
    { pattern: '[z-a]', at: 2, problem: /backwards/ },
    { pattern: 'abc\\', at: 4, problem: /\\ stands at its end/ },
    { pattern: '{'.repeat(30) + '}'.repeat(30), at: 11, problem: /more than 10/ },
    { pattern: 'a'.repeat(1_000_000), at: 1001, problem: /1000000 characters/ },
    { pattern: '{a,b}'.repeat(200_000), at: 1001, problem: /at most 1000/ },
  ])('says where $problem', ({ pattern, at, problem }) => {
    expect(compileGlob(pattern)).toMatchObject({
      type: 'invalid',
      at,
      problem: expect.stringMatching(problem) as string,
    });
  });

  // Each of these keeps an engine that goes back busy for longer than anybody waits.
  it.each([
    { what: 'thirty stars', pattern: `${'*a'.repeat(30)}*b`, path: 'a'.repeat(4000) },
    { what: 'thirty double stars', pattern: `${'**/a/'.repeat(30)}b`, path: 'a/'.repeat(2000) },
    { what: 'twenty choices', pattern: `${'{a,a}'.repeat(150)}b`, path: 'a'.repeat(4000) },
    { what: 'nested choices', pattern: `${'{*,'.repeat(9)}x${'}'.repeat(9)}b`, path: 'a'.repeat(4000) },
    { what: 'stars in choices', pattern: `${'{*a,*b}'.repeat(100)}c`, path: 'ab'.repeat(2000) },
    { what: 'empty choices', pattern: `${'{,}'.repeat(300)}b`, path: 'a'.repeat(4000) },
  ])('takes bounded time for $what', ({ pattern, path }) => {
    expect(matches(pattern, path)).toBe(false);
  });

  it.each([
    { pattern: '*.ts', yes: ['a.ts', '.ts', '.hidden.ts'], no: ['a.tsx', 'src/a.ts', 'a.ts/b'] },
    { pattern: 'src/*.ts', yes: ['src/a.ts'], no: ['src/b/a.ts', 'a.ts'] },
    { pattern: '**/*.ts', yes: ['a.ts', 'src/a.ts', 'src/b/c/a.ts'], no: ['a.js', 'ats'] },
    { pattern: 'src/**', yes: ['src/a', 'src/a/b'], no: ['src', 'srcs/a'] },
    { pattern: 'src/**/b.ts', yes: ['src/b.ts', 'src/a/b.ts', 'src/a/c/b.ts'], no: ['src/ab.ts'] },
    { pattern: '**', yes: ['a', 'a/b', ''], no: [] },
    { pattern: 'a**b', yes: ['ab', 'axxb'], no: ['a/b'] },
    { pattern: 'a?c', yes: ['abc', 'a😀c'], no: ['ac', 'a/c', 'abbc'] },
    { pattern: '[a-c]x', yes: ['ax', 'cx'], no: ['dx', 'x', '/x'] },
    { pattern: '[!a-c]x', yes: ['dx', '😀x'], no: ['ax', '/x'] },
    { pattern: '[^a]', yes: ['b'], no: ['a', '/'] },
    { pattern: '[]a]', yes: [']', 'a'], no: ['b'] },
    { pattern: '[a-]', yes: ['a', '-'], no: ['b'] },
    { pattern: '{src,test}/**/*.{ts,tsx}', yes: ['src/a.ts', 'test/b/c.tsx'], no: ['lib/a.ts', 'src/a.js'] },
    { pattern: '{a,b{c,d}}e', yes: ['ae', 'bce', 'bde'], no: ['be', 'ce'] },
    { pattern: '{**/a,b}', yes: ['a', 'x/y/a', 'b'], no: ['x/b'] },
    { pattern: '{src/**,b}', yes: ['src/a/c', 'b'], no: ['c'] },
    { pattern: 'a{,b}', yes: ['a', 'ab'], no: ['abb'] },
    { pattern: '\\*\\{', yes: ['*{'], no: ['a{'] },
    { pattern: 'a,b}', yes: ['a,b}'], no: ['a'] },
    { pattern: '', yes: [''], no: ['a'] },
  ])('matches $pattern', ({ pattern, yes, no }) => {
    expect(yes.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(no.filter((path) => matches(pattern, path))).toEqual([]);
  });

  it('leaves braces alone where they have no meaning', () => {
    const glob = compileGlob('a{b,c}', { braces: false });
    expect(glob.type === 'glob' && glob.matches('a{b,c}')).toBe(true);
  });

  it('agrees with a regular expression on short patterns', () => {
    const part = fc.constantFrom('*', '?', 'a', 'b', '/', '[ab]', '{a,b*}');
    const asExpression: Readonly<Record<string, string>> = {
      '*': '[^/]*',
      '?': '[^/]',
      a: 'a',
      b: 'b',
      '/': '/',
      '[ab]': '[ab]',
      '{a,b*}': '(?:a|b[^/]*)',
    };
    const parts = fc
      .array(part, { maxLength: 6 })
      .filter((list) => list.every((sign, index) => sign !== '*' || list[index - 1] !== '*'));
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
    fc.assert(
      fc.property(parts, path, (list, text) => {
        const expression = new RegExp(`^${list.map((sign) => asExpression[sign]).join('')}$`);
        expect(matches(list.join(''), text)).toBe(expression.test(text));
      }),
      { seed: 20_260_615, numRuns: 2000 },
    );
  });

  it('never throws and always ends, whatever the pattern is', () => {
    const pattern = fc.string({
      unit: fc.constantFrom('*', '{', '}', ',', '[', ']', '!', '-', '\\', '/', 'a'),
    });
    fc.assert(
      fc.property(pattern, (text) => {
        const glob = compileGlob(text);
        expect(glob.type === 'glob' ? typeof glob.matches('a/b/a') : glob.at > 0).not.toBe(false);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});
