import { hashText } from '../../base/hash.ts';

/** The ids of tool calls as one provider takes them, none twice in a history. */
export interface WireCallIds {
  readonly forCall: (callId: string) => string;
  /** The id given to the last call with that `callId`. */
  readonly forResult: (callId: string) => string;
}

/** What a provider takes for the id of a call. An id that cannot be spelled so becomes a hash of `hashLength` digits. */
interface CallIdForm {
  readonly legal: RegExp;
  readonly hashLength: number;
}

/** The longest ids that the providers document, or name when they refuse a longer one. */
export const callIdForms = {
  anthropic: { legal: /^[\w-]{1,64}$/, hashLength: 32 },
  'openai-chat': { legal: /^[\u0021-\u007e]{1,40}$/, hashLength: 32 },
  'openai-responses': { legal: /^[\u0021-\u007e]{1,64}$/, hashLength: 32 },
  // Refuses everything but nine letters and digits.
  mistral: { legal: /^[A-Za-z0-9]{9}$/, hashLength: 9 },
} as const satisfies Record<string, CallIdForm>;

/**
 * A history may come from other providers after a fallback: their ids hold dots and colons (`functions.search:0`), are too
 * long, or begin again at `call_0` in every answer. What is legal and new passes through unchanged.
 */
export function createWireCallIds(form: CallIdForm): WireCallIds {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return {
    forCall: (callId) => {
      let id = toLegal(callId, form);
      // Bounded: each round meets an id that is taken, and there are only as many as calls.
      for (let count = 2; taken.has(id); count += 1) id = toLegal(`${callId}_${count}`, form);
      taken.add(id);
      names.set(callId, id);
      return id;
    },
    forResult: (callId) => names.get(callId) ?? toLegal(callId, form),
  };
}

function toLegal(callId: string, { legal, hashLength }: CallIdForm): string {
  if (legal.test(callId)) return callId;
  if (callId === '') return toLegal('call', { legal, hashLength });
  const plain = callId.replaceAll(/[^\w-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);
  return legal.test(plain) ? plain : hashText(callId).slice(0, hashLength);
}
