import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Failure } from '../../src/errors/failure.ts';
import type { Lease, Store } from '../../src/model/store/store.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import type { PostgresOptions } from '../../src/storage/postgres/index.ts';
import { failureOf } from './failure-of.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

let server: Postgres;
let address = '';
let schemas = 0;
let schema = '';

beforeAll(async () => {
  server = await startPostgres();
  address = await server.createDatabase();
});
afterAll(() => server.stop());
beforeEach(() => {
  schemas += 1;
  schema = `fault_${schemas}`;
});

const owner = { id: 'anna', leaseMs: 30_000 };
const note = (body: string | number) => ({ type: 'note', body });

function open(options: PostgresOptions = {}): Store {
  return postgres(address, { schema, busyTimeoutMs: 2000, ...options });
}

async function begin(store: Store, runId: string): Promise<Lease> {
  const created = await store.runs.create({ runId, agent: 'clerk', events: [note('begun')] }, owner);
  if (created.type !== 'created') throw new Error(`The run ${runId} is there already`);
  return created.lease;
}

async function bodies(store: Store, runId: string): Promise<readonly unknown[]> {
  return (await store.runs.events(runId)).map(({ body }) => body);
}

const ask = (sql: string) => server.ask(address, sql);

/** Fails so many insertions of events with this state; what a sequence counts is not undone. */
async function failInserts(state: string, times: number): Promise<void> {
  await ask(`CREATE SEQUENCE ${schema}.faults;
    CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('${schema}.faults') <= ${times} THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '${state}'; END IF;
      RETURN NEW; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`);
}

interface Refusal {
  readonly what: string;
  readonly given: () => Promise<string>;
  readonly code: Failure['code'];
  readonly hint: string;
}

const password = 'not-the-right-password-at-all';

