import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, RunOutcome } from '../../src/index.ts';
import type { RunSnapshot } from '../../src/runtime/record/journal.ts';
import { memoryStore, scriptedModel } from '../../src/testing/index.ts';

// What holds between every two backends: a record of one is gone on with on the other, and nothing on it is done again.

/** Where runs are kept: made anew for each agent, over the same data. */
export interface Backend {
  readonly place: () => Pick<AgentOptions, 'engine' | 'store'>;
  readonly close: () => Promise<void>;
}

const folder = path.join(import.meta.dirname, 'journals');
const agentName = 'clerk';

/** What was done to the world. */
interface World {
  readonly done: string[];
  asked: number;
}

/** Two things are read at once, then a payment waits for a yes. */
function clerk(world: World, place: Pick<AgentOptions, 'engine' | 'store'>): Agent {
  const look = tool({
    name: 'look',
    description: 'Looks something up.',
    effect: 'read',
    input: z.object({ what: z.string() }),
    execute: ({ what }) => {
      world.done.push(`look ${what}`);
      return `${what} is fine`;
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    permission: 'ask',
    input: z.object({ to: z.string() }),
    execute: ({ to }) => {
      world.done.push(`pay ${to}`);
      return 'paid';
    },
  });
  const model = scriptedModel(({ messages }) => {
    world.asked += 1;
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (results === 0)
      return {
        toolCalls: [
          { name: 'look', arguments: { what: 'stock' }, callId: 'a' },
          { name: 'look', arguments: { what: 'price' }, callId: 'b' },
        ],
      };
    return messages.some((message) => message.role === 'tool' && JSON.stringify(message).includes('"paid"'))
      ? 'It is paid.'
      : { toolCalls: [{ name: 'pay', arguments: { to: 'Ann' }, callId: 'c' }] };
  });
  return createAgent({ name: agentName, model, tools: [look, pay], ...place });
}

function newWorld(): World {
  return { done: [], asked: 0 };
}

/** The records that are kept, by backend. */
function keptRecords(): readonly (readonly [string, Kept])[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => [
      path.basename(file, '.json'),
      JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Kept, // Written below.
    ]);
}

/** What a backend has on record of two runs. */
interface Kept {
  readonly waiting: RunSnapshot;
  readonly ended: RunSnapshot;
}

let runs = 0;

/** Names are new, since the backend may have kept a run of an earlier test. Times are today's, since questions expire after a day. */
function renamed(record: RunSnapshot): RunSnapshot {
  runs += 1;
  const text = JSON.stringify(record).replaceAll(
    JSON.stringify(record.runId),
    JSON.stringify(`moved-${process.pid}-${runs}`),
  );
  const wallTimes = text.match(wallTime)?.map(Number) ?? [];
  const shiftMs = Date.now() - Math.max(...wallTimes);
  return JSON.parse(text.replace(wallTime, (ms) => String(Number(ms) + shiftMs))) as RunSnapshot;
}

/** Milliseconds since 1970, of a day between 2025 and 2030. */
const wallTime = /\b1[78]\d{11}\b/g;

function expectQuestion(outcome: RunOutcome): void {
  expect(outcome).toMatchObject({ type: 'suspended', reason: 'approval', request: { tool: 'pay' } });
}

/** Runs the clerk on a backend, once until he asks and once to the end, and gives what is on record of both. */
async function recordOn(backend: Backend): Promise<Kept> {
  const world = newWorld();
  const agent = clerk(world, backend.place());
  runs += 1;
  const [waiting, ended] = [`waits-${process.pid}-${runs}`, `ends-${process.pid}-${runs}`];
  expectQuestion(await agent.run('Order a lamp', { runId: waiting }));
  expectQuestion(await agent.run('Order a lamp', { runId: ended }));
  expect(await agent.resume(ended, { answer: true })).toMatchObject({ type: 'completed' });
  const records = { waiting: await agent.journal(waiting), ended: await agent.journal(ended) };
  await agent.close();
  expect(world.done.toSorted()).toEqual(['look price', 'look price', 'look stock', 'look stock', 'pay Ann']);
  // Through JSON, as whoever moves it keeps it.
  const kept = JSON.parse(JSON.stringify(records)) as Kept;
  if (process.env['RERAIL_RECORD_JOURNALS'] !== undefined) keep(kept);
  return kept;
}

function keep(kept: Kept): void {
  const file = path.join(folder, `${process.env['RERAIL_RECORD_JOURNALS']}.json`);
  writeFileSync(file, `${JSON.stringify(kept)}\n`);
}

