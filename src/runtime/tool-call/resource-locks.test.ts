import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResourceLocks } from './resource-locks.ts';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function isGranted(claim: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await turn();
  return (await Promise.race([claim, Promise.resolve(pending)])) !== pending;
}

describe('createResourceLocks()', () => {
  it('gives up the wait at the signal, and lets those behind go on', async () => {
    const locks = createResourceLocks();
    const release = await locks.acquire(['a'], { signal: never });
    const controller = new AbortController();
    const waiting = locks.acquire(['a', 'b'], { signal: controller.signal });
    const behind = locks.acquire(['b'], { signal: never });
    expect(await isGranted(behind)).toBe(false);
    controller.abort(new Error('no longer'));
    await expect(waiting).rejects.toThrow('no longer');
    expect(await isGranted(behind)).toBe(true);
    release();
    expect(await isGranted(locks.acquire(['a'], { signal: never }))).toBe(true);
  });

  it('refuses a signal that has aborted', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(createResourceLocks().acquire(['a'], { signal })).rejects.toThrow('too late');
  });

  it('lets different resources and no resource go at the same time', async () => {
    const locks = createResourceLocks();
    const claims = [['a'], ['b'], [], ['c', 'c']].map((keys) => locks.acquire(keys, { signal: never }));
    expect(await Promise.all(claims.map(isGranted))).toEqual([true, true, true, true]);
  });

  it('does nothing when the same claim is released twice', async () => {
    const locks = createResourceLocks();
    const release = await locks.acquire(['a'], { signal: never });
    const second = locks.acquire(['a'], { signal: never });
    const third = locks.acquire(['a'], { signal: never });
    release();
    release();
    expect(await isGranted(second)).toBe(true);
    expect(await isGranted(third)).toBe(false);
  });

  it('never lets two hold the same resource, serves each in order, and starves nobody', async () => {
    const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { maxLength: 12 }), async (wanted) => {
        const locks = createResourceLocks();
        const held = new Set<string>();
        const served: Record<string, number[]> = { a: [], b: [], c: [] };
        let clashes = 0;
        await Promise.all(
          wanted.map(async (list, index) => {
            const release = await locks.acquire(list, { signal: never });
            for (const key of list) {
              clashes += held.has(key) ? 1 : 0;
              held.add(key);
              served[key]?.push(index);
            }
            await Promise.resolve();
            for (const key of list) held.delete(key);
            release();
          }),
        );
        expect(clashes).toBe(0);
        for (const list of Object.values(served))
          expect(list).toEqual(list.toSorted((one, two) => one - two));
      }),
      { numRuns: 200 },
    );
  });
});
