import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TemporalOptions } from '../../../src/engines/temporal/options.ts';
import { RerailError } from '../../../src/errors/rerail-error.ts';
import type { Effect, Engine, RunStatus } from '../../../src/runtime/record/durable.ts';
import { openBackend, openProgram, realAddress, serverName } from './backend.ts';
import type { Backend } from './backend.ts';
import type { ProgramFacts } from './programs.ts';

let backend: Backend;
let engine: Engine;
let agent = '';
beforeAll(async () => {
  backend = await openBackend('programs');
});
afterEach(() => engine?.close());
afterAll(() => backend.close());

interface Part {
  readonly effect?: Effect;
  readonly options?: Partial<TemporalOptions>;
}

async function open(
  program: Extract<ProgramFacts, { program: string }>['program'],
  part: Part = {},
): Promise<void> {
  const { effect = () => ({ type: 'done', value: null }), options = {} } = part;
  agent = `failing-${randomUUID()}`;
  const limits = { ...backend.options.limits, ...options.limits };
  engine = await openProgram(
    { ...backend.options, ...options, limits },
    { name: agent, facts: { program }, effects: { effect } },
  );
}

const start = (input: Parameters<Engine['start']>[0] = null, after = 0): Promise<unknown> =>
  engine.start(input, { runId: 'run', version: '1', after });

async function whenOver(): Promise<RunStatus> {
  for (let tries = 0; tries < 600; tries += 1) {
    const status = await engine.status('run').catch(() => undefined);
    if (status?.type === 'ended' || status?.type === 'broken') return status;
    await sleep(25);
  }
  throw new Error('The run never ends');
}

async function failureOf(
  act: () => Promise<unknown>,
): Promise<{ readonly code: string; readonly origin: string }> {
  try {
    await act();
  } catch (error) {
    if (RerailError.isInstance(error)) return { code: error.code, origin: error.failure.origin };
    throw error;
  }
  throw new Error('It did not fail');
}

describe(`failures of the engine on ${serverName}`, { timeout: 60_000 }, () => {
  it('gives ACTIVITY_FAILED as the outcome of an effect at which every worker is lost', async () => {
    let begun = 0;
    const effect: Effect = () => {
      begun += 1;
      return new Promise(() => undefined);
    };
    await open('calls', { effect, options: { limits: { effectTimeoutMs: 400, maxLives: 2 } } });
    await start();
    expect(await whenOver()).toMatchObject({ type: 'ended', result: 'ACTIVITY_FAILED' });
    expect(begun).toBe(2);
  });

  it('gives HISTORY_LIMIT as the outcome of an effect that gives too much', async () => {
    const effect: Effect = () => ({ type: 'done', value: 'x'.repeat(5000) });
    await open('calls', { effect, options: { limits: { maxValueBytes: 4000 } } });
    await start();
    expect(await whenOver()).toMatchObject({ type: 'ended', result: 'HISTORY_LIMIT' });
  });

  it('carries a result that just fits, and is broken by HISTORY_LIMIT where the next generation would begin with too much', async () => {
    await open('grows', { options: { limits: { maxValueBytes: 4000 } } });
    await start(3000);
    // It ended in the generation that it began itself.
    expect(await whenOver()).toMatchObject({ type: 'ended', generation: 2 });
    expect(await start(3900, 2)).toBe('begun');
    await expect.poll(whenOver).toMatchObject({ type: 'broken', failure: { code: 'HISTORY_LIMIT' } });
  });

  it('ends a run as broken by HISTORY_LIMIT before Temporal would end it without a name', async () => {
    await open('steps', { options: { limits: { maxHistoryEvents: 40 } } });
    await start({ count: 100 });
    const end = await whenOver();
    expect(end).toMatchObject({ type: 'broken', failure: { code: 'HISTORY_LIMIT', origin: 'durable' } });
  });

  it('refuses an input and a signal that are too large, by HISTORY_LIMIT', async () => {
    await open('waits', { options: { limits: { maxValueBytes: 4000 } } });
    const large = 'x'.repeat(5000);
    expect(await failureOf(() => start(large))).toEqual({ code: 'HISTORY_LIMIT', origin: 'durable' });
    await start();
    const signal = { id: '1', payload: large };
    const failure = await failureOf(() => engine.signal('run', 'go', signal));
    expect(failure).toEqual({ code: 'HISTORY_LIMIT', origin: 'durable' });
  });

  it('is broken by CANCELLED where the program does not catch that it was cancelled', async () => {
    await open('waits');
    await start();
    await engine.cancel('run', 'nobody needs it');
    const end = await whenOver();
    expect(end).toMatchObject({ type: 'broken', failure: { code: 'CANCELLED', origin: 'durable' } });
    expect(JSON.stringify(end)).toContain('nobody needs it');
  });

  it('says what is wrong with a run that is not there, one that has ended, and an engine that is closed', async () => {
    await open('calls');
    const message = { id: '1', payload: null };
    await expect(engine.signal('nobody', 'go', message)).rejects.toThrow(/there is no such run/);
    await expect(engine.cancel('nobody', 'why')).rejects.toThrow(/there is no such run/);
    await expect(engine.start(null, { runId: 'run', version: '2' })).rejects.toThrow(/version "1", not "2"/);
    expect(await engine.journal?.('nobody')).toBeUndefined();
    await start();
    await whenOver();
    await expect(engine.signal('run', 'go', message)).rejects.toThrow(/it has ended/);
    await engine.cancel('run', 'too late');
    await engine.close();
    expect(await failureOf(() => engine.status('run'))).toEqual({ code: 'INVALID_STATE', origin: 'durable' });
  });

  it('loses no signal while the run begins one generation after the other', async () => {
    await open('generations');
    const wanted = Array.from({ length: 12 }, (_, index) => `s-${index}`);
    await start([]);
    for (const id of wanted) {
      await engine.signal('run', 'go', { id, payload: null });
      await engine.signal('run', 'go', { id, payload: null });
    }
    expect(await whenOver()).toMatchObject({ type: 'ended', result: wanted });
  });

  it('hands signals that nobody took to the generation after the end', async () => {
    await open('leftovers');
    await start('first');
    await engine.signal('run', 'kept', { id: 'kept-1', payload: null });
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await whenOver()).toMatchObject({ type: 'ended', result: 'signalled' });
    await start('second', 1);
    await expect.poll(whenOver, { timeout: 20_000 }).toMatchObject({ type: 'ended', result: 'kept-1' });
  });

  it('says NETWORK_ERROR where there is no server, and what to look at', async () => {
    const options = { address: '127.0.0.1:1', requestTimeoutMs: 1500 };
    const failing = open('waits', { options });
    await expect(failing).rejects.toThrow(/connect to Temporal at 127\.0\.0\.1:1/);
    expect(await failureOf(() => open('waits', { options }))).toEqual({
      code: 'NETWORK_ERROR',
      origin: 'durable',
    });
  });
});

