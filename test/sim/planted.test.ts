import { describe, expect, it } from 'vitest';
import type { Invariant } from '../../src/sim/invariants.ts';
import type { Sabotage } from '../../src/sim/sabotage.ts';
import { simulateRun } from '../../src/sim/simulate.ts';
import { plantedBelow } from './planted-below.ts';
import { plantedBugs } from './planted-bugs.ts';

const maxSeeds = 400;

/** The invariants that notice, up to the first seed at which the one that is meant does. */
async function findNoticed(sabotage: Sabotage, meant: Invariant): Promise<ReadonlySet<Invariant>> {
  const noticed = new Set<Invariant>();
  for (let seed = 0; seed < maxSeeds && !noticed.has(meant); seed += 1) {
    const { problems } = await simulateRun(seed, { sabotage });
    for (const { invariant } of problems) noticed.add(invariant);
  }
  return noticed;
}

describe('the simulation', () => {
  it.each([...plantedBugs, ...plantedBelow])('notices $bug: $invariant', async ({ invariant, sabotage }) => {
    expect(await findNoticed(sabotage, invariant)).toContain(invariant);
  });
});
