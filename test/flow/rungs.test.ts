import { describe, expect, it } from 'vitest';
import type { RecoveryName } from '../../src/agent/turn/recovery.ts';
import type { RunEvent } from '../../src/agent/run-event.ts';
import { flow } from '../../src/flow/flow.ts';
import type { NodeOptions } from '../../src/flow/flow-types.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { decisionsIn, eventsOf, expectType, watchEverything } from '../agent/scene.ts';
import { all, chose, other, planOf, trouble, usual } from './plan-stage.ts';
import { agentsOf, member, refused, setStage } from './stage.ts';
import type { Member, Stage } from './stage.ts';

watchEverything();

// What a flow or a plan does about a failure is told when it is done, once, under its own name.

type Rung = Extract<RecoveryName, 'skip' | 'fall-back' | 'replan' | 'reclassify'>;

const members = (): Readonly<Record<'a' | 'b', Member>> => ({
  a: member([refused]),
  b: member(['B says']),
});

function flowOf({ world }: Stage, nodes: Readonly<Record<string, NodeOptions>>): Agent {
  return flow('a >> b', {
    agents: { ...agentsOf(members()), spare: member(['Spare says']).agent },
    nodes,
    ...world,
  }) as Agent;
}

const scenes: Readonly<Record<Rung, (stage: Stage) => Agent>> = {
  skip: (stage) => flowOf(stage, { a: { onError: 'skip' } }),
  'fall-back': (stage) => flowOf(stage, { a: { onError: { fallback: 'spare' } } }),
  replan: (stage) =>
    planOf(stage, { script: [all, usual, other, 'Fine.'], read: failing('replanning') }).made,
  reclassify: (stage) =>
    planOf(stage, {
      script: [all, usual, chose('guess', 'tell'), other, 'Fine.'],
      read: failing('reclassification'),
    }).made,
};

function failing(severity: 'replanning' | 'reclassification'): () => never {
  return () => {
    throw trouble(severity);
  };
}

const names = Object.keys(scenes) as readonly Rung[]; // The keys of the table.

describe('a failure that is overcome', () => {
  it.each(names)(
    'by the recovery %s is told once, after the failure, and stands in the outcome',
    async (name) => {
      const stage = setStage();
      const outcome = expectType(await stage.run(scenes[name](stage)), 'completed');
      const [failure] = eventsOf(stage.events, 'failure');
      const recoveries = eventsOf(stage.events, 'recovery');
      expect(recoveries).toMatchObject([{ recovery: name, failure: failure?.failure }]);
      expect(outcome.recoveries).toMatchObject([
        { recovery: name, failure: failure?.failure, attempts: 1, turn: recoveries[0]?.turn },
      ]);
      const at = (type: RunEvent['type']): number => stage.events.findIndex((event) => event.type === type);
      expect(at('recovery')).toBeGreaterThan(at('failure'));
      expect(eventsOf(stage.events, 'child-event').length).toBeGreaterThan(0);
    },
  );

  it.each(names)('by the recovery %s is told to `onRetry` as any other', async (name) => {
    const stage = setStage();
    const told: string[] = [];
    const callbacks = { onRetry: ({ recovery }: { readonly recovery: string }) => void told.push(recovery) };
    const world = { ...stage.world, callbacks };
    await stage.run(scenes[name]({ ...stage, world }));
    expect(told).toEqual([name]);
  });

  it.each(names)(
    'by the recovery %s is the same for another process, which reads it from the journal',
    async (name) => {
      const stage = setStage();
      const outcome = await stage.run(scenes[name](stage));
      const second = stage.die();
      const replayed = await second.run(scenes[name](second));
      expect(replayed.recoveries).toEqual(outcome.recoveries);
    },
  );

  it('is not told again when the run was cancelled after it and is gone on with', async () => {
    const stage = setStage();
    const { made } = planOf(stage, {
      script: [all, usual, { text: other, delayMs: 60_000 }, other, 'Fine.'],
      read: failing('replanning'),
    });
    const onEvent = (event: RunEvent): void => void stage.events.push(event);
    const running = made.run('Do it.', { runId: 'r1', onEvent });
    await stage.clock.advance(1000);
    await stage.clock.runUntil(made.cancel('r1'));
    expectType(await running, 'cancelled');
    const outcome = expectType(await stage.resume(made), 'completed');
    expect(decisionsIn(stage.events)).toEqual(['TOOL_EXECUTION_ERROR → replan']);
    expect(outcome.recoveries).toMatchObject([{ recovery: 'replan' }]);
  });
});

describe('a failure that is not overcome', () => {
  it('is told as a failure, and nobody is said to do anything about it', async () => {
    const stage = setStage();
    const outcome = expectType(await stage.run(flowOf(stage, {})), 'failed');
    expect(eventsOf(stage.events, 'failure')).toHaveLength(1);
    expect(decisionsIn(stage.events)).toEqual([]);
    expect(outcome.recoveries).toEqual([]);
  });

  it('is no recovery later: who goes on with the run calls the node again', async () => {
    const stage = setStage();
    const agents = agentsOf({ a: member([refused, 'A says']), b: member(['B says']) });
    const made = flow('a >> b', { agents, ...stage.world });
    expectType(await stage.run(made), 'failed');
    const outcome = expectType(await stage.resume(made), 'completed');
    expect(decisionsIn(stage.events)).toEqual([]);
    expect(outcome.recoveries).toEqual([]);
  });
});
