import { isNote } from '../model/compaction-notes.ts';
import type { Message } from '../model/message.ts';

/** What stays or goes together: a message of the user, or an answer of the model with the results of its calls. By place, ascending. */
export type Unit = readonly number[];

/** What of a conversation must stay. */
export interface Kept {
  /** Notes of the runtime do not count here and below: no person said them. */
  readonly firstUser: number;
  readonly lastUser: number;
  /** From here on everything stays. */
  readonly tailAt: number;
}

/** Finds what must stay, the last turns as many as asked for. */
export function findKept(messages: readonly Message[], keepLastTurns: number): Kept {
  const lastUser = messages.findLastIndex((message) => message.role === 'user' && !isNote(message));
  return {
    firstUser: messages.findIndex((message) => message.role === 'user' && !isNote(message)),
    lastUser,
    tailAt: lastTurnsAt(messages, keepLastTurns) ?? Math.max(0, lastUser),
  };
}

/** Whether a message stays as it is, word for word. */
export function mustStay({ firstUser, lastUser, tailAt }: Kept, message: Message, index: number): boolean {
  return index >= tailAt || index === firstUser || index === lastUser || isUntouchable(message);
}

/** Whether a message must not be dropped or altered, wherever it is. */
export function isUntouchable(message: Message): boolean {
  return message.role === 'system' || (message.role === 'user' && message.pinned === true);
}

/** What may go, the oldest first. */
export function findUnits(messages: readonly Message[], kept: Kept): readonly Unit[] {
  const units: number[][] = [];
  let unit: number[] | undefined;
  for (const [index, message] of messages.entries()) {
    if (index >= kept.tailAt) break;
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      // Results go with what they follow, whatever the system says in between.
      unit?.push(index);
      continue;
    }
    unit = mustStay(kept, message, index) ? undefined : [index];
    if (unit !== undefined) units.push(unit);
  }
  return units;
}

/** Where the last turns begin: at the start where there are fewer of them, nowhere where there is none. */
function lastTurnsAt(messages: readonly Message[], keepLastTurns: number): number | undefined {
  if (keepLastTurns === 0) return messages.length;
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    if (messages[index]?.role === 'assistant') turns += 1;
    if (turns === keepLastTurns) return index;
  }
  return turns === 0 ? undefined : 0;
}
