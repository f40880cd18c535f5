import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { Lease, Store } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startCutProxy } from './cut-proxy.ts';
import type { CutProxy } from './cut-proxy.ts';
import { failureOf } from './failure-of.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

// A primary, a standby that follows it asynchronously, and an address that leads to whoever is the primary.

let primary: Postgres;
let standby: Postgres;
/** Between the two servers. */
let stream: CutProxy;
/** Between the store and whoever is the primary. */
let proxy: CutProxy;
let store: Store;

beforeEach(async () => {
  primary = await startPostgres();
  stream = await startCutProxy(primary.port);
  standby = await primary.startStandby(stream.port);
  proxy = await startCutProxy(primary.port);
  store = postgres(primary.addressOf({ port: proxy.port }), { busyTimeoutMs: 20_000 });
});
afterEach(async () => {
  await store.close();
  await Promise.all([proxy.close(), stream.close()]);
  await Promise.all([standby.stop(), primary.stop()]);
});

const owner = { id: 'anna', leaseMs: 3_600_000 };
const note = (body: string | number) => ({ type: 'note', body });

async function begin(runId: string): Promise<Lease> {
  const created = await store.runs.create({ runId, agent: 'clerk', events: [note('begun')] }, owner);
  if (created.type !== 'created') throw new Error('The run is there already');
  return created.lease;
}

async function bodies(from: Store, runId: string): Promise<readonly unknown[]> {
  return (await from.runs.events(runId)).map(({ body }) => body);
}

/** Until the standby has all that the primary has. */
async function caughtUp(): Promise<void> {
  const [here] = await primary.ask(primary.address, 'SELECT pg_current_wal_lsn()::text AS lsn');
  for (let isThere = false; !isThere; await sleep(20)) {
    const sql = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS is_there';
    const [found] = await standby.ask(standby.address, sql, [here?.['lsn']]);
    isThere = found?.['is_there'] === true;
  }
}

/** The primary dies; the address leads to the standby at once. */
async function losePrimary(): Promise<void> {
  await primary.kill();
  proxy.leadTo(standby.port);
}

/** The standby becomes the primary a moment later. */
async function promote(): Promise<void> {
  await sleep(200);
  await standby.ask(standby.address, 'SELECT pg_promote()');
}

describe('a failover', () => {
  it('that loses nothing is waited for: an agent goes on over it, and does everything once', async () => {
    let paid = 0;
    let asked = 0;
    let promoted: Promise<void> | undefined;
    const agent = createAgent({
      name: 'clerk',
      model: scriptedModel(({ messages }) => {
        asked += 1;
        return messages.some(({ role }) => role === 'tool')
          ? 'Paid.'
          : { toolCalls: [{ name: 'pay', callId: '1', arguments: {} }] };
      }),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays.',
          input: { type: 'object', properties: {}, additionalProperties: false },
          effect: 'once',
          execute: async () => {
            paid += 1;
            await caughtUp();
            // Before the tool ends: what the primary took in after this would be lost with it.
            await losePrimary();
            promoted = promote();
            return 'paid';
          },
        }),
      ],
      store,
    });
    const outcome = await agent.run('Pay, please.', { runId: 'run' });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Paid.' });
    expect({ paid, asked }).toEqual({ paid: 1, asked: 2 });
    await promoted;
    const [server] = await standby.ask(
      standby.address,
      `SELECT status FROM rerail.runs WHERE run_id = 'run'`,
    );
    expect(server).toEqual({ status: 'completed' });
    expect((await store.check()).problems).toEqual([]);
  });

  it('to a standby that lagged, which was refused until then, is noticed by whoever has seen more, and nothing is built on what is left', async () => {
    const lease = await begin('lagging');
    const kept = await begin('kept');
    await caughtUp();
    await expectRefused(standby.address);
    stream.setDown(true);
    await store.runs.append(lease, { events: [note('acknowledged')] });
    await losePrimary();
    await promote();
    await store.runs.append(kept, { events: [note('goes on')] });
    expect(await bodies(store, 'kept')).toEqual(['begun', 'goes on']);
    const failures = [
      await failureOf(store.runs.append(lease, { events: [note('next')] })),
      await failureOf(store.runs.claim('lagging', owner)),
      await failureOf(store.runs.events('lagging')),
    ];
    for (const failure of failures)
      expect(failure).toMatchObject({ code: 'STORAGE_DIVERGED', context: { headSeq: 2, seq: 1 } });
    const problems = (await store.check()).problems.map(({ code, runId }) => ({ code, runId }));
    expect(problems).toEqual([{ code: 'STORAGE_DIVERGED', runId: 'lagging' }]);
    // A process that was not there cannot know.
    const other = postgres(standby.address);
    expect(await bodies(other, 'lagging')).toEqual(['begun']);
    await other.close();
    await store.runs.acceptHead('lagging');
    const claimed = await store.runs.claim('lagging', owner);
    if (claimed.type !== 'claimed') throw new Error('Somebody has the run');
    await store.runs.append(claimed.lease, { events: [note('after a look')] });
    expect(await bodies(store, 'lagging')).toEqual(['begun', 'after a look']);
  });
});

/** What a standby shows may be old: it is not read either. */
async function expectRefused(address: string): Promise<void> {
  const other = postgres(address, { busyTimeoutMs: 1000 });
  const failure = await failureOf(other.runs.find('kept'));
  expect(failure).toMatchObject({ code: 'STORAGE_READ_ONLY' });
  expect(failure.hint).toContain('primary');
  await other.close();
}
