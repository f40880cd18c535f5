import { describe, expect, it } from 'vitest';
import {
  describeSimulation,
  gateRuns,
  hasHeld,
  simulateCommand,
  simulateRuns,
} from '../../src/sim/command.ts';
import { simulateRun } from '../../src/sim/simulate.ts';
import type { SeedRange, SimulatedRun } from '../../src/sim/simulate.ts';

describe('the simulation', () => {
  it(
    `holds every invariant over ${gateRuns} seeds, and every crash point is hit`,
    { timeout: 120_000 },
    async () => {
      const simulation = await simulateRuns({ from: 0, to: gateRuns - 1 });
      // What is told names the seed and the invariant.
      expect(hasHeld(simulation) ? [] : describeSimulation(simulation)).toEqual([]);
      expect(simulation.seeds).toBe(gateRuns);
      expect(simulation.runs).toBeGreaterThan(gateRuns);
    },
  );

  it.each([17, 250, 281, 1234])('gives the same run for seed %i every time', async (seed) => {
    const first = await simulateRun(seed, { isTraced: true });
    const second = await simulateRun(seed, { isTraced: true });
    expect(first.trace.length).toBeGreaterThan(5);
    expect(second).toEqual(first);
  });
});

const emptyRun: SimulatedRun = {
  seed: 0,
  problems: [],
  hits: new Map(),
  runs: 1,
  lives: 1,
  faults: 0,
  end: 'completed',
  trace: [],
};

async function runCommand(given: readonly string[]): Promise<{ code: number; lines: readonly string[] }> {
  const lines: string[] = [];
  let nowMs = 0;
  const code = await simulateCommand(given, {
    write: (line) => void lines.push(line),
    nowMs: () => (nowMs += 1000),
    workers: 2,
    simulate: simulateRuns,
  });
  return { code, lines };
}

describe('npm run simulate', () => {
  it.each([
    { given: ['--seed'] },
    { given: ['--seed', 'x'] },
    { given: ['--seeds', '5'] },
    { given: ['--seeds', '5..2'] },
    { given: ['--runs', '0'] },
    { given: ['--speed', '1'] },
  ])('shows its usage for $given', async ({ given }) => {
    const { code, lines } = await runCommand(given);
    expect([code, lines[0]]).toEqual([2, expect.stringContaining('Usage')]);
  });

  it('shows everything that happens in the run of one seed', async () => {
    const { code, lines } = await runCommand(['--seed', '5']);
    expect(code).toBe(0);
    expect(lines[0]).toContain('a process begins');
    expect(lines.at(-1)).toMatch(/^Seed 5: completed after \d+ processes/);
  });

  it('shares many seeds out, counts them together, and says how fast they were', async () => {
    const { code, lines } = await runCommand(['--seeds', '10..259']);
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^250 seeds, 381 runs in \d+ processes: /);
    // The clock of this host moves by a second whenever it is looked at: for three shares and at both ends.
    expect(lines.at(-1)).toBe('95 runs a second (63 seeds) on 2 threads, 37 (25) in the last half');
  });

  it('stops where too much has gone wrong, and names what to look at', async () => {
    const ranges: SeedRange[] = [];
    const lines: string[] = [];
    const failed = Array.from({ length: 20 }, (_, seed) => ({
      ...emptyRun,
      seed,
      problems: [{ invariant: 'once-twice', message: 'paid twice' } as const],
    }));
    const code = await simulateCommand(['--runs', '5000'], {
      write: (line) => void lines.push(line),
      nowMs: () => 0,
      workers: 1,
      simulate: async (range) => {
        ranges.push(range);
        return { ...(await simulateRuns({ from: 1, to: 0 })), runs: 100, failed };
      },
    });
    expect([code, ranges]).toEqual([1, [{ from: 0, to: 99 }]]);
    expect(lines).toContain('  npm run simulate -- --seed 19');
  });
});
