import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from './program.ts';
import type { Program } from './program.ts';
import { findProblems } from './storm-problems.ts';
import { playStorm } from './storm.ts';
import type { Storm } from './storm.ts';

// SIGKILL at random, on real files. RERAIL_KILLS=1000 for more of it, RERAIL_SEED for other moments.

const totalKills = Number(process.env['RERAIL_KILLS'] ?? 208);
const firstSeed = Number(process.env['RERAIL_SEED'] ?? 1);
const worlds = 4;

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('test/kill/storm-program.ts');
});
afterAll(() => program.remove());

describe('runs of a process that is killed again and again', () => {
  it(
    `lose nothing and do nothing twice in ${totalKills} kills`,
    async () => {
      const kills = Math.ceil(totalKills / worlds);
      const seeds = Array.from({ length: worlds }, (_none, index) => firstSeed + index);
      const storms = await Promise.all(seeds.map((seed) => playStorm(program.file, { seed, kills })));
      const problems = storms.map((storm, index) => ({ seed: seeds[index], problems: findProblems(storm) }));
      expect(problems).toEqual(seeds.map((seed) => ({ seed, problems: [] })));
      // A storm in which nothing happened proves nothing.
      const seen = storms.map(countSeen).reduce(addUp);
      process.stderr.write(JSON.stringify(seen)+'\n');
      expect(seen['kills']).toBeGreaterThanOrEqual(totalKills);
      for (const [what, count] of Object.entries(seen)) expect([what, count > 0]).toEqual([what, true]);
    },
    Math.max(300_000, totalKills * 3000),
  );
});

function countSeen({ kills, said, ledger }: Storm): Record<string, number> {
  const count = (kind: string, reason?: string): number =>
    said.filter((one) => one.kind === kind && (reason === undefined || one['reason'] === reason)).length;
  return {
    kills,
    outcomes: count('outcome'),
    approvals: count('question', 'approval'),
    inDoubt: count('question', 'in-doubt'),
    answered: count('answered'),
    effects: ledger.filter(({ kind }) => kind === 'effect').length,
    repeats: ledger.filter(({ kind }) => kind === 'repeat').length,
  };
}

function addUp(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(one).map(([name, count]) => [name, count + (other[name] ?? 0)]));
}
