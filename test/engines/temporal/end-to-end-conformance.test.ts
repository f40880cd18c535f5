import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporal } from '../../../src/engines/temporal/temporal.ts';
import { systemClock } from '../../../src/base/system.ts';
import { engineConformance } from '../../../src/testing/engine-conformance.ts';
import type { CreateEngine, EngineSetup, EngineUnderTest } from '../../../src/testing/engine-conformance.ts';
import { openBackend, realAddress, serverName } from './backend.ts';
import type { Backend } from './backend.ts';

// Temporal's own client, worker and sandbox. Each program is found again inside the workflow by the name of its case.

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend('programs');
});
afterAll(() => backend.close());

function createEngine(caseName: string): CreateEngine {
  return (setup) => open(setup, { caseName, agent: `conformance-${randomUUID()}` });
}

interface Place {
  readonly caseName: string;
  readonly agent: string;
}

async function open(setup: EngineSetup, place: Place): Promise<EngineUnderTest> {
  const { program, effects } = setup;
  const { caseName, agent: name } = place;
  const common = {
    name,
    version: '1',
    clock: systemClock,
    program,
    effects,
    facts: () => ({ case: caseName }),
  };
  const engine = await temporal(backend.options)(common);
  return {
    engine,
    reopen: async ({ signals = [] }) => {
      await engine.close();
      const front = await temporal({ ...backend.options, carries: false })(common);
      for (const { runId, name: signal, message } of signals) await front.signal(runId, signal, message);
      await front.close();
      return open(setup, place);
    },
    journalBytes: async (runId) => JSON.stringify(await engine.journal?.(runId)).length,
    close: () => engine.close(),
  };
}

/** A changed program is noticed by Temporal itself, which stops the run's tasks: see replay.test.ts and failures.test.ts. */
const ofTemporal = 'notices that the program changed';

const all = engineConformance(() => Promise.reject(new Error('Only their names are wanted')))
  .map(({ name }) => name)
  .filter((name) => !name.startsWith(ofTemporal));

/** Those that show most. All of them pass against the simulated server too, in two minutes: RERAIL_TEMPORAL=all. */
const quick = [
  'calls a program that throws broken, and says why',
  'starts a run once, however often it is told to',
  'lets no program hand an effect anything but JSON',
  'performs after a crash what has no recorded outcome, and keeps every outcome in its place',
  'keeps the generation and its state across a crash',
  'shows effects the signals that nobody has taken, and removes what they took',
  'tells an effect in progress of the cancellation, and waits for what came of it',
  'carries a large value there and back, and across a crash',
];
const isWhole = realAddress !== undefined || process.env['RERAIL_TEMPORAL'] === 'all';

describe(`the engine on ${serverName}`, () => {
  it('has every case that is tried here', () => {
    expect(all).toEqual(expect.arrayContaining(quick));
  });

  it.each(isWhole ? all : quick)(
    '%s',
    async (name) => {
      const found = engineConformance(createEngine(name)).find((each) => each.name === name);
      await expect(found?.run()).resolves.toBeUndefined();
    },
    60_000,
  );
});
