import { assert } from '../base/assert.ts';
import type { AgentParts } from './agent-parts.ts';
import type { AgentRuns } from './run/agent-runs.ts';
import type { AgentExtras } from './children/inherited.ts';

/** What flows and teams need of an agent besides its public face. */
export interface AgentInternals {
  /** An engine outside executes its runs. */
  readonly isHosted: boolean;
  /** What it is made of. */
  readonly parts: AgentParts;
  /** The same agent once more, as part of something larger. */
  readonly make: (extras: AgentExtras) => AgentRuns;
}

// On the agent itself and not in a table of weak keys: engines keep what such a table holds until a full collection.
const internals = Symbol('rerail.internals');

export function rememberInternals(agent: object, known: AgentInternals): void {
  Object.defineProperty(agent, internals, { value: known });
}

/** Whether it was made by `createAgent`, `flow`, `team`, `handOff` or `plan`. */
export function isAgent(agent: unknown): agent is object {
  return typeof agent === 'object' && agent !== null && Object.hasOwn(agent, internals);
}

export function internalsOf(agent: object): AgentInternals {
  const known = (agent as { readonly [internals]?: AgentInternals })[internals];
  assert(known !== undefined, 'An agent that was not made here');
  return known;
}
