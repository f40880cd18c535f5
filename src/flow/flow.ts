import { messagesOf } from '../agent/turn/history.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import type { Message } from '../model/message.ts';
import { isStandardSchema, readSchema } from '../model/schema/schema.ts';
import type { JsonSchema } from '../model/request.ts';
import { internalsOf } from '../runtime/agent-internals.ts';
import { callFunction } from '../runtime/hooks/call-function.ts';
import { viewOf } from '../runtime/children/conduct-effect.ts';
import type { Agent } from '../runtime/create-agent.ts';
import type { AgentExtras } from '../runtime/children/inherited.ts';
import type { ConductorView } from '../runtime/children/conductor.ts';
import type { Node, NodeCall } from '../runtime/children/node.ts';
import type { RunInput } from '../runtime/run/run-input.ts';
import type { FlowFor } from './build-flow.ts';
import { checkAccepts } from './check-accepts.ts';
import { checkStores, createChildren, modelsOf, readAgents } from './child-agents.ts';
import type { AgentMap, AnyAgent, Children } from './child-agents.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { keepOutcome } from './child-record.ts';
import { conductedAgent, conductedOptionNames } from './conducted-agent.ts';
import type { ConductedOptions } from './conducted-agent.ts';
import { createFlowConductor } from './conduct-flow.ts';
import { describeGraph } from './describe-graph.ts';
import { createGraph } from './flow-graph.ts';
import { inputOfNode, isAskedTheTask } from './flow-input.ts';
import type { FlowParts } from './flow-results.ts';
import type { FlowGraph, FlowNodeInput, NodeOptions } from './flow-types.ts';
import { nodeFacts, nodeTool } from './node-tool.ts';
import { lastChildId } from './fresh-child.ts';
import { cancelChild, childIdOf, performChild } from './perform-child.ts';
import { readFlow } from './read-flow.ts';
import { afterTold, toldBefore } from './told-before.ts';

/** What a flow is made of. */
export interface FlowOptions<Agents extends AgentMap> extends ConductedOptions {
  /** Who does the work, by the names that the flow calls them. Flows, teams and plans are agents too. */
  readonly agents: Agents;
  /** What else is to be said of single nodes. */
  readonly nodes?: { readonly [Name in keyof Agents]?: NodeOptions };
}

/** Several agents as one: it runs, streams, waits, resumes and ends as an agent does, and its outcome says what became of its nodes. */
export type Flow = Agent<Json>;

/**
 * Makes one agent of several. `>>` is one after the other, `|` is side by side; `sequence`, `parallel` and `graph` say the same in
 * code. Throws a `FlowError` that names the node and the way to fix it.
 *
 * @example
 * const report = flow('triage >> (research | pricing) >> writer', { agents: { triage, research, pricing, writer } });
 * const outcome = await report.run('What would a tram to the airport cost?');
 */
export function flow<const Agents extends AgentMap>(
  shape: string | FlowFor<Agents>,
  options: FlowOptions<Agents>,
): Flow {
  checkOptions({ of: 'flow()', rules: ['agents', 'nodes', ...conductedOptionNames] }, options);
  const name = options.name ?? 'flow';
  const agents = readAgents(options.agents, `the flow "${name}"`);
  checkStores(agents, { where: `The flow "${name}"`, store: options.store });
  const nodes = readNodeOptions(options.nodes);
  const graph = graphOf(name, { shape, agents, nodes });
  checkSchemas(graph, { agents, nodes });
  const conductor = createFlowConductor(graph, nodes);
  const parts: FlowParts = { graph, options: nodes };
  const children = createChildren(agents);
  const made = conductedAgent(
    { ...options, name },
    { ...extrasOf(parts, children, conductor), sideModels: modelsOf(agents) },
  );
  return made as Flow; // What agents give is JSON.
}

function readNodeOptions(nodes: unknown): Readonly<Record<string, NodeOptions>> {
  if (nodes === undefined) return {};
  if (!isRecord(nodes)) throw configError('"nodes" of flow() must be an object: { writer: { retry: … } }');
  for (const [name, options] of Object.entries(nodes))
    checkOptions({ of: `the node "${name}"`, rules: nodeOptionNames }, options);
  return nodes as Readonly<Record<string, NodeOptions>>; // Their values are looked at where they are used.
}

