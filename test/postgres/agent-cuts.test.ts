import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, createWorker, tool } from '../../src/index.ts';
import type { Agent, RunOutcome, Store } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startCutProxy } from './cut-proxy.ts';
import type { CutProxy } from './cut-proxy.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

// An agent whose wire to the database is cut at every single message of its run, one after the other.

let server: Postgres;
let proxy: CutProxy;
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startCutProxy(server.port);
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});
beforeEach(() => proxy.cut({ when: 'before', sent: '', times: 0 }));

interface Scene {
  readonly store: Store;
  readonly agent: Agent;
  /** What was done outside. */
  readonly paid: string[];
  readonly asked: () => number;
}

function openScene(): Scene {
  schemas += 1;
  const store = postgres(server.addressOf({ port: proxy.port }), { schema: `agent_${schemas}` });
  const paid: string[] = [];
  let asked = 0;
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
        // Never repeated by itself: where its end were lost, the run would stop and ask.
        effect: 'once',
        execute: (_input, { idempotencyKey: key }) => {
          paid.push(key);
          return 'paid';
        },
      }),
    ],
    store,
  });
  return { store, agent, paid, asked: () => asked };
}

/** Everything that a run must have left, once. */
async function expectOnce({ store, paid, asked }: Scene, outcome: RunOutcome): Promise<void> {
  expect(outcome).toMatchObject({ type: 'completed', text: 'Paid.' });
  expect(paid).toHaveLength(1);
  expect(asked()).toBe(2);
  expect(await store.runs.find('run')).toMatchObject({ status: 'completed' });
  const types = (await store.runs.events('run')).map(({ type }) => type);
  expect(types).toEqual(expectedTypes);
  expect((await store.check()).problems).toEqual([]);
}

let expectedTypes: readonly string[] = [];
let messages = 0;

describe('an agent on a wire that is cut', () => {
  beforeAll(async () => {
    // How it goes where nothing happens, and how many messages that takes once a connection is there.
    const scene = openScene();
    await scene.store.open();
    proxy.cut({ when: 'before', sent: 'never said', times: 0 });
    const before = proxy.heard();
    await scene.agent.run('Pay, please.', { runId: 'run' });
    messages = proxy.heard() - before;
    expectedTypes = (await scene.store.runs.events('run')).map(({ type }) => type);
    await scene.store.close();
  });

  it.each(['before', 'after'] as const)(
    'at every message, %s the server has done it, does everything once and ends as if nothing had been',
    async (when) => {
      // The beginning, the answer with the intent, the result, the answer with the end, and the lease that is given back.
      expect(messages).toBeGreaterThanOrEqual(5);
      for (let skip = 0; skip < messages; skip += 1) {
        const scene = openScene();
        await scene.store.open();
        proxy.cut({ when, sent: '', skip });
        const outcome = await scene.agent.run('Pay, please.', { runId: 'run' });
        expect({ skip, cuts: proxy.cuts() }).toEqual({ skip, cuts: 1 });
        await expectOnce(scene, outcome);
        await scene.store.close();
      }
    },
  );

  it('again and again, at every seventh message, does everything once', async () => {
    const scene = openScene();
    await scene.store.open();
    proxy.cut({ when: 'after', sent: '', times: 5, skip: 6 });
    await expectOnce(scene, await scene.agent.run('Pay, please.', { runId: 'run' }));
    expect(proxy.cuts()).toBeGreaterThan(1);
    await scene.store.close();
  });
});

describe('a worker on a wire that is cut', () => {
  it('after the server has done it, again and again, ends every run once', async () => {
    const when = 'after';
    const scene = openScene();
    const { store, agent, paid } = scene;
    const runIds = Array.from({ length: 6 }, (_none, index) => `run-${index}`);
    const dead = await leaveRuns(runIds);
    proxy.cut({ when, sent: '', times: 5, skip: 8 });
    const worker = createWorker([agent], store, { pollMs: 20, signals: false });
    await worker.start();
    await worker.idle();
    await worker.stop();
    expect(proxy.cuts()).toBeGreaterThan(2);
    proxy.cut({ when, sent: '', times: 0 });
    for (const runId of runIds) expect(await store.runs.find(runId)).toMatchObject({ status: 'completed' });
    expect(paid).toHaveLength(runIds.length);
    expect(new Set(paid).size).toBe(runIds.length);
    await dead.bury();
    expect((await store.check()).problems).toEqual([]);
    await store.close();
  });
});

/** As a process of another machine has left them, which stands still in the middle and whose leases have run out. */
async function leaveRuns(runIds: readonly string[]): Promise<{ readonly bury: () => Promise<void> }> {
  const schema = `agent_${schemas}`;
  const store = postgres(server.address, { schema });
  const end = new AbortController();
  let asked = 0;
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel(() => {
      asked += 1;
      return { text: 'Too late.', delayMs: Infinity };
    }),
    store,
  });
  const runs = runIds.map((runId) => agent.run('Pay, please.', { runId, signal: end.signal }));
  while (asked < runIds.length) await sleep(5);
  await server.ask(
    server.address,
    `UPDATE ${schema}.runs SET lease_until = 0, process = 'boot:other:pid:[1] 1 1'`,
  );
  return {
    bury: async () => {
      end.abort();
      await Promise.all(runs);
      await store.close();
    },
  };
}
