import { adviseName } from '../base/nearest.ts';
import { messagesOf } from '../agent/turn/history.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { Json } from '../base/json.ts';
import { boundText } from '../base/text.ts';
import { configError } from '../errors/config-error.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { isNote } from '../model/compaction-notes.ts';
import { defineTool } from '../model/define-tool.ts';
import type { Tool } from '../model/tool.ts';
import { internalsOf } from '../runtime/agent-internals.ts';
import { viewOf } from '../runtime/children/conduct-effect.ts';
import type { Agent } from '../runtime/create-agent.ts';
import type { LeftCall, Node, NodeCall } from '../runtime/children/node.ts';
import type { RunInput } from '../runtime/run/run-input.ts';
import { checkStores, createChildren, modelsOf, readAgents } from './child-agents.ts';
import type { AgentMap, Children } from './child-agents.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { keepOutcome } from './child-record.ts';
import type { ChildRecord } from './child-record.ts';
import { createHandOffConductor } from './conduct-hand-off.ts';
import type { HopInput } from './conduct-hand-off.ts';
import { conductedAgent, conductedOptionNames } from './conducted-agent.ts';
import type { ConductedOptions } from './conducted-agent.ts';
import { flowError } from './flow-error.ts';
import { lastChildId } from './fresh-child.ts';
import { nodeFacts, nodeTool } from './node-tool.ts';
import { cancelChild, childIdOf, performChild } from './perform-child.ts';

/** Agents that pass a conversation on among themselves. */
export interface HandOffOptions<Agents extends AgentMap> extends ConductedOptions {
  readonly agents: Agents;
  /** Who begins. */
  readonly start: Extract<keyof Agents, string>;
  /** How often the conversation may be passed on, 10 by default. */
  readonly maxHandoffs?: number;
}

const defaultMaxHandoffs = 10;
const largestMaxHandoffs = 100;

const maxReasonCharacters = 1000;

/** By this tool an agent passes the conversation on. */
export const handOffTool = 'hand_off';

/**
 * One agent begins, and each may pass the whole conversation on to a named other. The answer of the last one is the answer. A name
 * that no agent has is reported to the model; more than `maxHandoffs` end the run with MAX_HANDOFFS_EXCEEDED.
 *
 * @example
 * const support = handOff({ agents: { triage, billing, technical }, start: 'triage' });
 */
export function handOff<const Agents extends AgentMap>(options: HandOffOptions<Agents>): Agent<Json> {
  checkOptions(
    { of: 'handOff()', rules: ['agents', 'start', 'maxHandoffs', ...conductedOptionNames] },
    options,
  );
  const { start, maxHandoffs = defaultMaxHandoffs, name = 'hand-off' } = options;
  const agents = readAgents(options.agents, `the hand-off "${name}"`);
  checkStores(agents, { where: `The hand-off "${name}"`, store: options.store });
  const names = Object.keys(agents);
  if (!names.includes(start))
    throw flowError(`"start" of the hand-off "${name}" names no agent: ${adviseName(`${start}`, names)}`);
  if (!Number.isInteger(maxHandoffs) || maxHandoffs < 1 || maxHandoffs > largestMaxHandoffs)
    throw configError(`"maxHandoffs" of handOff() must be a whole number from 1 to ${largestMaxHandoffs}`);
  checkTools(agents);
  const children = createChildren(agents, {
    tools: [createHandOffTool(names)],
    facts: { [handOffTool]: { isLast: true } },
  });
  const made = conductedAgent(
    { ...options, name },
    {
      conductor: {
        ...createHandOffConductor({ name, start, maxHandoffs }),
        shape: `it starts with "${start}", and may be passed on ${maxHandoffs} times`,
      },
      nodes: new Map(names.map((each) => [each, hopNode(children, each)])),
      tools: names.map((each) => nodeTool({ name: each })),
      facts: Object.fromEntries(names.map((each) => [each, nodeFacts(undefined)])),
      sideModels: modelsOf(agents),
    },
  );
  return made as Agent<Json>; // What agents give is JSON.
}

function checkTools(agents: AgentMap): void {
  for (const [name, agent] of Object.entries(agents)) {
    if (!internalsOf(agent).parts.registry.names.includes(handOffTool)) continue;
    throw flowError(
      `The agent "${name}" has a tool named "${handOffTool}", which is the name of the tool that passes the conversation: rename it`,
      {
        context: { node: name },
      },
    );
  }
}

