import type { CompactionStrategy } from '../model/compaction.ts';
import type { ToolResultPart } from '../model/message.ts';
import { textOf } from '../model/message.ts';
import { clearOne, isWithin, shortenOne } from './draft.ts';
import type { Draft } from './draft.ts';
import { findKept, mustStay } from './kept-messages.ts';
import { isClearedResult, textsToShorten } from './message-texts.ts';

/** How far a strategy goes, and what it leaves alone. */
export interface StrategyOptions {
  readonly keepLastTurns: number;
  /** It stops as soon as no more than this is left. */
  readonly aimTokens: number;
}

/** A shorter result is hardly longer than the note that would replace it. */
const maxResultCharacters = 300;
/** What stays of the result of a call that may have changed something. */
const effectHeadCharacters = 200;
const maxTextCharacters = 4000;
const cut = { headCharacters: 2000, tailCharacters: 1000 } as const;

/**
 * Replaces old results of `read` tools by a note, then leaves only the head of those of other tools, then only head and tail of very
 * long old texts; the oldest first. Which messages there are, whose they are and which result belongs to which call stays as it was.
 */
export function clearResults(draft: Draft, { keepLastTurns, aimTokens }: StrategyOptions): void {
  const old = oldMessages(draft, keepLastTurns);
  clearAll(draft, old, { aimTokens, strategy: 'clear-results' });
  for (const index of old) {
    const message = draft.messages[index];
    if (message === undefined || message.role === 'tool') continue;
    for (const { part, characters } of textsToShorten(message)) {
      if (isWithin(draft, aimTokens)) return;
      if (characters > maxTextCharacters)
        shortenOne(draft, { message: index, part, ...cut }, 'clear-results');
    }
  }
}

/** Clears results in these messages until enough is saved: first what can be read again. */
export function clearAll(
  draft: Draft,
  indexes: Iterable<number>,
  { aimTokens, strategy }: { readonly aimTokens: number; readonly strategy: CompactionStrategy },
): void {
  const places = [...indexes];
  for (const ofRead of [true, false]) {
    for (const index of places) {
      const message = draft.messages[index];
      if (message?.role !== 'tool') continue;
      for (const result of message.content) {
        if (isWithin(draft, aimTokens)) return;
        if (draft.isRead(result.name) !== ofRead || !isWorthClearing(result)) continue;
        const cleared = { message: index, callId: result.callId };
        clearOne(draft, ofRead ? cleared : { ...cleared, headCharacters: effectHeadCharacters }, strategy);
      }
    }
  }
}

/** Whether a result is long, or holds an image, and has not been cleared. */
function isWorthClearing(result: ToolResultPart): boolean {
  const { content } = result;
  if (isClearedResult(result)) return false;
  if (typeof content === 'string') return content.length > maxResultCharacters;
  return content.some(({ type }) => type === 'image') || textOf(content).length > maxResultCharacters;
}

function oldMessages({ messages, goes }: Draft, keepLastTurns: number): readonly number[] {
  const kept = findKept(messages, keepLastTurns);
  const old: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (goes[index] !== true && !mustStay(kept, message, index)) old.push(index);
  }
  return old;
}
