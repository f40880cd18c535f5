/** Gives each function call of one response an id. */
export type GeminiCallIds = (wireId: unknown, responseId: string | undefined) => string;

/** The provider's own id where it sent a new one, else one made of the response's id and the call's position in it. */
export function createGeminiCallIds(): GeminiCallIds {
  const taken = new Set<string>();
  let position = 0;
  return (wireId, responseId) => {
    const isNew = typeof wireId === 'string' && wireId !== '' && !taken.has(wireId);
    position = Math.max(position, taken.size);
    let callId = isNew ? wireId : madeCallId(position, responseId);
    // Ends: the position only grows, past all that was taken.
    while (taken.has(callId)) {
      position += 1;
      callId = madeCallId(position, responseId);
    }
    taken.add(callId);
    return callId;
  };
}

/** Whether the id is one of ours. Gemini did not give it, so it is not sent back: without one, order and name decide. */
export function isMadeCallId(callId: string): boolean {
  return /^call_(?:.*_)?\d+(?:-\d+)?$/s.test(callId);
}

function madeCallId(position: number, responseId: string | undefined): string {
  return responseId === undefined ? `call_${position}` : `call_${responseId}_${position}`;
}
