import { wasShortened } from '../model/compaction-notes.ts';
import { partsOf } from '../model/message.ts';
import type { Message, ToolResultPart } from '../model/message.ts';

/** A text in a message of which only head and tail may be left. */
export interface MessageText {
  readonly part: number;
  /** Of the longest text, where a result has several. */
  readonly characters: number;
}

/** The texts that may be shortened: not the system's, not what a provider signed, not what was shortened before. */
export function textsToShorten(message: Message): readonly MessageText[] {
  if (message.role === 'system') return [];
  const texts: MessageText[] = [];
  if (message.role === 'tool') {
    for (const [part, result] of message.content.entries()) {
      if (!isShortenedResult(result)) texts.push({ part, characters: longestText(result) });
    }
    return texts;
  }
  for (const [part, piece] of partsOf<Exclude<typeof message.content, string>[number]>(
    message.content,
  ).entries()) {
    if (piece.type !== 'text' || piece.signature !== undefined || wasShortened(piece.text)) continue;
    texts.push({ part, characters: piece.text.length });
  }
  return texts;
}

/** Whether an earlier compaction left only a part of a result. */
export function isShortenedResult({ content }: ToolResultPart): boolean {
  if (typeof content === 'string') return wasShortened(content);
  return content.some((part) => part.type === 'text' && wasShortened(part.text));
}

function longestText({ content }: ToolResultPart): number {
  if (typeof content === 'string') return content.length;
  return content.reduce(
    (longest, part) => (part.type === 'text' ? Math.max(longest, part.text.length) : longest),
    0,
  );
}
