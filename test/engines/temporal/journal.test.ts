import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { Effect, Engine } from '../../../src/runtime/record/durable.ts';
import type { RunSnapshot } from '../../../src/runtime/record/journal.ts';
import { createMemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import { openBackend, openProgram, serverName } from './backend.ts';
import type { Backend } from './backend.ts';
import { programs } from './programs.ts';

// What Temporal has on record of a run, in the port's form: it must be whole enough for another engine.

let backend: Backend;
const open: Engine[] = [];
beforeAll(async () => {
  backend = await openBackend('programs');
});
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});
afterAll(() => backend.close());

const start = { runId: 'run', version: '1' };

async function engineOf(
  name: string,
  program: keyof typeof programs,
  effect: Effect = echo,
): Promise<Engine> {
  const engine = await openProgram(backend.options, { name, facts: { program }, effects: { effect } });
  open.push(engine);
  return engine;
}

const echo: Effect = (input) => ({ type: 'done', value: input });

async function journalOf(engine: Engine): Promise<RunSnapshot> {
  const snapshot = await engine.journal?.('run');
  if (snapshot === undefined) throw new Error('Nothing is on record');
  return JSON.parse(JSON.stringify(snapshot)) as RunSnapshot; // A copy, as it is sent to somebody.
}

/** An engine in memory; unless an effect is given, nothing may be performed. */
function memoryOf(program: keyof typeof programs, effect?: Effect): ReturnType<typeof createMemoryEngine> {
  const refuse: Effect = () => {
    throw new Error('Nothing may be performed');
  };
  const effects = { effect: effect ?? refuse };
  return createMemoryEngine({ program: programs[program], effects, clock: systemClock, version: '1' });
}

async function shows(engine: Engine, wanted: object): Promise<void> {
  await expect.poll(() => engine.status('run'), { timeout: 20_000 }).toMatchObject(wanted);
}

describe(`journal() on ${serverName}`, { timeout: 60_000 }, () => {
  it('knows nothing of a run that never was', async () => {
    const engine = await engineOf(`journal-${randomUUID()}`, 'waits');
    expect(await engine.journal?.('nobody')).toBeUndefined();
  });

  it('shows what was done while the run waits, also after the process that carried it is gone, and another engine goes on', async () => {
    const name = `journal-${randomUUID()}`;
    const first = await engineOf(name, 'everything');
    await first.start(null, start);
    await shows(first, { type: 'waiting', signal: 'go' });
    await first.signal('run', 'other', { id: 'o-1', payload: 'kept' });
    await first.close();
    const second = await engineOf(name, 'everything');
    await expect
      .poll(() => journalOf(second), { timeout: 20_000 })
      .toMatchObject({
        runId: 'run',
        version: '1',
        generation: 1,
        input: null,
        journal: [
          { type: 'call', position: 0, effect: 'effect', input: 1, outcome: { type: 'done', value: 1 } },
          { type: 'call', position: 1, input: 2 },
          { type: 'sleep', position: 2, delayMs: 20, isOver: true },
          { type: 'wait', position: 3, signal: 'never', signalled: { type: 'timed-out' } },
          {
            type: 'wait',
            position: 4,
            signal: 'go',
            timeoutMs: 60_000,
            dueAtMs: expect.any(Number) as number,
          },
        ],
        signals: [{ name: 'other', id: 'o-1', payload: 'kept' }],
      });
    const snapshot = await journalOf(second);
    const performed: unknown[] = [];
    const memory = memoryOf('everything', (input) => {
      performed.push(input);
      return { type: 'done', value: null };
    });
    memory.adopt(snapshot);
    await memory.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await memory.whenEnded('run')).toMatchObject({ type: 'ended', result: 'all done' });
    expect(performed).toEqual(['signalled', 'after the restart']);
    await memory.close();
  });

  it('shows the last generation of a run that has ended, and it replays in memory without performing anything', async () => {
    const engine = await engineOf(`journal-${randomUUID()}`, 'everything');
    await engine.start(null, start);
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    await shows(engine, { type: 'ended' });
    const snapshot = await journalOf(engine);
    const end = { type: 'ended', result: 'all done' };
    expect(snapshot).toMatchObject({ generation: 2, input: 'again', end });
    expect(snapshot.signalIds).toEqual(['go-1']);
    const memory = memoryOf('everything');
    expect(await memory.replay(snapshot)).toEqual(end);
    await memory.close();
  });

  it('hands a run that is too long to be sent to another worker, which asks the workflow for it part by part', async () => {
    const name = `journal-${randomUUID()}`;
    const large = 'x'.repeat(60_000);
    const effect: Effect = (input) => ({ type: 'done', value: [input, large] });
    const first = await engineOf(name, 'rests', effect);
    await first.start(12, start);
    await shows(first, { type: 'waiting', signal: 'go' });
    await first.close();
    const second = await engineOf(name, 'rests', effect);
    await second.signal('run', 'go', { id: 'go-1', payload: null });
    await shows(second, { type: 'ended', result: 13 });
    const { journal } = await journalOf(second);
    expect(journal.length).toBe(14);
    expect(JSON.stringify(journal).length).toBeGreaterThan(700_000);
  });
});
