import { beside } from '../base/beside.ts';
import type { RecordedCall } from '../agent/conducted.ts';
import type { ConductorView } from '../runtime/children/conductor.ts';
import { optionsOf } from './flow-fallbacks.ts';
import { readStates, standingOf } from './flow-results.ts';
import type { FlowParts, Standing } from './flow-results.ts';
import type { FlowGraph, FlowGraphNode } from './flow-types.ts';

/** A node that could be done now, or could have been: all that stand before it are settled, and it is not. */
export interface FrontNode {
  readonly node: FlowGraphNode;
  readonly standing: Standing;
}

/** Which node follows which, found out once for a flow. */
export interface FlowOrder {
  readonly nodes: ReadonlyMap<string, FlowGraphNode>;
  readonly after: ReadonlyMap<string, readonly string[]>;
}

/** What follows what. Fallbacks block nothing. */
export function orderOf({ nodes }: FlowGraph): FlowOrder {
  const main = nodes.filter(({ isFallbackOf }) => isFallbackOf === undefined);
  const after = new Map<string, string[]>(main.map(({ name }) => [name, []]));
  for (const { name, before } of main) for (const each of before) after.get(each)?.push(name);
  return { nodes: new Map(main.map((node) => [node.name, node])), after };
}

interface Progress {
  front: FlowGraphNode[];
  /** By node: how many before it are not settled. */
  readonly open: Map<string, number>;
}

/** Of a list of calls, which only grows: what is settled stays settled, and need not be looked at again. */
const progressesOf = beside((_calls: readonly RecordedCall[]) => new Map<FlowOrder, Progress>());

/** The nodes at which the flow stands, in the order in which they are written. None where everything is settled. */
export function frontOf(
  parts: FlowParts & { readonly order: FlowOrder },
  view: ConductorView,
): readonly FrontNode[] {
  const progress = progressOf(parts.order, view.calls);
  const states = readStates(view);
  const front: FrontNode[] = [];
  const queue = progress.front;
  for (let place = 0; place < queue.length; place += 1) {
    const node = queue[place];
    if (node === undefined) continue;
    const standing = standingOf(parts.options, states, node.name);
    if (!isSettled(parts, standing)) front.push({ node, standing });
    else queue.push(...released(parts.order, progress, node.name));
  }
  progress.front = front.map(({ node }) => node);
  return front;
}

function progressOf(order: FlowOrder, calls: readonly RecordedCall[]): Progress {
  const known = progressesOf(calls);
  const progress = known.get(order) ?? begin(order.nodes);
  known.set(order, progress);
  return progress;
}

function begin(nodes: FlowOrder['nodes']): Progress {
  const open = new Map<string, number>();
  const front: FlowGraphNode[] = [];
  for (const node of nodes.values()) {
    open.set(node.name, node.before.length);
    if (node.before.length === 0) front.push(node);
  }
  return { front, open };
}

function released(
  { nodes, after }: FlowOrder,
  { open }: Progress,
  settled: string,
): readonly FlowGraphNode[] {
  const free: FlowGraphNode[] = [];
  for (const name of after.get(settled) ?? []) {
    const left = (open.get(name) ?? 1) - 1;
    open.set(name, left);
    const node = nodes.get(name);
    if (left === 0 && node !== undefined) free.push(node);
  }
  return free;
}

/** Whether what follows need not wait for it. */
function isSettled({ options }: FlowParts, { by, state }: Standing): boolean {
  if (state.type === 'failed') return (optionsOf(options, by)?.onError ?? 'fail') === 'skip';
  return state.type === 'succeeded' || state.type === 'skipped';
}
