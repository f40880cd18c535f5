import { isRecord } from '../base/json.ts';
import { flowError } from './flow-error.ts';
import { showPlace } from './flow-place.ts';
import { checkNodeName, divide, maxFlowDepth, maxFlowNodes } from './flow-shape.ts';
import type { FlowEdge, FlowShape } from './flow-types.ts';

const maxEdges = 10_000;

/** What comes directly before each node of a shape. Nodes that begin together share one list. Throws a `FlowError`. */
export function beforeOfShape(shape: FlowShape, text?: string): ReadonlyMap<string, readonly string[]> {
  const walk: Walk = { before: new Map(), text, nodes: 0 };
  place(walk, shape, { before: [], depth: 0 });
  return walk.before;
}

/** The same of edges, in the order in which the names occur. */
export function beforeOfEdges(edges: readonly FlowEdge[]): ReadonlyMap<string, readonly string[]> {
  if (!Array.isArray(edges) || edges.length === 0)
    throw flowError('The flow is empty: a graph needs at least one pair, such as ["research", "writer"]');
  if (edges.length > maxEdges)
    throw flowError(`The flow has ${edges.length} edges; at most ${maxEdges} are read: ${divide}`);
  const before = new Map<string, Set<string>>();
  for (const [index, edge] of (edges as readonly unknown[]).entries()) {
    const [from, to] = readEdge(edge, index);
    if (!before.has(from)) before.set(from, new Set());
    const known = before.get(to) ?? new Set();
    before.set(to, known.add(from));
  }
  if (before.size > maxFlowNodes) throw tooMany();
  return new Map([...before].map(([name, names]) => [name, [...names]]));
}

interface Walk {
  readonly before: Map<string, readonly string[]>;
  readonly text: string | undefined;
  nodes: number;
}

interface Place {
  readonly before: readonly string[];
  readonly depth: number;
}

/** Puts a shape after others, and says which of its nodes are the last. */
function place(walk: Walk, shape: FlowShape, { before, depth }: Place): readonly string[] {
  checkShape(shape);
  if (depth > maxFlowDepth)
    throw flowError(
      `The flow is nested more than ${maxFlowDepth} deep, or a part of it contains itself: ${divide}`,
    );
  if (shape.type === 'node') return [placeNode(walk, shape, before)];
  if (shape.type === 'parallel')
    return shape.of.flatMap((part) => place(walk, part, { before, depth: depth + 1 }));
  let last = before;
  for (const part of shape.of) last = place(walk, part, { before: last, depth: depth + 1 });
  return last;
}

/** The compiler has seen to it, except where there was none. */
function checkShape(shape: unknown): void {
  const type = isRecord(shape) ? shape['type'] : undefined;
  const of = isRecord(shape) ? shape['of'] : undefined;
  if (type === 'node') return;
  if (type !== 'sequence' && type !== 'parallel')
    throw flowError('A flow is a text such as "a >> b", or what sequence(), parallel() or graph() made');
  if (!Array.isArray(of) || of.length === 0)
    throw flowError(`The flow has an empty ${type}: name at least one node in it`);
}

function placeNode(
  walk: Walk,
  { name, at }: Extract<FlowShape, { type: 'node' }>,
  before: readonly string[],
): string {
  checkNodeName(name);
  walk.nodes += 1;
  if (walk.nodes > maxFlowNodes) throw tooMany();
  if (walk.before.has(name)) {
    const picture =
      walk.text === undefined || at === undefined ? '' : `\n${showPlace(walk.text, at).picture}`;
    const mend = `give the second one a name of its own in "agents": { ${name}, ${name}2: ${name} }`;
    throw flowError(`The node "${name}" is in the flow twice, but a node runs only once: ${mend}${picture}`, {
      hint: 'The same agent can do the work of several nodes, each under its own name.',
      context: { node: name },
    });
  }
  walk.before.set(name, before);
  return name;
}

function tooMany(): Error {
  return flowError(`The flow has more than ${maxFlowNodes} nodes: ${divide}`);
}

function readEdge(edge: unknown, index: number): FlowEdge {
  const pair: readonly unknown[] = Array.isArray(edge) ? (edge as readonly unknown[]) : [];
  const [from, to, ...rest] = pair;
  if (from === undefined || to === undefined || rest.length > 0)
    throw flowError(`Edge ${index + 1} must be a pair of names such as ["research", "writer"]`);
  checkNodeName(from);
  checkNodeName(to);
  return [from, to];
}
