import { describe, expect, it } from 'vitest';
import { createScreen, layoutRows } from './layout.ts';
import { wantsColour } from './paint.ts';

const terminal = { stdin: true, stdout: true, stderr: true };
const pipe = { stdin: false, stdout: false, stderr: false };

describe('wantsColour()', () => {
  it.each([
    { name: 'a pipe', env: {}, isTerminal: pipe, wanted: false },
    { name: 'NO_COLOR', env: { NO_COLOR: '1' }, isTerminal: terminal, wanted: false },
    { name: 'a dumb terminal', env: { TERM: 'dumb' }, isTerminal: terminal, wanted: false },
    { name: 'FORCE_COLOR=0', env: { FORCE_COLOR: '0' }, isTerminal: terminal, wanted: false },
    { name: 'a terminal', env: { TERM: 'xterm' }, isTerminal: terminal, wanted: true },
    { name: 'an empty NO_COLOR', env: { NO_COLOR: '' }, isTerminal: terminal, wanted: true },
    { name: 'FORCE_COLOR in a pipe', env: { FORCE_COLOR: '1' }, isTerminal: pipe, wanted: true },
    { name: 'both', env: { FORCE_COLOR: '1', NO_COLOR: '1' }, isTerminal: terminal, wanted: true },
  ])('says $wanted for $name', ({ env, isTerminal, wanted }) => {
    expect(wantsColour({ env, isTerminal })).toBe(wanted);
  });
});

describe('createScreen()', () => {
  it.each([
    [undefined, 80],
    [0, 80],
    [10, 40],
    [80, 80],
    [120, 100],
  ])('makes of %s columns a width of %s', (columns, width) => {
    expect(createScreen({ columns, env: {}, isTerminal: terminal }).width).toBe(width);
  });
});

describe('layoutRows()', () => {
  const rows = [{ label: 'why', text: 'one two three four five six', style: 'recovery' }] as const;
  const options = { width: 22, indent: 2, labelWidth: 6 };

  it('wraps the text beside its label', () => {
    const screen = { ...createScreen({ columns: 80, env: {}, isTerminal: pipe }), ...options };
    expect(layoutRows(rows, screen)).toEqual(['  why   one two three', '        four five six']);
  });

  it('paints every line for itself, so that a code never spans two', () => {
    const screen = { ...createScreen({ columns: 80, env: {}, isTerminal: terminal }), ...options };
    expect(layoutRows(rows, screen)).toEqual([
      '  \u001b[2mwhy\u001b[0m   \u001b[38;5;178mone two three\u001b[0m',
      '        \u001b[38;5;178mfour five six\u001b[0m',
    ]);
  });
});
