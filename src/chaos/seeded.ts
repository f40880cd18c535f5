import type { Random } from '../base/clock.ts';
import { hashText } from '../providers/simulated/hash-text.ts';
import { seededRandom } from '../testing/seeded-random.ts';

/** A random source of its own for each key, so that the order in which requests overlap changes nothing. */
export function randomFor(seed: number, key: number | string): Random {
  return seededRandom(hashText(`${seed}:${key}`));
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Letters and digits as providers make their ids of them. */
export function seededId(random: Random, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(Math.floor(random() * alphabet.length))).join('');
}
