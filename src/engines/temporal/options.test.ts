import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/system.ts';
import { loadTemporalSdk } from './sdk.ts';
import type { TemporalOptions } from './options.ts';
import { temporal } from './temporal.ts';

describe('temporal()', () => {
  it.each<{ readonly name: string; readonly options: object; readonly says: RegExp }>([
    { name: 'an address with a protocol', options: { address: 'http://x:1' }, says: /"address".*"http:/ },
    { name: 'an empty namespace', options: { namespace: '' }, says: /"namespace"/ },
    { name: 'a queue that is no text', options: { taskQueue: 7 }, says: /"taskQueue"/ },
    { name: 'no time at all', options: { requestTimeoutMs: 0 }, says: /"requestTimeoutMs".*got 0/ },
    {
      name: 'a bound that is no number',
      options: { limits: { maxLives: Number.NaN } },
      says: /"limits\.maxLives".*NaN/,
    },
    {
      name: 'a bound that there is not',
      options: { limits: { maxWishes: 3 } },
      says: /no option "maxWishes" of "limits" of temporal.*maxLives/,
    },
  ])('refuses $name before anything is done', ({ options, says }) => {
    expect(() => temporal(options as TemporalOptions)).toThrow(says); // What no type stops at run time.
  });

  it('says what to install where the packages are not in the folder that is named', async () => {
    const setup = {
      name: 'any',
      version: '1',
      clock: systemClock,
      program: () => Promise.resolve(null),
      effects: {},
    };
    const making = temporal({ packagesFrom: '/nowhere' })(setup);
    await expect(making).rejects.toThrow(
      /"packagesFrom" has no @temporalio\/worker.*npm install @temporalio\/worker@1/,
    );
    expect(() => loadTemporalSdk('/nowhere')).toThrow(/cannot be created/);
  });
});
