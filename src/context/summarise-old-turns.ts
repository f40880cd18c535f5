import type { Message } from '../model/message.ts';
import { summariseUnits, tokensOfUnits } from './draft.ts';
import type { Draft } from './draft.ts';
import { findKept, findUnits } from './kept-messages.ts';
import type { Unit } from './kept-messages.ts';

/** Less is hardly longer than its summary. */
const minSummarisedTokens = 1000;

/** What a summary would be of: all that may go, an earlier summary included. Nothing where it is too little for one. */
export function messagesToSummarise(draft: Draft, keepLastTurns: number): readonly Message[] | undefined {
  const units = unitsToSummarise(draft, keepLastTurns);
  if (tokensOfUnits(draft, units) < minSummarisedTokens) return undefined;
  return units.flat().flatMap((index) => draft.messages[index] ?? []);
}

/** Puts a summary in the place of all that may go. Changes nothing, and says so, where that would save nothing. */
export function summariseOldTurns(
  draft: Draft,
  { keepLastTurns, summary }: { readonly keepLastTurns: number; readonly summary: string },
): boolean {
  const units = unitsToSummarise(draft, keepLastTurns);
  return units.length > 0 && summariseUnits(draft, units, summary);
}

function unitsToSummarise({ messages, goes }: Draft, keepLastTurns: number): readonly Unit[] {
  const units = findUnits(messages, findKept(messages, keepLastTurns));
  return units.filter((unit) => unit.some((index) => goes[index] !== true));
}
