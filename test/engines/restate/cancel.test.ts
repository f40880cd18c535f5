import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCancelled } from '../../../src/runtime/durable-errors.ts';
import { deaf } from '../../../src/runtime/durable.ts';
import type { DurableProgram, Effect } from '../../../src/runtime/durable.ts';
import { endOf, invocationOf, openScene, statusOf } from './scene.ts';
import type { Scene } from './scene.ts';
import { freePort } from './server.ts';

// A cancellation is Restate's own, also where it was wished at the desk: it is heard whatever the program waits for.

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
}, 300_000);
afterAll(() => scene.stop());

const start = { runId: 'r', version: '1' };
const waits: DurableProgram = async (durable) => (await durable.waitFor('go')).type;

/** As an operator does it. */
async function cancelInRestate(invocation: string): Promise<void> {
  const url = `${scene.server.adminUrl}/invocations/${invocation}/cancel`;
  expect((await fetch(url, { method: 'PATCH' })).ok).toBe(true);
}

describe('cancel()', () => {
  it('takes a cancellation in Restate for the wish to end, and lets the program say its last', async () => {
    const engine = await scene.engineOf({
      name: 'cancelled',
      program: async (durable) => {
        try {
          return (await durable.waitFor('go')).type;
        } catch (error) {
          return isCancelled(error) ? String(error) : 'another error';
        }
      },
    });
    await engine.start(null, start);
    const invocation = await invocationOf(scene.server, 'cancelled');
    await cancelInRestate(invocation);
    expect(await endOf(engine, 'r')).toMatchObject({
      result: expect.stringContaining('in Restate') as unknown,
    });
  });

  it('lets a cancelled program take its time, and the process do other things', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        try {
          return (await durable.waitFor('go')).type;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
          return 'at last';
        }
      },
    });
    await engine.start(null, start);
    await statusOf(engine, 'r', 'waiting');
    await engine.cancel('r', 'no longer wanted');
    expect(await endOf(engine, 'r')).toEqual({ type: 'ended', result: 'at last' });
  });

  it('calls a cancelled program that says nothing of it cancelled', async () => {
    const engine = await scene.engineOf({ program: waits });
    await engine.start(null, start);
    await statusOf(engine, 'r', 'waiting');
    await engine.cancel('r', 'no longer wanted');
    expect(await endOf(engine, 'r')).toMatchObject({
      type: 'broken',
      failure: {
        code: 'CANCELLED',
        origin: 'durable',
        message: expect.stringContaining('no longer wanted') as unknown,
      },
    });
  });

  it('is heard once, however often somebody wishes it, in Restate and here', async () => {
    const told: string[] = [];
    let isThere = false;
    const slow: Effect = async (_input, { signal }) => {
      isThere = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      told.push(String(signal.reason));
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { type: 'done', value: 'tidied up' };
    };
    const engine = await scene.engineOf({
      name: 'often',
      program: async (durable) => {
        const during = await durable.call('slow', null, deaf);
        try {
          await durable.sleep(3_600_000);
          return 'slept';
        } catch (error) {
          return isCancelled(error) && during.type === 'done' ? during.value : 'another end';
        }
      },
      effects: { slow },
    });
    await engine.start(null, start);
    await expect.poll(() => isThere, { timeout: 20_000 }).toBe(true);
    const invocation = await invocationOf(scene.server, 'often');
    await engine.cancel('r', 'no longer wanted');
    await cancelInRestate(invocation);
    await engine.cancel('r', 'another reason');
    await cancelInRestate(invocation);
    expect(await endOf(engine, 'r')).toEqual({ type: 'ended', result: 'tidied up' });
    expect(told).toEqual([expect.stringContaining('no longer wanted')]);
  });

  it('of a run that no worker has begun is heard by the one that begins it', async () => {
    const options = { serve: { port: await freePort() } };
    let performed = 0;
    const program: DurableProgram = async (durable) => {
      try {
        await durable.call('echo', null, deaf);
        await durable.sleep(3_600_000);
        return 'slept';
      } catch (error) {
        return isCancelled(error) ? String(error) : 'another error';
      }
    };
    const effects = {
      echo: () => {
        performed += 1;
        return { type: 'done', value: null } as const;
      },
    };
    const first = await scene.engineOf({ name: 'early', program, effects, options });
    await first.close();
    const { ingressUrl } = scene.server;
    const desk = `${ingressUrl}/rerail.early.run/r`;
    for (const [handler, body] of [
      ['start', { version: '1', input: null }],
      ['cancel', { reason: 'no longer wanted' }],
    ] as const) {
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${desk}/${handler}/send`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect(status).toBe(202);
    }
    const second = await scene.engineOf({ name: 'early', program, effects, options });
    expect(await endOf(second, 'r')).toMatchObject({
      result: expect.stringContaining('no longer wanted') as unknown,
    });
    expect(performed).toBeLessThan(2);
  });
});
