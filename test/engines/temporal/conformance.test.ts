import { describe, expect, it } from 'vitest';
import { engineConformance } from '../../../src/testing/engine-conformance.ts';
import type { CreateEngine, EngineUnderTest } from '../../../src/testing/engine-conformance.ts';
import { openSimulated, sendWhileDown } from './simulated-engine.ts';
import type { SimulatedSetup } from './simulated-engine.ts';

// The workflow's own code and the worker's, with a simulated server between them: no server of Temporal can be had in a test.

const createEngine: CreateEngine = ({ program, effects }) =>
  open({ program, effects, server: { runs: new Map() } });

async function open(setup: SimulatedSetup): Promise<EngineUnderTest> {
  const engine = await openSimulated(setup);
  return {
    engine,
    reopen: async ({ program = setup.program, signals = [] }) => {
      engine.crash();
      for (const { runId, name, message } of signals) sendWhileDown(setup.server, runId, { name, message });
      return open({ ...setup, program });
    },
    journalBytes: async (runId) =>
      JSON.stringify(setup.server.runs.get(runId)?.executions.map(({ activations }) => activations)).length,
    close: () => engine.close(),
  };
}

/** A changed program is noticed by Temporal itself, which stops the run's tasks: see replay.test.ts. */
const ofTemporal = 'notices that the program changed';

describe('the verbs of the port made of Temporal’s, against a simulated server', () => {
  const cases = engineConformance(createEngine).filter(({ name }) => !name.startsWith(ofTemporal));
  it.each(cases.map(({ name, run }) => [name, run] as const))(
    '%s',
    async (_name, run) => {
      await expect(run()).resolves.toBeUndefined();
    },
    40_000,
  );
});
