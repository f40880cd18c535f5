import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markdownStateAfter, noMarkdown, renderMarkdown } from './markdown.ts';
import { columnsOf } from './text-width.ts';
import { paintWith } from './view-paint.ts';

const plain = { columns: 30, ...paintWith(false) };
/** Looks in angle brackets, so that they can be read. */
const marked = {
  columns: 30,
  isColoured: true,
  paint: (look: string | undefined, text: string) => (look === undefined ? text : `<${look}>${text}</>`),
};

function render(text: string, screen: typeof marked | typeof plain = marked): readonly string[] {
  let state = noMarkdown;
  return text.split('\n').flatMap((line) => {
    const rendered = renderMarkdown(line, state, screen);
    ({ state } = rendered);
    return rendered.lines;
  });
}

describe('renderMarkdown()', () => {
  it.each([
    { what: 'a sequence that would clear the screen', text: 'a\u001b[2Jb', lines: ['a<U+001B>[2Jb'] },
    { what: 'a text that turns the reading direction', text: 'a\u202eb', lines: ['a<U+202E>b'] },
    {
      what: 'marks that are not closed',
      text: 'a **b and `c and 2 * 3 * 4',
      lines: ['a **b and `c and 2 * 3 * 4'],
    },
    { what: 'names with underscores', text: 'call my_own_tool now', lines: ['call my_own_tool now'] },
    { what: 'a heading', text: '## Findings ##', lines: ['<bold>Findings</>'] },
    { what: 'bold, italic and code', text: '**a** *b* `c`', lines: ['<bold>a</> <italic>b</> <code>c</>'] },
    { what: 'code in bold', text: '**a `b`**', lines: ['<bold>a</><bold> </><code>b</>'] },
    {
      what: 'a list',
      text: '- one two three four five six seven',
      lines: ['• one two three four five six', '  seven'],
    },
    { what: 'a numbered list', text: '10. one', lines: ['10. one'] },
    { what: 'a table as it is', text: '| a  |  b |', lines: ['| a  |  b |'] },
    {
      what: 'a block of code',
      text: '```ts\n  **a**\n```\n**b**',
      lines: ['<dim>```ts</>', '<code>  **a**</>', '<dim>```</>', '<bold>b</>'],
    },
    { what: 'a tab in code', text: '```\n\ta', lines: ['<dim>```</>', '<code>    a</>'] },
    { what: 'an emoji of several parts', text: '⚠\ufe0f ok', lines: ['⚠ ok'] },
  ])('shows $what', ({ text, lines }) => expect(render(text)).toEqual(lines));

  it('leaves the marks where there is no colour', () => {
    expect(render('# A\n**b** `c`\n- d', plain)).toEqual(['# A', '**b** `c`', '- d']);
  });

  it('breaks lines by the width of what is shown', () => {
    expect(render('日本語 '.repeat(6).trim(), plain)).toEqual([
      '日本語 日本語 日本語 日本語',
      '日本語 日本語',
    ]);
    expect(render('x'.repeat(65), plain)).toEqual(['x'.repeat(30), 'x'.repeat(30), 'xxxxx']);
  });

  it('knows after a cut whether it is in a block of code', () => {
    expect(markdownStateAfter('a\n```\nb\n')).toEqual({ fence: '```' });
    expect(markdownStateAfter('a\n```\nb\n```\n')).toEqual(noMarkdown);
  });

  it('lets nothing through that a terminal would obey, and no line is too wide', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 8, max: 60 }), (text, columns) => {
        const lines = render(text, { ...plain, columns });
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        expect(lines.every((line) => columnsOf(line) <= columns)).toBe(true);
      }),
    );
  });
});
