import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lease, Store } from '../../src/model/store/store.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import type { PostgresOptions } from '../../src/storage/postgres/index.ts';
import { startCutProxy } from './cut-proxy.ts';
import type { CutProxy } from './cut-proxy.ts';
import { failureOf } from './failure-of.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

// Who is told that nobody knows, and who is told that nothing has happened.

let server: Postgres;
let proxy: CutProxy;
let schemas = 0;
let schema = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  schemas += 1;
  schema = `doubt_${schemas}`;
  proxy = await startCutProxy(server.port);
  return () => proxy.close();
});

const owner = { id: 'anna', leaseMs: 30_000 };
const note = (body: string | number) => ({ type: 'note', body });

function open(options: PostgresOptions = {}): Store {
  return postgres(server.addressOf({ port: proxy.port }), { schema, busyTimeoutMs: 5000, ...options });
}

async function begin(store: Store): Promise<Lease> {
  const created = await store.runs.create({ runId: 'run', agent: 'clerk', events: [note('begun')] }, owner);
  if (created.type !== 'created') throw new Error('The run is there already');
  return created.lease;
}

async function bodies(store: Store): Promise<readonly unknown[]> {
  return (await store.runs.events('run')).map(({ body }) => body);
}

/** Lets what is written to a table take so long. */
async function slowDown(table: string, seconds: number): Promise<void> {
  await server.ask(
    server.address,
    `CREATE FUNCTION ${schema}.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(${seconds}); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.dawdle()`,
  );
}

describe('an addition of which nobody has heard', () => {
  it('is in doubt also where no connection is left to look for it, and is not added twice', async () => {
    const store = open({ busyTimeoutMs: 300, maxConnections: 1 });
    const lease = await begin(store);
    await store.runs.append(lease, { events: [note(1)] });
    await slowDown('blobs', 1);
    proxy.cut({ when: 'after', sent: 'rerail-append-one' });
    const failed = failureOf(store.runs.append(lease, { events: [note(2)] }));
    // When that is on its way: it waits for the one connection, and gets it when the wire of the addition is cut.
    await new Promise((resolve) => setImmediate(resolve));
    const kept = store.blobs.put('content', 'run');
    expect(await failed).toMatchObject({
      code: 'STORAGE_LOCKED',
      retryable: true,
      context: { isInDoubt: true, maxConnections: 1 },
    });
    expect(proxy.cuts()).toBe(1);
    await kept;
    await store.runs.append(lease, { events: [note(2)] });
    await store.runs.append(lease, { events: [note(3)] });
    expect(await bodies(store)).toEqual(['begun', 1, 2, 3]);
    await store.close();
  });

  it('is in doubt where the tables are gone when it looks', async () => {
    const store = open();
    const lease = await begin(store);
    await server.ask(
      server.address,
      `CREATE FUNCTION ${schema}.vanish() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE ${schema}.meta SET value = 'another' WHERE name = 'store_id'; RETURN NEW; END $$;
        CREATE TRIGGER vanish BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.vanish()`,
    );
    proxy.cut({ when: 'after', sent: 'rerail-append-one' });
    const failure = await failureOf(store.runs.append(lease, { events: [note(1)] }));
    expect(failure).toMatchObject({ code: 'STORAGE_LOST', context: { isInDoubt: true } });
    await store.close();
  });
});

describe('nobody is in doubt', () => {
  it.each(['53100', 'XX001', '58030'])('where the server has refused for %s', async (state) => {
    const store = open();
    const lease = await begin(store);
    await server.ask(
      server.address,
      `CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE EXCEPTION 'made to fail' USING ERRCODE = '${state}'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`,
    );
    const failure = await failureOf(store.runs.append(lease, { events: [note(1)] }));
    expect(failure.context).not.toHaveProperty('isInDoubt');
    expect(failure.hint).toContain('Nothing was written');
    await store.close();
  });

  it('who has only looked, wherever the wire is cut', async () => {
    const store = open({ busyTimeoutMs: 100 });
    await begin(store);
    proxy.cut({ when: 'after', sent: 'COMMIT', times: 1000 });
    const failure = await failureOf(store.runs.events('run'));
    expect(proxy.cuts()).toBeGreaterThan(0);
    expect(failure).toMatchObject({ code: 'STORAGE_IO', retryable: true });
    expect(failure.context).not.toHaveProperty('isInDoubt');
    await store.close();
  });

  it('but where the server itself does not know', async () => {
    const store = open({ busyTimeoutMs: 700 });
    const lease = await begin(store);
    await server.ask(
      server.address,
      `CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE EXCEPTION 'made to fail' USING ERRCODE = '40003'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`,
    );
    const failure = await failureOf(store.runs.append(lease, { events: [note(1)] }));
    expect(failure).toMatchObject({ code: 'STORAGE_IO', context: { isInDoubt: true, sqlState: '40003' } });
    await store.close();
  });
});

describe('close()', () => {
  it('does not wait for ever for a server that has fallen silent', async () => {
    const store = open();
    await begin(store);
    proxy.fallSilent();
    const startedMs = performance.now();
    await store.close();
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });
});
