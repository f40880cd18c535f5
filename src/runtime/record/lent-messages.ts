import type { History } from '../../agent/turn/history.ts';
import type { Message } from '../../model/message.ts';

/**
 * A list that a run lends to one call after the other, for models that keep nothing of it: see `trustCall`. What was only added
 * to since the last turn is added to it, where a list for every turn would be copied as often as the run is long. It
 * changes in place.
 */
export interface LentMessages {
  instructions: string;
  settled: readonly Message[] | undefined;
  recent: readonly Message[];
  list: Message[];
}

/** Nothing was lent yet. */
export function createLentMessages(): LentMessages {
  return { instructions: '', settled: undefined, recent: [], list: [] };
}

/** The whole conversation, behind the instructions. Good until the call ends. */
export function lendMessages(
  lent: LentMessages,
  { settled, recent }: History,
  instructions: string,
): readonly Message[] {
  const hasGrown =
    lent.settled === settled && lent.instructions === instructions && beginsWith(recent, lent.recent);
  if (hasGrown) {
    for (const message of recent.slice(lent.recent.length)) lent.list.push(message);
  } else {
    // Not by spreading: engines copy a list element by element for that, and this one may be long.
    lent.list = systemOf(instructions).concat(settled, recent);
    lent.instructions = instructions;
    lent.settled = settled;
  }
  lent.recent = recent;
  return lent.list;
}

/** The instructions as they stand before a conversation. */
export function systemOf(instructions: string): Message[] {
  return instructions === '' ? [] : [{ role: 'system', content: instructions }];
}

/** By identity: a message that was changed is another one. */
function beginsWith(messages: readonly Message[], first: readonly Message[]): boolean {
  return first.length <= messages.length && first.every((message, place) => message === messages[place]);
}
