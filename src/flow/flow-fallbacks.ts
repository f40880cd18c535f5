import { adviseName } from '../base/nearest.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { flowError } from './flow-error.ts';
import { showCycle } from './flow-order.ts';
import type { Before } from './flow-order.ts';
import type { FlowDefinition, NodeOptions } from './flow-types.ts';

/** Whose place a fallback takes. */
interface Replaced {
  /** The node whose failure calls for it. */
  readonly node: string;
  /** The node of the flow at the beginning of the chain: `before` is that one's. */
  readonly first: string;
}

/** What of `onError` names another agent. */
export function fallbackOf(options: NodeOptions | undefined): string | undefined {
  const onError = options?.onError;
  return isRecord(onError) ? onError.fallback : undefined;
}

/** The options of a node; a name such as `constructor` must not find what every object has. */
export function optionsOf(
  nodes: Readonly<Record<string, NodeOptions>> | undefined,
  name: string,
): NodeOptions | undefined {
  return nodes !== undefined && Object.hasOwn(nodes, name) ? nodes[name] : undefined;
}

/**
 * All fallbacks, in the order of the nodes that call for them. Each stands for one node: a run is done once, and what it was
 * asked cannot be meant for two.
 */
export function fallbacksOf(definition: FlowDefinition, before: Before): ReadonlyMap<string, Replaced> {
  const found = new Map<string, Replaced>();
  for (const first of before.keys()) {
    const chain = [first];
    let node = first;
    // Ends: every round adds an agent that is in no chain yet, or throws.
    for (
      let next = readFallback(definition, node);
      next !== undefined;
      next = readFallback(definition, node)
    ) {
      if (chain.includes(next)) throw circle([...chain, next]);
      checkFree({ node, next, before, found });
      found.set(next, { node, first });
      chain.push(next);
      node = next;
    }
  }
  return found;
}

function readFallback({ agents, nodes }: FlowDefinition, node: string): string | undefined {
  const options = optionsOf(nodes, node);
  const onError: unknown = options?.onError;
  if (onError === undefined || onError === 'fail' || onError === 'skip') return undefined;
  const fallback = isRecord(onError) ? onError['fallback'] : undefined;
  if (typeof fallback !== 'string')
    throw invalid(node, `"onError" of the node "${node}" must be 'fail', 'skip' or { fallback: 'name' }`);
  if (fallback === node)
    throw invalid(node, `The node "${node}" is its own fallback: name another agent, or use "retry"`);
  if (!agents.includes(fallback))
    throw invalid(
      node,
      `There is no agent "${fallback}", the fallback of the node "${node}": ${adviseName(fallback, agents)}`,
    );
  return fallback;
}

function circle(chain: readonly string[]): Error {
  const cycle = chain.slice(chain.indexOf(chain.at(-1) ?? ''));
  return flowError(`The fallbacks go in a circle: ${showCycle(cycle)}`, {
    code: 'FLOW_CYCLE',
    hint: `Let "${cycle.at(-2)}" end it: give it another "onError".`,
    context: { cycle: [...cycle] },
  });
}

interface Candidate {
  readonly node: string;
  readonly next: string;
  readonly before: Before;
  readonly found: ReadonlyMap<string, Replaced>;
}

function checkFree({ node, next, before, found }: Candidate): void {
  const other = found.get(next)?.node;
  if (other === undefined && !before.has(next)) return;
  const isTaken =
    other === undefined ? 'is a node of the flow itself' : `is the fallback of "${other}" already`;
  throw flowError(
    `"${next}" cannot be the fallback of the node "${node}": it ${isTaken}, and a node is done once`,
    {
      hint: `Give it a second name: { agents: { ${next}2: ${next} } }, and name that one as the fallback.`,
      context: { node, fallback: next } satisfies Readonly<Record<string, Json>>,
    },
  );
}

function invalid(node: string, message: string): Error {
  return flowError(message, { hint: `Correct "onError" of "${node}".`, context: { node } });
}