/** Goes on with a run that waits, and gives what was done here. */
async function goOn(backend: Backend, record: RunSnapshot): Promise<World> {
  const world = newWorld();
  const agent = clerk(world, backend.place());
  const { runId } = record;
  expectQuestion(await agent.takeOver(record));
  expect(world).toEqual({ done: [], asked: 0 });
  // A second time it is the same run.
  expectQuestion(await agent.takeOver(record));
  const outcome = await agent.resume(runId, { answer: true });
  expect(outcome).toMatchObject({ type: 'completed', text: 'It is paid.', runId });
  await agent.close();
  return world;
}

/** Goes through a run that has ended, and gives what was done here. */
async function goThrough(backend: Backend, record: RunSnapshot): Promise<World> {
  const world = newWorld();
  const agent = clerk(world, backend.place());
  expect(await agent.takeOver(record)).toMatchObject({ type: 'completed', text: 'It is paid.' });
  await agent.close();
  return world;
}

/** The record with another effect where the first one stands. */
function changed(record: RunSnapshot): RunSnapshot {
  const [first, ...rest] = record.journal;
  expect(first?.type).toBe('call');
  return { ...record, journal: [{ ...first, effect: 'sing' } as typeof first & object, ...rest] };
}

/** The suite of one backend. */
export function describeMoves(name: string, open: () => Promise<Backend>): void {
  describe(`runs of ${name} and of every other backend`, { timeout: 60_000 }, () => {
    let backend: Backend;
    let own: Kept;
    beforeAll(async () => {
      backend = await open();
      own = await recordOn(backend);
    }, 240_000);
    afterAll(() => backend.close());

    it('are on record in one form', () => {
      for (const record of [own.waiting, own.ended]) {
        expect(record.journal.map(({ position }) => position)).toEqual(
          record.journal.map((_, index) => index),
        );
        expect(record).toMatchObject({ version: '1', generation: 1, signals: [] });
      }
    });

    it('are on record elsewhere as they are here', () => {
      expect(keptRecords().map(([kept]) => kept)).toContain(name);
      const shape = ({ journal }: RunSnapshot): readonly string[] =>
        journal.map((entry) => (entry.type === 'call' ? entry.effect : entry.type));
      for (const [, kept] of keptRecords()) {
        expect(shape(kept.waiting).filter(isStep)).toEqual(shape(own.waiting).filter(isStep));
        expect(shape(kept.ended).filter(isStep)).toEqual(shape(own.ended).filter(isStep));
      }
    });

    it('know no run that never was', async () => {
      const agent = clerk(newWorld(), backend.place());
      expect(await agent.journal('nobody-began-it')).toBeUndefined();
      await agent.close();
    });

    it.each(keptRecords())('go on here after they waited on %s', async (_from, { waiting }) => {
      expect(await goOn(backend, renamed(waiting))).toEqual({ done: ['pay Ann'], asked: 1 });
    });

    it.each(keptRecords())('come to the same end here as on %s', async (_from, { ended }) => {
      expect(await goThrough(backend, renamed(ended))).toEqual({ done: [], asked: 0 });
    });

    it('are refused here where the program is another one, with both sides', async () => {
      const world = newWorld();
      const agent = clerk(world, backend.place());
      const outcome = await agent.takeOver(changed(renamed(own.waiting)));
      expect(outcome.type).not.toBe('completed');
      expect(JSON.stringify(outcome)).toMatch(/the program changed.*sing/s);
      expect(world).toEqual({ done: [], asked: 0 });
      await agent.close();
    });

    it('go on elsewhere once they are cancelled here, and nobody pays twice', async () => {
      const [here, there] = [newWorld(), newWorld()];
      const agent = clerk(here, backend.place());
      runs += 1;
      const runId = `cancelled-${process.pid}-${runs}`;
      expectQuestion(await agent.run('Order a lamp', { runId }));
      await agent.cancel(runId, 'it moves');
      await expect
        .poll(async () => (await agent.journal(runId))?.cancelReason, { timeout: 20_000 })
        .toBe('it moves');
      const record = await agent.journal(runId);
      await agent.close();
      expect(here.done).not.toContain('pay Ann');
      const other = clerk(there, { store: memoryStore() });
      expect(await other.takeOver(record as RunSnapshot)).toMatchObject({ type: 'cancelled' }); // It was polled for.
      expectQuestion(await other.resume(runId));
      expect(await other.resume(runId, { answer: true })).toMatchObject({ text: 'It is paid.' });
      expect(there.done).toEqual(['pay Ann']);
    });
  });
}

/** A wait that is still open is on record where its backend writes it when it begins. */
function isStep(step: string): boolean {
  return step !== 'wait';
}
