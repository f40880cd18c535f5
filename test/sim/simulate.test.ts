import { describe, expect, it } from 'vitest';
import { describeSimulation, gateRuns, hasHeld, simulateCommand } from '../../src/sim/command.ts';
import { simulateRun, simulateRuns } from '../../src/sim/simulate.ts';

describe('the simulation', () => {
  it(
    `holds every invariant over ${gateRuns} seeds, and every crash point is hit`,
    { timeout: 120_000 },
    async () => {
      const simulation = await simulateRuns({ from: 0, to: gateRuns - 1 });
      // What is told names the seed and the invariant.
      expect(hasHeld(simulation) ? [] : describeSimulation(simulation)).toEqual([]);
      expect(simulation.runs).toBe(gateRuns);
    },
  );

  it.each([17, 250, 1234])('gives the same run for seed %i every time', async (seed) => {
    const first = await simulateRun(seed, { isTraced: true });
    const second = await simulateRun(seed, { isTraced: true });
    expect(first.trace.length).toBeGreaterThan(5);
    expect(second).toEqual(first);
  });
});

async function runCommand(given: readonly string[]): Promise<{ code: number; lines: readonly string[] }> {
  const lines: string[] = [];
  let cpuMs = 0;
  const code = await simulateCommand(given, {
    write: (line) => void lines.push(line),
    cpuMs: () => (cpuMs += 1000),
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
    const { code, lines } = await runCommand(['--seed', '4']);
    expect(code).toBe(0);
    expect(lines[0]).toContain('a process begins');
    expect(lines.at(-1)).toMatch(/^Seed 4: completed after \d+ processes/);
  });

  it('counts the runs of several seeds, and says how fast they were', async () => {
    const { code, lines } = await runCommand(['--seeds', '10..29']);
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^20 runs in \d+ processes/);
    expect(lines.at(-1)).toBe('20 runs a second of CPU time');
  });
});
