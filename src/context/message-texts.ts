import { isNote, wasCleared } from '../model/compaction-notes.ts';
import { splitNote } from '../model/effects.ts';
import { partsOf } from '../model/message.ts';
import type { Message, ToolResultPart } from '../model/message.ts';

/** A text in a message of which only head and tail may be left. */
export interface MessageText {
  readonly part: number;
  /** Of the longest text, where a result has several. */
  readonly characters: number;
}

/** The texts that may be shortened: not the system's, not what a provider signed, not the list of effects of a note. */
export function textsToShorten(message: Message): readonly MessageText[] {
  if (message.role === 'system') return [];
  const texts: MessageText[] = [];
  if (message.role === 'tool') {
    for (const [part, result] of message.content.entries()) {
      if (!isClearedResult(result)) texts.push({ part, characters: longestText(result) });
    }
    return texts;
  }
  if (isNote(message) && typeof message.content === 'string')
    return [{ part: 0, characters: splitNote(message.content).text.length }];
  for (const [part, piece] of partsOf<Exclude<typeof message.content, string>[number]>(
    message.content,
  ).entries()) {
    if (piece.type !== 'text' || piece.signature !== undefined) continue;
    texts.push({ part, characters: piece.text.length });
  }
  return texts;
}

/** Whether only the note for a result is left of it, or its head and that note. */
export function isClearedResult({ content }: ToolResultPart): boolean {
  return typeof content === 'string' && wasCleared(content);
}

function longestText({ content }: ToolResultPart): number {
  if (typeof content === 'string') return content.length;
  return content.reduce(
    (longest, part) => (part.type === 'text' ? Math.max(longest, part.text.length) : longest),
    0,
  );
}
