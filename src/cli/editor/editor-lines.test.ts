import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../view/text-width.ts';
import { beginEdit, edit, replaceText } from './edit.ts';
import { editorLines } from './editor-lines.ts';

const screen = { columns: 10, maxRows: 5, prompt: '> ' } as const;

describe('editorLines()', () => {
  it.each([
    { what: 'an empty text', text: '', lines: ['> '], cursor: { row: 0, column: 2 } },
    {
      what: 'an escape sequence that was pasted',
      text: '\u001b[2J',
      lines: ['> <U+001B>', '  [2J'],
      cursor: { row: 1, column: 5 },
    },
    {
      what: 'a line that is too long',
      text: 'abcdefghij',
      lines: ['> abcdefgh', '  ij'],
      cursor: { row: 1, column: 4 },
    },
    {
      what: 'a line that just fits',
      text: 'abcdefgh',
      lines: ['> abcdefgh', '  '],
      cursor: { row: 1, column: 2 },
    },
    { what: 'several lines', text: 'a\n\nb', lines: ['> a', '  ', '  b'], cursor: { row: 2, column: 3 } },
    {
      what: 'wide characters',
      text: '日本語日本',
      lines: ['> 日本語日', '  本'],
      cursor: { row: 1, column: 4 },
    },
  ])('shows $what', ({ text, lines, cursor }) => {
    expect(editorLines(replaceText(beginEdit(), text), screen)).toEqual({ lines, cursor });
  });

  it('shows the lines around the cursor where there are too many', () => {
    const state = replaceText(beginEdit(), '1\n2\n3\n4\n5\n6\n7\n8\n9');
    expect(editorLines(state, screen).lines).toEqual(['  5', '  6', '  7', '  8', '  9']);
    const above = ['up', 'up', 'up', 'up', 'up', 'up'].reduce((moved) => edit(moved, { type: 'up' }), state);
    expect(editorLines(above, screen)).toMatchObject({
      lines: ['> 1', '  2', '  3', '  4', '  5'],
      cursor: { row: 2 },
    });
  });

  it('shows a character that is wider than the screen by its parts', () => {
    const note = '\u{1D158}\u{1D165}\u{1D16E}';
    const { lines } = editorLines(replaceText(beginEdit(), note), { ...screen, columns: 2 });
    expect(lines.every((line) => columnsOf(line) <= 2)).toBe(true);
    expect(lines.join('')).toBe(note);
  });

  it('keeps every line and the cursor on the screen, whatever the text and the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const { lines, cursor } = editorLines(replaceText(beginEdit(), text), { ...screen, columns });
        expect(lines.length).toBeLessThanOrEqual(screen.maxRows);
        expect(lines.every((line) => columnsOf(line) <= Math.max(columns, 2))).toBe(true);
        expect(cursor?.row).toBeLessThan(lines.length);
        expect(cursor?.column).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
