import type { ToolResultPart } from '../model/message.ts';
import { textOf } from '../model/message.ts';
import { clearOne, shortenOne } from './draft.ts';
import type { Draft } from './draft.ts';
import { findKept, mustStay } from './kept-messages.ts';
import { isShortenedResult, textsToShorten } from './message-texts.ts';

/** How far a strategy goes, and what it leaves alone. */
export interface StrategyOptions {
  readonly keepLastTurns: number;
  /** It stops as soon as no more than this is left. */
  readonly aimTokens: number;
}

/** A shorter result is hardly longer than the note that would replace it. */
const maxResultCharacters = 300;
const maxTextCharacters = 4000;
const cut = { headCharacters: 2000, tailCharacters: 1000 } as const;

/**
 * Replaces old results of tools by a note, then leaves only head and tail of very long old texts; the oldest first. Which
 * messages there are, whose they are and which result belongs to which call stays as it was.
 */
export function clearResults(draft: Draft, { keepLastTurns, aimTokens }: StrategyOptions): void {
  const old = oldMessages(draft, keepLastTurns);
  for (const index of old) {
    const message = draft.messages[index];
    if (message?.role !== 'tool') continue;
    for (const result of message.content) {
      if (draft.totalTokens <= aimTokens) return;
      if (isWorthClearing(result))
        clearOne(draft, { message: index, callId: result.callId }, 'clear-results');
    }
  }
  for (const index of old) {
    const message = draft.messages[index];
    if (message === undefined || message.role === 'tool') continue;
    for (const { part, characters } of textsToShorten(message)) {
      if (draft.totalTokens <= aimTokens) return;
      if (characters > maxTextCharacters)
        shortenOne(draft, { message: index, part, ...cut }, 'clear-results');
    }
  }
}

/** Whether a result is long, or holds an image, and is whole. */
export function isWorthClearing(result: ToolResultPart): boolean {
  const { content } = result;
  if (isShortenedResult(result)) return false;
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
