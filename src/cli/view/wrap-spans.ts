import { columnsOf, cutColumns } from './text-width.ts';
import type { Look, ViewPaint } from './view-paint.ts';

/** A piece of a line that looks one way. */
export interface Span {
  readonly text: string;
  readonly look?: Look;
}

export interface WrapOptions {
  readonly columns: number;
  readonly paint: ViewPaint['paint'];
  /** The prefix of the first line, and of its continuation lines. */
  readonly first?: string;
  readonly rest?: string;
  /** Blanks stay as they are, and lines break anywhere. */
  readonly isCode?: boolean;
}

/** Breaks a line into lines of at most so many columns, between words where it can. */
export function wrapSpans(spans: readonly Span[], options: WrapOptions): readonly string[] {
  const { columns, paint, isCode = false } = options;
  // On a very narrow screen an indent would leave no room for words.
  const margin = (text: string): string => (columnsOf(text) * 2 > columns ? '' : text);
  const [first, rest] = [margin(options.first ?? ''), margin(options.rest ?? '')];
  const line: Line = { rows: [], spans: [], width: 0 };
  const roomOf = (): number => Math.max(1, columns - columnsOf(line.rows.length === 0 ? first : rest));
  for (const token of tokensOf(spans, isCode)) place(line, token, roomOf());
  endRow(line);
  return line.rows.map((row, index) => {
    const body = row.map(({ text, look }) => paint(look, text)).join('');
    return `${index === 0 ? first : rest}${body}`;
  });
}

interface Line {
  readonly rows: (readonly Span[])[];
  spans: Span[];
  width: number;
}

interface Token extends Span {
  readonly isBlank: boolean;
}

/** Words and the blanks between them. A word that changes its look in the middle is several, and may be broken there. */
function* tokensOf(spans: readonly Span[], isCode: boolean): Generator<Token> {
  for (const span of spans) {
    const pieces = isCode ? [span.text] : (span.text.match(/ +|[^ ]+/g) ?? []);
    for (const text of pieces) yield { ...span, text, isBlank: !isCode && text.startsWith(' ') };
  }
}

function place(line: Line, token: Token, room: number): void {
  const width = columnsOf(token.text);
  if (line.width + width <= room) return add(line, token, width);
  if (token.isBlank) return endRow(line);
  if (line.width > 0 && width <= room) {
    endRow(line);
    return add(line, token, width);
  }
  if (line.width > 0) endRow(line);
  const pieces = cutColumns(token.text, room);
  for (const [index, text] of pieces.entries()) {
    add(line, { ...token, text }, columnsOf(text));
    if (index < pieces.length - 1) endRow(line);
  }
}

function add(line: Line, { text, look, isBlank }: Token, width: number): void {
  // A continuation line does not begin with the blank where the line was broken.
  if (isBlank && line.width === 0 && line.rows.length > 0) return;
  line.spans.push(look === undefined ? { text } : { text, look });
  line.width += width;
}

function endRow(line: Line): void {
  const last = line.spans.at(-1);
  if (last !== undefined) line.spans[line.spans.length - 1] = { ...last, text: last.text.trimEnd() };
  line.rows.push(line.spans);
  line.spans = [];
  line.width = 0;
}