// What a real server cannot be made to do from outside.
describe.runIf(realAddress === undefined)('failures on the simulated server', { timeout: 60_000 }, () => {
  it('says SIGNAL_TIMEOUT where a signal is not taken in time, and takes it when it is sent again', async () => {
    await open('waits', { options: { requestTimeoutMs: 1000 } });
    await start();
    await expect.poll(() => engine.status('run')).toMatchObject({ type: 'waiting' });
    backend.simulated?.hold(true);
    const signal = { id: 'go-1', payload: 'here' };
    try {
      const failure = await failureOf(() => engine.signal('run', 'go', signal));
      expect(failure).toEqual({ code: 'SIGNAL_TIMEOUT', origin: 'durable' });
      expect(await failureOf(() => engine.status('run'))).toEqual({ code: 'TIMEOUT', origin: 'durable' });
    } finally {
      backend.simulated?.hold(false);
    }
    await engine.signal('run', 'go', signal);
    expect(await whenOver()).toMatchObject({ type: 'ended', result: 'here' });
  });

  it('is broken by CANCELLED where somebody terminates it in Temporal, and can be begun again', async () => {
    await open('waits');
    await start();
    await expect.poll(() => engine.status('run')).toMatchObject({ type: 'waiting' });
    backend.simulated?.terminate(`rerail:${agent}:run`);
    expect(await whenOver()).toMatchObject({
      type: 'broken',
      failure: { code: 'CANCELLED', origin: 'durable' },
    });
    await start(null, 1);
    await engine.signal('run', 'go', { id: 'go-1', payload: 'again' });
    expect(await whenOver()).toMatchObject({ type: 'ended', result: 'again' });
    expect(await engine.journal?.('run')).toMatchObject({ generation: 2 });
  });

  it('is told as NETWORK_ERROR by every verb while the server is away, and goes on when it is back', async () => {
    await open('waits', { options: { requestTimeoutMs: 2000 } });
    await start();
    await expect.poll(() => engine.status('run')).toMatchObject({ type: 'waiting' });
    await backend.simulated?.stop();
    try {
      for (const act of [
        () => engine.status('run'),
        () => engine.signal('run', 'go', { id: 'go-1', payload: null }),
        () => engine.cancel('run', 'why not'),
        () => engine.start(null, { runId: 'another', version: '1' }),
      ])
        expect(await failureOf(act)).toEqual({ code: 'NETWORK_ERROR', origin: 'durable' });
    } finally {
      await backend.simulated?.resume();
    }
    const bring = (): Promise<boolean> =>
      engine.signal('run', 'go', { id: 'go-1', payload: 'back' }).then(
        () => true,
        () => false,
      );
    await expect.poll(bring, { timeout: 20_000 }).toBe(true);
    await expect
      .poll(() => engine.status('run').catch(() => undefined), { timeout: 30_000 })
      .toMatchObject({
        type: 'ended',
        result: 'back',
      });
  });

  it('is broken by INVALID_STATE where its workflow is carried by other code than began it', async () => {
    await open('everything');
    await start({ count: 0 });
    await expect.poll(() => engine.status('run'), { timeout: 20_000 }).toMatchObject({ signal: 'go' });
    await engine.close();
    // Whatever stands in the history was not done by this program.
    backend.simulated?.rewrite(`rerail:${agent}:run`, (text) => text.replace('"everything"', '"steps"'));
    const effects = { effect: () => ({ type: 'done', value: null }) as const };
    engine = await openProgram(backend.options, { name: agent, facts: { program: 'steps' }, effects });
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    const end = await whenOver();
    expect(end).toMatchObject({ type: 'broken', failure: { code: 'INVALID_STATE', origin: 'durable' } });
    expect(JSON.stringify(end)).toMatch(/Nondeterminism/i);
  });
});
