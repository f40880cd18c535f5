import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/base/json.ts';
import { systemClock } from '../../../src/base/system.ts';
import { createMemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import type { MemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import type { DurableProgram, Effect, Engine } from '../../../src/runtime/record/durable.ts';
import type { RunSnapshot } from '../../../src/runtime/record/journal.ts';
import { useDbos, whenOver } from './scene.ts';

const scene = useDbos();
let engine: Engine;
afterEach(() => engine.close());

/** Calls side by side, a sleep, and one more call for every signal, until it is told to stop. */
const program: DurableProgram = async (durable, input) => {
  const both = await Promise.all([durable.call('count', 'a'), durable.call('count', 'b')]);
  await durable.sleep(5);
  const seen: Json[] = [input, ...both.map((outcome) => (outcome.type === 'done' ? outcome.value : null))];
  for (let rounds = 0; rounds < 10; rounds += 1) {
    const signal = await durable.waitFor('go');
    if (signal.type !== 'signalled' || signal.payload === 'stop') return seen;
    const outcome = await durable.call('count', signal.payload);
    seen.push(outcome.type === 'done' ? outcome.value : null);
  }
  return 'never told to stop';
};

function counting(): { readonly effects: Readonly<Record<string, Effect>>; readonly counted: Json[] } {
  const counted: Json[] = [];
  const count: Effect = (input) => {
    counted.push(input);
    return { type: 'done', value: { counted: input } };
  };
  return { effects: { count }, counted };
}

function elsewhere(effects: Readonly<Record<string, Effect>>): MemoryEngine {
  return createMemoryEngine({ program, effects, clock: systemClock });
}

async function open(executorId: string, effects: Readonly<Record<string, Effect>>): Promise<Engine> {
  engine = await scene.open({ name: 'journals', program, effects }, { executorId });
  return engine;
}

async function journal(runId: string): Promise<RunSnapshot> {
  const snapshot = await engine.journal?.(runId);
  if (snapshot === undefined) throw new Error(`There is no run "${runId}"`);
  // As whoever keeps it would.
  return JSON.parse(JSON.stringify(snapshot)) as RunSnapshot;
}

const send = (runId: string, id: string, payload: Json): Promise<void> =>
  engine.signal(runId, 'go', { id, payload });

describe('journal() of dbos()', { timeout: 60_000 }, () => {
  it('knows no run that never was', async () => {
    await open('nobody', {});
    expect(await engine.journal?.('nobody-began-it')).toBeUndefined();
  });

  it('gives a run that waits: it is replayed elsewhere without an effect, and goes on there', async () => {
    const { effects, counted } = counting();
    await open('waits', effects);
    await engine.start('in', { runId: 'waits', version: '1' });
    await send('waits', 'go-1', 'c');
    await expect.poll(() => counted.length, { timeout: 10_000 }).toBe(3);
    await expect.poll(async () => (await journal('waits')).journal.length, { timeout: 10_000 }).toBe(5);
    const record = await journal('waits');
    expect(record).toMatchObject({
      version: '1',
      generation: 1,
      input: 'in',
      signals: [],
      signalIds: ['go-1'],
    });
    expect(record.journal.map(({ type, position }) => [type, position])).toEqual([
      ['call', 0],
      ['call', 1],
      ['sleep', 2],
      ['wait', 3],
      ['call', 4],
    ]);
    const there = counting();
    const other = elsewhere(there.effects);
    expect(await other.replay(record)).toEqual({ type: 'open', position: 5 });
    other.adopt(record);
    // What it had heard here, it does not hear again.
    await other.signal('waits', 'go', { id: 'go-1', payload: 'c' });
    await other.signal('waits', 'go', { id: 'go-2', payload: 'd' });
    await other.signal('waits', 'go', { id: 'go-3', payload: 'stop' });
    expect(await other.whenEnded('waits')).toMatchObject({
      type: 'ended',
      result: ['in', ...['a', 'b', 'c', 'd'].map((value) => ({ counted: value }))],
    });
    expect(there.counted).toEqual(['d']);
  });

  it('gives a run that has ended with its end, and a replay comes to the same one', async () => {
    await open('ends', counting().effects);
    await engine.start('in', { runId: 'ends', version: '1' });
    await send('ends', 'stop-1', 'stop');
    const end = await whenOver(engine, 'ends');
    await send('ends', 'late-1', 'nobody hears it');
    const record = await journal('ends');
    // The status also has the generation.
    expect({ ...record.end, generation: 1 }).toEqual(end);
    expect(record.signals).toEqual([{ name: 'go', id: 'late-1', payload: 'nobody hears it' }]);
    const there = counting();
    expect({ ...(await elsewhere(there.effects).replay(record)), generation: 1 }).toEqual(end);
    expect(there.counted).toEqual([]);
  });

  it('reads what nobody carries, from another executor, with the letters that nobody has received', async () => {
    await open('gone', counting().effects);
    await engine.start('in', { runId: 'gone', version: '1' });
    await expect.poll(async () => (await journal('gone')).journal.length, { timeout: 10_000 }).toBe(3);
    await engine.close();
    await open('another', {});
    await send('gone', 'go-1', 'c');
    await engine.cancel('gone', 'it moves');
    const record = await journal('gone');
    expect(record).toMatchObject({
      cancelReason: 'it moves',
      signals: [{ id: 'go-1' }],
      signalIds: ['go-1'],
    });
    const other = elsewhere({});
    other.adopt(record);
    expect(await other.whenEnded('gone')).toMatchObject({ type: 'broken', failure: { code: 'CANCELLED' } });
  });

  it('gives the latest generation, with what the one before has left', async () => {
    const restarting: DurableProgram = async (durable, input) => {
      const signal = await durable.waitFor(input === null ? 'first' : 'second');
      return signal.type === 'signalled' && input === null ? durable.restart(signal.payload) : 'over';
    };
    engine = await scene.open({ name: 'generations', program: restarting }, { executorId: 'generations' });
    await engine.start(null, { runId: 'next', version: '1' });
    await engine.signal('next', 'other', { id: 'other-1', payload: 'kept' });
    await engine.signal('next', 'first', { id: 'first-1', payload: 'state' });
    await expect.poll(async () => (await journal('next')).generation, { timeout: 10_000 }).toBe(2);
    const record = await journal('next');
    expect(record).toMatchObject({ input: 'state', journal: [], signals: [{ id: 'other-1' }] });
    expect(record.signalIds.toSorted()).toEqual(['first-1', 'other-1']);
  });
});