describe('what cannot be opened', () => {
  it.each<Refusal>([
    {
      what: 'a wrong password',
      given: () => Promise.resolve(server.addressOf({ password })),
      code: 'STORAGE_NOT_FOUND',
      hint: 'Check user and password',
    },
    {
      what: 'an unknown user',
      given: () => Promise.resolve(server.addressOf({ user: 'nobody_here', password })),
      code: 'STORAGE_NOT_FOUND',
      hint: 'Check user and password',
    },
    {
      what: 'a missing database',
      given: () => Promise.resolve(server.addressOf({ database: 'nowhere' })),
      code: 'STORAGE_NOT_FOUND',
      hint: 'createdb',
    },
    {
      what: 'a port on which nobody listens',
      given: () => Promise.resolve(server.addressOf({ port: 1 })),
      code: 'STORAGE_IO',
      hint: 'Check that the server runs',
    },
    {
      what: 'a user without rights',
      given: async () => {
        await ask(`CREATE ROLE guest_${schemas} LOGIN PASSWORD '${password}'`);
        return server.addressOf({ user: `guest_${schemas}`, password });
      },
      code: 'STORAGE_READ_ONLY',
      hint: 'Grant',
    },
    {
      what: 'a database that is read-only',
      given: async () => {
        const readOnly = await server.createDatabase();
        await server.ask(
          readOnly,
          `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
        );
        return readOnly;
      },
      code: 'STORAGE_READ_ONLY',
      hint: 'primary',
    },
    {
      what: 'a user that may not connect more often',
      given: async () => {
        await ask(`CREATE ROLE crowd_${schemas} LOGIN PASSWORD '${password}' CONNECTION LIMIT 0`);
        return server.addressOf({ user: `crowd_${schemas}`, password });
      },
      code: 'STORAGE_LOCKED',
      hint: 'max_connections',
    },
    {
      what: 'a database of another encoding',
      given: async () => {
        const name = `latin_${schemas}`;
        await ask(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
        return server.addressOf({ database: name });
      },
      code: 'STORAGE_NOT_FOUND',
      hint: 'UTF8',
    },
  ])('says what to do about $what, and keeps the password to itself', async ({ given, code, hint }) => {
    const where = await given();
    const store = postgres(where, { schema, busyTimeoutMs: 200 });
    const failure = await failureOf(store.open());
    expect(failure).toMatchObject({ code, origin: 'storage' });
    expect(failure.hint).toContain(hint);
    const secret = new URL(where).password;
    expect(JSON.stringify([failure, store.name])).not.toContain(secret);
    await store.close();
  });

  it('is a schema that a newer version has made, and it is left as it is', async () => {
    const store = open();
    await begin(store, 'run');
    await store.close();
    await ask(
      `UPDATE ${schema}.meta SET value = '99' WHERE name = 'version'; DROP TABLE ${schema}.run_texts`,
    );
    const failure = await failureOf(open().open());
    expect(failure).toMatchObject({ code: 'STORAGE_NEWER_SCHEMA', context: { version: 99 } });
    expect(await ask(`SELECT to_regclass('${schema}.run_texts') AS it`)).toEqual([{ it: null }]);
  });

  it('is a schema in which somebody else has such a table', async () => {
    await ask(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.meta (name text, value text)`);
    expect(await failureOf(open().open())).toMatchObject({ code: 'STORAGE_CORRUPT' });
  });
});

describe('a schema', () => {
  it('is made once, however many open it at the same time', async () => {
    const stores = Array.from({ length: 6 }, () => open());
    await Promise.all(stores.map((store) => store.open()));
    expect(await ask(`SELECT value FROM ${schema}.meta WHERE name = 'version'`)).toEqual([{ value: '1' }]);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('that was dropped is lost, and none is made in its place', async () => {
    const store = open();
    const lease = await begin(store, 'run');
    await ask(`DROP SCHEMA ${schema} CASCADE`);
    const append = store.runs.append(lease, { events: [note(1)] });
    expect(await failureOf(append)).toMatchObject({ code: 'STORAGE_LOST' });
    await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rerail'`);
    expect(await failureOf(store.runs.find('run'))).toMatchObject({ code: 'STORAGE_LOST' });
    expect(await ask(`SELECT to_regnamespace('${schema}') AS it`)).toEqual([{ it: null }]);
    await store.close();
  });
});

describe('the rights of a user', () => {
  it('need be no more than to read and write the tables, where somebody else has made them', async () => {
    const maker = open();
    await maker.open();
    await maker.close();
    const user = `app_${schemas}`;
    await ask(`CREATE ROLE ${user} LOGIN PASSWORD '${password}';
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}`);
    const database = new URL(address).pathname.slice(1);
    const store = postgres(server.addressOf({ user, password, database }), { schema, create: false });
    const lease = await begin(store, 'run');
    await store.runs.append(lease, { events: [note(1)], row: { turns: 1 } });
    await store.runs.signal('run', { id: 's', name: 'go', payload: 1 });
    await store.blobs.put('content', 'run');
    await store.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run');
    await store.runs.renew(owner);
    await store.runs.release(lease);
    expect(await store.runs.claim('run', { id: 'ben', leaseMs: 1000 })).toMatchObject({ type: 'claimed' });
    const whole = await store.runs.whole('run');
    expect(await store.runs.remove('run')).toBe(true);
    expect(whole && (await store.runs.restore(whole))).toBe('restored');
    expect((await store.check()).problems).toEqual([]);
    await store.close();
  });

  it('that are too few are named when they are needed', async () => {
    const store = open();
    await store.open();
    await store.close();
    const user = `reader_${schemas}`;
    await ask(`CREATE ROLE ${user} LOGIN PASSWORD '${password}';
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    const database = new URL(address).pathname.slice(1);
    const reader = postgres(server.addressOf({ user, password, database }), { schema });
    expect(await reader.runs.list()).toEqual({ runs: [] });
    const failure = await failureOf(begin(reader, 'run'));
    expect(failure).toMatchObject({ code: 'STORAGE_READ_ONLY', context: { sqlState: '42501' } });
    await reader.close();
  });

  it('to make a schema are not used where it must be there', async () => {
    const store = open({ create: false });
    expect(await failureOf(store.open())).toMatchObject({
      code: 'STORAGE_NOT_FOUND',
      context: { schema },
    });
    expect(await ask(`SELECT to_regnamespace('${schema}') AS it`)).toEqual([{ it: null }]);
    await store.close();
  });
});

describe('a statement that the server refuses', () => {
  it.each(['40001', '40P01'])('for %s is sent again, and its events are written once', async (state) => {
    const store = open();
    const leases = await Promise.all(['a', 'b'].map((runId) => begin(store, runId)));
    await failInserts(state, 3);
    await Promise.all(leases.map((lease) => store.runs.append(lease, { events: [note(1)] })));
    for (const runId of ['a', 'b']) expect(await bodies(store, runId)).toEqual(['begun', 1]);
    await store.close();
  });

  it.each<{ readonly state: string; readonly code: Failure['code'] }>([
    { state: '40001', code: 'STORAGE_LOCKED' },
    { state: '53100', code: 'STORAGE_FULL' },
    { state: '25006', code: 'STORAGE_READ_ONLY' },
    { state: '42501', code: 'STORAGE_READ_ONLY' },
    { state: 'XX001', code: 'STORAGE_CORRUPT' },
    { state: '58030', code: 'STORAGE_IO' },
    { state: '57P03', code: 'STORAGE_IO' },
  ])('for $state again and again is $code in the end, and nothing is written', async ({ state, code }) => {
    // Long enough for a busy machine to connect anew.
    const store = open({ busyTimeoutMs: 700 });
    const lease = await begin(store, 'run');
    await failInserts(state, 1000);
    expect(await failureOf(store.runs.append(lease, { events: [note(1)] }))).toMatchObject({ code });
    await ask(`DROP TRIGGER fail ON ${schema}.events`);
    await store.runs.append(lease, { events: [note(2)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 2]);
    await store.close();
  });

  it('is found by a look at everything, whatever the run is called', async () => {
    const store = open();
    for (const runId of ['plain', 'a\\b', 'nul\0l']) await begin(store, runId);
    await ask(`UPDATE ${schema}.events SET body = '"other"'`);
    const { problems } = await store.check();
    expect(new Set(problems.map(({ runId }) => runId))).toEqual(new Set(['plain', 'a\\b', 'nul\0l']));
    await store.close();
  });

  it('takes no other with it that was asked for at the same time', async () => {
    const store = open();
    const leases = await Promise.all(['a', 'b'].map((runId) => begin(store, runId)));
    // No index holds such an id.
    let long = '';
    for (let index = 0; index < 4000; index += 1)
      long += String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000));
    const ends = await Promise.allSettled([
      ...leases.map((lease) => store.runs.append(lease, { events: [note(1)] })),
      store.runs.create({ runId: long, agent: 'clerk', events: [] }, owner),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await bodies(store, 'b')).toEqual(['begun', 1]);
    await store.close();
  });
});

describe('waiting', () => {
  it('for a lock that somebody keeps ends in time', async () => {
    const store = open({ busyTimeoutMs: 200, statementTimeoutMs: 5000 });
    const lease = await begin(store, 'run');
    const other = new Client({ connectionString: address });
    await other.connect();
    await other.query(`BEGIN; LOCK TABLE ${schema}.events`);
    expect(await failureOf(store.runs.append(lease, { events: [note(1)] }))).toMatchObject({
      code: 'STORAGE_LOCKED',
      retryable: true,
      context: { sqlState: '55P03' },
    });
    await other.end();
    await store.runs.append(lease, { events: [note(2)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 2]);
    await store.close();
  });

  it('for a statement that takes too long ends in time', async () => {
    const patient = open();
    await patient.open();
    await patient.close();
    const store = open({ busyTimeoutMs: 5000, statementTimeoutMs: 300 });
    const lease = await begin(store, 'run');
    const other = new Client({ connectionString: address });
    await other.connect();
    await other.query(`BEGIN; LOCK TABLE ${schema}.events`);
    const failure = await failureOf(store.runs.append(lease, { events: [note(1)] }));
    expect(failure).toMatchObject({ code: 'STORAGE_LOCKED', context: { sqlState: '57014' } });
    await other.end();
    await store.close();
  });

  it('for a connection of our own ends in time, and says how many there are', async () => {
    const store = open({ busyTimeoutMs: 100, maxConnections: 1 });
    const lease = await begin(store, 'run');
    await ask(`CREATE FUNCTION ${schema}.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(1); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.dawdle()`);
    const append = store.runs.append(lease, { events: [note(1)] });
    await sleep(50);
    const failure = await failureOf(store.blobs.put('content', 'run'));
    expect(failure).toMatchObject({
      code: 'STORAGE_LOCKED',
      retryable: true,
      context: { maxConnections: 1 },
    });
    await append;
    expect(await bodies(store, 'run')).toEqual(['begun', 1]);
    await store.close();
  });
});

describe('time', () => {
  it('is that of the database: a process whose clock is wrong takes nobody’s run', async () => {
    const store = open();
    await begin(store, 'run');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 });
    try {
      const claimed = await open().runs.claim('run', { id: 'ben', leaseMs: 30_000 });
      expect(claimed).toMatchObject({ type: 'held', ownerId: 'anna' });
    } finally {
      vi.useRealTimers();
    }
    const [row] = await ask(
      `SELECT lease_until - extract(epoch from now()) * 1000 AS left FROM ${schema}.runs`,
    );
    expect(Number(row?.['left'])).toBeLessThanOrEqual(30_000);
    await store.close();
  });

  it('may have fractions', async () => {
    const store = open();
    const lease = await begin(store, 'run');
    await store.runs.append(lease, { events: [note(1)], row: { status: 'suspended', resumeAtMs: 17.25 } });
    await store.runs.append(lease, { events: [note(2), note(3)], row: { resumeAtMs: 18.5 } });
    expect(await store.runs.find('run')).toMatchObject({ resumeAtMs: 18.5 });
    await store.close();
  });
});

describe('close()', () => {
  it('writes what was asked for, and leaves no connection behind', async () => {
    const store = open();
    const lease = await begin(store, 'run');
    const appends = [1, 2, 3].map((body) => store.runs.append(lease, { events: [note(body)] }));
    await store.close();
    await Promise.all(appends);
    const left = await ask(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'rerail' AND query LIKE '%"${schema}"%'`,
    );
    expect(left).toEqual([]);
    expect(await failureOf(store.runs.find('run'))).toMatchObject({ code: 'STORAGE_IO' });
    const again = open();
    expect(await bodies(again, 'run')).toEqual(['begun', 1, 2, 3]);
    await again.close();
  });
});
