import { createAgent } from '../../src/index.ts';
import type { Agent, RunOutcome } from '../../src/index.ts';
import { capability, flow, graph, handOff, plan } from '../../src/flow/index.ts';
import type { Row, Stage } from './row.ts';

// What flows, hand-offs and plans refuse or give up.

const agentOf = async (stage: Stage): Promise<Agent> => createAgent({ model: await stage.model() });

/** An agent that hands everything on. */
async function sender(stage: Stage, to: string): Promise<Agent> {
  const handing = { toolCalls: [{ name: 'hand_off', arguments: { to, reason: 'not mine' } }] };
  return createAgent({ model: await stage.model({ answers: [handing] }) });
}

/** A planner that always makes the same plan, for a capability that always asks for another one. */
async function planned(stage: Stage, step: object): Promise<RunOutcome> {
  const look = capability({
    name: 'look',
    description: 'Looks.',
    execute: (_values, { fail }) => fail('it is dark', { context: { severity: 'replanning' } }),
  });
  const model = await stage.model({
    answers: (request) =>
      JSON.stringify(request).includes('Make a plan')
        ? JSON.stringify({ steps: [step], question: '' })
        : JSON.stringify({ capabilities: ['look'], none: '' }),
  });
  return plan({ model, capabilities: [look], extractTask: false }).run('Look.');
}

export const flowRows = {
  FLOW_INVALID: {
    origin: 'flow',
    throws: async (stage) => flow('a >> b', { agents: { a: await agentOf(stage) } }),
  },
  FLOW_CYCLE: {
    origin: 'flow',
    throws: async (stage) => {
      const a = await agentOf(stage);
      const edges = [
        ['a', 'b'],
        ['b', 'a'],
      ] as const;
      return flow(graph(edges), { agents: { a, b: a } });
    },
  },
  MAX_HANDOFFS_EXCEEDED: {
    origin: 'flow',
    ends: async (stage) => {
      const agents = { a: await sender(stage, 'b'), b: await sender(stage, 'a') };
      return handOff({ agents, start: 'a', maxHandoffs: 2 }).run('Who takes it?');
    },
  },
  PLAN_INVALID: {
    origin: 'flow',
    ends: (stage) => planned(stage, { key: 'a', capability: 'fly', objective: 'Fly.', inputs: [] }),
  },
  REPLAN_LIMIT: {
    origin: 'flow',
    ends: (stage) => planned(stage, { key: 'a', capability: 'look', objective: 'Look.', inputs: [] }),
  },
} as const satisfies Readonly<Record<string, Row>>;
