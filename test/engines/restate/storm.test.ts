import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plans } from '../../kill/clerk.ts';
import { bundleProgram } from '../../kill/program.ts';
import type { Program } from '../../kill/program.ts';
import { findProblems } from '../../kill/storm-problems.ts';
import { playStorm } from './storm.ts';

// SIGKILL at random, of the worker and of the server. RERAIL_KILLS=50 for 50 of each, RERAIL_SEED for other moments.

const kills = process.env['RERAIL_KILLS'];
const seed = Number(process.env['RERAIL_SEED'] ?? 1);
// A check must outlive the deadline of its call, which takes ten seconds of real time.
const quickPlans = plans.filter((plan) => !plan.flat().includes('charge'));

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('test/engines/restate/storm-program.ts');
});
afterAll(() => program.remove());

describe('runs on Restate', () => {
  it('are neither lost nor doubled by SIGKILL of worker and server, and all of them end', async () => {
    const storm = await playStorm(program.file, {
      seed,
      workerKills: Number(kills ?? 3),
      serverKills: Number(kills ?? 2),
      plans: kills === undefined ? quickPlans : plans,
    });
    expect(findProblems(storm)).toEqual([]);
    expect(storm.said.filter(({ kind }) => kind === 'outcome').length).toBeGreaterThan(3);
  }, 1_800_000);
});
