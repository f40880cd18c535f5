import { beside } from '../base/beside.ts';
import type { CallRecord, RecordedCall } from '../agent/conducted.ts';
import { lazy } from '../base/lazy.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { textOf, partsOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';
import type { ConductorView } from '../runtime/children/conductor.ts';
import { readChild } from './child-record.ts';
import { fallbackOf, optionsOf } from './flow-fallbacks.ts';
import type { FlowContext, FlowGraph, FlowNodeInput, FlowResult, NodeOptions } from './flow-types.ts';

/** A flow with what was said of its nodes. */
export interface FlowParts {
  readonly graph: FlowGraph;
  readonly options: Readonly<Record<string, NodeOptions>>;
}

const indexOf = beside(
  ({ nodes }: FlowGraph): ReadonlyMap<string, FlowGraph['nodes'][number]> =>
    new Map(nodes.map((node) => [node.name, node])),
);

/** A node by its name, however many there are. */
export function nodeNamed(
  { graph }: Pick<FlowParts, 'graph'>,
  name: string,
): FlowGraph['nodes'][number] | undefined {
  return indexOf(graph).get(name);
}

/** What has become of a node so far. */
export type NodeState =
  /** Not called, or to be called again. */
  | { readonly type: 'open' }
  /** Called, and not ended. */
  | { readonly type: 'running'; readonly input: FlowNodeInput }
  /** Broken off: to be called again, too. */
  | { readonly type: 'interrupted'; readonly record: CallRecord }
  | { readonly type: 'succeeded'; readonly record: CallRecord }
  | { readonly type: 'skipped'; readonly reason: string }
  | { readonly type: 'failed'; readonly failure: Failure; readonly record: CallRecord };

export type NodeStates = ReadonlyMap<string, NodeState>;

/** What was read of a list of calls, which only grows. */
interface ReadStates {
  readonly states: Map<string, NodeState>;
  /** Calls that were looked at, but for those at `running`. */
  count: number;
  /** Places of calls that had not ended. */
  running: number[];
}

const readOf = beside((_calls: readonly RecordedCall[]): ReadStates => ({
  states: new Map(),
  count: 0,
  running: [],
}));

/** By node, from the latest call of it. A node that was never called is not among them. */
export function readStates({ calls }: Pick<ConductorView, 'calls'>): NodeStates {
  const known = readOf(calls);
  const { states } = known;
  // Nothing has come since.
  if (known.count === calls.length && known.running.length === 0) return states;
  const open = known.running;
  known.running = [];
  const look = (place: number): void => {
    const call = calls[place];
    if (call === undefined) return;
    if (call.record === undefined) known.running.push(place);
    states.set(call.name, stateOf(call));
  };
  for (const place of open) look(place);
  for (let place = known.count; place < calls.length; place += 1) look(place);
  known.count = calls.length;
  return states;
}

function stateOf({ name, input: given, record }: RecordedCall): NodeState {
  const input = given as unknown as FlowNodeInput; // Written by the conductor.
  if (record === undefined) return { type: 'running', input };
  if (record.status === 'interrupted') return { type: 'interrupted', record };
  if (record.status !== 'ok') return { type: 'failed', failure: failureOf(name, input, record), record };
  if (input.do === 'skip') return { type: 'skipped', reason: input.reason };
  return { type: 'succeeded', record };
}

function failureOf(name: string, input: FlowNodeInput, { status, content, failure }: CallRecord): Failure {
  if (failure !== undefined) return failure;
  if (input.do === 'refuse') return input.failure;
  const why = content === undefined ? `it ended as "${status}"` : content;
  return createFailure('UNKNOWN', { origin: 'flow', message: `The node "${name}" has no result: ${why}` });
}

/** What stands for a node: itself, or the one that took its place, or is about to. */
export interface Standing {
  readonly by: string;
  readonly state: NodeState;
}

const open: NodeState = { type: 'open' };

/** Follows the fallbacks of a node that failed. Ends: fallbacks do not go in a circle. */
export function standingOf(options: FlowParts['options'], states: NodeStates, name: string): Standing {
  let by = name;
  let state = states.get(by) ?? open;
  while (state.type === 'failed') {
    const fallback = fallbackOf(optionsOf(options, by));
    if (fallback === undefined) break;
    by = fallback;
    state = states.get(by) ?? open;
  }
  return { by, state };
}

/** What a node's own functions receive, by node. */
export function createContexts(
  { graph, options }: FlowParts,
  view: ConductorView,
): (name: string) => FlowContext {
  const states = readStates(view);
  const results = {};
  for (const { name } of graph.nodes) {
    if (!states.has(name)) continue;
    const { state } = standingOf(options, states, name);
    if (state.type !== 'succeeded' && state.type !== 'failed' && state.type !== 'skipped') continue;
    // A long result is read from its JSON only where a person looks at it.
    Object.defineProperty(results, name, { enumerable: true, get: lazy(() => resultOf(state)) });
  }
  const task = taskText(view.task);
  const before = new Map(graph.nodes.map((node) => [node.name, node.before]));
  // A copy: a function that sorts it must not change the flow.
  return (name) => ({ task, before: [...(before.get(name) ?? [])], results });
}

/** A state that is an end, as functions of the caller see it. */
export function resultOf(
  state: Extract<NodeState, { type: 'succeeded' | 'failed' | 'skipped' }>,
): FlowResult {
  if (state.type === 'failed') return { status: 'failed', failure: state.failure };
  if (state.type === 'skipped') return { status: 'skipped', reason: state.reason };
  const { text, output } = readChild(state.record.content);
  return { status: 'succeeded', text, output: output === undefined ? text : output };
}

/** What the flow was asked, as a text; of a conversation who said what. */
export function taskText(task: readonly Message[]): string {
  const said = task
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map(({ role, content }) => ({ role, text: textOf(partsOf<{ type: string }>(content)) }))
    .filter(({ text }) => text !== '');
  const [only] = said;
  if (only !== undefined && said.length === 1) return only.text;
  return said.map(({ role, text }) => `${role}: ${text}`).join('\n\n');
}
