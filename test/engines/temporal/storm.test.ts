import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../kill/program.ts';
import type { Program } from '../../kill/program.ts';
import { findProblems } from '../../kill/storm-problems.ts';
import { playStorm } from './storm.ts';

// SIGKILL of the worker at random; the simulated server goes away at random, with every connection to it, and comes back with what it
// has written. RERAIL_KILLS=50 for 50 of each, RERAIL_SEED for other moments. What becomes of a real server that is killed is
// Temporal's to promise.

const kills = process.env['RERAIL_KILLS'];
const seed = Number(process.env['RERAIL_SEED'] ?? 1);

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('test/engines/temporal/storm-program.ts');
});
afterAll(() => program.remove());

describe('runs on Temporal', () => {
  it('are neither lost nor doubled by SIGKILL of the worker while the server comes and goes, and all of them end', async () => {
    const storm = await playStorm(program.file, {
      seed,
      workerKills: Number(kills ?? 1),
      serverKills: Number(kills ?? 1),
    });
    expect(findProblems(storm)).toEqual([]);
    expect(storm.said.filter(({ kind }) => kind === 'outcome').length).toBeGreaterThan(3);
  }, 3_600_000);
});