const nodeOptionNames: readonly (keyof NodeOptions)[] = [
  'retry',
  'timeoutMs',
  'onError',
  'when',
  'input',
  'accepts',
];

interface Written {
  readonly shape: string | FlowFor<AgentMap>;
  readonly agents: AgentMap;
  readonly nodes: Readonly<Record<string, NodeOptions>>;
}

function graphOf(name: string, { shape, agents, nodes }: Written): FlowGraph {
  const known = { name, agents: Object.keys(agents), nodes };
  if (typeof shape === 'string') return createGraph({ ...known, shape: readFlow(shape), text: shape });
  if (shape.type === 'graph') return createGraph({ ...known, edges: shape.edges });
  return createGraph({ ...known, shape });
}

function checkSchemas(graph: FlowGraph, { agents, nodes }: Pick<Written, 'agents' | 'nodes'>): void {
  const outputs: Record<string, JsonSchema | undefined> = {};
  for (const [name, agent] of Object.entries(agents)) outputs[name] = outputOf(agent);
  const accepts: Record<string, JsonSchema> = {};
  for (const [name, { accepts: schema }] of Object.entries(nodes)) {
    // A schema without a JSON Schema cannot be compared; it is asked when the flow runs.
    if (schema === undefined || (isStandardSchema(schema) && schema['~standard'].jsonSchema === undefined))
      continue;
    accepts[name] = readSchema(schema, `"accepts" of the node "${name}"`).json;
  }
  checkAccepts(graph, { outputs, accepts });
}

function outputOf(agent: AnyAgent): JsonSchema | undefined {
  return internalsOf(agent).parts.output?.json;
}

function extrasOf(
  parts: FlowParts,
  children: Children,
  conductor: NonNullable<AgentExtras['conductor']>,
): AgentExtras {
  const names = parts.graph.nodes.map(({ name }) => name);
  return {
    conductor: { ...conductor, shape: describeGraph(parts) },
    nodes: new Map(names.map((name) => [name, flowNode(parts, children, name)])),
    tools: names.map((name) => nodeTool({ name, timeoutMs: parts.options[name]?.timeoutMs })),
    facts: Object.fromEntries(names.map((name) => [name, nodeFacts(parts.options[name]?.retry, name)])),
  };
}

function flowNode(parts: FlowParts, children: Children, name: string): Node {
  return {
    agent: children.partsOf(name),
    perform: (call) => {
      const input = call.input as unknown as FlowNodeInput; // Written by the conductor.
      if (input.do === 'skip') return { type: 'ok', content: '{"text":""}' };
      if (input.do === 'refuse') return { type: 'failed', failure: input.failure };
      const view = viewOf(call.state, messagesOf(call.state.history));
      const before = callsOf(view, name);
      const told = (runId: string): readonly Message[] => toldBefore(parts, call, { name, runId });
      return performChild(call, {
        runs: children.of(call.parts, name),
        runId: lastChildId(before) ?? childIdOf(view.runId, name),
        input: (runId) => afterTold(told(runId), boundedInput(parts, view, { call, name })),
        told,
        isAgain: call.attempt > 1 || before.length > 0,
        mayBeginAfresh: before.length > 0,
        isReadNoMore: true,
        ...(isAskedTheTask(parts, name) ? { handed: 'task' } : {}),
        contentOf: keepOutcome,
      });
    },
    cancel: ({ parts: above, state }) => {
      const before = callsOf(viewOf(state, messagesOf(state.history)), name);
      return cancelChild(children.of(above, name), lastChildId(before) ?? childIdOf(state.runId, name));
    },
  };
}

/** A function of the caller may say it. */
function boundedInput(
  parts: FlowParts,
  view: ConductorView,
  { call, name }: { readonly call: NodeCall; readonly name: string },
): RunInput | Promise<RunInput> {
  const { clock, strayErrors } = call.parts;
  const timeoutMs = parts.options[name]?.timeoutMs;
  const bounds = { clock, strayErrors, signal: call.signal, timeoutMs };
  return callFunction(`"input" of the node "${name}"`, () => inputOfNode(parts, view, name), bounds);
}

/** Of the node, in earlier lives of the flow. */
function callsOf({ calls }: ConductorView, name: string): ConductorView['calls'] {
  return calls.filter((call) => call.name === name && call.record !== undefined);
}
