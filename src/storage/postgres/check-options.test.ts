import { describe, expect, it } from 'vitest';
import { redact } from '../../base/redact.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { chooseDriver } from './driver.ts';
import { postgres } from './postgres.ts';
import { faultOf } from './storage-errors.ts';

const address = 'postgres://anna:s3cret-and-long@db.internal:5433/agents';

function thrownBy(work: () => unknown): RerailError {
  try {
    work();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('Nothing was thrown');
}

describe('postgres()', () => {
  it.each<{ readonly what: string; readonly make: () => unknown; readonly says: string }>([
    { what: 'no address', make: () => postgres(undefined as never), says: 'got undefined' },
    { what: 'no address at all in the text', make: () => postgres('s3cret-and-long'), says: 'is none' },
    { what: 'a file', make: () => postgres('file:///s3cret-and-long'), says: 'is none' },
    {
      what: 'a sign in the password',
      make: () => postgres('postgres://a:s3cret-and-long/@h:x/d'),
      says: 'is none',
    },
    {
      what: 'a sign that is none in the password',
      make: () => postgres('postgres://anna:s3cret%zz@db/agents'),
      says: 'is none',
    },
    {
      what: 'an unknown part',
      make: () => postgres({ hostname: 'x' } as never),
      says: 'no option "hostname"',
    },
    {
      what: 'both forms of an address',
      make: () => postgres({ connectionString: address, host: 'x' }),
      says: 'one or the other',
    },
    {
      what: 'an unknown option',
      make: () => postgres(address, { sync: 'full' } as never),
      says: 'no option "sync"',
    },
    {
      what: 'a schema that is no name',
      make: () => postgres(address, { schema: 'a"; DROP' }),
      says: '"schema"',
    },
    {
      what: 'no connection at all',
      make: () => postgres(address, { maxConnections: 0 }),
      says: '"maxConnections"',
    },
    {
      what: 'a time that is none',
      make: () => postgres(address, { busyTimeoutMs: NaN }),
      says: '"busyTimeoutMs"',
    },
    {
      what: 'no time for a statement',
      make: () => postgres(address, { statementTimeoutMs: 0 }),
      says: '"statementTimeoutMs"',
    },
    {
      what: 'an unknown durability',
      make: () => postgres(address, { durability: 'some' as never }),
      says: '"durability"',
    },
    { what: 'a clock that is none', make: () => postgres(address, { clock: {} as never }), says: '"clock"' },
  ])('refuses $what, and shows nothing of the address', ({ make, says }) => {
    const error = thrownBy(make);
    expect(error.code).toBe('CONFIG_ERROR');
    expect(error.message).toContain(says);
    expect(JSON.stringify(error.failure)).not.toContain('s3cret');
  });

  it.each([
    { given: address, name: 'postgres db.internal:5433/agents' },
    { given: { connectionString: address, ssl: true }, name: 'postgres db.internal:5433/agents' },
    { given: { host: 'db', database: 'a', password: 's3cret-and-long' }, name: 'postgres db/a' },
    { given: 'postgresql:///agents?host=/run/postgresql', name: 'postgres /run/postgresql/agents' },
  ])('is called $name, without user and password', ({ given, name }) => {
    expect(postgres(given).name).toBe(name);
  });

  it.each(['postgres://anna:all-by-itself@db/agents', 'postgres://anna@db/agents?password=all-by-itself'])(
    'hides the password of %s wherever it would be shown, until it is closed',
    async (given) => {
      const store = postgres(given);
      expect(redact('it says all-by-itself here')).not.toContain('all-by');
      await store.close();
      expect(redact('it says all-by-itself here')).toContain('all-by');
    },
  );

  it('says what to install where the driver is missing', () => {
    const error = thrownBy(() =>
      chooseDriver({ type: 'missing', message: '"pg" is not installed: npm install pg' }),
    );
    expect(error.failure).toMatchObject({ code: 'CONFIG_ERROR', hint: 'Run: npm install pg' });
  });

  it('says so when it is first used, and not before', async () => {
    const store = postgres(address, { pg: { version: 'none' } });
    await expect(store.open()).rejects.toThrow('"pg" has no Client');
  });
});

describe('what the driver throws', () => {
  it.each([
    { code: '08006', phase: 'in-doubt' },
    { code: '57P01', phase: 'in-doubt' },
    { code: '40001', phase: 'undone' },
    { code: '53100', phase: 'undone' },
    { code: '23505', phase: 'undone' },
  ])('by $code is $phase', ({ code, phase }) => {
    const thrown = Object.assign(new Error('said'), { code, severity: 'ERROR' });
    expect(faultOf(thrown, 'in-doubt')?.phase).toBe(phase);
  });

  it.each(['ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'EPIPE'])('by %s may pass', (code) => {
    const fault = faultOf(Object.assign(new Error('said'), { code }), 'connecting');
    expect(fault?.trouble).toMatchObject({ code: 'STORAGE_IO', mayPass: true, endsConnection: true });
  });

  it.each([
    'Connection terminated unexpectedly',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
  ])('as "%s" may pass', (message) => {
    expect(faultOf(new Error(message), 'in-doubt')).toMatchObject({
      phase: 'in-doubt',
      trouble: { mayPass: true },
    });
  });

  it('otherwise is a failure of the driver, and a defect of ours stays one', () => {
    expect(faultOf(new Error('Received unexpected message'), 'undone')?.trouble.code).toBe('STORAGE_IO');
    expect(faultOf(new TypeError('x is not a function'), 'undone')).toBeUndefined();
  });
});
