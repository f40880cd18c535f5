import type { RunOutcome } from '../agent/run-outcome.ts';
import { defined } from '../base/defined.ts';
import { unreachable } from '../base/assert.ts';
import type { ConductorView, NodeReport } from '../runtime/children/conductor.ts';
import { readChild } from './child-record.ts';
import { fallbackOf, optionsOf } from './flow-fallbacks.ts';
import { readStates } from './flow-results.ts';
import type { FlowParts, NodeState } from './flow-results.ts';
import type { FlowGraphNode } from './flow-types.ts';
import { lastChildId } from './fresh-child.ts';
import { childIdOf } from './perform-child.ts';

/** What became of each node, in the order of the flow; a fallback only where it was called. */
export function reportFlow(
  parts: FlowParts,
  view: ConductorView,
  outcome: RunOutcome,
): readonly NodeReport[] {
  const states = readStates(view);
  return parts.graph.nodes
    .filter(({ name, isFallbackOf }) => isFallbackOf === undefined || states.has(name))
    .map((node) => reportNode(node, states.get(node.name) ?? { type: 'open' }, { parts, view, outcome }));
}

interface Told {
  readonly parts: FlowParts;
  readonly view: ConductorView;
  readonly outcome: RunOutcome;
}

function reportNode(node: FlowGraphNode, state: NodeState, told: Told): NodeReport {
  const { name } = node;
  const reason = standsFor(node);
  switch (state.type) {
    case 'open':
      return defined({ name, status: 'not-reached', reason } as const);
    case 'running':
      return reportRunning(node, state, told);
    case 'interrupted':
      // A run that waits shows its open calls as broken off, for a conversation must be whole.
      if (told.outcome.type === 'suspended')
        return reportRunning(node, { type: 'running', input: { do: 'run' } }, told);
      return defined({
        name,
        status: 'cancelled',
        runId: state.record.childId,
        reason: reason ?? 'it was broken off',
      } as const);
    case 'skipped':
      return { name, status: 'skipped', reason: state.reason };
    case 'succeeded': {
      const { text, output } = readChild(state.record.content);
      return defined({
        name,
        status: 'succeeded',
        runId: state.record.childId,
        text,
        output,
        reason,
      } as const);
    }
    case 'failed':
      return defined({
        name,
        status: 'failed',
        runId: state.record.childId,
        failure: state.failure,
        reason: consequence(name, told.parts) ?? reason,
      } as const);
    default:
      return unreachable(state);
  }
}

function standsFor({ isFallbackOf }: FlowGraphNode): string | undefined {
  return isFallbackOf === undefined ? undefined : `in place of "${isFallbackOf.join('", "')}"`;
}

/** What the flow made of a failure. */
function consequence(name: string, { options }: FlowParts): string | undefined {
  const own = optionsOf(options, name);
  const fallback = fallbackOf(own);
  if (fallback !== undefined) return `"${fallback}" took its place`;
  return own?.onError === 'skip' ? 'the flow continued without it' : undefined;
}

/** Started and not ended: the run waits, or it was ended. */
function reportRunning(
  node: FlowGraphNode,
  { input }: Extract<NodeState, { type: 'running' }>,
  { view, outcome }: Told,
): NodeReport {
  const runId = input.do === 'run' ? runIdOf(view, node.name) : undefined;
  if (outcome.type === 'suspended') {
    const reason = outcome.request?.why ?? outcome.failure?.message ?? outcome.reason;
    return defined({ name: node.name, status: 'waiting', runId, reason } as const);
  }
  return defined({ name: node.name, status: 'cancelled', runId, reason: standsFor(node) } as const);
}

/** The one that an earlier call was, which this one continues with; otherwise the first one. */
function runIdOf({ runId, calls }: ConductorView, name: string): string {
  return lastChildId(calls.filter((call) => call.name === name)) ?? childIdOf(runId, name);
}
