import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lease, Store } from '../../src/model/store/store.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import type { PostgresOptions } from '../../src/storage/postgres/index.ts';
import { startCutProxy } from './cut-proxy.ts';
import type { CutProxy } from './cut-proxy.ts';
import { failureOf } from './failure-of.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

// The wire is cut before the server hears of a statement, and after it has done it: both look the same from here.

let server: Postgres;
let proxy: CutProxy;
let schemas = 0;
let schema = '';

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startCutProxy(server.port);
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});
beforeEach(() => {
  proxy.setDown(false);
  proxy.cut({ when: 'before', sent: 'nothing', times: 0 });
  schemas += 1;
  schema = `cut_${schemas}`;
});

const owner = { id: 'anna', leaseMs: 30_000 };
const note = (body: string | number) => ({ type: 'note', body });

function open(options: PostgresOptions = {}): Store {
  return postgres(server.addressOf({ port: proxy.port }), { schema, busyTimeoutMs: 5000, ...options });
}

async function begin(store: Store, runId: string): Promise<Lease> {
  const created = await store.runs.create({ runId, agent: 'clerk', events: [note('begun')] }, owner);
  if (created.type !== 'created') throw new Error(`The run ${runId} is there already`);
  return created.lease;
}

async function bodies(store: Store, runId: string): Promise<readonly unknown[]> {
  return (await store.runs.events(runId)).map(({ body }) => body);
}

