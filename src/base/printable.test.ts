import { describe, expect, it } from 'vitest';
import { printable, printableJson, printableValue, visible } from './printable.ts';

const dangers: readonly (readonly [name: string, text: string, shown: string])[] = [
  ['an ANSI colour', 'a\u001b[31mb', 'a<U+001B>[31mb'],
  ['an ANSI screen wipe', '\u001b[2J\u001b[H', '<U+001B>[2J<U+001B>[H'],
  [
    'an OSC 8 link',
    '\u001b]8;;https://evil.test\u0007here\u001b]8;;\u0007',
    '<U+001B>]8;;https://evil.test<U+0007>here<U+001B>]8;;<U+0007>',
  ],
  [
    'an OSC 52 clipboard write',
    '\u001b]52;c;cm0gLXJm\u001b\\',
    String.raw`<U+001B>]52;c;cm0gLXJm<U+001B>${'\\'}`,
  ],
  ['a C1 control sequence introducer', 'a\u009b31mb', 'a<U+009B>31mb'],
  ['a C1 operating system command', '\u009d52;c;x\u009c', '<U+009D>52;c;x<U+009C>'],
  ['a next line', 'a\u0085b', 'a<U+0085>b'],
  ['a NUL', 'a\u0000b', 'a<U+0000>b'],
  ['a backspace and a delete', 'a\u0008\u007fb', 'a<U+0008><U+007F>b'],
  ['a bidi override', 'user\u202etxt.exe', 'user<U+202E>txt.exe'],
  ['bidi isolates and marks', '\u2066a\u2069\u200f\u061c', '<U+2066>a<U+2069><U+200F><U+061C>'],
  ['zero-width characters', 'a\u200bb\u200dc\u2060d\ufeffe', 'a<U+200B>b<U+200D>c<U+2060>d<U+FEFF>e'],
  ['a soft hyphen and a Hangul filler', 'a\u00adb\u3164c', 'a<U+00AD>b<U+3164>c'],
  ['tag characters', 'a\u{e0041}b', 'a<U+E0041>b'],
  ['a lone surrogate', 'a\ud83db', 'a<U+D83D>b'],
  ['a line and a paragraph separator', 'a\u2028b\u2029c', 'a<U+2028>b<U+2029>c'],
  ['a private-use character', 'a\ue0b0b', 'a<U+E0B0>b'],
];

describe('printable()', () => {
  it.each(dangers)('makes %s visible', (_name, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('leaves no line of its own to whoever sent the text', () => {
    expect(printable('one\r\n  hint: run this\rtwo\tthree')).toBe('one hint: run this two three');
  });

  it('keeps ordinary text in any script', () => {
    const text = 'Größe 请在 30 秒后重试 🚀 “quoted” café';
    expect(printable(text)).toBe(text);
  });
});

describe('printableJson()', () => {
  it.each(dangers)('keeps %s as an escape that reads back as it was', (_name, text) => {
    const json = printableJson({ text });
    expect(json).toMatch(/^[\u0020-\u007e]+$/);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it('keeps ordinary text as it is', () => {
    expect(printableJson({ text: '秒 🚀' })).toBe('{"text":"秒 🚀"}');
  });
});

describe('visible()', () => {
  it.each(dangers)('makes %s visible', (_name, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    { what: 'a line break', text: 'rm a\nrm b', shown: 'rm a<U+000A>rm b' },
    { what: 'a carriage return and a tab', text: 'a\r\tb', shown: 'a<U+000D><U+0009>b' },
    { what: 'a no-break space', text: 'rm -rf\u00a0/', shown: 'rm -rf<U+00A0>/' },
    { what: 'an ideographic space', text: 'a\u3000b', shown: 'a<U+3000>b' },
    { what: 'plain spaces, all of them and as they are', text: '  a  b ', shown: '  a  b ' },
  ])('shows $what', ({ text, shown }) => {
    expect(visible(text)).toBe(shown);
  });
});

describe('printableValue()', () => {
  it('reaches names and members at every depth, and keeps numbers and the shape', () => {
    expect(printableValue({ 'a\u001b': ['b\u202e', 1, null, { c: true }] })).toEqual({
      'a<U+001B>': ['b<U+202E>', 1, null, { c: true }],
    });
  });
});
