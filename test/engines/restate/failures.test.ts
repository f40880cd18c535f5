import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { restate } from '../../../src/engines/restate/restate.ts';
import { deaf } from '../../../src/runtime/record/durable.ts';
import type { DurableProgram } from '../../../src/runtime/record/durable.ts';
import { endOf, invocationOf, statusOf, useScene } from './scene.ts';
import { freePort } from './server.ts';

// What the engine says when something goes wrong, each produced by a real server.

const scene = useScene();

const waits: DurableProgram = async (durable) => (await durable.waitFor('go')).type;
const start = { runId: 'r', version: '1' };

describe('restate()', () => {
  it('calls a run that somebody kills in Restate broken, for it cannot say so itself', async () => {
    const engine = await scene.engineOf({
      name: 'killed',
      program: waits,
      options: { limits: { lookEveryMs: 50 } },
    });
    await engine.start(null, start);
    const invocation = await invocationOf(scene.server, 'killed');
    await fetch(`${scene.server.adminUrl}/invocations/${invocation}/kill`, { method: 'PATCH' });
    expect(await endOf(engine, 'r')).toMatchObject({
      type: 'broken',
      failure: { code: 'ACTIVITY_FAILED', origin: 'durable', sideEffect: 'possible' },
    });
    // A name is a run: what may have happened in it is not done again under the same name.
    expect(await engine.start(null, start)).toBe('known');
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'broken' });
  });

  it('says that nobody took a signal, which is kept and delivered once somebody is there', async () => {
    const options = { limits: { signalTimeoutMs: 300 } };
    const port = await freePort();
    const first = await scene.engineOf({ name: 'away', program: waits, options: { serve: { port } } });
    await first.start(null, start);
    await first.close();
    const { ingressUrl } = scene.server;
    const host = await restate({ ingressUrl, sdk: scene.sdk, ...options })({
      name: 'away',
      program: waits,
      effects: {},
      version: '1',
      clock: systemClock,
    });
    const signalling = host.signal('r', 'go', { id: 'g', payload: null });
    await expect(signalling).rejects.toMatchObject({
      failure: { code: 'SIGNAL_TIMEOUT', origin: 'durable', retryable: true },
    });
    const second = await scene.engineOf({ name: 'away', program: waits, options: { serve: { port } } });
    expect(await endOf(second, 'r')).toMatchObject({ type: 'ended', result: 'signalled' });
  });

  it('makes a failure of an outcome that is too large, and goes on', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const large = await durable.call('large', null);
        const small = await durable.call('small', null);
        return [large.type === 'failed' ? large.failure.code : 'kept', small.type];
      },
      effects: {
        large: () => ({ type: 'done', value: 'x'.repeat(5000) }),
        small: () => ({ type: 'done', value: 'x' }),
      },
      options: { limits: { maxValueBytes: 2000 } },
    });
    await engine.start(null, start);
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: ['HISTORY_LIMIT', 'done'] });
  });

  it.each([
    { what: 'steps', limits: { maxSteps: 5 }, words: '5 steps' },
    { what: 'bytes', limits: { maxJournalBytes: 500 }, words: 'at most 500' },
  ])('ends a run whose journal has too many $what', async ({ limits, words }) => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        for (let turn = 0; turn < 100; turn += 1) await durable.call('echo', turn);
        return 'went on';
      },
      effects: { echo: (input) => ({ type: 'done', value: input }) },
      options: { limits },
    });
    await engine.start(null, start);
    expect(await endOf(engine, 'r')).toMatchObject({
      type: 'broken',
      failure: {
        code: 'HISTORY_LIMIT',
        origin: 'durable',
        message: expect.stringContaining(words) as unknown,
      },
    });
  });

  it('refuses an input that is too large, before anything is sent', async () => {
    const engine = await scene.engineOf({ program: waits, options: { limits: { maxValueBytes: 1000 } } });
    await expect(engine.start('x'.repeat(2000), start)).rejects.toMatchObject({
      failure: { code: 'HISTORY_LIMIT' },
    });
    expect(await engine.status('r')).toEqual({ type: 'unknown' });
  });

  it('ends a run whose step is given too much, for the journal must hold what was asked', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => (await durable.call('echo', 'x'.repeat(3000))).type,
      effects: { echo: (input) => ({ type: 'done', value: input }) },
      options: { limits: { maxValueBytes: 2000 } },
    });
    await engine.start(null, start);
    expect(await endOf(engine, 'r')).toMatchObject({
      type: 'broken',
      failure: {
        code: 'HISTORY_LIMIT',
        message: expect.stringContaining('input of "echo" takes 3002 bytes') as unknown,
      },
    });
  });

  it('keeps to the bounds with which a generation began, also where a worker comes back with lower ones', async () => {
    const port = await freePort();
    const program: DurableProgram = async (durable) => {
      for (let turn = 0; turn < 5; turn += 1) await durable.call('echo', turn);
      return waits(durable, null);
    };
    const wanted = {
      name: 'lowered',
      program,
      effects: { echo: () => ({ type: 'done', value: 1 }) as const },
    };
    const before = await scene.engineOf({ ...wanted, options: { serve: { port } } });
    await before.start(null, start);
    await statusOf(before, 'r', 'waiting');
    await before.close();
    const after = await scene.engineOf({ ...wanted, options: { serve: { port }, limits: { maxSteps: 2 } } });
    await after.signal('r', 'go', { id: 'g', payload: null });
    expect(await endOf(after, 'r')).toMatchObject({ type: 'ended', result: 'signalled' });
  });

  it('ends an effect without a timeout before Restate would begin another one beside it', async () => {
    let begun = 0;
    const engine = await scene.engineOf({
      program: async (durable) => {
        const outcome = await durable.call('deaf', null);
        return outcome.type === 'failed' ? outcome.failure.message : null;
      },
      effects: {
        deaf: () => {
          begun += 1;
          return new Promise(() => undefined);
        },
      },
      options: { limits: { abortTimeoutMs: 400, inactivityTimeoutMs: 100 } },
    });
    await engine.start(null, start);
    const end = await endOf(engine, 'r');
    expect(end).toMatchObject({ type: 'ended', result: expect.stringContaining('within 400 ms') as unknown });
    expect(begun).toBe(1);
  });

  it('ends a call at its timeout, and says that it may have happened', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const outcome = await durable.call('deaf', null, { timeoutMs: 30 });
        return outcome.type === 'failed' ? [outcome.failure.code, outcome.failure.sideEffect ?? null] : null;
      },
      effects: { deaf: () => new Promise(() => undefined) },
    });
    await engine.start(null, start);
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: ['TIMEOUT', 'possible'] });
  });

  it('notices that the program ends earlier than its journal', async () => {
    const port = await freePort();
    const wanted = { name: 'shorter', effects: { look: () => ({ type: 'done', value: 1 }) as const } };
    const long: DurableProgram = async (durable) => {
      await durable.call('look', 1);
      await durable.call('look', 2);
      return waits(durable, null);
    };
    const before = await scene.engineOf({ ...wanted, program: long, options: { serve: { port } } });
    await before.start(null, start);
    await statusOf(before, 'r', 'waiting');
    await before.close();
    const short: DurableProgram = async (durable) => (await durable.call('look', 1)).type;
    const after = await scene.engineOf({ ...wanted, program: short, options: { serve: { port } } });
    expect(await endOf(after, 'r')).toMatchObject({
      type: 'broken',
      failure: { code: 'INVALID_STATE', message: expect.stringContaining('no further call') as unknown },
    });
  });

  it('announces what the run has come to, with the signal that it waits for', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const onWaiting = (): void => void durable.announce?.({ question: 'may I?' });
        return (await durable.waitFor('answer', { onWaiting })).type;
      },
    });
    await engine.start(null, start);
    expect(await statusOf(engine, 'r', 'waiting')).toEqual({
      type: 'waiting',
      signal: 'answer',
      announced: { question: 'may I?' },
    });
    await engine.signal('r', 'answer', { id: 'a', payload: true });
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'signalled' });
  });
});

