import { createAgent, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, ResumeOptions, RunOutcome, Tool } from '../../src/index.ts';
import type { Schema, Verified } from '../../src/model/tool.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptStep, SimulatedClock } from '../../src/testing/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';

// Runs on a store in memory, under a clock that moves by itself: what scenarios and their tests are made of.

/** A run, where it is on record, and the outcome that its last caller was given. */
export interface Lived {
  readonly store: MemoryStore;
  readonly runId: string;
  readonly outcome: RunOutcome;
}

/** What differs from an agent without anything. */
export type Options = Omit<AgentOptions<Schema>, 'model' | 'store' | 'clock'>;

export interface World {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  /** Another process. */
  readonly agent: (script: readonly ScriptStep[], options?: Options, handle?: MemoryStore) => Agent<unknown>;
  readonly run: (agent: Agent<unknown>, input?: string) => Promise<Lived>;
  readonly resume: (agent: Agent<unknown>, options?: ResumeOptions) => Promise<Lived>;
}

export const runId = 'run-1';

export function createWorld(): World {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const lived = async (outcome: Promise<RunOutcome>): Promise<Lived> => ({
    store,
    runId,
    outcome: await clock.runUntil(outcome),
  });
  return {
    clock,
    store,
    agent: (script, options = {}, handle = store.reopen()) =>
      createAgent<Schema>({
        name: 'clerk',
        instructions: 'You are a clerk.',
        random: seededRandom(7),
        gates: createGates({ clock }),
        ...options,
        model: scriptedModel(script, { usage: { inputTokens: 10, outputTokens: 5 } }),
        clock,
        store: handle,
      }),
    run: (agent, input = 'Go on') => lived(agent.run(input, { runId })),
    resume: (agent, options) => lived(agent.resume(runId, options)),
  };
}

export const anyInput = { type: 'object' } as const;

export function look(): Tool {
  return tool({
    name: 'look',
    description: 'Looks something up.',
    input: anyInput,
    effect: 'read',
    execute: (input) => `found ${JSON.stringify(input)}`,
  });
}

export interface PayOptions {
  readonly onPaid?: () => void;
  readonly verify?: () => Verified;
  readonly permission?: 'allow' | 'ask';
}

export function pay({ onPaid, verify, permission = 'allow' }: PayOptions = {}): Tool {
  return tool({
    name: 'pay',
    description: 'Pays.',
    input: anyInput,
    effect: 'once',
    permission,
    execute: () => {
      onPaid?.();
      return 'paid';
    },
    ...(verify === undefined ? {} : { verify }),
  });
}

export const call = (name: string, ...inputs: readonly Readonly<Record<string, number>>[]): ScriptStep => ({
  toolCalls: inputs.map((given) => ({ name, arguments: given })),
});

/** Asks for the payment until there is a result of it. */
export const payOnce: ScriptStep = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Paid.' : { toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] };
