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
const officeKills = Math.max(30, Math.round(totalKills / 7));

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('test/kill/storm-program.ts');
});
afterAll(() => program.remove());

const receipt = { runId: 'r', tool: 'pay', callId: '0.0', key: 'k', kind: 'effect', receipt: '1' } as const;
const asked = { kind: 'asked', runId: 'r', plan: [['pay']] } as const;
const sound: Storm = {
  kills: 1,
  ledger: [{ ...asked, step: 0, results: {} }, receipt, { ...asked, step: 1, results: { '0.0': '1' } }],
  said: [
    { kind: 'started', runId: 'r' },
    { kind: 'outcome', runId: 'r', digest: 'd' },
    { kind: 'final', runId: 'r', status: 'completed', type: 'completed', digest: 'd' },
    { kind: 'checked', problems: [] },
  ],
};

/** The sound one, with something more. */
function and({ said = [], ledger = [] }: Partial<Storm>): Storm {
  return { kills: 1, said: [...sound.said, ...said], ledger: [...sound.ledger, ...ledger] };
}

describe('what is looked for after a storm', () => {
  it('is not there where all is well', () => {
    expect(findProblems(sound)).toEqual([]);
  });

  it.each<{ readonly what: string; readonly storm: Storm }>([
    { what: 'trouble: ', storm: and({ said: [{ kind: 'trouble' }] }) },
    { what: 'lost: run x (started)', storm: and({ said: [{ kind: 'started', runId: 'x' }] }) },
    {
      what: 'lost: the outcome of run r',
      storm: and({ said: [{ kind: 'outcome', runId: 'r', digest: 'e' }] }),
    },
    {
      what: 'run s is parked',
      storm: and({ said: [{ kind: 'final', runId: 's', status: 'parked', type: 'suspended' }] }),
    },
    { what: 'nobody has checked', storm: { ...sound, said: sound.said.slice(0, -1) } },
    {
      what: 'the store says: ',
      storm: { ...sound, said: [...sound.said.slice(0, -1), { kind: 'checked', problems: ['bad'] }] },
    },
    {
      what: 'asked again: r q',
      storm: and({
        said: [
          { kind: 'answered', runId: 'r', id: 'q' },
          { kind: 'question', runId: 'r', id: 'q' },
        ],
      }),
    },
    { what: 'doubled: pay r/0.0', storm: and({ ledger: [receipt] }) },
    { what: 'finished step again: pay r/0.0', storm: and({ ledger: [receipt] }) },
    { what: 'two keys for one call', storm: and({ ledger: [{ ...receipt, key: 'l' }] }) },
    { what: 'one key for two calls', storm: and({ ledger: [{ ...receipt, callId: '0.1' }] }) },
    { what: 'model step again: r/0', storm: and({ ledger: [{ ...asked, step: 0, results: {} }] }) },
    { what: 'another result', storm: and({ ledger: [{ ...asked, step: 1, results: { '0.0': '2' } }] }) },
    {
      what: 'undone: pay r/0.0 has the result',
      storm: { ...sound, ledger: sound.ledger.filter((line) => line !== receipt) },
    },
    { what: 'undone: pay r/0.0 has no result', storm: { ...sound, ledger: sound.ledger.slice(0, 2) } },
  ])('is found: $what', ({ what, storm }) => {
    expect(findProblems(storm)).toContainEqual(expect.stringContaining(what));
  });
});

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
      expect(seen['kills']).toBeGreaterThanOrEqual(totalKills);
      for (const [what, count] of Object.entries(seen)) expect([what, count > 0]).toEqual([what, true]);
    },
    Math.max(300_000, totalKills * 3000),
  );
});

describe('runs of several agents in a process that is killed again and again', () => {
  it(
    `lose nothing and do nothing twice in ${officeKills} kills in the middle of branches, hand-offs and approvals`,
    async () => {
      const seeds = [firstSeed + 100, firstSeed + 101];
      const kills = Math.ceil(officeKills / seeds.length);
      const storms = await Promise.all(
        seeds.map((seed) => playStorm(program.file, { seed, kills, cast: 'office' })),
      );
      const problems = storms.map((storm, index) => ({ seed: seeds[index], problems: findProblems(storm) }));
      expect(problems).toEqual(seeds.map((seed) => ({ seed, problems: [] })));
      const seen = storms.map(countSeen).reduce(addUp);
      for (const [what, count] of Object.entries(seen)) expect([what, count > 0]).toEqual([what, true]);
      const finals = storms.flatMap(({ said }) => said.filter(({ kind }) => kind === 'final'));
      const passedOn = finals.filter(({ runId }) => String(runId).endsWith('/desk/1-clerk'));
      expect(passedOn.length).toBeGreaterThan(0);
    },
    Math.max(300_000, officeKills * 3000),
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
