import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeBetween } from './changes.ts';
import { readListing } from './listing.ts';
import { tokenize } from './tokens.ts';

const lines = fc.array(fc.constantFrom('a', 'b', '', '  c'), { maxLength: 12 });

describe('changeBetween()', () => {
  it('names a text that stands in the file once, and makes the one content the other', () => {
    fc.assert(
      fc.property(lines, lines, (one, other) => {
        const [from, to] = [`begin\n${one.join('\n')}\nend`, `begin\n${other.join('\n')}\nend`];
        fc.pre(from !== to);
        const { before, after } = changeBetween('a.js', from, to);
        expect(from.split(before)).toHaveLength(2);
        expect(from.replace(before, () => after)).toBe(to);
      }),
      { numRuns: 500 },
    );
  });
});

describe('readListing()', () => {
  it.each([
    {
      name: 'numbers and tabs',
      shown: '1\tconst a = 1;\n2\t\n3\tdone();',
      content: 'const a = 1;\n\ndone();\n',
    },
    {
      name: 'a note below',
      shown: '1\ta\n2\tb\n3\tc\n\n(The last line has no line end.)',
      content: 'a\nb\nc\n',
    },
    { name: 'a field of JSON', shown: '{"content":"a\\nb"}', content: 'a\nb' },
    { name: 'nothing around it', shown: 'const a = 1;\n', content: 'const a = 1;\n' },
  ])('takes away $name', ({ shown, content }) => {
    expect(readListing(shown)).toBe(content);
  });
});

describe('tokenize()', () => {
  it('never throws and never loses its way, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (source) => {
        const tokens = tokenize(source);
        expect(tokens.map(({ start, end }) => source.slice(start, end))).toEqual(
          tokens.map(({ text }) => text),
        );
        expect(tokens.every(({ start }, place) => start >= (tokens[place - 1]?.end ?? 0))).toBe(true);
      }),
    );
  });

  it('tells a division from a pattern', () => {
    const types = tokenize('a / b / c; x = /d[/]e/g; return /f/').map(({ type }) => type);
    expect(types.filter((type) => type === 'regex')).toHaveLength(2);
  });
});
