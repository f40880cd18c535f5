import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { team } from '../../src/flow/team.ts';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { replayRun } from '../../src/runtime/transfer/replay-run.ts';
import type { ReplaySource, ReplayStep } from '../../src/runtime/transfer/replay-run.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { tool } from '../../src/tools/tool.ts';

// Flows, teams and hand-offs on a store in memory, under a clock that moves by itself.

export interface FlowWorld {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  /** How often each tool was called. */
  readonly done: Map<string, number>;
  readonly pay: Tool;
  readonly agent: (name: string, script: readonly ScriptStep[], tools?: readonly Tool[]) => Agent<unknown>;
  /** What the agents share, for a flow of another process. */
  readonly common: () => {
    readonly store: MemoryStore;
    readonly clock: SimulatedClock;
    readonly random: () => number;
  };
  readonly until: <T>(promise: Promise<T>) => Promise<T>;
}

export function createFlowWorld(): FlowWorld {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const done = new Map<string, number>();
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object' },
    permission: 'ask',
    execute: () => {
      done.set('pay', (done.get('pay') ?? 0) + 1);
      return 'paid';
    },
  });
  return {
    clock,
    store,
    done,
    pay,
    agent: (name, script, tools = []) =>
      createAgent({
        name,
        instructions: `You are ${name}.`,
        tools,
        gates: createGates({ clock }),
        model: scriptedModel(script, { usage: { inputTokens: 10, outputTokens: 5 } }),
      }),
    common: () => ({ store: store.reopen(), clock, random: seededRandom(7) }),
    until: (promise) => clock.runUntil(promise),
  };
}

/** Asks for the payment until there is a result of it. */
export const payOnce: ScriptStep = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Paid.' : { toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] };

/** Three nodes; the second asks a person. */
export function payingFlow(world: FlowWorld): Agent<unknown> {
  const agents = {
    read: world.agent('reader', ['Five cents are due.']),
    settle: world.agent('payer', [payOnce, payOnce], [world.pay]),
    tell: world.agent('writer', ['All is paid.']),
  };
  return flow('read >> settle >> tell', { name: 'bill', agents, ...world.common() });
}

/** The second node fails once for good, and works when it is gone on with. */
export function failingFlow(world: FlowWorld, second: readonly ScriptStep[]): Agent<unknown> {
  const agents = {
    read: world.agent('reader', ['Five cents are due.']),
    tell: world.agent('writer', second),
  };
  return flow('read >> tell', { name: 'bill', agents, ...world.common() });
}

/** One node is skipped by its `when`, one fails and may, and one fails for good. */
export function unevenFlow(world: FlowWorld): Agent<unknown> {
  const agents = {
    read: world.agent('reader', ['Five cents are due.']),
    skipped: world.agent('skipped', []),
    maybe: world.agent('maybe', [{ failure: 'INVALID_REQUEST' }]),
    tell: world.agent('writer', [{ failure: 'INVALID_REQUEST' }]),
  };
  const nodes = { skipped: { when: () => false }, maybe: { onError: 'skip' } } as const;
  return flow('read >> (skipped | maybe) >> tell', { name: 'bill', agents, nodes, ...world.common() });
}

/** Two hops; the second agent asks a person. */
export function payingHandOff(world: FlowWorld): Agent<unknown> {
  const passOn: ScriptStep = {
    toolCalls: [{ name: 'hand_off', arguments: { to: 'till', reason: 'money' } }],
  };
  const agents = {
    desk: world.agent('desk', [passOn]),
    till: world.agent('till', [payOnce, payOnce], [world.pay]),
  };
  return handOff({ name: 'counter', agents, start: 'desk', ...world.common() });
}

/** A lead that gives two jobs in one turn; one member fails. */
export function payingTeam(world: FlowWorld): Agent<unknown> {
  const jobs: ScriptStep = {
    toolCalls: [
      { name: 'finder', arguments: { task: 'Find the price.' } },
      { name: 'till', arguments: { task: 'Pay it.' } },
    ],
  };
  const lead = createAgent({
    name: 'lead',
    ...world.common(),
    gates: createGates({ clock: world.clock }),
    model: scriptedModel([({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Both are done.' : jobs)], {
      repeat: 'last',
      usage: { inputTokens: 10, outputTokens: 5 },
    }),
  });
  return team({
    name: 'desk',
    lead,
    agents: {
      finder: world.agent('finder', [{ failure: 'INVALID_REQUEST' }]),
      till: world.agent('till', [payOnce, payOnce], [world.pay]),
    },
  });
}

/** All steps of a replay. */
export async function stepsOf(source: ReplaySource): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for await (const step of replayRun(source)) steps.push(step);
  return steps;
}

/** What the run came to, without what only its own code can say. */
export function onRecord(outcome: RunOutcome | undefined): unknown {
  return outcome === undefined ? undefined : { ...outcome, nodes: undefined };
}
