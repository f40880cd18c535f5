import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/system.ts';
import { dbos } from './dbos.ts';
import { resolveDbosOptions } from './options.ts';
import type { DbosOptions } from './options.ts';

const databaseUrl = 'postgres://someone:secret@127.0.0.1:1/none';

describe('dbos()', () => {
  it.each<{ readonly name: string; readonly options: Partial<DbosOptions>; readonly says: RegExp }>([
    {
      name: 'an address of something else',
      options: { databaseUrl: 'mysql://localhost' },
      says: /"databaseUrl"/,
    },
    { name: 'no address', options: { databaseUrl: '' }, says: /"databaseUrl"/ },
    {
      name: 'an executor id with a space',
      options: { executorId: 'worker 1' },
      says: /"executorId".*"worker 1"/,
    },
    { name: 'an empty version', options: { applicationVersion: '' }, says: /"applicationVersion"/ },
    { name: 'a schema that is none', options: { schema: 'a"b' }, says: /"schema"/ },
    { name: 'no connections', options: { poolSize: 0 }, says: /"poolSize".*got 0/ },
    {
      name: 'a bound that is no number',
      options: { requestTimeoutMs: Number.NaN },
      says: /"requestTimeoutMs".*NaN/,
    },
  ])('refuses $name before anything is done', ({ options, says }) => {
    expect(() => dbos({ databaseUrl, ...options })).toThrow(says);
  });

  it('takes what is given as undefined for not given', () => {
    const sdk = { DBOS: { runStep: () => undefined } };
    const unset = {
      executorId: undefined,
      applicationName: undefined,
      schema: undefined,
      poolSize: undefined,
    };
    const given = { databaseUrl, sdk, ...unset, logger: undefined } as unknown as DbosOptions; // As from an environment.
    expect(resolveDbosOptions(given)).toEqual(resolveDbosOptions({ databaseUrl, sdk }));
  });

  const setup = {
    name: 'any',
    version: '1',
    clock: systemClock,
    program: () => Promise.resolve(null),
    effects: {},
  };

  it('says what to install where the SDK is missing', async () => {
    await expect(dbos({ databaseUrl })(setup)).rejects.toThrow(/npm install @dbos-inc\/dbos-sdk@5 pg/);
  });

  it('says what it needs where the SDK is another one', async () => {
    await expect(dbos({ databaseUrl, sdk: { DBOS: {} } })(setup)).rejects.toThrow(/5\.x is needed/);
  });

  it('does not launch what somebody else has launched', async () => {
    const sdk = { DBOS: { runStep: () => undefined, isInitialized: () => true } };
    await expect(dbos({ databaseUrl, sdk })(setup)).rejects.toThrow(/launched already/);
  });
});
