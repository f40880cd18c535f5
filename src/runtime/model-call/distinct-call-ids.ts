import type { Message, ToolCallPart } from '../../model/message.ts';

/** Longer ids, and ids that a line of a log cannot show, are replaced by one of ours. */
const plainId = /^[\u0021-\u007e]{1,200}$/;

/**
 * Gives every call an id that no other call of the run has: the provider's where it is new, else one of ours (`call_1-2`) while
 * `aliasOf` keeps the provider's. Some servers leave ids empty, repeat them, or count from the start in every answer. `taken`
 * holds the ids of the run so far, see `addCallIds`, and is added to. The same list where there is nothing to do.
 */
export function distinctCallIds(calls: readonly ToolCallPart[], taken: Set<string>): readonly ToolCallPart[] {
  const own = new Set(calls.map(({ callId }) => spelled(callId)));
  let isChanged = false;
  const distinct = calls.map((call) => {
    const { callId } = call;
    if (plainId.test(callId) && !taken.has(spelled(callId))) {
      taken.add(spelled(callId));
      return call;
    }
    isChanged = true;
    const made = makeId(
      plainId.test(callId) ? callId : 'call',
      (id) => taken.has(spelled(id)) || own.has(spelled(id)),
    );
    taken.add(spelled(made));
    return { ...call, callId: made };
  });
  return isChanged ? distinct : calls;
}

/** As names of runs and some providers spell it: ids that differ in other characters only would become one there. */
function spelled(callId: string): string {
  return callId.replaceAll(/[^\w-]/g, '_');
}

const maxAliasCharacters = 200;

/** The id that the provider gave, as it is kept beside one of ours. */
export function aliasOf({ callId }: ToolCallPart): string {
  return callId.slice(0, maxAliasCharacters);
}

/** The ids of all calls in a conversation, added to those that are known. */
export function addCallIds(taken: Set<string>, messages: readonly Message[]): void {
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue;
    for (const part of content) if (part.type === 'tool-call') taken.add(spelled(part.callId));
  }
}

function makeId(base: string, isTaken: (id: string) => boolean): string {
  let count = 2;
  // Bounded: each round meets an id that is taken.
  while (isTaken(`${base}-${count}`)) count += 1;
  return `${base}-${count}`;
}
