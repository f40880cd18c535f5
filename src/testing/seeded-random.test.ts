import { describe, expect, it } from 'vitest';
import { seededRandom } from './seeded-random.ts';

const draw = (seed: number, count: number): readonly number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random());
};

describe('seededRandom', () => {
  it.each([Number.NaN, 0.5, Infinity, 2 ** 60])('refuses the seed %s', (seed) => {
    expect(() => seededRandom(seed)).toThrow('whole number');
  });

  it('gives the same numbers for the same seed, on every platform', () => {
    expect(draw(42, 3)).toMatchInlineSnapshot(`
      [
        0.26792271714657545,
        0.15968129527755082,
        0.17935229162685573,
      ]
    `);
  });

  it.each([
    [0, 1],
    [1, -1],
    [7, 7 + 2 ** 32],
  ])('gives other numbers for %d than for %d', (one, other) => {
    const shared = draw(one, 50).filter((value, index) => value === draw(other, 50)[index]);
    expect(shared).toEqual([]);
  });

  it('stays in [0, 1) and spreads evenly', () => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (const value of draw(1, 10_000)) {
      expect(value >= 0 && value < 1).toBe(true);
      const bucket = Math.floor(value * 10);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1150);
  });
});
