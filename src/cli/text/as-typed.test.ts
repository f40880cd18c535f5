import { describe, expect, it } from 'vitest';
import { asTyped } from './as-typed.ts';

describe('asTyped()', () => {
  it.each([
    { text: 'Type: rerail --help', typed: 'Type: npx rerail --help' },
    { text: 'Type: rerail chaos serve --script x', typed: 'Type: npx rerail chaos serve --script x' },
    {
      text: 'Type: curl -is … | rerail classify, or: rerail classify --status 429',
      typed: 'Type: curl -is … | npx rerail classify, or: npx rerail classify --status 429',
    },
    { text: 'Update the rerail package', typed: 'Update the rerail package' },
    { text: 'This is a defect in rerail. Report it', typed: 'This is a defect in rerail. Report it' },
    { text: 'Type: npx rerail run "…"', typed: 'Type: npx rerail run "…"' },
    { text: 'Look at x-rerail run', typed: 'Look at x-rerail run' },
  ])('says "$typed"', ({ text, typed }) => {
    expect(asTyped(text, 'npx rerail')).toBe(typed);
  });

  it('takes a command with signs that mean something to a replacement as it is', () => {
    expect(asTyped('Type: rerail runs', 'node "$& $1/main.js"')).toBe('Type: node "$& $1/main.js" runs');
  });
});
