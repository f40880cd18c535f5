import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { believable, maxDelayMs, parseDuration } from './duration.ts';

const seed = 20_270_117;

describe('parseDuration()', () => {
  it.each([
    '',
    'abc',
    '5',
    '5 apples',
    's',
    '-5s',
    ' 5s',
    '5 mins.ago'.slice(0, 0),
    '5 sx',
    'in 5s',
    '1e3s',
    'NaNs',
  ])('finds none at the start of "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('does not believe what nobody can mean', () => {
    expect(parseDuration('999999999999 days')).toBeUndefined();
    expect(parseDuration(`${'9'.repeat(400)} s`)).toBeUndefined();
  });

  it.each([
    ['1m47.5854s', 107_586],
    ['6ms', 6],
    ['19h14m47s', 69_287_000],
    ['2 hours', 7_200_000],
    ['5 days 10 hours', 468_000_000],
    ['5 days, 10 hours and 3 minutes', 468_180_000],
    ['45 seconds.', 45_000],
    ['1.5s', 1500],
    ['0s', 0],
    ['0.2ms', 1],
    ['7m12s later', 432_000],
    ['30 秒', 30_000],
  ])('reads "%s"', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it('begins where it is told to', () => {
    expect(parseDuration('try again in 20s', 13)).toBe(20_000);
  });

  it('reads back every duration that is written in whole units', () => {
    const units = fc.record({ d: fc.nat(400), h: fc.nat(23), m: fc.nat(59), s: fc.nat(59), ms: fc.nat(999) });
    const styles = fc.constantFrom(
      { d: 'd', h: 'h', m: 'm', s: 's', ms: 'ms', joint: '' },
      { d: ' days', h: ' hours', m: ' minutes', s: ' seconds', ms: ' milliseconds', joint: ' ' },
      { d: ' day', h: ' hr', m: ' min', s: ' sec', ms: 'ms', joint: ', ' },
    );
    fc.assert(
      fc.property(units, styles, (value, style) => {
        const parts = (['d', 'h', 'm', 's', 'ms'] as const).map((unit) => `${value[unit]}${style[unit]}`);
        const expected = (((value.d * 24 + value.h) * 60 + value.m) * 60 + value.s) * 1000 + value.ms;
        expect(parseDuration(parts.join(style.joint))).toBe(expected);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('never gives a number that cannot be waited for, whatever it reads', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9.]{0,20} ?(?:ms|s|m|h|days?)?.{0,10}$/), (text) => {
        const ms = parseDuration(text);
        expect(ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= maxDelayMs)).toBe(true);
      }),
      { seed, numRuns: 500 },
    );
  });
});

describe('believable()', () => {
  it.each([
    -1,
    -0.1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    maxDelayMs + 1,
    Number.MAX_VALUE,
  ])('refuses %d', (ms) => {
    expect(believable(ms)).toBeUndefined();
  });

  it('rounds up, so that nobody comes too early', () => {
    expect(believable(0.01)).toBe(1);
    expect(believable(0)).toBe(0);
    expect(believable(maxDelayMs)).toBe(maxDelayMs);
  });
});
