import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../kill/program.ts';
import type { Program } from '../../kill/program.ts';
import { findProblems } from '../../kill/storm-problems.ts';
import { playStorm } from './storm.ts';

// SIGKILL at random, of the executor and of Postgres. RERAIL_KILLS=50 for 50 of each, RERAIL_SEED for other moments.

const kills = process.env['RERAIL_KILLS'];
const seed = Number(process.env['RERAIL_SEED'] ?? 1);

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('test/engines/dbos/storm-program.ts');
});
afterAll(() => program.remove());

describe('runs on DBOS', () => {
  it('are neither lost nor doubled by SIGKILL of executor and database, and all of them end', async () => {
    const storm = await playStorm(program.file, {
      seed,
      workerKills: Number(kills ?? 3),
      databaseKills: Number(kills ?? 2),
    });
    expect(findProblems(storm)).toEqual([]);
    expect(storm.said.filter(({ kind }) => kind === 'outcome').length).toBeGreaterThan(3);
  }, 1_800_000);
});
