import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { createFlowWorld, payOnce, payingFlow, payingHandOff } from './world.ts';
import type { FlowWorld } from './world.ts';

const runId = 'run-1';

function agentsOf(world: FlowWorld): Readonly<Record<'read' | 'settle' | 'tell', Agent<unknown>>> {
  return {
    read: world.agent('reader', ['Five cents are due.']),
    settle: world.agent('payer', [payOnce, payOnce], [world.pay]),
    tell: world.agent('writer', ['All is paid.']),
  };
}

interface Change {
  readonly name: string;
  readonly make: (world: FlowWorld) => Agent<unknown>;
  readonly says: readonly string[];
}

const changes: readonly Change[] = [
  {
    name: 'a node is gone',
    make: (world) => {
      const { read, settle } = agentsOf(world);
      return flow('read >> settle', { name: 'bill', agents: { read, settle }, ...world.common() });
    },
    says: [
      'its definition was: read; settle after read; tell after settle; now it is: read; settle after read',
      'the node "tell" is gone',
    ],
  },
  {
    name: 'a node is new',
    make: (world) =>
      flow('read >> settle >> tell >> sign', {
        name: 'bill',
        agents: { ...agentsOf(world), sign: world.agent('signer', ['Signed.']) },
        ...world.common(),
      }),
    says: [
      'its definition was: read; settle after read; tell after settle; now it is: read; settle after read; tell after settle; sign after tell',
      'the node "sign" is new',
    ],
  },
  {
    name: 'an agent has other instructions and another tool',
    make: (world) => {
      const { read, settle } = agentsOf(world);
      const tell = world.agent('somebody else', ['All is paid.'], [world.pay]);
      return flow('read >> settle >> tell', {
        name: 'bill',
        agents: { read, settle, tell },
        ...world.common(),
      });
    },
    says: ['of the node "tell": the instructions were changed', 'of the node "tell": the tool "pay" is new'],
  },
  {
    name: 'its nodes stand in another order',
    make: (world) =>
      flow('read >> (settle | tell)', { name: 'bill', agents: agentsOf(world), ...world.common() }),
    says: [
      'its definition was: read; settle after read; tell after settle; now it is: read; settle after read; tell after read',
    ],
  },
];

describe('a flow that was changed while it waited', () => {
  it('is not told of where nothing was', async () => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    await world.until(payingFlow(world).resume(runId, { answer: true }));
    const types = (await world.store.runs.events(runId)).map(({ type }) => type);
    expect(types).not.toContain('changed');
  });

  it.each(changes)('says what is different: $name', async ({ make, says }) => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    await world.until(make(world).resume(runId));
    const changed = (await world.store.runs.events(runId)).find(({ type }) => type === 'changed');
    expect(changed?.body).toEqual({ differences: says });
  });

  it('says so of a hand-off that begins elsewhere', async () => {
    const world = createFlowWorld();
    await world.until(payingHandOff(world).run('Go', { runId }));
    const agents = { desk: world.agent('desk', []), till: world.agent('till', [], [world.pay]) };
    const other = handOff({ name: 'counter', agents, start: 'till', ...world.common() });
    await world.until(other.resume(runId));
    const changed = (await world.store.runs.events(runId)).find(({ type }) => type === 'changed');
    expect(changed?.body).toEqual({
      differences: [
        'its definition was: it starts with "desk", and may be passed on 10 times; now it is: it starts with "till", and may be passed on 10 times',
      ],
    });
  });

  it('is refused where changes are to be refused', async () => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    const other = flow('read >> (settle | tell)', {
      name: 'bill',
      agents: agentsOf(world),
      onChange: 'strict',
      ...world.common(),
    });
    await expect(world.until(other.resume(runId, { answer: true }))).rejects.toThrow('another agent');
    expect(world.done.get('pay')).toBeUndefined();
  });
});
