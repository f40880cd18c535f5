import type { RecordedCall } from '../agent/conducted.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { AgentParts } from '../runtime/agent-parts.ts';

/** The name of the same work begun once more: `r1/writer`, then `r1/writer~2`. */
export function nextLifeOf(runId: string): string {
  const [, base = runId, number = '1'] = /^(.*)~(\d+)$/.exec(runId) ?? [];
  return `${base}~${Number(number) + 1}`;
}

/** The run that these calls were last known to be. */
export function lastChildId(calls: readonly RecordedCall[]): string | undefined {
  return calls.findLast(({ record }) => record?.childId !== undefined)?.record?.childId;
}

/** Why a run that was stopped is not begun afresh: what it has done would be done twice. Undefined where it may be. */
export function whyNotAfresh(
  { registry, nodes }: AgentParts,
  { runId, messages, usage, reason }: Extract<RunOutcome, { type: 'stopped' }>,
): string | undefined {
  const about = `The run "${runId}" was stopped (${reason}), which is final, and it is not restarted:`;
  const now = 'Look at what it has done, and give the rest of the work to a new run.';
  if (nodes !== undefined)
    return `${about} child agents have worked already, and their work would be done twice. ${now}`;
  const called = messages.flatMap(({ role, content }) =>
    role !== 'assistant' || typeof content === 'string'
      ? []
      : content.flatMap((part) => (part.type === 'tool-call' ? [part.name] : [])),
  );
  const isOnce = (name: string): boolean => registry.get(name)?.effect === 'once';
  const once = called.find(isOnce);
  if (once !== undefined) return `${about} it has called "${once}", which must not happen twice. ${now}`;
  // A long conversation was made shorter: what it has called cannot be seen any more.
  if (usage.toolCalls > called.length && registry.names.some(isOnce))
    return `${about} it may have called a tool that must not happen twice. ${now}`;
  return undefined;
}
