import type { ToolCallPart } from '../model/message.ts';

/**
 * Gives a call whose id another call of the same answer has an id of its own: `call_1`, `call_1-2`. Some servers number badly,
 * and of two results with one id nobody knows whose they are. The same list where there is nothing to do.
 */
export function distinctCallIds(calls: readonly ToolCallPart[]): readonly ToolCallPart[] {
  if (calls.length < 2) return calls;
  const taken = new Set(calls.map(({ callId }) => callId));
  if (taken.size === calls.length) return calls;
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  return calls.map((call) => {
    const { callId } = call;
    if (!seen.has(callId)) {
      seen.add(callId);
      return call;
    }
    let count = counts.get(callId) ?? 1;
    do count += 1;
    while (taken.has(`${callId}-${count}`));
    counts.set(callId, count);
    const own = `${callId}-${count}`;
    taken.add(own);
    return { ...call, callId: own };
  });
}
