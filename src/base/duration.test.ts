import { describe, expect, it } from 'vitest';
import { duration } from './duration.ts';

describe('duration', () => {
  it.each([
    { ms: undefined, text: 'an unknown time' },
    { ms: Number.NaN, text: 'an unknown time' },
    { ms: -1, text: 'an unknown time' },
    { ms: 0, text: '0 ms' },
    { ms: 340.4, text: '340 ms' },
    { ms: 4200, text: '4.2 s' },
    { ms: 90_000, text: '1 min 30 s' },
    { ms: 120_000, text: '2 min' },
    { ms: 7_200_000, text: '2 h' },
    { ms: 7_500_000, text: '2 h 5 min' },
  ])('says $ms as $text', ({ ms, text }) => {
    expect(duration(ms)).toBe(text);
  });
});
