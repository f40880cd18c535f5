import type { Cancel, Clock } from '../../base/clock.ts';
import type { Terminal } from '../start/io.ts';
import { columnsOf } from './text-width.ts';

// What is finished scrolls up as ordinary text and is never touched again. Below it stands a region that is redrawn: the answer's
// last line, what runs, the status, the prompt. The owner of a part says what it shows at each drawing.

/** A terminal of which the last lines are redrawn. */
export interface LiveScreen {
  /** Lines that are final. They must be laid out and safe. */
  readonly print: (lines: readonly string[]) => void;
  /** Puts a part into the region, by its order from top to bottom. Gives how to take it out. */
  readonly addPart: (draw: DrawPart, order: number) => () => void;
  /** Something in the region has changed. */
  readonly refresh: () => void;
  /** Draws at once what is waiting to be drawn. */
  readonly flush: () => void;
  readonly columns: () => number;
  /** Empties the terminal above the region. */
  readonly clear: () => void;
  /** Takes the region away. What was printed stays. */
  readonly close: () => void;
}

/** Says what a part shows now. Lines are laid out for `columns`; longer ones would break the region. */
export type DrawPart = (size: { readonly columns: number; readonly rows: number }) => PartLines;

export interface PartLines {
  readonly lines: readonly string[];
  /** Where the cursor stands, from the first line of the part. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** What stands above what in the region. */
export const partOrder = { run: 1, question: 2, prompt: 3 } as const;

/** At most twenty times a second. */
const minIntervalMs = 50;
const unknownSize = { columns: 80, rows: 24 } as const;

export function createLiveScreen(terminal: Terminal, clock: Clock): LiveScreen {
  const held: Held = {
    terminal,
    clock,
    parts: [],
    printed: [],
    shown: [],
    cursor: { row: 0, column: 0 },
    drawnAtMs: -Infinity,
    timer: undefined,
    isClosed: false,
  };
  const stopResize = terminal.onResize(() => {
    if (!held.isClosed) redrawResized(held);
  });
  return {
    print: (lines) => print(held, lines),
    addPart: (draw, order) => {
      const part = { draw, order };
      held.parts.push(part);
      held.parts.sort((one, other) => one.order - other.order);
      schedule(held);
      return () => {
        const place = held.parts.indexOf(part);
        if (place < 0) return;
        held.parts.splice(place, 1);
        schedule(held);
      };
    },
    refresh: () => schedule(held),
    flush: () => drawNow(held),
    columns: () => sizeOf(held).columns,
    clear: () => clear(held),
    close: () => {
      if (held.isClosed) return;
      held.parts.length = 0;
      drawNow(held);
      held.isClosed = true;
      stopResize();
    },
  };
}

interface Held {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly parts: { readonly draw: DrawPart; readonly order: number }[];
  /** Final lines that are not written yet. */
  printed: string[];
  /** The region as it stands on the terminal. */
  shown: readonly string[];
  /** Where the cursor was left, from the first line of the region. */
  cursor: { readonly row: number; readonly column: number };
  drawnAtMs: number;
  timer: Cancel | undefined;
  isClosed: boolean;
}

function sizeOf({ terminal }: Held): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = terminal.size();
  // Some terminals say 0 until they know.
  return {
    columns: columns > 0 ? columns : unknownSize.columns,
    rows: rows > 0 ? rows : unknownSize.rows,
  };
}

function print(held: Held, lines: readonly string[]): void {
  // Text after the end is written as usual.
  if (held.isClosed) held.terminal.write(lines.map((line) => `${line}\r\n`).join(''));
  else for (const line of lines) held.printed.push(line);
  schedule(held);
}

function clear(held: Held): void {
  if (held.isClosed) return;
  held.terminal.write(`${escape}2J${escape}H`);
  held.shown = [];
  held.cursor = { row: 0, column: 0 };
  drawNow(held);
}

