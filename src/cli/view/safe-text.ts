import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';

/**
 * One line of text from outside, safe to show: what a terminal would obey is made visible, blanks stay where they are. What only
 * joins or colours emoji is left out, so that an ordinary answer stays readable; nothing that could mislead is.
 */
export function safeLine(line: string): string {
  return line
    .replaceAll('\t', '    ')
    .replaceAll(/(?<=[\p{Extended_Pictographic}\p{Emoji}\u200d])[\ufe0f\u200d]/gu, '')
    .replaceAll(/[^ ]+/g, printable);
}

/** A short quote from outside, on one line. */
export function safeQuote(text: string, maxLength: number): string {
  // Only what is shown need be looked at.
  const head = printable(text.slice(0, maxLength * 4));
  return head.length <= maxLength ? head : boundQuote(head, maxLength);
}

function boundQuote(text: string, maxLength: number): string {
  return `${boundText(text, maxLength + cutNoteLength)
    .slice(0, -cutNoteLength)
    .trimEnd()}…`;
}

const cutNoteLength = ' … (cut)'.length;
