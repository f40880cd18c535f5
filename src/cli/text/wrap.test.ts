import { describe, expect, it } from 'vitest';
import { displayWidth, wrap } from './wrap.ts';

describe('wrap()', () => {
  const cases: readonly (readonly [name: string, text: string, lines: readonly string[]])[] = [
    ['breaks a word that is longer than the line', 'abcdefghijklmno', ['abcdefghij', 'klmno']],
    ['fills up behind the rest of a broken word', 'abcdefghijkl mn', ['abcdefghij', 'kl mn']],
    ['breaks between words', 'one two three four', ['one two', 'three four']],
    ['counts East Asian characters as two columns', '请在三十秒后重试', ['请在三十秒', '后重试']],
    ['keeps line breaks and empty lines', 'a\n\nb', ['a', '', 'b']],
    ['keeps the indent of a line for what is broken off it', '  one two three', ['  one two', '  three']],
    ['leaves a short line alone', 'short', ['short']],
    ['makes one empty line of nothing', '', ['']],
  ];

  it.each(cases)('%s', (_name, text, lines) => {
    expect(wrap(text, 10)).toEqual(lines);
  });

  it('never makes a line that is too wide, and loses nothing but spaces', () => {
    const text = `${'x'.repeat(50)} 秒秒秒秒秒 a bb ccc 🚀🚀🚀🚀 ${'y '.repeat(30)}`;
    for (const width of [2, 3, 7, 20]) {
      const lines = wrap(text, width);
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }
  });
});

describe('displayWidth()', () => {
  it('counts nothing for a mark that sits on another character', () => {
    expect(displayWidth('e\u0301')).toBe(1);
  });
});
