import { describe, expect, it } from 'vitest';
import { createAgent } from '../../../src/index.ts';
import { restate } from '../../../src/engines/restate/index.ts';
import type { DurableProgram } from '../../../src/runtime/record/durable.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { endOf, statusOf, useScene } from './scene.ts';
import type { Wanted } from './scene.ts';
import { freePort, startRestate } from './server.ts';

// Workers that come, go and move, and servers that are not there yet.

const scene = useScene();

const start = { runId: 'r', version: '1' };
const program: DurableProgram = async (durable) => {
  const before = await durable.call('where', null);
  await durable.waitFor('go');
  const after = await durable.call('where', null);
  return [before, after].map((outcome) => (outcome.type === 'done' ? outcome.value : null));
};

/** A worker that says who it is. */
function worker(place: string, name: string): Wanted {
  return { name, program, effects: { where: () => ({ type: 'done', value: place }) } };
}

describe('a server that is not there', () => {
  it('is told by the outcome of a run, and the agent works once it is', async () => {
    const server = await startRestate();
    const { ingressUrl, adminUrl } = server;
    await server.kill();
    const engine = restate({ ingressUrl, adminUrl, serve: { port: await freePort() }, sdk: scene.sdk });
    const agent = createAgent({ name: 'early', model: scriptedModel(['Here I am.']), engine });
    try {
      await expect(agent.serve()).rejects.toMatchObject({
        failure: {
          code: 'NETWORK_ERROR',
          origin: 'durable',
          message: expect.stringContaining(`Restate at ${adminUrl} could not register`) as unknown,
          hint: expect.stringContaining('Check that Restate is up') as unknown,
        },
      });
      const outcome = await agent.run('Hello');
      expect(outcome).toMatchObject({ type: 'suspended', reason: 'storage' });
      await server.startAgain();
      expect(await agent.run('Hello')).toMatchObject({ type: 'completed', text: 'Here I am.' });
      await agent.close();
    } finally {
      await server.stop();
    }
  }, 30_000);
});

describe('several workers', () => {
  it('cannot have the same port: the second one says so', async () => {
    const port = await freePort();
    await scene.engineOf({ ...worker('one', 'first'), options: { serve: { port } } });
    const second = scene.engineOf({ ...worker('two', 'second'), options: { serve: { port } } });
    await expect(second).rejects.toMatchObject({
      failure: { code: 'NETWORK_ERROR', message: expect.stringContaining(`127.0.0.1:${port}`) as unknown },
    });
  });

  it('keep the runs that they began; new ones go to the one that came last', async () => {
    const one = await scene.engineOf(worker('one', 'twins'));
    await one.start(null, start);
    await statusOf(one, 'r', 'waiting');
    const two = await scene.engineOf(worker('two', 'twins'));
    await two.start(null, { ...start, runId: 'later' });
    await statusOf(two, 'later', 'waiting');
    for (const runId of ['r', 'later']) await one.signal(runId, 'go', { id: 'g', payload: null });
    expect(await endOf(two, 'r')).toMatchObject({ type: 'ended', result: ['one', 'one'] });
    expect(await endOf(one, 'later')).toMatchObject({ type: 'ended', result: ['two', 'two'] });
  });

  it('take over the runs of one that is gone for good, once somebody says so to Restate', async () => {
    const gone = await scene.engineOf(worker('gone', 'movers'));
    await gone.start(null, start);
    await statusOf(gone, 'r', 'waiting');
    await gone.close();
    const here = await scene.engineOf(worker('here', 'movers'));
    await here.signal('r', 'go', { id: 'g', payload: null });
    const { adminUrl, query } = scene.server;
    const [row] = await query(
      `SELECT id FROM sys_invocation WHERE target_service_name = 'rerail.movers.program' AND status <> 'completed'`,
    );
    const invocation = `${adminUrl}/invocations/${String(row?.['id'])}`;
    const patch = async (path: string): Promise<number> =>
      (await fetch(`${invocation}/${path}`, { method: 'PATCH' })).status;
    expect(await patch('pause')).toBe(202);
    // It pauses between two attempts.
    for (let tries = 0; (await patch('resume?deployment=latest')) !== 200 && tries < 200; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await endOf(here, 'r')).toMatchObject({ type: 'ended', result: ['gone', 'here'] });
  });

  it('are waited for without an end: Restate by itself would give up after 70 attempts', async () => {
    await scene.engineOf(worker('here', 'patient'));
    for (const name of ['rerail.patient.run', 'rerail.patient.program']) {
      const answer = await fetch(`${scene.server.adminUrl}/services/${name}`);
      const { retry_policy: policy } = (await answer.json()) as { retry_policy: { max_attempts: number } };
      expect(policy.max_attempts).toBeGreaterThan(1_000_000_000);
    }
  });

  it('refuse a start with another version of the program', async () => {
    const engine = await scene.engineOf(worker('here', 'strict'));
    await expect(engine.start(null, { runId: 'r', version: '2' })).rejects.toThrow(/version "1", not "2"/);
  });

  it('start nothing once they are closed, while others may', async () => {
    const engine = await scene.engineOf(worker('here', 'closing'));
    await engine.close();
    await expect(engine.start(null, start)).rejects.toThrow(/closed/);
    await expect(engine.close()).resolves.toBeUndefined();
  });
});
