import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { isCancelled } from '../../../src/runtime/record/durable-errors.ts';
import type { DurableProgram, Effect, Engine } from '../../../src/runtime/record/durable.ts';
import type { RunSnapshot } from '../../../src/runtime/record/journal.ts';
import { createMemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import type { MemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { endOf, statusOf, useScene } from './scene.ts';
import { wander } from './wander.ts';

// What Restate's own tables say of a run, in the port's form: it must be whole enough for another engine.

const scene = useScene();

const start = { runId: "it's a run", version: '1' };
const { runId } = start;

/** An engine in memory that must not perform anything but what it is given. */
function memoryOf(program: DurableProgram, effects: Readonly<Record<string, Effect>> = {}): MemoryEngine {
  const refuse: Effect = () => {
    throw new Error('Nothing may be performed');
  };
  const names = ['echo', 'slow', 'take', 'large'];
  const all = Object.fromEntries(names.map((name) => [name, effects[name] ?? refuse]));
  return createMemoryEngine({ program, effects: all, clock: systemClock, version: '1' });
}

async function journalOf(engine: Engine, id = runId): Promise<RunSnapshot> {
  const snapshot = await engine.journal?.(id);
  if (snapshot === undefined) throw new Error(`Nothing is on record of ${id}`);
  return JSON.parse(JSON.stringify(snapshot)) as RunSnapshot; // A copy, as it is sent to somebody.
}

const echo: Effect = (input) => ({ type: 'done', value: input });

describe('journal()', () => {
  it('knows nothing of a run that never was', async () => {
    const engine = await scene.engineOf({ program: async () => null });
    expect(await engine.journal?.('nobody')).toBeUndefined();
  });

  it('says what it needs', async () => {
    const { ingressUrl } = scene.server;
    const engine = await scene.engineOf({
      program: async () => null,
      options: { ingressUrl, adminUrl: undefined, serve: undefined } as object,
    });
    await expect(engine.journal?.(runId)).rejects.toThrow(/needs "adminUrl"/);
  });

  it('says that it is gone, rather than that there was nothing', async () => {
    const engine = await scene.engineOf({ name: 'purged', program: async () => 'over' });
    await engine.start(null, start);
    await endOf(engine, runId);
    const [row] = await scene.server.query(
      `SELECT id FROM sys_invocation WHERE target_service_name = 'rerail.purged.program'`,
    );
    // What Restate does when its time is up.
    const url = `${scene.server.adminUrl}/invocations/${String(row?.['id'])}/purge-journal`;
    expect((await fetch(url, { method: 'PATCH' })).ok).toBe(true);
    await expect(journalOf(engine)).rejects.toThrow(/journal of run "it's a run" is gone/);
  });

  it('shows every verb while the run waits and nobody carries it, and another engine goes on with it', async () => {
    const program: DurableProgram = async (durable, input) => {
      await durable.call('echo', { first: input });
      await durable.sleep(10);
      const [answer] = await Promise.all([durable.waitFor('answer'), durable.call('echo', 'beside')]);
      const late = await durable.waitFor('never', { timeoutMs: 5 });
      const taken = await durable.call('take', null);
      const last = await durable.waitFor('last', { timeoutMs: 3_600_000 });
      return [answer, late, taken, last] as never; // All JSON.
    };
    const take: Effect = (_input, { pending }) => {
      const all = pending('extra');
      return { type: 'done', value: all.length, took: all.map(({ id }) => id) };
    };
    const worker = await scene.engineOf({ name: 'moving', program, effects: { echo, take } });
    await worker.start('go', start);
    await worker.signal(runId, 'extra', { id: 'e1', payload: 1 });
    await worker.signal(runId, 'kept', { id: 'k1', payload: 2 });
    await worker.signal(runId, 'answer', { id: 'a1', payload: 'yes' });
    for (let tries = 0; tries < 500; tries += 1) {
      const status = await worker.status(runId);
      if (status.type === 'waiting' && status.signal === 'last') break;
      await sleep(10);
    }
    await worker.close();

    const { ingressUrl, adminUrl } = scene.server;
    const reader = await scene.engineOf({
      name: 'moving',
      program: async () => null,
      options: { ingressUrl, adminUrl, serve: undefined } as object,
    });
    const snapshot = await journalOf(reader);
    expect(snapshot).toEqual({
      runId,
      version: '1',
      generation: 1,
      input: 'go',
      journal: [
        {
          type: 'call',
          position: 0,
          effect: 'echo',
          input: { first: 'go' },
          outcome: { type: 'done', value: { first: 'go' } },
        },
        { type: 'sleep', position: 1, delayMs: 10, dueAtMs: expect.any(Number) as unknown, isOver: true },
        {
          type: 'wait',
          position: 2,
          signal: 'answer',
          signalled: { type: 'signalled', id: 'a1', payload: 'yes' },
        },
        {
          type: 'call',
          position: 3,
          effect: 'echo',
          input: 'beside',
          outcome: { type: 'done', value: 'beside' },
        },
        { type: 'wait', position: 4, signal: 'never', timeoutMs: 5, signalled: { type: 'timed-out' } },
        {
          type: 'call',
          position: 5,
          effect: 'take',
          input: null,
          outcome: { type: 'done', value: 1 },
          took: ['e1'],
        },
        {
          type: 'wait',
          position: 6,
          signal: 'last',
          timeoutMs: 3_600_000,
          dueAtMs: expect.any(Number) as unknown,
        },
      ],
      signals: [{ id: 'k1', name: 'kept', payload: 2 }],
      signalIds: expect.arrayContaining(['e1', 'k1', 'a1']) as unknown,
    });

    const memory = memoryOf(program);
    expect(await memory.replay(snapshot)).toEqual({ type: 'open', position: 6 });
    memory.adopt(snapshot);
    await memory.signal(runId, 'last', { id: 'l1', payload: 'end' });
    const end = await memory.whenEnded(runId);
    expect(end).toMatchObject({
      type: 'ended',
      result: [{ id: 'a1' }, { type: 'timed-out' }, {}, { id: 'l1' }],
    });
    await memory.close();
  });

  it('holds the end, and what came before a cancellation', async () => {
    const program: DurableProgram = async (durable) => {
      const slow = durable.call('slow', null).then(
        ({ type }) => type,
        () => 'not heard',
      );
      try {
        await durable.waitFor('never');
        return 'went on';
      } catch (error) {
        return [isCancelled(error), await slow];
      }
    };
    const slow: Effect = async (_input, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { type: 'done', value: 'stopped in time' };
    };
    const engine = await scene.engineOf({ program, effects: { slow } });
    await engine.start(null, start);
    await statusOf(engine, runId, 'waiting');
    await engine.cancel(runId, 'no longer wanted');
    const end = await endOf(engine, runId);
    expect(end).toMatchObject({ type: 'ended', result: [true, 'done'] });
    const snapshot = await journalOf(engine);
    expect(snapshot.cancelReason).toBe('no longer wanted');
    expect({ ...snapshot.end, generation: 1 }).toEqual(end);
    expect({ ...(await memoryOf(program).replay(snapshot)), generation: 1 }).toEqual(end);
  });

  it('shows the latest generation, and a large value whole', async () => {
    const large = 'x'.repeat(300_000);
    const program: DurableProgram = async (durable, input) => {
      if (input === 'first') durable.restart('second');
      await durable.call('large', large);
      return (await durable.waitFor('go')).type;
    };
    const engine = await scene.engineOf({ program, effects: { large: echo } });
    await engine.start('first', start);
    await statusOf(engine, runId, 'waiting');
    const snapshot = await journalOf(engine);
    expect(snapshot).toMatchObject({ generation: 2, input: 'second' });
    expect(snapshot.journal[0]).toMatchObject({ input: large, outcome: { value: large } });
    expect(await memoryOf(program).replay(snapshot)).toEqual({ type: 'open', position: 1 });
    await engine.cancel(runId, 'over');
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'of a random program with branches replays to the same end: seed %i',
    async (seed) => {
      const program: DurableProgram = (durable) => wander(durable, seed);
      const engine = await scene.engineOf({
        name: `random-${seed}`,
        program,
        effects: { echo, slow: (input) => sleep(3).then(() => echo(input, undefined as never)) },
      });
      await engine.start(null, start);
      const random = seededRandom(seed);
      for (let count = 0; count < 12; count += 1) {
        await sleep(random() * 15);
        const name = random() < 0.5 ? 'left' : 'right';
        await engine.signal(runId, name, { id: `${name}-${count}`, payload: count });
      }
      const end = await endOf(engine, runId);
      expect(end.type).toBe('ended');
      expect(await memoryOf(program).replay(await journalOf(engine))).toEqual({
        type: 'ended',
        result: end.type === 'ended' && end.result,
      });
    },
  );
});
