import { describe, expect, it } from 'vitest';
import { deaf } from '../../../src/runtime/record/durable.ts';
import type { Effect } from '../../../src/runtime/record/durable.ts';
import { endOf, invocationOf, statusOf, useScene } from './scene.ts';

const scene = useScene();

const start = { runId: 'r', version: '1' };

describe('signals on Restate', () => {
  it('may have any id', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const signal = await durable.waitFor('go');
        return signal.type === 'signalled' ? signal.id : signal.type;
      },
    });
    await engine.start(null, start);
    await engine.signal('r', 'go', { id: 'ü → \n', payload: null });
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'ü → \n' });
  });

  it('go to the wait that was made first, whichever was recorded first', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const waits = await Promise.all([durable.waitFor('m'), durable.waitFor('m'), durable.waitFor('m')]);
        return waits.map((wait) => (wait.type === 'signalled' ? wait.payload : wait.type));
      },
    });
    for (let round = 0; round < 10; round += 1) {
      const runId = `waits-${round}`;
      await engine.start(null, { runId, version: '1' });
      await statusOf(engine, runId, 'waiting');
      // All three are open before long; only the first one is told of.
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const payload of [1, 2, 3]) await engine.signal(runId, 'm', { id: `${payload}`, payload });
      expect(await endOf(engine, runId)).toMatchObject({ type: 'ended', result: [1, 2, 3] });
    }
  });

  it('that were taken stay so, also where somebody kills the run before it could say so', async () => {
    const seen: string[][] = [];
    const take: Effect = (_input, { pending }) => {
      const took = pending('s').map(({ id }) => id);
      seen.push(took);
      return { type: 'done', value: null, took };
    };
    const engine = await scene.engineOf({
      name: 'taker',
      program: async (durable, input) => {
        await durable.waitFor('go');
        await durable.call('take', null);
        return input === 'second' ? 'over' : (await durable.call('long', null, deaf)).type;
      },
      effects: { take, long: () => new Promise(() => undefined) },
      options: { limits: { lookEveryMs: 50 } },
    });
    await engine.start('first', start);
    await statusOf(engine, 'r', 'waiting');
    await engine.signal('r', 's', { id: 's1', payload: null });
    await engine.signal('r', 'go', { id: 'g1', payload: null });
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual([['s1']]);
    // What it took is on record when the next step has begun.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const invocation = await invocationOf(scene.server, 'taker');
    await fetch(`${scene.server.adminUrl}/invocations/${invocation}/kill`, { method: 'PATCH' });
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'broken', failure: { code: 'ACTIVITY_FAILED' } });
    await engine.start('second', { ...start, after: 1 });
    await engine.signal('r', 'go', { id: 'g2', payload: null });
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'over' });
    expect(seen).toEqual([['s1'], []]);
  });
});
