import { isSummary } from '../model/compaction-notes.ts';
import type { Message } from '../model/message.ts';
import { isWorthClearing } from './clear-results.ts';
import { clearOne, shortenOne } from './draft.ts';
import type { Draft } from './draft.ts';
import { dropOldTurns } from './drop-old-turns.ts';
import { findKept, isUntouchable } from './kept-messages.ts';
import type { Kept } from './kept-messages.ts';
import { textsToShorten } from './message-texts.ts';

/** How far it goes. */
export interface TruncateOptions {
  readonly keepLastTurns: number;
  /** What old turns are dropped down to, so that there is room for a while. */
  readonly aimTokens: number;
  /** What must hold: to reach it, what would better stay is shortened too. */
  readonly limitTokens: number;
}

/** Characters that are left of a text, the first ones of a ladder that only a small window climbs down. */
const lengths = [3000, 1000, 300] as const;

/**
 * What always works, for it needs nobody: lets old turns go, then leaves only head and tail of long texts, then all turns but the
 * last one, and at last shortens what the user said. It stops as soon as enough is saved. Only the system's words, pinned
 * messages, signed texts and the arguments of the last calls are never touched.
 */
export function truncate(draft: Draft, { keepLastTurns, aimTokens, limitTokens }: TruncateOptions): void {
  dropOldTurns(draft, { keepLastTurns, aimTokens }, 'truncate');
  const kept = findKept(draft.messages, 1);
  const isSaid = (message: Message, index: number): boolean => isUsers(kept, message, index);
  const [longest, ...shorter] = lengths;
  shortenTexts(draft, limitTokens, { length: longest, takes: (message, index) => !isSaid(message, index) });
  dropOldTurns(draft, { keepLastTurns: 1, aimTokens: limitTokens }, 'truncate');
  for (const length of shorter)
    shortenTexts(draft, limitTokens, { length, takes: (message, index) => !isSaid(message, index) });
  clearAllResults(draft, limitTokens);
  for (const length of lengths) shortenTexts(draft, limitTokens, { length, takes: isSaid });
}

function isUsers({ firstUser, lastUser }: Kept, message: Message, index: number): boolean {
  return index === firstUser || index === lastUser || isSummary(message);
}

interface Shortening {
  readonly length: number;
  readonly takes: (message: Message, index: number) => boolean;
}

function shortenTexts(draft: Draft, limitTokens: number, { length, takes }: Shortening): void {
  const headCharacters = Math.floor((length * 2) / 3);
  const cut = { headCharacters, tailCharacters: length - headCharacters };
  for (const [index, message] of draft.messages.entries()) {
    if (isUntouchable(message) || !takes(message, index)) continue;
    for (const { part, characters } of textsToShorten(message)) {
      if (draft.totalTokens <= limitTokens) return;
      // A third more than what would be left is worth the loss; less is not.
      if (characters * 3 > length * 4) shortenOne(draft, { message: index, part, ...cut }, 'truncate');
    }
  }
}

/** Images have no head and tail. */
function clearAllResults(draft: Draft, limitTokens: number): void {
  for (const [index, message] of draft.messages.entries()) {
    if (message.role !== 'tool') continue;
    for (const result of message.content) {
      if (draft.totalTokens <= limitTokens) return;
      if (isWorthClearing(result)) clearOne(draft, { message: index, callId: result.callId }, 'truncate');
    }
  }
}
