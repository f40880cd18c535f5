import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tool } from '../../src/index.ts';
import { RerailError } from '../../src/errors/index.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import { importRun } from '../../src/runtime/transfer/import-run.ts';
import { replayRun } from '../../src/runtime/transfer/replay-run.ts';
import type { ReplaySource, ReplayStep } from '../../src/runtime/transfer/replay-run.ts';
import { checksumOf } from '../../src/runtime/transfer/run-bundle.ts';
import type { Store } from '../../src/model/store/store.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scenarios } from '../golden/scenarios.ts';
import type { Scenario } from '../golden/scenarios.ts';
import { anyInput, call, createWorld, look, pay, payOnce, runId } from '../golden/world.ts';
import type { Lived } from '../golden/world.ts';

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return RerailError.isInstance(error) ? error.failure.code : String(error);
}

async function lastStep(source: ReplaySource): Promise<ReplayStep | undefined> {
  let last: ReplayStep | undefined;
  for await (const step of replayRun(source)) last = step;
  return last;
}

interface Exported extends Lived {
  readonly text: string;
}

const exports = new Map<string, Promise<Exported>>();

/** Lived and exported once, however often it is looked at. */
function exported({ name, live }: Scenario): Promise<Exported> {
  const known = exports.get(name);
  if (known !== undefined) return known;
  const making = live().then(async (lived) => ({ ...lived, text: await exportRun(lived.store, runId) }));
  exports.set(name, making);
  return making;
}

async function plainRun(): Promise<Lived> {
  const world = createWorld();
  return world.run(world.agent([call('look', { at: 1 }), 'Found.'], { tools: [look()] }));
}

/** The bundle with something changed, and a checksum that fits. */
function forge(text: string, change: (bundle: Record<string, unknown>) => unknown): string {
  const bundle = JSON.parse(text) as Record<string, unknown>; // A bundle is an object.
  change(bundle);
  return JSON.stringify({ ...bundle, checksum: checksumOf(bundle) });
}

type Events = Record<string, unknown>[];

const refused: readonly { what: string; code: string; spoil: (text: string) => string }[] = [
  { what: 'that is no JSON', code: 'STORAGE_CORRUPT', spoil: (text) => text.slice(0, -20) },
  { what: 'that is empty', code: 'STORAGE_CORRUPT', spoil: () => '' },
  { what: 'that is a list', code: 'STORAGE_CORRUPT', spoil: () => '[]' },
  { what: 'that is something else', code: 'STORAGE_CORRUPT', spoil: () => '{"format":"zip"}' },
  {
    what: 'with members for prototypes',
    code: 'STORAGE_CORRUPT',
    spoil: () => '{"__proto__":{"format":"rerail-run","version":1},"constructor":{}}',
  },
  {
    what: 'that nests without end',
    code: 'STORAGE_CORRUPT',
    spoil: () => `{"format":${'['.repeat(1_000_000)}`,
  },
  { what: 'with a text changed', code: 'STORAGE_CORRUPT', spoil: (text) => text.replace('Found.', 'Lost..') },
  {
    what: 'of a later version',
    code: 'STORAGE_NEWER_SCHEMA',
    spoil: (text) => forge(text, (bundle) => (bundle['version'] = 2)),
  },
  {
    what: 'with an event changed under a new checksum',
    code: 'STORAGE_CORRUPT',
    spoil: (text) =>
      forge(text, ({ events }) => ((events as Events)[1] = { ...(events as Events)[2], seq: 2 })),
  },
  {
    what: 'with an event left out under a new checksum',
    code: 'STORAGE_CORRUPT',
    spoil: (text) => forge(text, ({ events }) => (events as Events).splice(1, 1)),
  },
  {
    what: 'without events',
    code: 'STORAGE_CORRUPT',
    spoil: (text) => forge(text, (bundle) => (bundle['events'] = [])),
  },
  {
    what: 'of a status that there is not',
    code: 'STORAGE_CORRUPT',
    spoil: (text) => forge(text, ({ run }) => ((run as Record<string, unknown>)['status'] = 'owned')),
  },
  {
    what: 'with a blob changed',
    code: 'STORAGE_CORRUPT',
    spoil: (text) => forge(text, (bundle) => (bundle['blobs'] = [{ hash: 'a', content: 'b' }])),
  },
];