describe.each(['before', 'after'] as const)('a connection that is cut %s the server has done it', (when) => {
  // A wire that was never cut proves nothing.
  afterEach(() => {
    if (proxy.cuts() !== 1) throw new Error(`The wire was cut ${proxy.cuts()} times`);
  });

  it('writes an event once', async () => {
    const store = open();
    const lease = await begin(store, 'run');
    await store.runs.append(lease, { events: [note(1)] });
    proxy.cut({ when, sent: 'rerail-append-one' });
    await store.runs.append(lease, { events: [note(2)] });
    await store.runs.append(lease, { events: [note(3)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 1, 2, 3]);
    expect(await store.check()).toMatchObject({ problems: [] });
    await store.close();
  });

  it('writes the events of many runs once, with their rows, texts and signals', async () => {
    const store = open();
    const runIds = Array.from({ length: 8 }, (_none, index) => `run-${index}`);
    const leases = await Promise.all(runIds.map((runId) => begin(store, runId)));
    for (const runId of runIds) await store.runs.signal(runId, { id: 's', name: 'go', payload: 1 });
    proxy.cut({ when, sent: 'unnest' });
    await Promise.all(
      leases.map((lease, turns) =>
        store.runs.append(lease, { events: [note(1), note(2)], row: { turns, text: 'told' }, took: ['s'] }),
      ),
    );
    for (const [turns, runId] of runIds.entries()) {
      expect(await bodies(store, runId)).toEqual(['begun', 1, 2]);
      expect(await store.runs.find(runId)).toMatchObject({ turns, text: 'told', headSeq: 3 });
      expect(await store.runs.signals(runId)).toEqual([]);
    }
    await store.close();
  });

  it('begins runs once, also several by one commit', async () => {
    const store = open();
    await store.open();
    proxy.cut({ when, sent: 'rerail-create' });
    expect(await begin(store, 'alone')).toMatchObject({ runId: 'alone' });
    expect(proxy.cuts()).toBe(1);
    proxy.cut({ when, sent: 'COMMIT' });
    const leases = await Promise.all(['a', 'b', 'c'].map((runId) => begin(store, runId)));
    for (const lease of leases) await store.runs.append(lease, { events: [note('mine')] });
    expect(await bodies(store, 'b')).toEqual(['begun', 'mine']);
    expect(await store.runs.create({ runId: 'a', agent: 'clerk', events: [] }, owner)).toEqual({
      type: 'exists',
    });
    await store.close();
  });

  it('takes a run over once, and still knows that it was abandoned', async () => {
    const store = open();
    const old = await begin(store, 'run');
    await server.ask(server.address, `UPDATE ${schema}.runs SET lease_until = 0, process = 'elsewhere 1 1'`);
    proxy.cut({ when, sent: 'COMMIT' });
    const claimed = await store.runs.claim('run', { id: 'ben', leaseMs: 30_000 });
    expect(claimed).toMatchObject({ type: 'claimed', wasAbandoned: true, lease: { ownerId: 'ben' } });
    expect(await failureOf(store.runs.append(old, { events: [note('zombie')] }))).toMatchObject({
      code: 'STORAGE_LOCKED',
      retryable: false,
    });
    await store.close();
  });

  it('keeps a signal once, and says that it was added', async () => {
    const store = open();
    await begin(store, 'run');
    proxy.cut({ when, sent: 'FOR KEY SHARE' });
    expect(await store.runs.signal('run', { id: 's', name: 'go', payload: 1 })).toBe('added');
    expect(await store.runs.signal('run', { id: 's', name: 'go', payload: 1 })).toBe('duplicate');
    expect(await store.runs.signals('run')).toHaveLength(1);
    await store.close();
  });

  it('adds to a session once', async () => {
    const store = open();
    await store.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
    proxy.cut({ when, sent: 'COMMIT' });
    await store.sessions.append('talk', [{ role: 'user', content: 'two' }], 'run-2');
    expect((await store.sessions.messages('talk')).map(({ content }) => content)).toEqual(['one', 'two']);
    await store.close();
  });

  it('removes a run, and says that it was there', async () => {
    const store = open();
    await begin(store, 'run');
    proxy.cut({ when, sent: 'COMMIT' });
    expect(await store.runs.remove('run')).toBe(true);
    expect(await store.runs.find('run')).toBeUndefined();
    await store.close();
  });
});

describe('a server that cannot be reached any more', () => {
  it('fails an addition as one in doubt, and does not add it twice when it comes again', async () => {
    const store = open({ busyTimeoutMs: 300 });
    const lease = await begin(store, 'run');
    await store.runs.append(lease, { events: [note(1)] });
    const addition = { events: [note(2)], row: { turns: 2 } };
    proxy.cut({ when: 'after', sent: 'rerail-append-row', staysDown: true });
    const failure = await failureOf(store.runs.append(lease, addition));
    expect(await eventsBehind()).toBe(3);
    proxy.setDown(false);
    expect(failure).toMatchObject({ code: 'STORAGE_IO', retryable: true, context: { isInDoubt: true } });
    expect(failure.message).toContain('is not known');
    await store.runs.append(lease, addition);
    await store.runs.append(lease, { events: [note(3)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 1, 2, 3]);
    await store.close();

    async function eventsBehind(): Promise<number> {
      return (await server.ask(server.address, `SELECT 1 FROM ${schema}.events`)).length;
    }
  });

  it('fails what is asked meanwhile, within its time, and works again when the server is back', async () => {
    const store = open({ busyTimeoutMs: 300 });
    const lease = await begin(store, 'run');
    proxy.setDown(true);
    const failures = await Promise.all(
      [
        store.runs.append(lease, { events: [note(1)] }),
        store.runs.renew(owner),
        store.runs.find('run'),
        store.runs.signal('run', { id: 's', name: 'go', payload: null }),
      ].map(failureOf),
    );
    proxy.setDown(false);
    for (const failure of failures) expect(failure).toMatchObject({ code: 'STORAGE_IO', retryable: true });
    await store.runs.append(lease, { events: [note(2)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 2]);
    await store.close();
  });

  it('is not waited for for ever where it says nothing any more', async () => {
    const patient = open();
    await patient.open();
    await patient.close();
    const store = open({ busyTimeoutMs: 300, statementTimeoutMs: 300 });
    const lease = await begin(store, 'run');
    proxy.cut({ when: 'hang', sent: 'rerail-append-one', times: 10 });
    const failure = await failureOf(store.runs.append(lease, { events: [note(1)] }));
    proxy.cut({ when: 'hang', sent: 'nothing', times: 0 });
    expect(failure).toMatchObject({ code: 'STORAGE_IO', context: { isInDoubt: true } });
    await store.runs.append(lease, { events: [note(1)] });
    expect(await bodies(store, 'run')).toEqual(['begun', 1]);
    await store.close();
  });

  it('takes messages back once or says that it does not know', async () => {
    const store = open();
    const says = (content: string) => ({ role: 'user', content }) as const;
    await store.sessions.append('talk', [says('one'), says('two'), says('three')], 'run-1');
    proxy.cut({ when: 'after', sent: 'COMMIT' });
    const failure = await failureOf(store.sessions.trim('talk', 1));
    expect(failure).toMatchObject({ code: 'STORAGE_IO', context: { isInDoubt: true } });
    expect(await store.sessions.messages('talk')).toHaveLength(2);
    await store.close();
  });
});
