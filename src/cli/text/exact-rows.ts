import { visible } from '../../base/printable.ts';
import type { Screen } from './layout.ts';
import type { Style } from './paint.ts';
import { displayWidth } from './wrap.ts';

// A person decides about exactly this text. So every row of it is behind a bar, where no text of ours is: a text that is
// padded to the next row cannot pass for a line of ours. `|` begins a line, `:` continues a line that was too long.

/** One line of a text that is shown exactly as it is. */
export interface ExactLine {
  /** What stands before the bar: a line number, `+`, `-`. */
  readonly mark: string;
  readonly text: string;
  readonly style?: Style;
}

/** How many rows a text may take, and where the rest of it can be seen. */
export interface ExactOptions extends Screen {
  readonly maxRows: number;
  readonly howToSeeAll: string;
}

/** Rows for a terminal: what cannot be seen is marked, nothing is dropped, and what has no room is counted. */
export function exactRows(lines: readonly ExactLine[], options: ExactOptions): readonly string[] {
  const { maxRows, howToSeeAll, paint } = options;
  // The end is shown too: it is where an attack would be hidden.
  const tail = Math.floor(maxRows / 5);
  const isLong = lines.length > maxRows;
  const kept = isLong ? [...lines.slice(0, maxRows - tail), ...lines.slice(-tail)] : lines;
  const markWidth = Math.max(0, ...kept.map(({ mark }) => mark.length));
  const rows = kept.flatMap((line) => rowsOf(line, markWidth, options));
  const hidden = lines.length - kept.length + Math.max(0, rows.length - maxRows);
  if (hidden === 0) return rows;
  const count = `${counted(hidden)} more ${hidden === 1 ? 'row is' : 'rows are'}`;
  const notice = `  ${count} not shown, and would take effect too. To see all: ${howToSeeAll}`;
  return [...rows.slice(0, maxRows - tail), paint('failure', notice), ...rows.slice(rows.length - tail)];
}

/** The lines of a text, numbered where there are several. Long stretches of empty ones become a count. */
export function numberedLines(text: string): readonly ExactLine[] {
  const lines = text.split('\n');
  if (lines.length === 1) return [{ mark: '', text }];
  const shown: ExactLine[] = [];
  for (let index = 0; index < lines.length;) {
    const empty = emptyFrom(lines, index);
    if (empty > maxEmptyLines) {
      shown.push({ mark: String(index + 1), text: `<${counted(empty)} empty lines>` });
      index += empty;
    } else {
      shown.push({ mark: String(index + 1), text: lines[index] ?? '' });
      index += 1;
    }
  }
  return shown;
}

const maxEmptyLines = 3;

function emptyFrom(lines: readonly string[], from: number): number {
  let count = 0;
  while (from + count < lines.length && lines[from + count] === '') count += 1;
  return count;
}

function rowsOf(
  { mark, text, style }: ExactLine,
  markWidth: number,
  { width, paint, maxRows }: ExactOptions,
): readonly string[] {
  const room = Math.max(8, width - markWidth - 5);
  const shown = visible(withoutMiddle(markSpaces(text), maxRows * room));
  return cutColumns(shown, room).map((piece, index) => {
    const head = index === 0 ? `${mark.padStart(markWidth)} |` : `${' '.repeat(markWidth)} :`;
    const body = style === undefined ? piece : paint(style, piece);
    return piece === '' ? `  ${paint('label', head)}` : `  ${paint('label', head)} ${body}`;
  });
}

/** Of a line so long that its rows could never be shown, so that megabytes cost nothing. */
function withoutMiddle(text: string, maxCharacters: number): string {
  const left = text.length - 2 * maxCharacters;
  if (left <= 0) return text;
  return `${text.slice(0, maxCharacters)}<${counted(left)} more characters>${text.slice(-maxCharacters)}`;
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

/** Many spaces push what follows out of sight, and one at the end is not seen at all. An indent is neither. */
function markSpaces(text: string): string {
  return text
    .replaceAll(/(?<=\S) {20,}/g, (spaces) => `<${counted(spaces.length)} spaces>`)
    .replace(/^ {100,}/, (spaces) => `<${counted(spaces.length)} spaces>`)
    .replace(/ +$/, (spaces) => '<U+0020>'.repeat(spaces.length));
}

/** Not between words, as `wrap` does: a space at the break would be lost. */
function cutColumns(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let current = '';
  let columns = 0;
  for (const character of text) {
    const more = displayWidth(character);
    if (columns + more > width) {
      pieces.push(current);
      current = '';
      columns = 0;
    }
    current += character;
    columns += more;
  }
  return [...pieces, current];
}
