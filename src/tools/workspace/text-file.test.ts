import { describe, expect, it } from 'vitest';
import { lineEndOf, readContent, splitLines, toBytes } from './text-file.ts';

describe('readContent()', () => {
  it.each([
    { bytes: [0x61, 0, 0x62], says: 'a binary file' },
    { bytes: [0x89, 0x50, 0x4e, 0x47, 0, 0], says: 'a PNG image' },
    { bytes: [0x50, 0x4b, 3, 4, 0], says: 'a ZIP archive (or an office document)' },
    { bytes: [0xff, 0xfe, 0x61, 0], says: 'UTF-16 text, which is not shown; convert it to UTF-8 first' },
    { bytes: [0xfe, 0xff, 0, 0x61], says: 'UTF-16 text, which is not shown; convert it to UTF-8 first' },
  ])('names what is no text: $says', ({ bytes, says }) => {
    expect(readContent(Buffer.from(bytes))).toEqual({ type: 'binary', says });
  });

  it('says that bytes are damaged, and shows the rest', () => {
    expect(readContent(Buffer.from([0x61, 0xe9, 0x62]))).toEqual({
      type: 'text',
      text: 'a\ufffdb',
      hasByteOrderMark: false,
      isDamaged: true,
    });
  });

  it.each(['', 'a', 'ü\r\n€', '\ufeffmarked\n', '\ufeff\ufeffmarked twice'])(
    'brings %j back, byte for byte',
    (text) => {
      const bytes = Buffer.from(text);
      const content = readContent(bytes);
      expect(content).toMatchObject({ type: 'text', isDamaged: false });
      expect(content.type === 'text' && toBytes(content.text, content).equals(bytes)).toBe(true);
    },
  );
});

describe('splitLines()', () => {
  it.each([
    { text: '', lines: [] },
    { text: 'a', lines: ['a'] },
    { text: 'a\n', lines: ['a'] },
    { text: '\n', lines: [''] },
    { text: 'a\r\nb\nc', lines: ['a', 'b', 'c'] },
    { text: 'a\n\n', lines: ['a', ''] },
  ])('$text', ({ text, lines }) => {
    expect(splitLines(text)).toEqual(lines);
  });
});

describe('lineEndOf()', () => {
  it.each([
    { text: 'a', end: '\n' },
    { text: 'a\r\nb\r\n', end: '\r\n' },
    { text: 'a\r\nb\nc\n', end: '\n' },
    { text: 'a\r\nb\r\nc\n', end: '\r\n' },
  ])('takes the one of most lines of $text', ({ text, end }) => {
    expect(lineEndOf(text)).toBe(end);
  });
});
