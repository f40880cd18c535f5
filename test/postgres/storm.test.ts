import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgres } from '../../src/storage/postgres/index.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { findProblems } from '../kill/storm-problems.ts';
import { playStorm } from '../kill/storm.ts';
import type { Storm } from '../kill/storm.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

// SIGKILL at random, of the worker and of the server. RERAIL_KILLS=50 for more of it, RERAIL_SEED for other moments.

const kills = Number(process.env['RERAIL_KILLS'] ?? 4);
const seed = Number(process.env['RERAIL_SEED'] ?? 1);

let program: Program;
let server: Postgres;
beforeAll(async () => {
  [program, server] = await Promise.all([bundleProgram('test/kill/storm-program.ts'), startPostgres()]);
});
afterAll(async () => {
  await program.remove();
  await server.stop();
});

describe('a server that is killed while runs are written to', () => {
  it('keeps what it has acknowledged, and nothing of it twice', async () => {
    const store = postgres(await server.createDatabase());
    const owner = { id: 'anna', leaseMs: 3_600_000 };
    const runIds = Array.from({ length: 8 }, (_none, index) => `run-${index}`);
    const bodies = Array.from({ length: 60 }, (_none, index) => index);
    const writing = runIds.map(async (runId) => {
      const created = await store.runs.create({ runId, agent: 'clerk', events: [] }, owner);
      if (created.type !== 'created') throw new Error('The run is there already');
      for (const body of bodies) {
        await store.runs.append(created.lease, { events: [{ type: 'note', body }], row: { turns: body } });
        await sleep(5);
      }
    });
    for (let kill = 0; kill < 3; kill += 1) {
      await sleep(100);
      await server.kill();
      await server.start();
    }
    await Promise.all(writing);
    for (const runId of runIds) {
      expect((await store.runs.events(runId)).map(({ body }) => body)).toEqual(bodies);
    }
    expect((await store.check()).problems).toEqual([]);
    await store.close();
  });
});

describe('agents and workers on Postgres', () => {
  it(
    `lose nothing and do nothing twice in ${kills} kills of their process`,
    async () => {
      const storm = await playStorm(program.file, { seed, kills, database: await server.createDatabase() });
      expect({ seed, problems: findProblems(storm) }).toEqual({ seed, problems: [] });
      expect(storm.kills).toBe(kills);
      expect(countOf(storm, 'outcome')).toBeGreaterThan(0);
    },
    Math.max(120_000, kills * 5000),
  );

  it(
    `lose nothing and do nothing twice in ${kills} kills of the server`,
    async () => {
      let [serverKills, outcomes] = [0, 0];
      // Bounded: every storm is long enough for some.
      for (let round = 1; serverKills < kills && round <= kills; round += 1) {
        const over = new AbortController();
        const given = { seed: seed + round, kills: 2, database: await server.createDatabase() };
        const [storm, killed] = await Promise.all([
          playStorm(program.file, given).finally(() => over.abort()),
          killServer(given.seed, over.signal),
        ]);
        expect({ ...given, problems: findProblems(storm) }).toEqual({ ...given, problems: [] });
        serverKills += killed;
        outcomes += countOf(storm, 'outcome');
      }
      expect(serverKills).toBeGreaterThanOrEqual(kills);
      expect(outcomes).toBeGreaterThan(0);
    },
    Math.max(120_000, kills * 5000),
  );
});

function countOf({ said }: Storm, kind: string): number {
  return said.filter((one) => one.kind === kind).length;
}

/** Again and again until the storm is over. */
async function killServer(drawnBy: number, signal: AbortSignal): Promise<number> {
  const random = seededRandom(drawnBy);
  let killed = 0;
  while (!signal.aborted) {
    await sleep(100 + random() * 500);
    await server.kill();
    await sleep(random() * 100);
    await server.start();
    killed += 1;
  }
  return killed;
}