describe('importRun() refuses', () => {
  it.each(refused)('a bundle $what, and writes nothing', async ({ spoil, code }) => {
    const { store } = await plainRun();
    const other = memoryStore();
    const text = spoil(await exportRun(store, runId));
    expect(await codeOf(importRun(other, text))).toBe(code);
    expect(await codeOf(lastStep({ bundle: text }))).toBe(code);
    expect(await other.check()).toEqual({ runs: 0, events: 0, blobs: 0, problems: [] });
  });

  it('to put a run in the place of another one', async () => {
    const { store } = await plainRun();
    const text = await exportRun(store, runId);
    const before = await store.runs.find(runId);
    expect(await codeOf(importRun(store, text))).toBe('ALREADY_REGISTERED');
    expect(await store.runs.find(runId)).toEqual(before);
    await expect(importRun(store, text, { as: 'copy' })).resolves.toMatchObject({
      runId: 'copy',
      from: runId,
      status: 'completed',
    });
  });

  it('a name that is none', async () => {
    const { store } = await plainRun();
    expect(await codeOf(importRun(store, await exportRun(store, runId), { as: '' }))).toBe('CONFIG_ERROR');
  });
});

describe('exportRun()', () => {
  it('says that there is no such run', async () => {
    expect(await codeOf(exportRun(memoryStore(), 'nobody'))).toBe('STORAGE_NOT_FOUND');
  });

  it('obeys its signal', async () => {
    const { store } = await plainRun();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(exportRun(store, runId, { signal })).rejects.toThrow('enough');
  });
});

const key = `sk-ant-api03-${'Ab3dEf6hIj9k'.repeat(8)}`;

/** Secrets wherever a run may hold them: what was asked, what was called, what came back, what was kept apart. */
async function secretRun(): Promise<Lived> {
  const world = createWorld();
  const login = tool({
    name: 'read_secret',
    description: 'Reads.',
    input: anyInput,
    effect: 'read',
    execute: () => ({ password: 'correct-horse-battery', note: `the key is ${key}` }),
  });
  const withSecret = { name: 'read_secret', arguments: { password: 'hunter2-hunter2', api_key: key } };
  const script = [{ toolCalls: [withSecret] }, `I used ${key} and it worked.`];
  return world.run(world.agent(script, { tools: [login] }), `My key is ${key}`);
}

