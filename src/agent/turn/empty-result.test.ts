import { describe, expect, it } from 'vitest';
import { looksEmpty } from './empty-result.ts';

describe('looksEmpty()', () => {
  it.each([
    'No results found.',
    'Nothing found',
    '0 results',
    'Not found.',
    'none',
    '[]',
    ' [ ] ',
    '{"results":[],"total":0}',
    'No matches for "tariff 2019"',
  ])('knows %j as nothing', (text) => {
    expect(looksEmpty(text)).toBe(true);
    expect(looksEmpty([{ type: 'text', text }])).toBe(true);
  });

  it.each([
    '',
    ' ',
    'null',
    '{}',
    'ok',
    'done',
    '0',
    '[0]',
    '{"total":0}',
    '{"results":[],"note":"try later"}',
    '[broken',
    'Nothing was lost: all 3 files are written',
    'Not found in the cache, so it was fetched: 17',
    `No results${' '.repeat(300)}`,
  ])('takes %j for an answer', (text) => {
    expect(looksEmpty(text)).toBe(false);
  });

  it('takes several parts for an answer', () => {
    expect(looksEmpty([])).toBe(false);
    expect(
      looksEmpty([
        { type: 'text', text: 'No results' },
        { type: 'text', text: 'but this' },
      ]),
    ).toBe(false);
  });
});
