import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { keepOutput } from './bounded-output.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

it.each([
  { what: 'nothing', chunks: [], max: 10, text: '', bytes: 0, omitted: 0 },
  {
    what: 'exactly as much as fits',
    chunks: ['01234', '56789'],
    max: 10,
    text: '0123456789',
    bytes: 10,
    omitted: 0,
  },
  {
    what: 'one byte too many',
    chunks: ['0123456789x'],
    max: 10,
    text: '01234\n… 1 bytes left out …\n6789x',
    bytes: 11,
    omitted: 1,
  },
  {
    what: 'many small pieces',
    chunks: 'abcdefghijklmnop'.split(''),
    max: 4,
    text: 'ab\n… 12 bytes left out …\nop',
    bytes: 16,
    omitted: 12,
  },
  {
    what: 'a character that is cut at both ends',
    chunks: ['€€€€€'],
    max: 8,
    text: '€\n… 9 bytes left out …\n€',
    bytes: 15,
    omitted: 9,
  },
])('keepOutput() keeps head and tail of $what', ({ chunks, max, text, bytes, omitted }) => {
  const keeper = keepOutput(max);
  for (const chunk of chunks) keeper.add(bytesOf(chunk));
  expect(keeper.finish()).toEqual({ text, bytes, omittedBytes: omitted });
});

it('a character that comes in two pieces is one character', () => {
  const keeper = keepOutput(100);
  const [first = 0, ...rest] = bytesOf('😀');
  keeper.add(Uint8Array.of(first));
  keeper.add(Uint8Array.from(rest));
  expect(keeper.finish().text).toBe('😀');
});

it('what is no UTF-8 is marked and does not throw, NUL included', () => {
  const keeper = keepOutput(100);
  keeper.add(Uint8Array.of(0, 0xff, 0x41, 0xc3));
  expect(keeper.finish()).toEqual({ text: '\0\ufffdA\ufffd', bytes: 4, omittedBytes: 0 });
});

it('whatever the pieces, the result is that of the whole, and what is kept and what is left out is all there was', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 60 }), (chunks, max) => {
      const byPiece = keepOutput(max);
      for (const chunk of chunks) byPiece.add(chunk);
      const atOnce = keepOutput(max);
      atOnce.add(Uint8Array.from(Buffer.concat(chunks)));
      const { text, bytes, omittedBytes } = byPiece.finish();
      expect({ text, bytes, omittedBytes }).toEqual(atOnce.finish());
      expect(bytes).toBe(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
      expect(bytes - omittedBytes).toBeLessThanOrEqual(max);
    }),
  );
});
