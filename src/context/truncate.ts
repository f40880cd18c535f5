import { isSummary } from '../model/compaction-notes.ts';
import type { Message } from '../model/message.ts';
import { clearAll } from './clear-results.ts';
import { dropUnit, isWithin, listLess, shortenOne, tokensOfUnits } from './draft.ts';
import type { Draft } from './draft.ts';
import { dropOldTurns, lastUnits } from './drop-old-turns.ts';
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
 * What always works, for it asks no model: lets old turns go, then leaves only head and tail of long texts, then all turns but the
 * last one, then says less of old effects, then shortens what the user said, and at last lets the last turn go too. It stops as
 * soon as enough is saved. Only the system's words, pinned messages, signed texts and the list of effects always stay.
 */
export function truncate(draft: Draft, { keepLastTurns, aimTokens, limitTokens }: TruncateOptions): void {
  dropOldTurns(draft, { keepLastTurns, aimTokens }, 'truncate');
  const kept = findKept(draft.messages, 1);
  const isSaid = (message: Message, index: number): boolean => isUsers(kept, message, index);
  const isOther = (message: Message, index: number): boolean => !isSaid(message, index);
  const [longest, ...shorter] = lengths;
  shortenTexts(draft, limitTokens, { length: longest, takes: isOther });
  dropOldTurns(draft, { keepLastTurns: 1, aimTokens: limitTokens }, 'truncate');
  for (const length of shorter) shortenTexts(draft, limitTokens, { length, takes: isOther });
  // Images have no head and tail.
  clearAll(draft, draft.messages.keys(), { aimTokens: limitTokens, strategy: 'truncate' });
  while (!isWithin(draft, limitTokens) && listLess(draft, 'truncate'));
  dropLast(draft, limitTokens, { isEnough: true });
  for (const length of lengths) shortenTexts(draft, limitTokens, { length, takes: isSaid });
  dropLast(draft, limitTokens, { isEnough: false });
}

/** The last turn may hold arguments that no window takes. It goes before the words of the user are touched only where that is enough. */
function dropLast(draft: Draft, limitTokens: number, { isEnough }: { readonly isEnough: boolean }): void {
  const units = lastUnits(draft);
  if (isEnough && draft.keptTokens - tokensOfUnits(draft, units) > limitTokens) return;
  for (const unit of units.toReversed()) {
    if (isWithin(draft, limitTokens)) return;
    dropUnit(draft, unit, 'truncate');
  }
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
      if (isWithin(draft, limitTokens)) return;
      // A third more than what would be left is worth the loss; less is not.
      if (characters * 3 > length * 4) shortenOne(draft, { message: index, part, ...cut }, 'truncate');
    }
  }
}