function createHandOffTool(names: readonly string[]): Tool {
  return defineTool({
    name: handOffTool,
    description: `Passes the whole conversation to another agent, which continues it. The agents are: ${names.join(', ')}.`,
    input: {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'The name of the agent.' },
        reason: { type: 'string', description: 'Why, in one sentence.' },
      },
      required: ['to', 'reason'],
      additionalProperties: false,
    },
    effect: 'read',
    repeats: 'any',
    execute: (input, { retry }) => {
      const { to, reason } = input as { readonly to: string; readonly reason: string }; // Held to the schema.
      if (!names.includes(to)) return retry(`There is no agent "${to}": ${adviseName(to, names)}`);
      // The next agent reads it, and the record keeps it.
      return { to, reason: boundText(reason, maxReasonCharacters) };
    },
  });
}

function hopNode(children: Children, name: string): Node {
  return {
    agent: children.partsOf(name),
    perform: async (call) => {
      const hop = call.input as unknown as HopInput; // Written by the conductor.
      const isAgain = hop.isAgain === true;
      return performChild(call, {
        runs: children.of(call.parts, name),
        runId: idOf(call, hop.hop, name),
        input: () => inputOf(children, call, hop),
        isAgain: call.attempt > 1 || isAgain,
        mayBeginAfresh: isAgain,
        handed: 'all',
        contentOf: keepHop,
      });
    },
    cancel: (call) => {
      const { hop } = call.input as unknown as HopInput; // As above.
      return cancelChild(children.of(call.parts, name), idOf(call, hop, name));
    },
  };
}

/** The run of that agent at that place, whichever of its lives it is in. */
function idOf({ state }: LeftCall, hop: number, name: string): string {
  const { calls } = viewOf(state, messagesOf(state.history));
  const before = calls.filter(({ input }) => (input as unknown as HopInput).hop === hop); // Written by the conductor.
  return lastChildId(before) ?? childIdOf(state.runId, `${hop}-${name}`);
}

/** The conversation as the one before left it, and who passed it on. */
async function inputOf(
  children: Children,
  call: NodeCall,
  { hop, from, reason }: HopInput,
): Promise<RunInput> {
  const { parts, state } = call;
  if (from === undefined) return viewOf(state, messagesOf(state.history)).task;
  const runId = idOf(call, hop - 1, from);
  const runs = children.of(parts, from);
  if (!(await runs.knows(runId))) throw conversationGone(runId, from);
  const passed = await runs.run('The run has ended', { runId });
  // It has completed, or this code would not run: only the store can keep it from being found.
  if (passed.type !== 'completed') throw RerailError.from(unread(passed));
  const { messages } = passed;
  const note = `The conversation was passed to you by "${from}": ${reason ?? 'no reason was given'}. Continue it.`;
  return [...messages, { role: 'user', content: note }];
}

function unread(outcome: Exclude<RunOutcome, { type: 'completed' }>): Failure {
  const { type, runId } = outcome;
  const message = `The conversation of run "${runId}" cannot be read: it is ${type}, and was completed`;
  return 'failure' in outcome && outcome.failure !== undefined
    ? outcome.failure
    : createFailure('STORAGE_IO', { origin: 'storage', message, context: { runId } });
}

/** It was removed, or the hand-off was moved without it. */
function conversationGone(runId: string, from: string): RerailError {
  return RerailError.from(
    createFailure('STORAGE_NOT_FOUND', {
      origin: 'flow',
      message: `The conversation that "${from}" passed is gone: there is no run "${runId}"`,
      hint: 'Copy a hand-off with its child runs, as export, import and fork do by default.',
      context: { runId, node: from },
    }),
  );
}

/** A run that ends with a result of a tool was ended by it. */
function keepHop(outcome: Extract<RunOutcome, { type: 'completed' }>): string {
  if (outcome.messages.findLast((message) => !isNote(message))?.role !== 'tool') return keepOutcome(outcome);
  const handed = JSON.parse(outcome.text) as NonNullable<ChildRecord['handOff']>; // Written by the tool above.
  return JSON.stringify({ text: '', handOff: handed } satisfies ChildRecord);
}
