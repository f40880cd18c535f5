import { describe, expect, it } from 'vitest';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { approvalLines } from './approval-lines.ts';
import type { ApprovalFacts } from './approval-lines.ts';
import { createPaint } from './paint.ts';
import { displayWidth } from './wrap.ts';

const screen = { width: 70, paint: createPaint(false) };

function request(tool: string, input: Json): PersonRequest {
  return {
    type: 'approval',
    id: 'run-7:2:0:approval',
    tool,
    input,
    hash: 'ab12cd34ef56aa99',
    why: 'this tool asks before every call',
    expiresAt: Date.UTC(2026, 10, 16, 9, 30, 5),
  };
}

const shown = (tool: string, input: Json, known?: string | ApprovalFacts): readonly string[] =>
  approvalLines(request(tool, input), screen, known);

/** What stands behind the bars. */
const exact = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => /^ {2}(?: *\d*|[+@-]?) [|:] ?(.*)$/.exec(line)?.[1] ?? []);

// eslint-disable-next-line no-control-regex
const obeyed = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

describe('approvalLines() shows what a terminal would obey', () => {
  const tricks = [
    { what: 'a cleared screen', text: 'rm -rf x \u001b[2J\u001b[H', mark: '<U+001B>' },
    { what: 'a line that is wiped away', text: 'rm -rf x\r echo ok', mark: '<U+000D>' },
    { what: 'a link', text: '\u001b]8;;http://evil\u0007ok\u001b]8;;\u0007', mark: '<U+0007>' },
    { what: 'a window title', text: '\u009d0;title\u009c', mark: '<U+009D>' },
    { what: 'a turned direction', text: 'echo \u202etxt.exe', mark: '<U+202E>' },
    { what: 'a zero-width space', text: 'echo a\u200bb', mark: '<U+200B>' },
    { what: 'a space that is none', text: 'echo\u00a0a', mark: '<U+00A0>' },
    { what: 'a backspace', text: 'rm x\b\b\b\becho', mark: '<U+0008>' },
  ];

  it.each(tricks)('in a command: $what', ({ text, mark }) => {
    const lines = shown('shell', { command: text });
    expect(lines.join('\n')).toContain(mark);
    expect(lines.filter((line) => obeyed.test(line))).toEqual([]);
  });

  it.each(tricks)('in a file: $what', ({ text, mark }) => {
    const lines = shown('write_file', { path: 'a.txt', content: `${text}\n` }, 'old\n');
    expect(lines.join('\n')).toContain(mark);
    expect(lines.filter((line) => obeyed.test(line))).toEqual([]);
  });

  it.each(tricks)('in a path, a folder, a label, a name: $what', ({ text }) => {
    const lines = [
      ...shown('write_file', { path: text, content: 'a' }),
      ...shown('shell', { command: 'ls', folder: text }, { sandboxLabel: text }),
      ...approvalLines({ ...request(text, { [text]: text }), why: text }, screen),
    ];
    expect(lines.filter((line) => obeyed.test(line))).toEqual([]);
  });
});

describe('approvalLines() hides nothing', () => {
  it('of a command that pushes its end out of sight by spaces', () => {
    const lines = shown('shell', { command: `echo ok${' '.repeat(20_000)}; rm -rf .` });
    expect(exact(lines)).toEqual(['echo ok<20,000 spaces>; rm -rf .']);
  });

  it('of a command that pushes its end out of sight by empty lines', () => {
    const lines = shown('shell', { command: `echo ok${'\n'.repeat(5000)}rm -rf .` });
    expect(exact(lines)).toEqual(['echo ok', '<4,999 empty lines>', 'rm -rf .']);
  });

  it('of a long line, whose rows cannot pass for lines of ours', () => {
    const command = `echo ${'a'.repeat(100)} ${'  yes       Runs nothing.'.repeat(3)}`;
    const lines = shown('shell', { command });
    expect(exact(lines).join('')).toBe(command);
    expect(lines.filter((line) => /^ {2}yes /.test(line))).toEqual([
      '  yes       Runs exactly this, this once.',
    ]);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(70);
  });

  it('of a blank at the end', () => {
    expect(exact(shown('shell', { command: 'rm x ' }))).toEqual(['rm x<U+0020>']);
  });

  it('without saying how many rows there are more, where to see them, and how it ends', () => {
    const command = Array.from({ length: 1000 }, (_, index) => `echo ${index + 1}`).join('\n');
    const lines = shown('shell', { command }, { command: 'npx rerail' });
    expect(exact(lines)).toHaveLength(200);
    expect(exact(lines).at(-1)).toBe('echo 1000');
    expect(lines.join('\n')).toContain(
      '800 more rows are not shown, and would take effect too. To see all: npx rerail show run-7 --json',
    );
  });

  it('of what comes last in megabytes, without taking long', () => {
    const long = shown('shell', { command: `echo ${'a'.repeat(5_000_000)}; rm -rf .` });
    expect(exact(long).at(-1)).toMatch(/a; rm -rf \.$/);
    const many = shown('write_file', { path: 'a', content: `${'a\n'.repeat(500_000)}the end\n` });
    expect(exact(many).at(-1)).toBe('the end');
    expect(many.join('\n')).toContain('499,801 more rows are not shown');
  });

  it('of what looks like a secret, for what is hidden cannot be judged', () => {
    const command = 'curl -H "x-api-key: $(rm -rf .)" password=hunter2hunter2';
    expect(exact(shown('shell', { command })).join('')).toBe(command);
  });
});

