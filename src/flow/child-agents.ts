import { beside } from '../base/beside.ts';
import type { AgentParts } from '../runtime/agent-parts.ts';
import { internalsOf, isAgent } from '../runtime/agent-internals.ts';
import type { AgentRuns } from '../runtime/run/agent-runs.ts';
import { inheritFrom } from '../runtime/children/inherited.ts';
import type { AgentExtras } from '../runtime/children/inherited.ts';
import type { Model } from '../model/model.ts';
import type { Store } from '../model/store/store.ts';
import type { Agent } from '../runtime/create-agent.ts';
import { flowError } from './flow-error.ts';
import { checkNodeName } from './flow-shape.ts';

/** Anything that runs to an outcome: an agent, a flow, a team, a plan. */
export type AnyAgent = Agent<unknown>;

/** Agents by the names that they have here. */
export type AgentMap = Readonly<Record<string, AnyAgent>>;

/** As a map; a list is named by the agents' own names. Throws a `FlowError` that says whose name is wrong. */
export function readAgents(given: unknown, where: string): AgentMap {
  const entries = Array.isArray(given) ? given.map(named) : Object.entries(asObject(given, where));
  const agents: Record<string, AnyAgent> = {};
  for (const [name, agent] of entries) {
    checkNodeName(name);
    if (isAgent(agent) && internalsOf(agent).isHosted)
      throw flowError(
        `The agent "${name}" of ${where} has an engine of its own: create it without one, because the parent run runs it`,
        { context: { node: name } },
      );
    if (!isAgent(agent))
      throw flowError(
        `"${name}" of the agents of ${where} is no agent: make it with createAgent({ … }), flow(), team(), handOff() or plan()`,
      );
    if (Object.hasOwn(agents, name))
      throw flowError(`Two agents of ${where} are named "${name}": give one of them another name`);
    agents[name] = agent as AnyAgent; // It was made by us.
  }
  if (entries.length === 0)
    throw flowError(`${sentence(where)} has no agents: give at least one as "agents"`);
  return Object.freeze(agents);
}

function named(agent: unknown, index: number): readonly [string, unknown] {
  return [isAgent(agent) ? (agent as AnyAgent).name : `agent-${index}`, agent]; // It was made by us.
}

function asObject(given: unknown, where: string): object {
  if (typeof given === 'object' && given !== null) return given;
  throw flowError(`${sentence(where)} needs "agents": an object such as { writer }, or a list of agents`);
}

function sentence(where: string): string {
  return where.charAt(0).toUpperCase() + where.slice(1);
}

/** A run below is kept where the run above is kept, or it could not be found again. Throws a `FlowError`. */
export function checkStores(
  agents: AgentMap,
  { where, store }: { readonly where: string; readonly store: Store | undefined },
): void {
  if (store !== undefined) return;
  for (const [name, agent] of Object.entries(agents)) {
    if (internalsOf(agent).parts.store === undefined) continue;
    throw flowError(
      `${where} has no store, but its agent "${name}" has: give the store to the agent where the work starts`,
      {
        hint: 'Child runs are kept in the store of the parent run. Set "store" there; leave it out here.',
        context: { node: name },
      },
    );
  }
}

/** Where the same agent works for several, each has it under its own rights. */
export interface Children {
  readonly of: (parts: AgentParts, name: string) => AgentRuns;
  /** What the agent is made of by itself. */
  readonly partsOf: (name: string) => AgentParts;
}

/** Makes the agents below when they are first needed, once for each agent above. */
export function createChildren(agents: AgentMap, extras: Omit<AgentExtras, 'inherited'> = {}): Children {
  const below = beside((_parts: AgentParts) => new Map<string, AgentRuns>());
  const agentOf = (name: string): AnyAgent => {
    const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (agent === undefined) throw flowError(`There is no agent "${name}"`);
    return agent;
  };
  return {
    partsOf: (name) => internalsOf(agentOf(name)).parts,
    of: (parts, name) => {
      const made = below(parts);
      const before = made.get(name);
      if (before !== undefined) return before;
      const runs = internalsOf(agentOf(name)).make({ ...extras, inherited: inheritFrom(parts, name) });
      made.set(name, runs);
      return runs;
    },
  };
}

/** Models to ask beside a conversation of several agents: those that they have, each once. */
export function modelsOf(agents: AgentMap): readonly Model[] {
  const known = new Map<string, Model>();
  for (const agent of Object.values(agents)) {
    for (const model of internalsOf(agent).parts.sideModels) {
      const key = `${model.quotaKey} ${model.name}`;
      if (!known.has(key)) known.set(key, model);
    }
  }
  return [...known.values()].slice(0, maxSideModels);
}

const maxSideModels = 3;
