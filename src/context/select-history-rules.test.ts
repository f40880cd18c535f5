import { describe, expect, it } from 'vitest';
import { defaultSelection, resolveSelection } from './select-history-rules.ts';

const misuses: readonly { readonly what: string; readonly options: unknown; readonly says: string }[] = [
  { what: 'a text', options: 'lexical', says: 'must be an object' },
  { what: 'null', options: null, says: 'got null' },
  { what: 'a list', options: [], says: 'got a list' },
  { what: 'a misspelt field', options: { maxExchange: 3 }, says: 'did you mean "maxExchanges"?' },
  { what: 'a strange field', options: { zzz: 1 }, says: 'known are strategy, maxExchanges' },
  { what: 'an inherited name', options: { toString: 1 }, says: 'no field "toString"' },
  { what: 'a misspelt strategy', options: { strategy: 'lexicl' }, says: 'did you mean "lexical"?' },
  { what: 'a strategy of a wrong type', options: { strategy: 1 }, says: 'got 1' },
  { what: 'the result that is no strategy', options: { strategy: 'all' }, says: 'must be one of' },
  { what: 'no exchanges', options: { maxExchanges: 0 }, says: 'from 1 to 10000, got 0' },
  { what: 'half an exchange', options: { maxExchanges: 1.5 }, says: 'whole number' },
  { what: 'a number as text', options: { maxTokens: '9' }, says: 'got the text "9"' },
  { what: 'tokens without end', options: { maxTokens: Infinity }, says: 'got Infinity' },
  { what: 'NaN', options: { maxEmbedded: Number.NaN }, says: 'got NaN' },
  { what: 'keeping more than is shown', options: { maxExchanges: 2, keepLast: 3 }, says: 'at most' },
];

describe('resolveSelection()', () => {
  it.each(misuses)('refuses $what by name', ({ options, says }) => {
    expect(() => resolveSelection(options)).toThrow(
      expect.objectContaining({ code: 'CONFIG_ERROR', message: expect.stringContaining(says) as unknown }),
    );
  });

  it('gives the last 50 exchanges, bounded by tokens, where nobody says otherwise', () => {
    expect(resolveSelection(undefined)).toEqual(defaultSelection);
    expect(resolveSelection({ strategy: undefined })).toMatchObject({
      strategy: 'recency',
      maxExchanges: 50,
      maxTokens: 64_000,
    });
  });

  it('takes what is said, and lets the default of keepLast give way to it', () => {
    const rules = resolveSelection({ strategy: 'lexical', maxExchanges: 2, maxTokens: 100 });
    expect(rules).toMatchObject({ strategy: 'lexical', maxExchanges: 2, maxTokens: 100, keepLast: 2 });
  });
});
