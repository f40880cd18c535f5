import { describe, expect, it } from 'vitest';
import { isCancelled } from '../../../src/runtime/record/durable-errors.ts';
import { deaf } from '../../../src/runtime/record/durable.ts';
import type { DurableProgram, Effect } from '../../../src/runtime/record/durable.ts';
import { endOf, invocationOf, statusOf, useScene } from './scene.ts';
import { freePort } from './server.ts';

// A cancellation is Restate's own, also where it was wished at the desk: it is heard whatever the program waits for.

const scene = useScene();

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
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'at last' });
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
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'tidied up' });
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

  it('in Restate is handed on to the next generation, where the run is leaving for it', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let isThere = false;
    const engine = await scene.engineOf({
      name: 'leaving',
      program: async (durable, input) => {
        if (input === 'second') {
          await durable.waitFor('never');
          return 'went on';
        }
        await durable.call('slow', null, deaf);
        return durable.restart('second');
      },
      effects: {
        slow: async () => {
          isThere = true;
          await gate;
          return { type: 'done', value: null };
        },
      },
    });
    await engine.start('first', start);
    await expect.poll(() => isThere, { timeout: 20_000 }).toBe(true);
    await cancelInRestate(await invocationOf(scene.server, 'leaving'));
    release();
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'broken', failure: { code: 'CANCELLED' } });
    expect(await engine.journal?.('r')).toMatchObject({
      cancelReason: expect.stringContaining('in Restate') as unknown,
    });
  });

  it('reaches an effect that is at work for longer than Restate waits for a sign of life', async () => {
    let toldAtMs: number | undefined;
    let isThere = false;
    const engine = await scene.engineOf({
      program: async (durable) => {
        const { type } = await durable.call('long', null, deaf);
        await durable.call('next', null, deaf);
        return type;
      },
      effects: {
        long: async (_input, { signal }) => {
          isThere = true;
          await new Promise<void>((resolve) => {
            const overdue = setTimeout(resolve, 15_000);
            signal.addEventListener('abort', () => {
              toldAtMs = performance.now();
              clearTimeout(overdue);
              resolve();
            });
          });
          return { type: 'done', value: null };
        },
        next: () => {
          throw new Error('This must not be performed');
        },
      },
      options: { limits: { inactivityTimeoutMs: 500 } },
    });
    await engine.start(null, start);
    await expect.poll(() => isThere, { timeout: 20_000 }).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const cancelledAtMs = performance.now();
    await engine.cancel('r', 'no longer wanted');
    expect(await endOf(engine, 'r')).toMatchObject({
      type: 'broken',
      failure: { code: 'CANCELLED', message: expect.stringContaining('no longer wanted') as unknown },
    });
    expect((toldAtMs ?? Infinity) - cancelledAtMs).toBeLessThan(8000);
  }, 40_000);

  it('waits no longer than the grace for an effect that hears nothing of it, also where Restate tells nothing', async () => {
    let isThere = false;
    const engine = await scene.engineOf({
      program: async (durable) => {
        const outcome = await durable.call('stubborn', null, deaf);
        await durable.call('stubborn', null, deaf);
        return outcome.type;
      },
      effects: {
        stubborn: async () => {
          isThere = true;
          await new Promise((resolve) => setTimeout(resolve, 15_000).unref());
          return { type: 'done', value: null };
        },
      },
      options: { limits: { inactivityTimeoutMs: 500, cancelGraceMs: 200 } },
    });
    await engine.start(null, start);
    await expect.poll(() => isThere, { timeout: 20_000 }).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const cancelledAtMs = performance.now();
    await engine.cancel('r', 'no longer wanted');
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'broken', failure: { code: 'CANCELLED' } });
    expect(performance.now() - cancelledAtMs).toBeLessThan(10_000);
  }, 40_000);
});
