import { describe, expect, it } from 'vitest';
import { lazy, lazyPromise } from './lazy.ts';

describe('lazy()', () => {
  it('tries again where making the value failed', () => {
    const attempts: number[] = [];
    const value = lazy(() => {
      attempts.push(attempts.length);
      if (attempts.length === 1) throw new Error('not yet');
      return 'made';
    });
    expect(value).toThrow('not yet');
    expect(value()).toBe('made');
  });

  it.each([{ made: 'text' }, { made: undefined }, { made: null }, { made: 0 }])(
    'makes $made once, and only when asked',
    ({ made }) => {
      let count = 0;
      const value = lazy(() => {
        count += 1;
        return made;
      });
      expect(count).toBe(0);
      expect([value(), value()]).toEqual([made, made]);
      expect(count).toBe(1);
    },
  );
});

describe('lazyPromise()', () => {
  it('tries again after a failure, and keeps what has come of it', async () => {
    let made = 0;
    const value = lazyPromise(async () => {
      made += 1;
      if (made === 1) throw new Error('not yet');
      return made;
    });
    await expect(value()).rejects.toThrow('not yet');
    expect(await Promise.all([value(), value()])).toEqual([2, 2]);
    expect(await value()).toBe(2);
  });
});
