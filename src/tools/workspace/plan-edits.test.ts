import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksEdited, planEdits } from './plan-edits.ts';
import type { Edit } from './plan-edits.ts';

const source = [
  'import a from "a";',
  '',
  'export function main() {',
  '  const one = 1;',
  '  return one;',
  '}',
  '',
].join('\n');

describe('planEdits() refuses, in words,', () => {
  it('more places than it makes, instead of leaving some as they were', () => {
    const edit: Edit = { type: 'text', oldText: 'a', newText: 'b', replaceAll: true };
    expect(planEdits('a.ts', 'a'.repeat(100_000), [edit]).places).toBe(100_000);
    expect(() => planEdits('a.ts', 'a'.repeat(100_001), [edit])).toThrow(
      'more than 100000 matches for "a" in a.ts, and no edit is made at so many',
    );
  });

  it.each([
    {
      what: 'what is not there',
      edits: [text('const uno = 1;', '')],
      says: 'no match for "const uno = 1;" in src/a.ts; nearest line 4:   const one = 1;',
    },
    {
      what: 'what differs in its blanks',
      edits: [text('\tconst one = 1;', 'x')],
      says: 'nearest line 4:   const one = 1; (only the blanks differ)',
    },
    {
      what: 'what begins right and goes on wrong',
      edits: [text('  const one = 1;\n  return two;', 'x')],
      says: 'its first line is at line 4, but line 5 is:   return one;',
    },
    { what: 'what is like no line', edits: [text('%%%%%%%', 'x')], says: 'no line is like it' },
    {
      what: 'what is there more than once',
      edits: [text('one', 'two')],
      says: '2 matches for "one" in src/a.ts, on lines 4, 5; give more of the text around the one you mean, or set replaceAll',
    },
    { what: 'nothing as the old text', edits: [text('', 'x')], says: 'oldText is empty' },
    { what: 'a change into the same', edits: [text('one = 1', 'one = 1')], says: 'nothing would change' },
    {
      what: 'lines past the end',
      edits: [lines(7, 7, 'x')],
      says: 'lines 7 to 7 are not in src/a.ts: it has 6 lines',
    },
    { what: 'a beginning far past the end', edits: [lines(9, 6, 'x')], says: 'it has 6 lines' },
    { what: 'an end before the beginning', edits: [lines(4, 2, 'x')], says: 'to insert, let toLine be 3' },
    {
      what: 'edits that overlap',
      edits: [text('const one = 1;', 'x'), lines(3, 4, 'y')],
      says: 'two edits of src/a.ts overlap at line 4',
    },
  ])('$what', ({ edits, says }) => {
    expect(() => planEdits('src/a.ts', source, edits)).toThrow(says);
  });
});

describe('planEdits()', () => {
  it.each([
    { what: 'replaces a text', before: 'a b c', edits: [text('b', 'x')], after: 'a x c' },
    {
      what: 'replaces every place',
      before: 'a b b',
      edits: [{ ...text('b', 'xx'), replaceAll: true }],
      after: 'a xx xx',
    },
    {
      what: 'takes every edit from the text as it is',
      before: 'a b',
      edits: [text('b', 'a'), text('a', 'b')],
      after: 'b a',
    },
    { what: 'replaces lines', before: '1\n2\n3\n', edits: [lines(2, 3, 'x\ny')], after: '1\nx\ny\n' },
    { what: 'removes lines', before: '1\n2\n3\n', edits: [lines(2, 2, '')], after: '1\n3\n' },
    { what: 'makes an empty line', before: '1\n2\n', edits: [lines(2, 2, '\n')], after: '1\n\n' },
    { what: 'inserts before a line', before: '1\n2\n', edits: [lines(2, 1, 'x')], after: '1\nx\n2\n' },
    { what: 'appends', before: '1\n', edits: [lines(2, 1, 'x')], after: '1\nx\n' },
    { what: 'fills an empty file', before: '', edits: [lines(1, 0, 'x')], after: 'x\n' },
    {
      what: 'keeps that the last line has no end',
      before: '1\n2',
      edits: [lines(2, 2, 'x\n')],
      after: '1\nx',
    },
    {
      what: 'appends where the last line has no end',
      before: '1\n2',
      edits: [lines(3, 2, 'x\n')],
      after: '1\n2\nx',
    },
    { what: 'removes a last line that has no end', before: '1\n2', edits: [lines(2, 2, '')], after: '1' },
    { what: 'removes the only line', before: '1', edits: [lines(1, 1, '')], after: '' },
    {
      what: 'writes the line ends of the file',
      before: '1\r\n2\r\n3\r\n',
      edits: [text('2\n3', 'x\ny')],
      after: '1\r\nx\r\ny\r\n',
    },
    {
      what: 'takes line ends of either kind from the model',
      before: '1\n2\n',
      edits: [text('1\r\n2', 'x\r\ny')],
      after: 'x\ny\n',
    },
    {
      what: 'keeps mixed line ends elsewhere',
      before: '1\r\n2\n3\r\n4\r\n',
      edits: [lines(3, 3, 'x')],
      after: '1\r\n2\nx\r\n4\r\n',
    },
    { what: 'keeps $ signs', before: 'a', edits: [text('a', '$&$1')], after: '$&$1' },
  ])('$what', ({ before, edits, after }) => {
    expect(planEdits('a', before, edits).text).toBe(after);
  });

  it('leaves every other line as it is, byte for byte, whatever their ends', () => {
    const line = fc.tuple(fc.constantFrom('a', 'b', '', 'long line'), fc.constantFrom('\n', '\r\n'));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), fc.nat(), (rows, chosen) => {
        const at = chosen % rows.length;
        const before = rows.map((row) => row.join(''));
        const { text: after } = planEdits('a', before.join(''), [lines(at + 1, at + 1, 'NEW')]);
        const head = before.slice(0, at).join('');
        const tail = before.slice(at + 1).join('');
        expect(after.startsWith(head)).toBe(true);
        expect(after.endsWith(tail)).toBe(true);
        expect(after.slice(head.length, after.length - tail.length).trim()).toBe('NEW');
      }),
    );
  });

  it('finds its way in a large file in bounded time', () => {
    const large = 'a line of some length that is like many others\r\n'.repeat(100_000);
    expect(() => planEdits('a', large, [text('a line of some length that is like no others', 'x')])).toThrow(
      'nearest line 1',
    );
  });
});

describe('looksEdited()', () => {
  it.each([
    { what: 'nothing was done', now: 'old', edits: [text('old', 'new')], isEdited: false },
    {
      what: 'the new is there and the old too',
      now: 'old new',
      edits: [text('old', 'new')],
      isEdited: false,
    },
    { what: 'something was only taken away', now: 'x', edits: [text('old', '')], isEdited: false },
    { what: 'lines cannot be known again', now: 'x\n', edits: [lines(1, 1, 'x')], isEdited: false },
    { what: 'the new stands in its place', now: 'a new', edits: [text('old', 'new')], isEdited: true },
    { what: 'the new holds the old', now: 'old\nnew', edits: [text('old', 'old\nnew')], isEdited: true },
  ])('$what', ({ now, edits, isEdited }) => {
    expect(looksEdited('a', now, edits)).toBe(isEdited);
  });
});

function text(oldText: string, newText: string): Edit {
  return { type: 'text', oldText, newText, replaceAll: false };
}

function lines(fromLine: number, toLine: number, newText: string): Edit {
  return { type: 'lines', fromLine, toLine, newText };
}
