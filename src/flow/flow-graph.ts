import { adviseName } from '../base/nearest.ts';
import { isRecord } from '../base/json.ts';
import { flowError, listNames } from './flow-error.ts';
import { orderNodes } from './flow-order.ts';
import type { Before } from './flow-order.ts';
import { showPlace } from './flow-place.ts';
import { fallbacksOf } from './flow-fallbacks.ts';
import { beforeOfEdges, beforeOfShape } from './shape-order.ts';
import type { FlowDefinition, FlowGraph, FlowGraphNode, FlowShape, NodeOptions } from './flow-types.ts';

/** Checks a flow and says what comes before what. Throws a `FlowError` that names the node and the way to fix it. */
export function createGraph(definition: FlowDefinition): FlowGraph {
  const { name, shape, edges, nodes: options = {}, text } = definition;
  const before = edges === undefined ? beforeOfShape(shape, text) : beforeOfEdges(edges);
  checkAgents(definition, before);
  const order = edges === undefined ? [...before.keys()] : orderNodes(before);
  const fallbacks = fallbacksOf(definition, before);
  const nodes: FlowGraphNode[] = order.map((each) => ({ name: each, before: before.get(each) ?? [] }));
  for (const [fallback, replaced] of fallbacks)
    nodes.push({
      name: fallback,
      before: before.get(replaced.first) ?? [],
      isFallbackOf: [replaced.node],
    });
  checkOptions(options, nodes);
  const followed = new Set<string>();
  for (const list of new Set(before.values())) for (const each of list) followed.add(each);
  const last = order.filter((each) => !followed.has(each));
  return { name, ...(shape === undefined ? {} : { shape }), nodes, last };
}

function checkAgents({ agents, shape, text }: FlowDefinition, before: Before): void {
  const known = new Set(agents);
  for (const name of before.keys()) {
    if (known.has(name)) continue;
    const at = shape === undefined || text === undefined ? undefined : placeOf(shape, name);
    const picture = at === undefined || text === undefined ? '' : `\n${showPlace(text, at).picture}`;
    throw flowError(`There is no agent "${name}" for the flow: ${adviseName(name, agents)}${picture}`, {
      hint: `Add "${name}" to "agents", or correct the name.`,
      context: { node: name },
    });
  }
}

/** The shape has been walked: it is sound. */
function placeOf(shape: FlowShape, name: string): number | undefined {
  if (shape.type === 'node') return shape.name === name ? shape.at : undefined;
  for (const part of shape.of) {
    const at = placeOf(part, name);
    if (at !== undefined) return at;
  }
  return undefined;
}

function checkOptions(options: Readonly<Record<string, NodeOptions>>, nodes: readonly FlowGraphNode[]): void {
  const known = new Map(nodes.map((node) => [node.name, node]));
  for (const [name, given] of Object.entries(options)) {
    const node = known.get(name);
    if (node === undefined)
      throw flowError(
        `There are options for "${name}", but no such node in the flow: ${adviseName(name, [...known.keys()])}`,
        { hint: 'Correct the name under "nodes", or take it out.', context: { node: name } },
      );
    checkNode(node, given);
  }
}

const optionNames = ['retry', 'timeoutMs', 'onError', 'when', 'input', 'accepts'];

function checkNode({ name, before }: FlowGraphNode, options: NodeOptions): void {
  if (!isRecord(options))
    throw flowError(`The options of the node "${name}" must be an object: { retry: 'quick' }`);
  for (const option of Object.keys(options))
    if (!optionNames.includes(option))
      throw flowError(`The node "${name}" has no option "${option}": ${adviseName(option, optionNames)}`);
  const { timeoutMs, when, input, accepts } = options as NodeOptions;
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    throw flowError(`"timeoutMs" of the node "${name}" must be a number above 0, got ${String(timeoutMs)}`);
  for (const [option, value] of Object.entries({ when, input }))
    if (value !== undefined && typeof value !== 'function')
      throw flowError(
        `"${option}" of the node "${name}" must be a function such as ({ task, results }) => …, got ${typeof value}`,
      );
  if (accepts !== undefined && before.length !== 1)
    throw flowError(
      `"accepts" of the node "${name}" needs exactly one node before it, but there ${before.length === 0 ? 'is none' : `are ${listNames(before)}`}`,
      {
        hint: 'Check what it takes in its "input" instead, or put one node before it that joins the results.',
        context: { node: name },
      },
    );
}
