import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';
import type { DiffHunk, LineDiff } from './line-diff.ts';

const signs = { same: ' ', removed: '-', added: '+' } as const;

const shown = ({ hunks }: LineDiff): readonly string[] =>
  hunks.flatMap(({ lines }) =>
    lines.map(({ type, text, isUnended }) => `${signs[type]}${text}${isUnended === true ? '\\' : ''}`),
  );

describe('lineDiff()', () => {
  it.each([
    { what: 'nothing', before: 'a\nb\n', after: 'a\nb\n', lines: [] },
    {
      what: 'a line that was changed',
      before: 'a\nb\nc\n',
      after: 'a\nx\nc\n',
      lines: [' a', '-b', '+x', ' c'],
    },
    { what: 'a new file', before: '', after: 'a\nb\n', lines: ['+a', '+b'] },
    { what: 'a file that is empty now', before: 'a\n', after: '', lines: ['-a'] },
    { what: 'a line break that is gone', before: 'a\n', after: 'a', lines: ['-a', '+a\\'] },
    { what: 'a line in the middle', before: 'a\nc\n', after: 'a\nb\nc\n', lines: [' a', '+b', ' c'] },
    { what: 'a carriage return', before: 'a\n', after: 'a\r\n', lines: ['-a', '+a\r'] },
    { what: 'what was moved', before: 'a\nb\nc\n', after: 'c\na\nb\n', lines: ['+c', ' a', ' b', '-c'] },
  ])('tells $what', ({ before, after, lines }) => {
    expect(shown(lineDiff(before, after))).toEqual(lines);
  });

  it('leaves out what is far from a change, and says where each piece stands', () => {
    const before = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`);
    const after = before.with(4, 'x\n').with(24, 'y\nz\n');
    const { hunks, added, removed } = lineDiff(before.join(''), after.join(''), 1);
    expect({ added, removed }).toEqual({ added: 3, removed: 2 });
    expect(hunks.map(({ fromBefore, fromAfter, lines }) => [fromBefore, fromAfter, lines.length])).toEqual([
      [4, 4, 4],
      [24, 24, 5],
    ]);
  });

  it('gives up on the shortest difference of two large texts that have little in common', () => {
    const text = (name: string): string =>
      Array.from({ length: 5000 }, (_, index) => `${name}${index}\n`).join('');
    const found = lineDiff(`a\n${text('x')}b\n`, `a\n${text('y')}b\n`);
    expect(found).toMatchObject({ added: 5000, removed: 5000, isCoarse: true });
  });

  it('needs no search where there was nothing before', () => {
    expect(lineDiff('', 'a\n'.repeat(5000))).toMatchObject({ added: 5000, removed: 0, isCoarse: false });
  });

  it('always leads from the one text to the other', () => {
    const texts = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 20 });
    const ends = fc.constantFrom('', 'a', 'z');
    fc.assert(
      fc.property(texts, texts, ends, (one, other, end) => {
        const [before, after] = [one.join(''), other.join('') + end];
        const { hunks, added, removed } = lineDiff(before, after, 100);
        const isSame = before === after;
        expect(sideOf(hunks, 'added')).toBe(isSame ? '' : before);
        expect(sideOf(hunks, 'removed')).toBe(isSame ? '' : after);
        expect(added + removed).toBeLessThanOrEqual(one.length + other.length + 1);
      }),
      { numRuns: 1000, seed: 6 },
    );
  });
});

/** The text of one side: all lines but those of the other. */
function sideOf(hunks: readonly DiffHunk[], without: 'added' | 'removed'): string {
  return hunks
    .flatMap(({ lines }) => lines)
    .filter(({ type }) => type !== without)
    .map(({ text, isUnended }) => (isUnended === true ? text : `${text}\n`))
    .join('');
}