describe('an engine that cannot be', () => {
  it('says which address does not answer', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const createEngine = restate({ ingressUrl: dead, sdk: scene.sdk });
    const engine = await createEngine({
      name: 'a',
      program: waits,
      effects: {},
      version: '1',
      clock: systemClock,
    });
    await expect(engine.status('r')).rejects.toMatchObject({
      failure: {
        code: 'NETWORK_ERROR',
        origin: 'durable',
        message: expect.stringContaining(dead) as unknown,
      },
    });
  });

  it('says that no worker is registered', async () => {
    const engine = await scene.engineOf({ program: waits, options: { serve: undefined } as object });
    await expect(engine.start(null, start)).rejects.toMatchObject({
      failure: { code: 'ACTIVITY_FAILED', hint: expect.stringContaining('registered') as unknown },
    });
  });

  it.each([
    { what: 'no address', options: { ingressUrl: 'here' } },
    { what: 'no port', options: { ingressUrl: 'http://a', serve: { port: 70_000 } } },
    { what: 'a bound of nothing', options: { ingressUrl: 'http://a', limits: { maxSteps: 0 } } },
  ])('is refused when it is made: $what', ({ options }) => {
    expect(() => restate(options)).toThrow(/of the engine "restate"/);
  });

  it('takes signals again once there is room, also one that was refused before', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const engine = await scene.engineOf({
      program: async (durable) => {
        await durable.call('slow', null, deaf);
        const ids: string[] = [];
        for (let count = 0; count < 4; count += 1) {
          const signal = await durable.waitFor('s');
          if (signal.type === 'signalled') ids.push(signal.id);
        }
        return ids;
      },
      effects: { slow: () => gate.then(() => ({ type: 'done', value: null }) as const) },
      options: { limits: { maxSignals: 3 } },
    });
    await engine.start(null, start);
    for (const id of ['s0', 's1', 's2']) await engine.signal('r', 's', { id, payload: null });
    const late = { id: 's3', payload: null };
    await expect(engine.signal('r', 's', late)).rejects.toThrow(/3 are waiting already/);
    release();
    await statusOf(engine, 'r', 'waiting');
    await expect.poll(() => engine.signal('r', 's', late).then(() => 'taken', String)).toBe('taken');
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: ['s0', 's1', 's2', 's3'] });
  });

  it('shows no signal as taken that came when the program had ended', async () => {
    const engine = await scene.engineOf({
      program: async (durable) => {
        const first = await Promise.race([
          durable.waitFor('late').then(() => 'signalled'),
          durable.call('quick', null).then(() => 'called'),
        ]);
        return first;
      },
      effects: { quick: () => ({ type: 'done', value: null }) },
    });
    for (let count = 0; count < 5; count += 1) {
      const runId = `race-${count}`;
      await engine.start(null, { runId, version: '1' });
      await engine.signal(runId, 'late', { id: 'l', payload: null });
      const end = await endOf(engine, runId);
      const snapshot = await engine.journal?.(runId);
      const taken = snapshot?.journal.some((entry) => entry.type === 'wait' && entry.signalled !== undefined);
      const left = snapshot?.signals.some(({ id }) => id === 'l');
      expect({ runId, end, both: taken === left }).toMatchObject({ both: false });
    }
  });
});
