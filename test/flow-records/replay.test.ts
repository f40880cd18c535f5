import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import {
  createFlowWorld,
  failingFlow,
  onRecord,
  payingFlow,
  payingHandOff,
  payingTeam,
  stepsOf,
} from './world.ts';
import type { FlowWorld } from './world.ts';

const runId = 'run-1';

interface Story {
  readonly name: string;
  readonly end: RunOutcome['type'];
  readonly live: (world: FlowWorld) => Promise<RunOutcome>;
}

const stories: readonly Story[] = [
  {
    name: 'a flow that waits for a node',
    end: 'suspended',
    live: (world) => payingFlow(world).run('Go', { runId }),
  },
  {
    name: 'a flow that was answered in another process',
    end: 'completed',
    live: async (world) => {
      await payingFlow(world).run('Go', { runId });
      return payingFlow(world).resume(runId, { answer: true });
    },
  },
  {
    name: 'a flow that was cancelled while a node waits',
    end: 'cancelled',
    live: async (world) => {
      const bill = payingFlow(world);
      await bill.run('Go', { runId });
      await bill.cancel(runId, 'nobody wants it');
      return bill.run('Go', { runId });
    },
  },
  {
    name: 'a flow that failed',
    end: 'failed',
    live: (world) => failingFlow(world, [{ failure: 'INVALID_REQUEST' }]).run('Go', { runId }),
  },
  {
    name: 'a flow that failed and was gone on with',
    end: 'completed',
    live: async (world) => {
      await failingFlow(world, [{ failure: 'INVALID_REQUEST' }]).run('Go', { runId });
      return failingFlow(world, ['All is told.']).resume(runId);
    },
  },
  {
    name: 'a hand-off whose second agent waits',
    end: 'suspended',
    live: (world) => payingHandOff(world).run('Go', { runId }),
  },
  {
    name: 'a hand-off that was answered',
    end: 'completed',
    live: async (world) => {
      await payingHandOff(world).run('Go', { runId });
      return payingHandOff(world).resume(runId, { answer: true });
    },
  },
  {
    name: 'the lead of a team, one of whose members waits',
    end: 'suspended',
    live: (world) => payingTeam(world).run('Go', { runId }),
  },
  {
    name: 'the lead of a team that was answered',
    end: 'completed',
    live: async (world) => {
      await payingTeam(world).run('Go', { runId });
      return payingTeam(world).resume(runId, { answer: true });
    },
  },
];

describe('replayRun() of a run with others below it', () => {
  it.each(stories)(
    'comes to what it came to, from the store and from a bundle: $name',
    async ({ live, end }) => {
      const world = createFlowWorld();
      const outcome = await world.until(live(world));
      expect(outcome.type).toBe(end);
      const steps = await stepsOf({ store: world.store, runId });
      expect(onRecord(steps.at(-1)?.outcome)).toEqual(onRecord(outcome));
      const bundle = await exportRun(world.store, runId, { children: false });
      expect(onRecord((await stepsOf({ bundle })).at(-1)?.outcome)).toEqual(onRecord(outcome));
    },
  );

  it.each(stories)('needs none of the runs below: $name', async ({ live }) => {
    const world = createFlowWorld();
    const outcome = await world.until(live(world));
    const { runs } = await world.store.runs.list({ below: runId });
    expect(runs.length).toBeGreaterThan(1);
    for (const child of runs) await world.store.runs.remove(child.runId);
    const steps = await stepsOf({ store: world.store, runId });
    expect(onRecord(steps.at(-1)?.outcome)).toEqual(onRecord(outcome));
  });

  it('speaks of nodes and their runs, not of a model and tools', async () => {
    const world = createFlowWorld();
    const bill = payingFlow(world);
    await world.until(bill.run('Go', { runId }));
    const texts = (await stepsOf({ store: world.store, runId })).map(({ text }) => text);
    expect(texts).toEqual([
      'The run started.',
      'It was decided to call the node "read".',
      'The node "read" ended: ok; its run is "run-1/read".',
      'It was decided to call the node "settle".',
      'The node "settle" is waiting: approval; its run is "run-1/settle".',
      'The run is suspended: approval.',
    ]);
  });
});
