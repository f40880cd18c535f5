import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { DurableProgram, Effect, RunStatus } from '../../../src/runtime/record/durable.ts';
import type { RunSnapshot } from '../../../src/runtime/record/journal.ts';
import { createMemoryEngine } from '../../../src/runtime/record/memory-engine.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { endOf, useScene } from './scene.ts';
import { freePort } from './server.ts';
import { wander } from './wander.ts';

// Restate replays a program over its journal after every interruption. An attempt that came another way than the one before would
// ask for another command, and Restate would begin it again for ever.

const scene = useScene();

const runId = 'r';
const echo: Effect = (input) => ({ type: 'done', value: input });
const slow: Effect = (input, { signal }) =>
  new Promise((resolve) => {
    const end = (): void => resolve({ type: 'done', value: signal.aborted ? 'stopped' : input });
    signal.addEventListener('abort', end, { once: true });
    setTimeout(end, 3);
  });

interface Played {
  /** How it ended on Restate. */
  readonly end: RunStatus;
  /** How its journal ends in memory, where nothing may be performed. */
  readonly replayed: Readonly<Record<string, unknown>>;
  readonly cancelReason: string | undefined;
}

async function play(seed: number, { isCancelled }: { readonly isCancelled: boolean }): Promise<Played> {
  const program: DurableProgram = (durable) => wander(durable, seed);
  const wanted = {
    name: `attempts-${seed}-${String(isCancelled)}`,
    program,
    effects: { echo, slow },
    options: { serve: { port: await freePort() } },
  };
  let engine = await scene.engineOf(wanted);
  await engine.start(null, { runId, version: '1' });
  const random = seededRandom(seed + 1000);
  const cancelAt = isCancelled ? Math.floor(random() * 12) : undefined;
  for (let count = 0; count < 12; count += 1) {
    await sleep(random() * 15);
    if (random() < 0.3) {
      await engine.close();
      engine = await scene.engineOf(wanted);
    }
    if (count === cancelAt) await engine.cancel(runId, 'no longer wanted');
    const name = random() < 0.5 ? 'left' : 'right';
    await engine.signal(runId, name, { id: `${name}-${count}`, payload: count });
  }
  const end = await endOf(engine, runId);
  const snapshot = JSON.parse(JSON.stringify(await engine.journal?.(runId))) as RunSnapshot; // It has one.
  const { generation, cancelReason } = snapshot;
  // The status of a run also has its generation, which a replay was given.
  return { end, replayed: { ...(await replay(program, snapshot)), generation }, cancelReason };
}

async function replay(program: DurableProgram, snapshot: RunSnapshot): Promise<object> {
  const refuse: Effect = () => {
    throw new Error('Nothing may be performed');
  };
  const effects = { echo: refuse, slow: refuse };
  const memory = createMemoryEngine({ program, effects, clock: systemClock, version: '1' });
  try {
    return await memory.replay(snapshot);
  } finally {
    await memory.close();
  }
}

const seeds = Array.from({ length: Number(process.env['RERAIL_ATTEMPTS'] ?? 8) }, (_, index) => index + 1);

describe('attempts of a random program with branches, deaf calls and a worker that comes and goes', () => {
  it.each(seeds)('come the same way: seed %i', async (seed) => {
    const { end, replayed } = await play(seed, { isCancelled: false });
    expect(end.type).toBe('ended');
    expect(replayed).toEqual(end);
  });

  it.each(seeds)('come the same way also where it is cancelled: seed %i', async (seed) => {
    const { end, replayed, cancelReason } = await play(seed, { isCancelled: true });
    expect(end.type).toBe('ended');
    expect(replayed).toEqual(end);
    // It may have ended before.
    const isTold = JSON.stringify(end).includes('cancelled');
    expect([undefined, 'no longer wanted'].slice(isTold ? 1 : 0)).toContain(cancelReason);
  });
});
