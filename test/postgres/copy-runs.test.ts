import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyRuns, createAgent, replayRun, tool } from '../../src/index.ts';
import type { Agent, ReplayStep, Store } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startLife } from '../kill/life.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { startCutProxy } from './cut-proxy.ts';
import type { ChildGiven } from './postgres-child.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

let server: Postgres;
let program: Program;
let folder: string;
let made = 0;

beforeAll(async () => {
  [program, server] = await Promise.all([bundleProgram('test/postgres/postgres-child.ts'), startPostgres()]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-copies-'));
});
afterAll(async () => {
  await program.remove();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const makers: Readonly<Record<string, () => Promise<Store>>> = {
  SQLite: () => Promise.resolve(sqlite(path.join(folder, `runs-${(made += 1)}.db`))),
  Postgres: async () => postgres(await server.createDatabase()),
  memory: () => Promise.resolve(memoryStore()),
};
const kinds = Object.keys(makers);
const pairs = kinds.flatMap((from) => kinds.map((to) => ({ from, to })));

async function open(kind: string): Promise<Store> {
  const make = makers[kind];
  if (make === undefined) throw new Error(`There is no store of the kind ${kind}`);
  return make();
}

/** An agent that looks, asks before it pays, and answers with a text that is too long for one event. */
function clerkOn(store: Store, done: string[] = []): Agent {
  const input = { type: 'object', properties: {}, additionalProperties: false } as const;
  return createAgent({
    name: 'clerk',
    model: scriptedModel(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length;
      if (results === 0) return { toolCalls: [{ name: 'look', callId: '1', arguments: {} }] };
      if (results === 1) return { toolCalls: [{ name: 'pay', callId: '2', arguments: {} }] };
      return `Grüße ${'x'.repeat(1000)}`;
    }),
    tools: [
      tool({
        name: 'look',
        description: 'Looks.',
        input,
        effect: 'read',
        execute: () => {
          done.push('look');
          return `a\u0000b ${'y'.repeat(5000)}`;
        },
      }),
      tool({
        name: 'pay',
        description: 'Pays.',
        input,
        effect: 'once',
        permission: 'ask',
        execute: () => {
          done.push('pay');
          return 'paid';
        },
      }),
    ],
    store,
  });
}

async function replay(store: Store): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for await (const step of replayRun({ store, runId: 'run' })) steps.push(step);
  return steps;
}

describe.each(pairs)('a run that was recorded on $from and goes to $to', ({ from, to }) => {
  it('is the same there to the hash, replays, and goes on', async () => {
    const [source, target] = [await open(from), await open(to)];
    const done: string[] = [];
    const asked = await clerkOn(source, done).run('Pay, please.', { runId: 'run', sessionId: 'talk' });
    expect(asked).toMatchObject({ type: 'suspended' });
    const before = await source.runs.whole('run');
    const told = await replay(source);
    expect(await copyRuns(source, target, { remove: true, trusted: true })).toMatchObject({
      copied: 1,
      removed: 1,
      left: [],
    });
    expect(await target.runs.whole('run')).toEqual(before);
    expect(await source.runs.find('run')).toBeUndefined();
    const again = await replay(target);
    expect(again.at(-1)?.outcome).toMatchObject({ type: 'suspended' });
    expect(again).toEqual(told);
    const outcome = await clerkOn(target, done).resume('run', { answer: { approved: true } });
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(done).toEqual(['look', 'pay']);
    expect(await target.sessions.messages('talk')).not.toEqual([]);
    for (const store of [source, target]) {
      expect((await store.check()).problems).toEqual([]);
      await store.close();
    }
  });
});

describe('a run that waits in SQLite', () => {
  it('is answered in Postgres by another process, and pays once', async () => {
    const source = sqlite(path.join(folder, 'waits.db'));
    const address = await server.createDatabase();
    const target = postgres(address);
    const clerk = createAgent({
      name: 'clerk',
      model: scriptedModel([{ toolCalls: [{ name: 'pay', callId: '1', arguments: {} }] }]),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays.',
          input: { type: 'object', properties: {}, additionalProperties: false },
          effect: 'idempotent',
          permission: 'ask',
          execute: () => 'paid here',
        }),
      ],
      store: source,
    });
    expect(await clerk.run('Pay, please.', { runId: 'asked' })).toMatchObject({ type: 'suspended' });
    await copyRuns(source, target, { remove: true });
    const given: ChildGiven = { address, command: 'answer', leaseMs: 30_000 };
    const child = startLife(program.file, given);
    expect(await child.until(({ kind }) => kind === 'outcome')).toMatchObject({ type: 'completed' });
    expect(child.said.filter(({ kind }) => kind === 'paid')).toHaveLength(1);
    await child.ended;
    await expect(clerk.resume('asked', { answer: { approved: true } })).rejects.toThrow('There is no run');
    await Promise.all([source.close(), target.close()]);
  });
});

describe('a wire that is cut while runs move', () => {
  it('after the server has done it, again and again, loses nothing', async () => {
    const when = 'after';
    const source = sqlite(path.join(folder, 'cut.db'));
    const proxy = await startCutProxy(server.port);
    const database = new URL(await server.createDatabase()).pathname.slice(1);
    const target = postgres(server.addressOf({ port: proxy.port, database }));
    const runIds = ['a', 'b', 'c', 'd'];
    for (const runId of runIds) await clerkOn(source).run('Pay, please.', { runId });
    const before = await Promise.all(runIds.map((runId) => source.runs.whole(runId)));
    await target.open();
    proxy.cut({ when, sent: '', times: 6, skip: 6 });
    const done = await copyRuns(source, target, { remove: true });
    expect(proxy.cuts()).toBeGreaterThan(3);
    expect(done).toMatchObject({ removed: 4, left: [] });
    proxy.cut({ when, sent: '', times: 0 });
    const after = await Promise.all(runIds.map((runId) => target.runs.whole(runId)));
    for (const [index, was] of before.entries()) {
      // What was on record, and once that it came from elsewhere.
      const moved = after[index]?.events.at(-1);
      expect(moved).toMatchObject({ type: 'moved', body: { provenance: { type: 'copied' } } });
      const row = { ...was?.row, headSeq: moved?.seq, headHash: moved?.hash };
      expect(after[index]).toEqual({ ...was, row, events: [...(was?.events ?? []), moved] });
    }
    expect((await target.check()).problems).toEqual([]);
    await Promise.all([source.close(), target.close()]);
    await proxy.close();
  });
});
