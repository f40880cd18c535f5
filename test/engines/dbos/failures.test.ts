import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/base/json.ts';
import type { DbosOptions } from '../../../src/engines/dbos/options.ts';
import type { DurableProgram, Engine, RunStatus } from '../../../src/runtime/record/durable.ts';
import { failureOf, useDbos, waiting, whenOver } from './scene.ts';
import type { Part } from './scene.ts';

const scene = useDbos();
let engine: Engine;
let names = 0;

beforeEach(() => void (names += 1));
afterEach(() => engine?.close());

async function open({
  options,
  ...part
}: Part & { readonly options?: Partial<DbosOptions> }): Promise<Engine> {
  const executorId = `failures-${names}`;
  engine = await scene.open({ name: `failing-${names}`, ...part }, { executorId, ...options });
  return engine;
}

const start = (input: Json = null, after = 0): Promise<unknown> =>
  engine.start(input, { runId: 'run', version: '1', after });

describe('dbos() at its bounds', { timeout: 60_000 }, () => {
  it('says SIGNAL_TIMEOUT where nobody takes the letter in time', async () => {
    await open({ program: waiting, options: { requestTimeoutMs: 1000 } });
    await start();
    const sql = 'BEGIN; LOCK TABLE dbos.notifications IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(2); COMMIT';
    const locking = scene.postgres().ask(scene.databaseUrl(), sql);
    await sleep(200);
    const failure = await failureOf(() => engine.signal('run', 'go', { id: 'go-1', payload: null }));
    expect(failure).toEqual({ code: 'SIGNAL_TIMEOUT', origin: 'durable' });
    await locking;
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await whenOver(engine)).toMatchObject({ type: 'ended', result: 'gone' });
  });

  const large = 'x'.repeat(2000);
  const options = { maxValueBytes: 1000 };
  const effects: Part['effects'] = {
    big: () => ({ type: 'done', value: large }),
    any: () => ({ type: 'done', value: null }),
  };

  it('gives HISTORY_LIMIT as the outcome of an effect that gives too much', async () => {
    await open({
      options,
      effects,
      program: async (durable) => {
        const outcome = await durable.call('big', null);
        return outcome.type === 'failed' ? outcome.failure.code : 'kept';
      },
    });
    await start();
    expect(await whenOver(engine)).toMatchObject({ type: 'ended', result: 'HISTORY_LIMIT' });
  });

  it.each<{ readonly name: string; readonly program: DurableProgram }>([
    { name: 'the input of an effect', program: async (durable) => (await durable.call('any', large)).type },
    { name: 'the result', program: () => Promise.resolve(large) },
  ])('ends a run as broken by HISTORY_LIMIT where $name is too large', async ({ program }) => {
    await open({ options, effects, program });
    await start();
    const end = await whenOver(engine);
    expect(end).toMatchObject({ type: 'broken', failure: { code: 'HISTORY_LIMIT', origin: 'durable' } });
  });

  it.each([
    { name: 'input', act: () => start(large) },
    { name: 'signal', act: () => engine.signal('run', 'go', { id: '1', payload: large }) },
  ])('refuses a(n) $name that is too large', async ({ act }) => {
    await open({ options, program: waiting });
    expect(await failureOf(act)).toEqual({ code: 'HISTORY_LIMIT', origin: 'durable' });
  });
});

describe('a run on DBOS that somebody else ends', { timeout: 60_000 }, () => {
  it.each([
    { status: 'CANCELLED', code: 'CANCELLED' },
    { status: 'MAX_RECOVERY_ATTEMPTS_EXCEEDED', code: 'ACTIVITY_FAILED' },
  ])('is broken by $code where DBOS says $status', async ({ status, code }) => {
    await open({ program: waiting });
    await start();
    const workflowId = `rerail:failing-${names}:run:1`;
    await scene
      .postgres()
      .ask(scene.databaseUrl(), 'UPDATE dbos.workflow_status SET status = $2 WHERE workflow_uuid = $1', [
        workflowId,
        status,
      ]);
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await whenOver(engine)).toMatchObject({ type: 'broken', failure: { code, origin: 'durable' } });
  });

  it('refuses every verb once the engine is closed', async () => {
    await open({ program: waiting });
    await start();
    await engine.close();
    expect(await failureOf(() => engine.status('run'))).toEqual({ code: 'INVALID_STATE', origin: 'durable' });
    expect(await failureOf(() => start())).toEqual({ code: 'INVALID_STATE', origin: 'durable' });
  });
});

describe('signals of dbos()', { timeout: 60_000 }, () => {
  it('are neither lost nor doubled while the run begins one generation after the other', async () => {
    const wanted = Array.from({ length: 30 }, (_, index) => `s-${index}`);
    await open({
      program: async (durable, input) => {
        const seen = input as readonly string[]; // What `start` and `restart` are given below.
        if (seen.length === wanted.length) return seen;
        const signal = await durable.waitFor('go', { timeoutMs: 20_000 });
        return signal.type === 'signalled' ? durable.restart([...seen, signal.id]) : 'one was lost';
      },
    });
    await start([]);
    for (const id of wanted) {
      await engine.signal('run', 'go', { id, payload: null });
      await engine.signal('run', 'go', { id, payload: null });
    }
    const end = await whenOver(engine);
    expect(end).toMatchObject({ type: 'ended', result: wanted });
  });

  it('that nobody took are there when an ended run is started again, also those that came after its end', async () => {
    await open({
      program: async (durable, input) => {
        if (input === 'first') return (await durable.waitFor('go')).type;
        const ids: Json[] = [];
        for (const name of ['kept', 'late']) {
          const signal = await durable.waitFor(name, { timeoutMs: 5000 });
          ids.push(signal.type === 'signalled' ? signal.id : signal.type);
        }
        return ids;
      },
    });
    await start('first');
    await engine.signal('run', 'kept', { id: 'kept-1', payload: null });
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    await whenOver(engine);
    await engine.signal('run', 'late', { id: 'late-1', payload: null });
    await start('second', 1);
    expect(await whenSecond()).toMatchObject({ type: 'ended', result: ['kept-1', 'late-1'] });
  });

  async function whenSecond(): Promise<RunStatus> {
    let status = await whenOver(engine);
    for (let tries = 0; tries < 200 && JSON.stringify(status).includes('signalled'); tries += 1) {
      await sleep(25);
      status = await whenOver(engine);
    }
    return status;
  }
});
