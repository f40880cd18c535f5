/** Names of tool calls as Anthropic takes them: letters, digits, `_` and `-`, and none twice in a history. */
export interface CallIds {
  readonly forCall: (callId: string) => string;
  /** The name given to the last call of that id. */
  readonly forResult: (callId: string) => string;
}

/**
 * A history may come from other providers after a fallback: their ids hold dots and colons (`functions.search:0`) or begin
 * again at `call_0` in every answer. What Anthropic made itself passes through unchanged.
 */
export function createCallIds(): CallIds {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return {
    forCall: (callId) => {
      const plain = plainName(callId);
      let name = plain;
      // Bounded: each round meets a name that is taken, and there are only as many as calls.
      for (let count = 2; taken.has(name); count += 1) name = `${plain}_${count}`;
      taken.add(name);
      names.set(callId, name);
      return name;
    },
    forResult: (callId) => names.get(callId) ?? plainName(callId),
  };
}

function plainName(callId: string): string {
  if (/^[\w-]+$/.test(callId)) return callId;
  const plain = callId.replaceAll(/[^\w-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);
  return plain === '' ? 'call' : plain;
}
