/** Gives each tool call of one response an id. */
export type CallIds = (wireId: unknown) => string;

/**
 * The provider's own id where it sent a new one, else one made from the call's position: `call_0`. Two calls never share
 * an id, for some servers leave it empty or repeat it, and two calls would become one.
 */
export function createCallIds(): CallIds {
  const taken = new Set<string>();
  let position = 0;

  function makeId(): string {
    position = Math.max(position, taken.size);
    while (taken.has(`call_${position}`)) position += 1; // Ends: it only grows, past all that was taken.
    return `call_${position}`;
  }

  return (wireId) => {
    const isNew = typeof wireId === 'string' && wireId !== '' && !taken.has(wireId);
    const callId = isNew ? wireId : makeId();
    taken.add(callId);
    return callId;
  };
}
