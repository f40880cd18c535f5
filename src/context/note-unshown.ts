import { unshownNote } from '../model/compaction-notes.ts';
import { effectDetails, effectsIn, writeEffects } from '../model/effects.ts';
import type { Effect, IsRead } from '../model/effects.ts';
import type { Message } from '../model/message.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { Exchange } from './select-history-exchanges.ts';

interface Unshown {
  readonly isRead?: IsRead | undefined;
  /** There are older messages, which were not read. */
  readonly isCut?: boolean;
  readonly estimate?: ((message: Message) => number) | undefined;
  readonly roomTokens: number;
}

/**
 * A note before what is shown of a session, with the effects of what is not: in as many words as there is room for, but never in
 * fewer than each effect needs. No note where nothing was done.
 */
export function noteUnshown(
  left: readonly Exchange[],
  { isRead = () => false, isCut = false, estimate = estimateTokens, roomTokens }: Unshown,
): readonly Message[] {
  const effects = readEffects(left, isRead);
  const isListed = effects !== undefined && !isCut;
  if (isListed && effects.length === 0) return [];
  const notes = effectDetails.map((detail): Message => ({
    role: 'user',
    content: unshownNote(writeEffects(effects ?? [], detail), { isListed }),
  }));
  const fitting = notes.find((note) => estimate(note) <= roomTokens);
  return fitting === undefined ? notes.slice(-1) : [fitting];
}

function readEffects(left: readonly Exchange[], isRead: IsRead): readonly Effect[] | undefined {
  try {
    return left.flatMap(({ messages }) => effectsIn(messages, isRead));
  } catch {
    return undefined; // A session may have been written by any program; the note says that it could not be read.
  }
}
