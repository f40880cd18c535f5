import type { CompactionStrategy } from '../model/compaction.ts';
import { isSummary } from '../model/compaction-notes.ts';
import type { StrategyOptions } from './clear-results.ts';
import { dropUnit, isWithin } from './draft.ts';
import type { Draft } from './draft.ts';
import { findKept, findUnits } from './kept-messages.ts';
import type { Unit } from './kept-messages.ts';

/**
 * Lets the oldest turns and questions go, whole, until enough is saved. The first and the last words of the user, the system's,
 * pinned messages, the last turns and an earlier summary stay; a note stands where something is missing, with the effects of what went.
 */
export function dropOldTurns(
  draft: Draft,
  { keepLastTurns, aimTokens }: StrategyOptions,
  strategy: CompactionStrategy,
): void {
  for (const unit of unitsToDrop(draft, keepLastTurns)) {
    if (isWithin(draft, aimTokens)) return;
    dropUnit(draft, unit, strategy);
  }
}

/** What is left that may go where nothing else helps: the last turn, and summaries of earlier compactions. */
export function lastUnits({ messages, goes }: Draft): readonly Unit[] {
  const units = findUnits(messages, findKept(messages, 0));
  return units.filter((unit) => unit.some((index) => goes[index] !== true));
}

function unitsToDrop({ messages, goes }: Draft, keepLastTurns: number): readonly Unit[] {
  const units = findUnits(messages, findKept(messages, keepLastTurns));
  return units.filter((unit) =>
    unit.some((index) => {
      const message = messages[index];
      return goes[index] !== true && message !== undefined && !isSummary(message);
    }),
  );
}
