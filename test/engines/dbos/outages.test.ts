import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DbosOptions } from '../../../src/engines/dbos/options.ts';
import type { DurableProgram, Engine, RunStatus } from '../../../src/runtime/record/durable.ts';
import { errorOf, failureOf, useDbos, waiting, whenOver } from './scene.ts';
import type { Part } from './scene.ts';

const scene = useDbos();
let engine: Engine | undefined;
let names = 0;

beforeEach(() => void (names += 1));
afterEach(async () => {
  await engine?.close();
  engine = undefined;
});

async function open(part: Part, options: Partial<DbosOptions> = {}): Promise<Engine> {
  const executorId = `outages-${names}`;
  const made = await scene.open({ name: `outages-${names}`, ...part }, { executorId, ...options });
  engine = made;
  return made;
}

const withUrl = (change: (url: URL) => void): Partial<DbosOptions> => {
  const url = new URL(scene.databaseUrl());
  change(url);
  return { databaseUrl: url.href };
};

describe('dbos() where its database cannot be used at first', { timeout: 60_000 }, () => {
  it('cannot be made while nobody listens, and can once somebody does', async () => {
    const failure = await failureOf(() =>
      open(
        { program: waiting },
        withUrl((url) => (url.port = '1')),
      ),
    );
    expect(failure).toEqual({ code: 'NETWORK_ERROR', origin: 'durable' });
    const made = await open({ program: () => Promise.resolve('here') });
    await made.start(null, { runId: 'run', version: '1' });
    expect(await whenOver(made)).toMatchObject({ type: 'ended', result: 'here' });
  });

  it.each<{ readonly name: string; readonly change: (url: URL) => void; readonly says: RegExp }>([
    {
      name: 'the password is wrong',
      change: (url) => (url.password = 'wrong'),
      says: /refuses \(password authentication failed/,
    },
    {
      name: 'there is no such database',
      change: (url) => (url.pathname = '/nobody_made_it'),
      says: /refuses \(database "nobody_made_it" does not exist/,
    },
  ])('says that $name, what to do, and no password', async ({ change, says }) => {
    const error = await errorOf(() => open({ program: waiting }, withUrl(change)));
    expect(error.code).toBe('CONFIG_ERROR');
    expect(error.message).toMatch(says);
    expect(error.failure.hint).toMatch(/databaseUrl/);
    expect(JSON.stringify(error.failure)).not.toContain(new URL(scene.databaseUrl()).password);
  });

  it('gives up on a server that accepts and says nothing', async () => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo; // It listens.
    try {
      const silent = withUrl((url) => (url.port = String(port)));
      const failure = await failureOf(() => open({ program: waiting }, { ...silent, requestTimeoutMs: 500 }));
      expect(failure).toEqual({ code: 'NETWORK_ERROR', origin: 'durable' });
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

describe('dbos() whose database goes away', { timeout: 60_000 }, () => {
  it('tells a network error of the engine in every verb, and goes on when the database is back', async () => {
    const made = await open({ program: waiting }, { requestTimeoutMs: 5000 });
    await made.start(null, { runId: 'run', version: '1' });
    await scene.postgres().kill();
    try {
      const acts = [
        () => made.status('another'),
        () => made.journal?.('run') ?? Promise.resolve(),
        () => made.signal('run', 'go', { id: 'go-1', payload: null }),
        () => made.start(null, { runId: 'another', version: '1' }),
        () => made.cancel('another', 'why not'),
      ];
      const failure = { code: 'NETWORK_ERROR', origin: 'durable' };
      expect(await Promise.all(acts.map(failureOf))).toEqual(acts.map(() => failure));
    } finally {
      await scene.postgres().start();
    }
    await made.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await whenOver(made)).toMatchObject({ type: 'ended', result: 'gone' });
  });

  it('is closed all the same, and the run is taken up later', async () => {
    const made = await open({ program: waiting }, { requestTimeoutMs: 2000 });
    await made.start(null, { runId: 'run', version: '1' });
    await scene.postgres().kill();
    try {
      await made.close();
    } finally {
      await scene.postgres().start();
    }
    const again = await open({ program: waiting });
    await again.signal('run', 'go', { id: 'go-1', payload: null });
    expect(await whenOver(again)).toMatchObject({ type: 'ended', result: 'gone' });
  });

  const enough = JSON.stringify({ type: 'ended', result: 'enough', generation: 1 });
  const busy: DurableProgram = async (durable) => {
    for (let step = 0; step < 10_000; step += 1) {
      const outcome = await durable.call('step', step);
      if (outcome.type === 'done' && outcome.value === 'enough') return 'enough';
    }
    return 'never told';
  };

  /** Runs that work without a pause until they are told that it is enough. */
  async function startBusy(
    count: number,
  ): Promise<{ readonly made: Engine; readonly finish: () => Promise<readonly RunStatus[]> }> {
    let isEnough = false;
    const made = await open({
      program: busy,
      effects: { step: (input) => ({ type: 'done', value: isEnough ? 'enough' : input }) },
    });
    const runs = Array.from({ length: count }, (_, index) => `busy-${index}`);
    for (const runId of runs) await made.start(null, { runId, version: '1' });
    const finish = (): Promise<readonly RunStatus[]> => {
      isEnough = true;
      return Promise.all(runs.map((runId) => whenOver(made, runId)));
    };
    return { made, finish };
  }

  it('outlives three deaths of the server in the middle of thirty runs, and every run goes on', async () => {
    const { finish } = await startBusy(30);
    for (let deaths = 0; deaths < 3; deaths += 1) {
      await sleep(300);
      await scene.postgres().kill();
      await scene.postgres().start();
    }
    expect(new Set((await finish()).map((end) => JSON.stringify(end)))).toEqual(new Set([enough]));
  });

  it('stands still while it can only be read, as after a failover, and goes on afterwards', async () => {
    const { made, finish } = await startBusy(5);
    const ask = (sql: string): Promise<unknown> => scene.postgres().ask(scene.postgres().address, sql);
    const name = new URL(scene.databaseUrl()).pathname.slice(1);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    try {
      await ask(cut);
      await sleep(1500);
      const failure = await errorOf(() => made.start(null, { runId: 'another', version: '1' }));
      expect(failure.message).toMatch(/can only be read/);
    } finally {
      await ask(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      await ask(cut);
    }
    expect(new Set((await finish()).map((end) => JSON.stringify(end)))).toEqual(new Set([enough]));
  });
});
