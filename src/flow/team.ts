import { defined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import { showValue } from '../model/check/show-value.ts';
import { internalsOf, isAgent } from '../runtime/agent-internals.ts';
import { cutText } from '../runtime/watch/bounded-text.ts';
import { agentOf } from '../runtime/create-agent.ts';
import type { Agent } from '../runtime/create-agent.ts';
import { mergeExtras } from '../runtime/children/inherited.ts';
import type { AgentExtras } from '../runtime/children/inherited.ts';
import type { Node } from '../runtime/children/node.ts';
import { checkStores, createChildren, readAgents } from './child-agents.ts';
import type { AgentMap, Children } from './child-agents.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { flowError } from './flow-error.ts';
import type { NodeOptions } from './flow-types.ts';
import { nodeFacts, nodeTool } from './node-tool.ts';
import { cancelChild, childIdOf, performChild } from './perform-child.ts';

/** A lead, and agents that it may give work to. */
export interface TeamOptions<Agents extends AgentMap, Output> {
  /** Of the team on record; the lead's own by default. */
  readonly name?: string;
  readonly lead: Agent<Output>;
  readonly agents: Agents;
  readonly members?: { readonly [Name in keyof Agents]?: MemberOptions };
}

/** What may be said of a member of a team. */
export interface MemberOptions extends Pick<NodeOptions, 'retry' | 'timeoutMs'> {
  /** For the lead: what it is good at. */
  readonly description?: string;
}

/**
 * Agents as tools of a lead. Jobs that it gives in one turn run side by side, and each ends by itself: what failed is reported to the
 * lead as of any tool. Throws a `FlowError` where names are in the way.
 *
 * @example
 * const desk = team({ lead, agents: { research, pricing }, members: { research: { description: 'Finds sources.' } } });
 */
export function team<const Agents extends AgentMap, Output>(
  options: TeamOptions<Agents, Output>,
): Agent<Output> {
  checkOptions({ of: 'team()', rules: ['name', 'lead', 'agents', 'members'] }, options);
  const { lead, members = {}, name } = options;
  const isName = name === undefined || (typeof name === 'string' && name !== '' && !name.includes('/'));
  if (!isName) throw configError('"name" of team() must be a text without "/", which is not empty');
  if (!isAgent(lead)) throw configError('"lead" of team() must be an agent, made with createAgent({ … })');
  const { make, parts, isHosted } = internalsOf(lead);
  if (isHosted)
    throw flowError(
      `The lead "${lead.name}" has an engine: a team runs with a store, or in memory. Take "engine" away, and set "store"`,
    );
  const agents = readAgents(options.agents, `the team of "${lead.name}"`);
  checkStores(agents, { where: `The team of "${lead.name}"`, store: parts.store });
  checkMembers(members, agents);
  const taken = Object.keys(agents).find((each) => parts.registry.names.includes(each));
  if (taken !== undefined)
    throw flowError(
      `The lead "${lead.name}" has a tool named "${taken}" already: give the agent another name in "agents"`,
      {
        context: { node: taken },
      },
    );
  const extras: AgentExtras = { ...memberExtras(agents, members), ...defined({ name }) };
  return agentOf((more) => make(mergeExtras(extras, more))) as Agent<Output>; // The lead's own answer.
}

function checkMembers(members: unknown, agents: AgentMap): void {
  if (!isRecord(members)) throw configError('"members" of team() must be an object: { research: { … } }');
  checkOptions({ of: '"members" of team()', rules: Object.keys(agents) }, members);
  for (const [name, options] of Object.entries(members)) {
    checkOptions({ of: `the member "${name}"`, rules: ['description', 'retry', 'timeoutMs'] }, options);
    const { description, timeoutMs } = options as Readonly<Record<string, unknown>>; // Seen above.
    if (description !== undefined && typeof description !== 'string')
      throw configError(`"description" of the member "${name}" must be a text, got ${typeof description}`);
    if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && Number(timeoutMs) > 0))
      throw configError(
        `"timeoutMs" of the member "${name}" must be a number above 0, got ${showValue(timeoutMs)}`,
      );
  }
}

function memberExtras(
  agents: AgentMap,
  members: Readonly<Record<string, MemberOptions | undefined>>,
): AgentExtras {
  const children = createChildren(agents);
  const names = Object.keys(agents);
  return {
    nodes: new Map(names.map((name) => [name, memberNode(children, name)])),
    tools: names.map((name) => {
      const { description, timeoutMs } = members[name] ?? {};
      const about = description === undefined ? '' : `${description} `;
      return nodeTool({
        name,
        description: `${about}Gives a job to the agent "${name}", which sees only the task of this conversation, and returns its answer.`,
        input: jobSchema,
        timeoutMs,
      });
    }),
    facts: Object.fromEntries(names.map((name) => [name, nodeFacts(members[name]?.retry, name)])),
  };
}

const jobSchema = {
  type: 'object',
  properties: {
    task: { type: 'string', minLength: 1, description: 'The whole job, with all facts that it needs.' },
  },
  required: ['task'],
  additionalProperties: false,
} as const;

function memberNode(children: Children, name: string): Node {
  return {
    agent: children.partsOf(name),
    perform: async (call) => {
      const { task } = call.input as { readonly task: string }; // Held to the schema.
      return performChild(call, {
        runs: children.of(call.parts, name),
        runId: jobIdOf(call, name),
        input: () => task,
        isAgain: call.attempt > 1,
        mayBeginAfresh: false,
        // As of any tool: the whole of it is in the run below.
        contentOf: ({ text }) => cutText(text, maxAnswerCharacters).text,
      });
    },
    cancel: (call) => cancelChild(children.of(call.parts, name), jobIdOf(call, name)),
  };
}

/** What the lead is shown of an answer, at most. */
const maxAnswerCharacters = 100_000;

/** Providers may use the same ids in every turn. */
function jobIdOf({ state, callId }: Parameters<NonNullable<Node['cancel']>>[0], name: string): string {
  return childIdOf(state.runId, `${name}-${state.turn}-${callId.replace(/[^\w-]/g, '_')}`);
}