function schedule(held: Held): void {
  if (held.isClosed || held.timer !== undefined) return;
  const sinceMs = held.clock.monotonicMs() - held.drawnAtMs;
  held.timer = held.clock.after(Math.max(0, minIntervalMs - sinceMs), () => drawNow(held));
}

function drawNow(held: Held): void {
  held.timer?.();
  held.timer = undefined;
  if (held.isClosed) return;
  held.drawnAtMs = held.clock.monotonicMs();
  const { lines, cursor } = regionOf(held);
  const { printed, shown } = held;
  held.printed = [];
  const change =
    printed.length > 0 || lines.length < shown.length ? rewrite(held, printed, lines) : patch(held, lines);
  const end = change === '' ? held.cursor : { row: Math.max(0, lines.length - 1), column: -1 };
  const text = `${change}${moveTo(end, cursor)}`;
  held.shown = lines;
  held.cursor = cursor;
  if (text !== '') held.terminal.write(text);
}

interface Region {
  readonly lines: readonly string[];
  readonly cursor: Held['cursor'];
}

/** All parts below each other, without the upper lines where there is no room for them. */
function regionOf(held: Held): Region {
  const { columns, rows } = sizeOf(held);
  // A line that fills the last column leaves the cursor in a place on which terminals disagree.
  const size = { columns: Math.max(1, columns - 1), rows };
  const lines: string[] = [];
  let cursor: Held['cursor'] | undefined;
  for (const { draw } of held.parts) {
    const part = draw(size);
    if (part.cursor !== undefined) cursor = { ...part.cursor, row: part.cursor.row + lines.length };
    for (const line of part.lines) lines.push(line);
  }
  const over = Math.max(0, lines.length - Math.max(1, rows - 1));
  const end = { row: Math.max(0, lines.length - 1), column: columnsOf(lines.at(-1) ?? '') };
  const { row, column } = cursor ?? end;
  return { lines: lines.slice(over), cursor: { row: Math.max(0, row - over), column } };
}

const escape = '\u001b[';
const eraseBelow = `${escape}J`;
const eraseLine = `${escape}K`;

/** Redraws everything: the final lines where the region was, and the region below them. */
function rewrite({ cursor }: Held, printed: readonly string[], lines: readonly string[]): string {
  const final = printed.map((line) => `${line}\r\n`).join('');
  return `${toTop(cursor.row)}${eraseBelow}${final}${lines.join('\r\n')}`;
}

/** Only the lines that differ, and those that are new. Nothing where all are the same. */
function patch({ cursor, shown }: Held, lines: readonly string[]): string {
  if (lines.length === shown.length && lines.every((line, index) => line === shown[index])) return '';
  const rows = lines.map((line, index) => (line === shown[index] ? '' : `${line}${eraseLine}`));
  return `${toTop(cursor.row)}${rows.join('\r\n')}`;
}

function toTop(row: number): string {
  return row === 0 ? '\r' : `\r${escape}${row}A`;
}

function moveTo(from: Held['cursor'], to: Held['cursor']): string {
  if (from.row === to.row && from.column === to.column) return '';
  const up = from.row - to.row;
  const vertical = up === 0 ? '' : `${escape}${Math.abs(up)}${up > 0 ? 'A' : 'B'}`;
  const right = to.column === 0 ? '' : `${escape}${to.column}C`;
  return `${vertical}\r${right}`;
}

/** A terminal that became narrower has broken the lines of the region, so that it begins further up than it was drawn. */
function redrawResized(held: Held): void {
  const { columns } = sizeOf(held);
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(columnsOf(line) / columns));
  const above = held.shown.slice(0, held.cursor.row).reduce((sum, line) => sum + rowsOf(line), 0);
  const within = Math.floor(held.cursor.column / columns);
  held.terminal.write(`${toTop(above + within)}${eraseBelow}`);
  held.shown = [];
  held.cursor = { row: 0, column: 0 };
  drawNow(held);
}