describe('a bundle', () => {
  it('holds no secret, and replays and verifies on another store all the same', async () => {
    const { store, outcome } = await secretRun();
    const text = await exportRun(store, runId);
    for (const secret of [key, key.slice(20), 'hunter2', 'correct-horse']) expect(text).not.toContain(secret);
    const other = memoryStore();
    await importRun(other, text);
    const last = await lastStep({ store: other, runId });
    expect(last?.outcome).toMatchObject({
      type: 'completed',
      text: 'I used [redacted anthropic key] and it worked.',
      usage: outcome.usage,
      turns: outcome.turns,
    });
    expect(await other.check()).toMatchObject({ runs: 1, problems: [] });
  });

  it.each(scenarios)('gives the same bundle again when it was imported: $name', async (scenario) => {
    const { text, outcome } = await exported(scenario);
    const other = memoryStore();
    const { runId: copy } = await importRun(other, text, { as: 'a-copy' });
    expect(await exportRun(other, copy)).toBe(text);
    const last = await lastStep({ store: other, runId: copy });
    expect(last).toMatchObject({ type: 'imported', outcome: { type: outcome.type, runId: copy } });
  });

  it('of a run that waits for somebody is parked where it is imported, and goes on only by hand', async () => {
    const world = createWorld();
    const tools = [pay({ permission: 'ask' })];
    await world.run(world.agent([payOnce], { tools }));
    const text = await exportRun(world.store, runId);
    await world.store.runs.remove(runId);
    await expect(importRun(world.store, text)).resolves.toMatchObject({ status: 'parked' });
    const row = await world.store.runs.find(runId);
    expect(row).toMatchObject({ status: 'parked', crashes: 0 });
    expect(row?.owner).toBeUndefined();
    const query = { agents: ['clerk'], ownerId: 'somebody', limit: 10 };
    expect(await world.store.runs.waiting(query)).toEqual([]);
    const asked = await world.resume(world.agent([], { tools }));
    expect(asked.outcome).toMatchObject({ type: 'suspended', reason: 'approval' });
    const paid = await world.resume(world.agent([payOnce], { tools }), { answer: true });
    expect(paid.outcome).toMatchObject({ type: 'completed', text: 'Paid.' });
    expect((await lastStep({ store: world.store, runId }))?.outcome).toEqual(paid.outcome);
  });

  it("brings nothing over that was sent to the run: a signal in a file is nobody's word", async () => {
    const world = createWorld();
    await world.run(world.agent([payOnce], { tools: [pay({ permission: 'ask' })] }));
    await world.store.runs.signal(runId, {
      id: 's1',
      name: 'message',
      payload: { password: 'hunter2-hunter2' },
    });
    const other = memoryStore();
    await importRun(other, await exportRun(world.store, runId));
    expect(await other.runs.signals(runId)).toEqual([]);
  });

  it('whose import was broken off by a crash can be imported again', async () => {
    const long = scenarios.filter(({ name }) => name === 'long-run').map(exported);
    const { text } = (await Promise.all(long))[0] as Exported; // It is in the list.
    const other = memoryStore();
    const dying = other.reopen({
      faults: { before: ({ verb }) => (verb === 'append' ? 'crash' : undefined) },
    });
    void importRun(dying, text);
    await new Promise(setImmediate);
    expect(await other.runs.find(runId)).toMatchObject({ status: 'parked' });
    expect(await codeOf(importRun(other, text))).toBe('ALREADY_REGISTERED');
    dying.kill();
    await importRun(other, text);
    expect(await exportRun(other, runId)).toBe(text);
  });

  it('of any run gives the same text when it is exported, imported and exported', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), async (said, given) => {
        const world = createWorld();
        const echo = tool({
          name: 'echo',
          description: 'Says it again.',
          input: anyInput,
          effect: 'read',
          execute: (input) => [input, said],
        });
        const argumentsText = JSON.stringify(given);
        const script = [{ toolCalls: [{ name: 'echo', argumentsText }] }, `So ${said}`];
        await world.run(world.agent(script, { tools: [echo] }), `Say ${said}`);
        const text = await exportRun(world.store, runId);
        const other = memoryStore();
        await importRun(other, text, { as: 'other' });
        expect(await exportRun(other, 'other')).toBe(text);
        expect((await lastStep({ bundle: text }))?.phase).toBe('ended');
      }),
      { numRuns: 60 },
    );
  });
});

describe('a bundle on a real disk', () => {
  let folder = '';
  let store: Store = memoryStore();
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-bundle-'));
    store = sqlite(path.join(folder, 'runs.db'));
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it.each(scenarios)('is taken over, replays and verifies: $name', async (scenario) => {
    const { text, ...lived } = await exported(scenario);
    const { name } = scenario;
    await importRun(store, text, { as: name });
    expect(await exportRun(store, name)).toBe(text);
    const last = await lastStep({ store, runId: name });
    expect(last?.outcome).toMatchObject({ type: lived.outcome.type, usage: lived.outcome.usage });
    expect((await store.check()).problems).toEqual([]);
  });
});
