import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent, salvageRuns, tool } from '../../src/index.ts';
import type { Agent, Store } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { namesAreRuns } from '../engines/names.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
}, 120_000);
afterAll(() => server.stop());
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

function open(url: string): Store {
  const store = postgres(url);
  stores.push(store);
  return store;
}

describe('a name is a run: on Postgres', { timeout: 60_000 }, () => {
  let url = '';
  namesAreRuns({
    make: async (options) => {
      url = await server.createDatabase();
      return createAgent({ ...options, store: open(url) });
    },
    restart: async (agent, options) => {
      await agent.close();
      return createAgent({ ...options, store: open(url) });
    },
  });
});

function agentOver(store: Store): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} },
    execute: () => 'paid',
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'pay', arguments: {} }] } : 'Done.',
  );
  return createAgent({ name: 'shop', model, tools: [pay], store });
}

describe('salvageRuns() from Postgres', { timeout: 60_000 }, () => {
  const cases = [
    {
      name: 'a changed event',
      sql: `UPDATE rerail.events SET body = '"changed"' WHERE run_id = 'a' AND seq = 3`,
      proven: 2,
    },
    { name: 'a deleted event', sql: `DELETE FROM rerail.events WHERE run_id = 'a' AND seq = 2`, proven: 1 },
    { name: 'a deleted end', sql: `DELETE FROM rerail.events WHERE run_id = 'a' AND seq > 2`, proven: 2 },
    {
      name: 'another order',
      sql: `UPDATE rerail.events SET seq = 100 WHERE run_id = 'a' AND seq = 2`,
      proven: 1,
    },
    {
      name: 'another head',
      sql: `UPDATE rerail.runs SET head_seq = head_seq + 1 WHERE run_id = 'a'`,
      proven: undefined,
    },
    { name: 'a deleted row', sql: `DELETE FROM rerail.runs WHERE run_id = 'a'`, proven: undefined },
  ];

  it.each(cases)('after $name keeps what is proven and the other runs whole', async ({ sql, proven }) => {
    const url = await server.createDatabase();
    const store = open(url);
    const agent = agentOver(store);
    for (const runId of ['a', 'b'])
      expect(await agent.run('Pay', { runId })).toMatchObject({ type: 'completed' });
    const truth = await store.runs.events('a');
    await agent.close();
    await server.ask(url, sql);
    const to = memoryStore();
    const { whole, cut, lost, damaged } = await salvageRuns(open(url), to);
    expect({ whole, cut, lost }).toEqual({ whole: 1, cut: 1, lost: 0 });
    const saved = await to.runs.events('a');
    expect(saved).toEqual(truth.slice(0, proven ?? truth.length));
    expect(damaged).toMatchObject([{ runId: 'a', type: 'cut', damage: { provenSeq: saved.length } }]);
    await expect(agentOver(to).resume('a')).rejects.toMatchObject({
      code: expect.stringMatching(/STORAGE_DIVERGED|CONFIG_ERROR/) as unknown,
    });
    expect(await agentOver(to).run('Pay', { runId: 'b' })).toMatchObject({
      type: 'completed',
      text: 'Done.',
    });
  });
});
