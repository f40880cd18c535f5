import { describe, expect, it } from 'vitest';
import { judgePattern } from './pattern-cost.ts';

describe('judgePattern()', () => {
  it.each([
    '(a+)+$',
    '^(a*)*$',
    '([a-zA-Z]+)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(a|aa)+$',
    '(a|a?)+$',
    '(.*a){20}',
    '(?:\\d+|x)*y',
    '^(?<word>\\w+\\s?)*$',
    '(a?){30}a{30}',
    '((ab)*)*c',
    '(a{1,50}){2,}',
  ])('refuses %s', (pattern) => {
    expect(judgePattern(pattern)).toMatchObject({ type: 'dangerous' });
  });

  it.each([
    { pattern: '^\\d{4}-\\d{2}-\\d{2}$', maxTextLength: Infinity },
    { pattern: '\\S', maxTextLength: Infinity },
    { pattern: '^[a-z_]+$', maxTextLength: Infinity },
    { pattern: '[a-z]+@', maxTextLength: 10_000 },
    { pattern: '^[^@]+@[^@]+$', maxTextLength: 10_000 },
    { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxTextLength: 1000 },
    { pattern: '^(?:[a-z]+\\.)*[a-z]+$', maxTextLength: 1000 },
    { pattern: '^(foo|bar)+$', maxTextLength: Infinity },
    { pattern: '^(?:\\d{1,3}\\.){3}\\d{1,3}$', maxTextLength: Infinity },
    { pattern: '^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$', maxTextLength: Infinity },
    { pattern: '^\\(\\[a\\+\\)\\+$', maxTextLength: Infinity },
    { pattern: '^[(+)+*]$', maxTextLength: Infinity },
    { pattern: '.*.*.*=', maxTextLength: 200 },
    { pattern: '^.*.*.*.*.*=', maxTextLength: 100 },
  ])('allows $pattern on texts of $maxTextLength characters', ({ pattern, maxTextLength }) => {
    expect(judgePattern(pattern)).toEqual({ type: 'usable', maxTextLength });
  });

  it('judges a pattern as long as a book at once', () => {
    expect(judgePattern('(a|b)?'.repeat(100_000)).type).toBe('usable');
    expect(judgePattern('('.repeat(100_000)).type).toBe('usable');
  });
});
