import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inTurn } from './in-turn.ts';

it('one that fails lets the next one begin, and work of another key does not wait', async () => {
  const seen: string[] = [];
  const first = inTurn('a', async () => {
    await sleep(20);
    seen.push('first');
    throw new Error('no disk');
  });
  const second = inTurn('a', () => Promise.resolve(seen.push('second')));
  await inTurn('b', () => Promise.resolve(seen.push('other')));
  await expect(first).rejects.toThrow('no disk');
  await second;
  expect(seen).toEqual(['other', 'first', 'second']);
});
