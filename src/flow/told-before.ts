import { messagesOf } from '../agent/turn/history.ts';
import { didInVain } from '../agent/run-effects.ts';
import type { Message } from '../model/message.ts';
import { viewOf } from '../runtime/children/conduct-effect.ts';
import type { NodeCall } from '../runtime/children/node.ts';
import type { RunInput } from '../runtime/run/run-input.ts';
import { nodeNamed, readStates, standingOf } from './flow-results.ts';
import type { FlowParts, NodeStates } from './flow-results.ts';

/**
 * What the run of a node receives besides its task: what was done before it by agents whose answer does not say so, since
 * there is none. These are the node that it stands for, the nodes before it that failed and may be done without, and the node
 * itself in a run that was stopped.
 */
export function toldBefore(
  parts: FlowParts,
  { state }: Pick<NodeCall, 'state'>,
  { name, runId }: { readonly name: string; readonly runId: string },
): readonly Message[] {
  const messages = messagesOf(state.history);
  const view = viewOf(state, messages);
  const names = new Set([name]);
  addUnanswered(parts, readStates(view), names);
  const isAny = names.size > 1 || view.calls.some((call) => call.name === name && call.record !== undefined);
  return isAny ? didInVain(state, messages, { names, except: runId }) : [];
}

/** A set is walked with what is added meanwhile. */
function addUnanswered(parts: FlowParts, states: NodeStates, names: Set<string>): void {
  for (const name of names) {
    const { before = [], isFallbackOf = [] } = nodeNamed(parts, name) ?? {};
    const standing = before.map((each) => standingOf(parts.options, states, each).by);
    for (const each of [...isFallbackOf, ...standing])
      if (states.get(each)?.type !== 'succeeded') names.add(each);
  }
}

/** The input with the report before it, where there is one. */
export function afterTold(
  told: readonly Message[],
  asked: RunInput | Promise<RunInput>,
): RunInput | Promise<RunInput> {
  if (told.length === 0) return asked;
  const join = (given: RunInput): RunInput => [
    ...told,
    ...(typeof given === 'string' ? [{ role: 'user', content: given } as const] : given),
  ];
  return asked instanceof Promise ? asked.then(join) : join(asked);
}
