import { expect } from 'vitest';
import type { NodeReport, RunOutcome } from '../../src/agent/run-outcome.ts';
import type { RunEvent } from '../../src/agent/run-event.ts';
import type { ConductedOptions } from '../../src/flow/conducted-agent.ts';
import { createFailure } from '../../src/errors/failure.ts';
import type { Failure } from '../../src/errors/failure.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import type { AgentOptions } from '../../src/runtime/agent-options.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { ResumeOptions, RunInput, RunOptions } from '../../src/runtime/run/run-input.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import type { ScriptedModel, ScriptedModelOptions, ScriptStep } from '../../src/testing/scripted-model.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { plainTool, watchedModel } from '../agent/scene.ts';

// Several agents of the public API with scripted models, under a clock that the test moves. What one "process" is made of is
// made by a function, so that a test can make a second one over the same store.

export type Script = readonly ScriptStep[] | Extract<ScriptStep, (...given: never) => unknown>;

/** An agent and the model that it asks. */
export interface Member {
  readonly agent: Agent;
  readonly model: ScriptedModel;
}

/** What differs from an agent without anything. */
export interface MemberOptions extends Omit<AgentOptions, 'model' | 'output'> {
  readonly modelOptions?: ScriptedModelOptions;
}

/** An agent that answers from a script. */
export function member(script: Script, { modelOptions, ...options }: MemberOptions = {}): Member {
  const model = watchedModel(script, modelOptions);
  return { model, agent: createAgent({ ...options, model }) };
}

/** Agents by their names, as `flow` takes them. */
export function agentsOf<Members extends Readonly<Record<string, Member>>>(
  members: Members,
): { readonly [Name in keyof Members]: Agent } {
  const entries = Object.entries(members).map(([name, { agent }]) => [name, agent]);
  return Object.fromEntries(entries) as { readonly [Name in keyof Members]: Agent }; // The same names.
}

/** How often each model was asked. */
export function callsOf(members: Readonly<Record<string, Member>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(members).map(([name, { model }]) => [name, model.calls.length]));
}

/** Where several processes work, one after the other. */
export interface Stage {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  /** What every flow of this stage is made with. */
  readonly world: Pick<ConductedOptions, 'clock' | 'random' | 'gates' | 'store'>;
  /** The same where nothing outlives the process. */
  readonly bare: Omit<Stage['world'], 'store'>;
  readonly events: RunEvent[];
  readonly run: (
    agent: Agent<unknown>,
    options?: RunOptions & { readonly input?: RunInput },
  ) => Promise<RunOutcome>;
  readonly resume: (agent: Agent<unknown>, options?: ResumeOptions) => Promise<RunOutcome>;
  /** The status of every run on record, by its id. */
  readonly statuses: () => Promise<Readonly<Record<string, string>>>;
  /** This process dies: what it carries can be taken up at once. The next one has a handle of its own. */
  readonly die: () => Stage;
}

/** The name of the first run of every test. */
export const runId = 'r1';

/** Sets the stage. */
export function setStage(clock = simulatedClock(), store = memoryStore({ clock })): Stage {
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => void events.push(event);
  const bare = { clock, random: seededRandom(7), gates: createGates({ clock }) };
  return {
    clock,
    store,
    world: { ...bare, store },
    bare,
    events,
    run: (agent, { input = 'Do it.', ...options } = {}) =>
      clock.runUntil(agent.run(input, { runId, onEvent, ...options })),
    resume: (agent, options) => clock.runUntil(agent.resume(runId, { onEvent, ...options })),
    statuses: async () => {
      const { runs } = await store.runs.list({ limit: 1000 });
      return Object.fromEntries(runs.map((row) => [row.runId, row.status]));
    },
    die: () => {
      const next = setStage(clock, store.reopen());
      store.kill();
      return next;
    },
  };
}

/** When a process dies. */
export interface Death {
  /** The operation of its store, from 1. */
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** A handle whose process dies at that operation. */
export function dyingStore(store: MemoryStore, { at, when }: Death): MemoryStore {
  let kill = (): void => undefined;
  const fault = ({ number }: { readonly number: number }): undefined => {
    if (number === at) kill();
    return undefined;
  };
  const dying = store.reopen({ faults: { [when]: fault } });
  kill = dying.kill;
  return dying;
}

/** The status of each node. */
export function statusesIn({ nodes = [] }: RunOutcome): Readonly<Record<string, NodeReport['status']>> {
  return Object.fromEntries(nodes.map(({ name, status }) => [name, status]));
}

/** What runs below told, as `node:event`. */
export function childEventsIn(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'child-event' ? [`${event.node}:${event.event.type}`] : [],
  );
}

/** A tool that counts its calls. */
export function countingTool(
  name: string,
  options: Partial<Pick<Tool, 'effect' | 'permission' | 'execute' | 'repeats'>> = {},
): { readonly tool: Tool; readonly inputs: unknown[] } {
  const inputs: unknown[] = [];
  const { execute = () => `${name} done`, ...rest } = options;
  const made = plainTool({
    name,
    effect: 'once',
    ...rest,
    execute: (input, context) => {
      inputs.push(input);
      return execute(input, context);
    },
  });
  return { tool: made, inputs };
}

/** A provider that asks for an hour's pause. */
export function longWait(retryAfterMs = 3_600_000): Failure {
  const message = 'Too many requests';
  return createFailure('RATE_LIMITED', { origin: 'model', message, retryAfterMs });
}

/** A failure of the provider that no retry mends. */
export const refused = { failure: 'INVALID_REQUEST' } as const;

/** The sum of what these models were charged for, by the scripts' usual usage. */
export function expectUsage(outcome: RunOutcome, requests: number): void {
  const { usage } = outcome;
  expect({ requests: usage.requests, tokens: usage.inputTokens + usage.outputTokens }).toEqual({
    requests,
    tokens: requests * 15,
  });
}
