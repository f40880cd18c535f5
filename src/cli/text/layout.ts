import type { CliIo } from '../start/io.ts';
import { createPaint, wantsColour } from './paint.ts';
import type { Paint, Style } from './paint.ts';
import { wrap } from './wrap.ts';

/** What a text is laid out for. */
export interface Screen {
  readonly width: number;
  readonly paint: Paint;
}

const widths = { least: 40, most: 100, unknown: 80 } as const;

/** Wide lines are hard to read, so that a wide terminal is not filled. Without a terminal it is 80 columns. */
export function createScreen(io: Pick<CliIo, 'columns' | 'env' | 'isTerminal'>): Screen {
  // Some terminals say 0 until they know.
  const columns = io.columns === undefined || io.columns <= 0 ? widths.unknown : io.columns;
  return {
    width: Math.max(widths.least, Math.min(columns, widths.most)),
    paint: createPaint(wantsColour(io)),
  };
}

/** A label and the text beside it. */
export interface Row {
  readonly label: string;
  readonly text: string;
  readonly style?: Style;
}

export interface RowsOptions extends Screen {
  /** Columns before the label, and before the text. */
  readonly indent: number;
  readonly labelWidth: number;
}

/** Rows in two columns: the label dim, the text wrapped beside it. */
export function layoutRows(rows: readonly Row[], options: RowsOptions): readonly string[] {
  const { paint, width, indent, labelWidth } = options;
  const margin = ' '.repeat(indent);
  return rows.flatMap(({ label, text, style }) =>
    wrap(text, width - indent - labelWidth).map((line, index) => {
      const head = index === 0 ? label : '';
      const gap = ' '.repeat(labelWidth - head.length);
      const body = style === undefined ? line : paint(style, line);
      return `${margin}${paint('label', head)}${gap}${body}`.trimEnd();
    }),
  );
}
