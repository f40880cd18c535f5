import { visible } from '../../base/printable.ts';
import { columnsOf, graphemesOf } from '../view/text-width.ts';
import type { PartLines } from '../view/live-screen.ts';
import type { EditState } from './edit.ts';

export interface EditorScreen {
  readonly columns: number;
  /** At most so many lines; those around the cursor. */
  readonly maxRows: number;
  /** Before the first line; the others are indented by as much. */
  readonly prompt: string;
  /** How the prompt looks. */
  readonly paintPrompt?: (prompt: string) => string;
}

/** The text as it stands on the screen, and where the cursor is. What cannot be seen is marked. */
export function editorLines({ text, cursor }: EditState, screen: EditorScreen): PartLines {
  const { columns, maxRows, prompt, paintPrompt = (shown) => shown } = screen;
  const margin = columnsOf(prompt) * 2 > columns ? 0 : columnsOf(prompt);
  const laid: Laid = { rows: [''], width: 0, row: 0, column: 0, room: Math.max(1, columns - margin) };
  let place = 0;
  for (const grapheme of graphemesOf(text)) {
    if (place <= cursor) markCursor(laid);
    place += grapheme.length;
    layGrapheme(laid, grapheme);
  }
  if (place <= cursor) markCursor(laid);
  const first = Math.max(0, Math.min(laid.row - Math.floor(maxRows / 2), laid.rows.length - maxRows));
  const head = margin === 0 ? '' : paintPrompt(prompt);
  const lines = laid.rows
    .slice(first, first + maxRows)
    .map((row, index) => (first + index === 0 ? `${head}${row}` : `${' '.repeat(margin)}${row}`));
  return { lines, cursor: { row: laid.row - first, column: laid.column + margin } };
}

interface Laid {
  readonly rows: string[];
  width: number;
  /** Where the cursor stands. */
  row: number;
  column: number;
  readonly room: number;
}

function layGrapheme(laid: Laid, grapheme: string): void {
  if (grapheme === '\n') return newRow(laid);
  const shown = showGrapheme(grapheme);
  // A character of several signs that is wider than the screen is shown as those.
  for (const piece of columnsOf(shown) <= laid.room ? [shown] : Array.from(shown)) {
    const width = columnsOf(piece);
    if (laid.width + width > laid.room) newRow(laid);
    laid.rows[laid.rows.length - 1] += piece;
    laid.width += width;
  }
}

function newRow(laid: Laid): void {
  laid.rows.push('');
  laid.width = 0;
}

function markCursor(laid: Laid): void {
  // At the end of a full row the next character goes to the next one, and so does the cursor.
  if (laid.width >= laid.room) newRow(laid);
  laid.row = laid.rows.length - 1;
  laid.column = laid.width;
}

const emoji = /^\p{Extended_Pictographic}(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f)*$/u;

/** An emoji of several parts counts as one typed character. */
function showGrapheme(grapheme: string): string {
  if (grapheme === '\t') return '    ';
  return emoji.test(grapheme) ? grapheme : visible(grapheme);
}
