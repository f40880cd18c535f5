import type { NodeReport } from '../../agent/run-outcome.ts';
import type { PreparedCall, ToolEnd, WaitingEnd } from '../../agent/tools/tool-call.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { clean } from '../../errors/failure.ts';
import { partsOf, textOf } from '../../model/message.ts';
import { parentIdOf } from '../../model/store/run-tree.ts';
import type { RunRow } from '../../model/store/store.ts';
import { at } from '../../runtime/record/run-blobs.ts';

// A node of a flow, a hop of a hand-off, a member of a team: a call that is a run of its own, or the decision not to make it.

/** What became of a node, by the record of the run above it. */
export interface ReadNode {
  readonly name: string;
  readonly status: NodeReport['status'] | 'begun';
  /** The run that it is, where it is one. */
  readonly runId?: string;
  /** Why it was skipped, what it waits for, how it failed, what it gave. */
  readonly about?: string;
}

/** The facts of a call that is a node. */
export interface NodeFacts {
  readonly runId?: string;
  readonly skipped?: string;
  readonly handOff?: { readonly to: string; readonly reason: string };
}

const maxText = 500;

/** What the end of a call says of a node; nothing where it is a tool like others. */
export function nodeFactsOf(
  end: ToolEnd | WaitingEnd,
  { input, isConducted }: Called,
): NodeFacts | undefined {
  const isWritten = isConducted && isOfFlow(input);
  const skipped = isWritten && at(input, ['do']) === 'skip' ? at(input, ['reason']) : undefined;
  const runId = end.child?.runId;
  if (runId === undefined && !isWritten && end.type !== 'waiting') return undefined;
  const handOff = end.type === 'ok' ? at(recordIn(end), ['handOff']) : undefined;
  const to = at(handOff, ['to']);
  const reason = at(handOff, ['reason']);
  return defined({
    runId,
    skipped: typeof skipped === 'string' ? clean(skipped, maxText) : undefined,
    handOff:
      typeof to === 'string'
        ? { to: clean(to, maxText), reason: clean(typeof reason === 'string' ? reason : '', maxText) }
        : undefined,
  });
}

/** What a node was called with, and by whom. */
export interface Called {
  readonly input: Json | undefined;
  readonly isConducted: boolean;
}

/** Whether a conductor has written it for itself: see `FlowNodeInput` and `HopInput`. */
export function isOfFlow(input: Json | undefined): boolean {
  return at(input, ['do']) !== undefined || at(input, ['hop']) !== undefined;
}

/** What a node gave, as a text: a flow keeps it as a record. */
export function nodeText(end: ToolEnd): string {
  const text = at(recordIn(end), ['text']);
  return typeof text === 'string' ? text : textOf(partsOf(end.content));
}

function recordIn({ content }: ToolEnd): unknown {
  if (typeof content !== 'string' || !content.startsWith('{')) return undefined;
  try {
    const record: unknown = JSON.parse(content);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined; // A text of the user, which is shown as it is.
  }
}

/** Nodes while a record is read: by the run that they are, or by their name. */
export type NodeMap = Map<string, ReadNode>;

/** A decision has called them. */
export function noteCalls(nodes: NodeMap, calls: readonly PreparedCall[]): void {
  for (const { name } of calls) {
    const known = [...nodes.values()].find((node) => node.name === name && node.runId !== undefined);
    if (known === undefined) nodes.set(name, { name: clean(name, maxText), status: 'begun' });
  }
}

/** A node has ended, or waits. */
export function noteNode(nodes: NodeMap, end: ToolEnd | WaitingEnd, facts: NodeFacts): void {
  const { runId } = facts;
  if (runId !== undefined) nodes.delete(end.name);
  const node = { name: clean(end.name, maxText), status: statusOf(end, facts) };
  nodes.set(runId ?? end.name, { ...node, ...defined({ runId, about: aboutOf(end, facts) }) });
}

function statusOf(end: ToolEnd | WaitingEnd, { skipped }: NodeFacts): ReadNode['status'] {
  if (end.type === 'waiting') return 'waiting';
  if (skipped !== undefined) return 'skipped';
  if (end.type === 'ok') return 'succeeded';
  return end.failure?.code === 'CANCELLED' ? 'cancelled' : 'failed';
}

function aboutOf(end: ToolEnd | WaitingEnd, { skipped, handOff }: NodeFacts): string | undefined {
  if (end.type === 'waiting') return end.wait.request?.why ?? end.wait.reason;
  if (skipped !== undefined) return skipped;
  if (handOff !== undefined) return `passed on to ${handOff.to}: ${handOff.reason}`;
  if (end.failure !== undefined) return `${end.failure.code}, ${end.failure.message}`;
  const text = nodeText(end);
  return text === '' ? undefined : clean(text, maxText);
}

/** What is known of the nodes together. */
export interface NodesKnown {
  /** In the order in which they are written. */
  readonly names: readonly string[];
  /** Each is done once, so that they have an order of their own: otherwise it is the one in which they were called. */
  readonly isEachOnce: boolean;
  readonly hasEnded: boolean;
}

/** All nodes, in the order of the outcome. What was in progress when the run ended is cancelled. */
export function nodesOf(nodes: NodeMap, { names, isEachOnce, hasEnded }: NodesKnown): readonly ReadNode[] {
  const known = [...nodes.values()].map((node): ReadNode =>
    hasEnded && (node.status === 'begun' || node.status === 'waiting')
      ? { ...node, status: 'cancelled' }
      : node,
  );
  const reached = new Set(known.map(({ name }) => name));
  const others = names.filter((name) => !reached.has(name));
  const all = [
    ...known,
    ...others.map((name): ReadNode => ({ name: clean(name, maxText), status: 'not-reached' })),
  ];
  if (!isEachOnce) return all;
  const places = new Map(names.map((name, place) => [name, place]));
  const placeOf = ({ name }: ReadNode): number => places.get(name) ?? names.length;
  return all.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** The topmost parent, by whose name its child runs are answered, resumed and cancelled. */
export function topRunId(row: Pick<RunRow, 'runId' | 'agent'>): string {
  return topRun(row).runId;
}

/** The same with its agent. */
export function topRun(row: Pick<RunRow, 'runId' | 'agent'>): Pick<RunRow, 'runId' | 'agent'> {
  let top = { runId: row.runId, agent: row.agent };
  for (;;) {
    // Bounded: every round takes a part of the name away.
    const runId = parentIdOf(top);
    if (runId === undefined) return top;
    top = { runId, agent: top.agent.slice(0, top.agent.lastIndexOf('/')) };
  }
}