describe('approvalLines()', () => {
  it('shows a command with its folder, its sandbox and what it is bound to', () => {
    const facts = { sandboxLabel: 'Not contained: commands run with your rights.' };
    expect(shown('shell', { command: 'npm test', folder: 'web', timeoutMs: 5 }, facts)).toEqual([
      'May "shell" run?',
      '  why       this tool asks before every call',
      '   | npm test',
      '  folder    web',
      '  sandbox   Not contained: commands run with your rights.',
      '   | "timeoutMs": 5',
      '  hash      ab12cd34ef56',
      '  expires   2026-11-16 09:30:05 UTC. No answer by then denies it.',
      '  yes       Runs exactly this, this once.',
      '  no        Runs nothing. The model is informed of the denial.',
    ]);
  });

  it('numbers the lines of a command that has several', () => {
    expect(shown('shell', { command: 'cd web\n\tnpm test' }).slice(2, 4)).toEqual([
      '  1 | cd web',
      '  2 | <U+0009>npm test',
    ]);
  });

  it('shows a new file as lines that are added', () => {
    expect(shown('write_file', { path: 'a.txt', content: 'one\ntwo' }).slice(2, 6)).toEqual([
      '  file      a.txt, new: 2 added, 0 removed',
      '  + | one',
      '  + | two',
      '    | (no line break at the end)',
    ]);
  });

  it('shows a changed file as the difference', () => {
    const before = `${Array.from({ length: 20 }, (_, index) => index + 1).join('\n')}\n`;
    const lines = shown(
      'write_file',
      { path: 'a.txt', content: before.replace('\n10\n', '\nten\n') },
      before,
    );
    expect(lines.slice(2, 12)).toEqual([
      '  file      a.txt, changed: 1 added, 1 removed',
      '  @ | line 7',
      '    | 7',
      '    | 8',
      '    | 9',
      '  - | 10',
      '  + | ten',
      '    | 11',
      '    | 12',
      '    | 13',
    ]);
  });

  it('shows an edit as the difference that the tool itself would make', () => {
    const input = {
      path: 'a.txt',
      edits: [
        { oldText: 'b', newText: 'B' },
        { fromLine: 1, toLine: 1, newText: 'A' },
      ],
    };
    expect(shown('edit_file', input, 'a\r\nb\r\n').slice(3, 7)).toEqual([
      '  - | a<U+000D>',
      '  - | b<U+000D>',
      '  + | A<U+000D>',
      '  + | B<U+000D>',
    ]);
  });

  it.each([
    { what: 'does not fit', input: { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] }, preview: 'a\n' },
    {
      what: 'has no file',
      input: { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] },
      preview: undefined,
    },
    { what: 'is none', input: { path: 'a', edits: [5] }, preview: 'a\n' },
  ])('shows the arguments of an edit that $what', ({ input, preview }) => {
    const lines = shown('edit_file', input, { preview });
    expect(exact(lines)[0]).toBe('"path": "a"');
    expect(exact(lines)[1]).toBe(`"edits": ${JSON.stringify(input.edits)}`);
  });

  it('shows the arguments of any other tool as JSON, one to a line', () => {
    expect(exact(shown('refund', { order: 'A-1', cents: 500 }))).toEqual(['"order": "A-1"', '"cents": 500']);
    expect(exact(shown('ping', {}))).toEqual(['(no arguments)']);
    expect(exact(shown('odd', [1, 2]))).toEqual(['"input": [1,2]']);
  });

  it('says that arguments were repaired', () => {
    const mended = { ...request('refund', {}), isRepaired: true as const };
    expect(approvalLines(mended, screen).join(' ')).toContain('The model wrote broken arguments.');
  });

  it('asks about a call that may have happened', () => {
    const facts = { id: 'run-7:2:0:in-doubt:1', tool: 'refund', input: { cents: 5 }, hash: 'ab12' };
    const doubt: PersonRequest = { ...facts, type: 'in-doubt', why: 'nobody saw how it ended' };
    const lines = approvalLines(doubt, screen);
    expect(lines[0]).toBe('Did this call of "refund" happen?');
    expect(lines.join('\n')).toMatch(/happened .*\n.*\n? *not {7}It did not happen: it is made now\./);
  });

  it('says what must be fixed', () => {
    const lines = approvalLines({ type: 'mend', id: 'r:1:mend', why: 'The key was refused.' }, screen);
    expect(lines).toEqual(['Something must be fixed first', '  why       The key was refused.']);
  });
});
