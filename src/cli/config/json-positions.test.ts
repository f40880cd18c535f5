import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPositionedJson } from './json-positions.ts';

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

describe('readPositionedJson()', () => {
  it('takes and refuses the same texts as JSON.parse', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"\\n"',
      '"\\x"',
      '"\u0001"',
      '1',
      '-',
      '01',
      '1e5',
      '.5',
      'true',
      'nul',
      'null',
      ' ',
      '\n',
      '/',
      '\u2028',
    );
    const broken = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.json({ maxDepth: 5 }), broken), (text) => {
        const read = readPositionedJson(text);
        const expected = parse(text);
        expect(read.type === 'read' ? { value: read.value } : undefined).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('knows the line of every name', () => {
    const read = readPositionedJson('{\n"a": {\n\n"b": [1,\n2] },\n"c\\n": 3 }');
    const lines = read.type === 'read' ? Object.fromEntries(read.lines) : read;
    expect(lines).toEqual({ a: 2, 'a.b': 4, 'a.b[0]': 4, 'a.b[1]': 5, 'c\n': 6 });
  });

  it('reads a megabyte of text in one value', () => {
    const text = JSON.stringify({ a: 'x\\"'.repeat(250_000) });
    expect(readPositionedJson(text)).toMatchObject({ type: 'read' });
  });
});
