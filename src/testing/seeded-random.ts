import { assert } from '../base/assert.ts';
import type { Random } from '../base/clock.ts';

/**
 * Random numbers that the seed decides: the same seed gives the same numbers on every machine and every version of
 * Node, for only 32-bit integer arithmetic is used. The generator is sfc32 (a small fast counter, period at least 2^32,
 * passes the usual statistical suites). Not for secrets.
 *
 * @example const random = seededRandom(42); // 0.2…, the same in every run
 */
export function seededRandom(seed: number): Random {
  assert(Number.isSafeInteger(seed), `A seed must be a whole number, got ${seed}`);
  let a = seed | 0;
  // Bits above the 32nd count as well, so that seeds taken from a clock differ.
  let b = Math.floor(seed / 2 ** 32) | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;

  function next(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  // Neighbouring seeds begin alike; these rounds drive them apart.
  for (let round = 0; round < 20; round += 1) next();
  return next;
}
