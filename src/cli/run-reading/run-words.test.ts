import { describe, expect, it } from 'vitest';
import { readSince } from './runs-query.ts';
import { agoText, eventsText, momentText, shellWord, statusWords } from './run-words.ts';
import { offsetText } from './timeline.ts';

describe('eventsText()', () => {
  it.each([
    { seqs: [4], text: 'event 4' },
    { seqs: [5, 4, 6], text: 'events 4-6' },
    { seqs: [2, 5, 6, 2], text: 'events 2, 5-6' },
    {
      seqs: Array.from({ length: 30 }, (_, index) => index * 2),
      text: 'events 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 18 more',
    },
  ])('$text', ({ seqs, text }) => {
    expect(eventsText(seqs)).toBe(text);
  });
});

describe('statusWords()', () => {
  it.each([
    { row: { status: 'running' }, text: 'interrupted', style: 'recovery' },
    { row: { status: 'running', owner: { id: 'x', untilMs: 1 } }, text: 'at work', style: undefined },
    { row: { status: 'suspended', reason: 'constructor' }, text: 'waits', style: 'recovery' },
    { row: { status: 'failed' }, text: 'failed', style: 'failure' },
    { row: { status: 'stopped', reason: 'rejected' }, text: 'stopped: rejected', style: 'failure' },
    { row: { status: 'completed' }, text: 'completed', style: undefined },
    { row: { status: 'completed', reason: 'denied:2' }, text: 'completed, 2 denied', style: undefined },
    { row: { status: 'completed', reason: 'denied:x' }, text: 'completed', style: undefined },
  ] as const)('$row', ({ row, text, style }) => {
    expect(statusWords(row)).toEqual(style === undefined ? { text } : { text, style });
  });
});

describe('times', () => {
  it.each([
    { ms: -5, text: '+0 ms' },
    { ms: 999.4, text: '+999 ms' },
    { ms: 12_345, text: '+12.3 s' },
    { ms: 59_999, text: '+59.9 s' },
    { ms: 303_000, text: '+5:03' },
    { ms: 7_503_000, text: '+2:05:03' },
    { ms: 400 * 3_600_000, text: '+16 d' },
  ])('since the beginning: $text', ({ ms, text }) => {
    expect(offsetText(ms)).toBe(text);
    expect(text.length).toBeLessThan(10);
  });

  it.each([
    { ms: 0, text: 'just now' },
    { ms: -1000, text: 'just now' },
    { ms: 59_000, text: '59 s ago' },
    { ms: 3_599_000, text: '59 min ago' },
    { ms: 47 * 3_600_000, text: '47 h ago' },
    { ms: 72 * 3_600_000, text: '3 days ago' },
  ])('before now: $text', ({ ms, text }) => {
    expect(agoText(1e12 - ms, 1e12)).toBe(text);
  });

  it('whatever a record holds', () => {
    expect(momentText(1e300)).toBe('+275760-09-13 00:00:00 UTC');
  });

  it.each([
    { given: '90s', ms: 90_000 },
    { given: '2H', ms: 7_200_000 },
    { given: '1 d', ms: 86_400_000 },
    { given: '2w', ms: 1_209_600_000 },
  ])('as they are typed: $given', ({ given, ms }) => {
    expect(1e12 - readSince(given, 1e12)).toBe(ms);
  });

  it.each([{ given: '' }, { given: '2y' }, { given: '-2h' }, { given: '2026' }, { given: '2026-99-99' }])(
    'that are none: "$given"',
    ({ given }) => {
      expect(() => readSince(given, 0)).toThrow('--since must be a time');
    },
  );
});

describe('shellWord()', () => {
  it.each([
    { text: 'runs.db', word: 'runs.db' },
    { text: 'my runs.db', word: "'my runs.db'" },
    { text: "it's; rm -rf /", word: String.raw`'it'\''s; rm -rf /'` },
    { text: '$(x)', word: "'$(x)'" },
  ])('$word', ({ text, word }) => {
    expect(shellWord(text)).toBe(word);
  });
});
