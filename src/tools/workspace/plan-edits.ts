import { describeNearest, findPlaces, maxPlaces, showLine } from './find-match.ts';
import { lineEndOf, splitLines } from './text-file.ts';
import { showPath, workspaceError } from './workspace-error.ts';

/** A text that is replaced by another. It must occur once, unless every place is meant. */
export interface TextEdit {
  readonly type: 'text';
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

/** Lines that are replaced, both ends included. `toLine` just before `fromLine` inserts. */
export interface LineEdit {
  readonly type: 'lines';
  readonly fromLine: number;
  readonly toLine: number;
  readonly newText: string;
}

export type Edit = TextEdit | LineEdit;

/** A text after its edits, and the places that were changed. */
export interface Planned {
  readonly text: string;
  readonly places: number;
}

const maxLinesNamed = 10;

/**
 * Applies edits to a text, all of them or none: throws in words where one does not fit. All refer to the text as it is, so they
 * may not overlap. Line ends are those of the text, and the parts between stay as they are, byte for byte.
 */
export function planEdits(path: string, text: string, edits: readonly Edit[]): Planned {
  const source = readSource(path, text);
  const ranges = edits
    .flatMap((edit) => (edit.type === 'text' ? textRanges(source, edit) : [lineRange(source, edit)]))
    .toSorted((one, other) => one.start - other.start || one.end - other.end);
  refuseOverlap(source, ranges);
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, newText } of ranges) {
    pieces.push(text.slice(from, toOriginal(source, start)), newText.replaceAll('\n', source.lineEnd));
    from = toOriginal(source, end);
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(''), places: ranges.length };
}

/** Whether a text looks as if the edits had been made already. Of what was only taken away nothing can be seen. */
export function looksEdited(path: string, text: string, edits: readonly Edit[]): boolean {
  const { normal } = readSource(path, text);
  return edits.every((edit) => {
    if (edit.type === 'lines' || edit.newText === '') return false;
    const [oldText, newText] = [normalise(edit.oldText), normalise(edit.newText)];
    return normal.includes(newText) && (newText.includes(oldText) || !normal.includes(oldText));
  });
}

/** A text with plain line ends, in which models look for theirs, and the way back. */
interface Source {
  readonly path: string;
  readonly normal: string;
  readonly lineEnd: '\n' | '\r\n';
  /** Where in `normal` a line end had two characters, ascending. */
  readonly shortened: readonly number[];
  readonly lines: readonly string[];
  /** Where each line begins in `normal`. */
  readonly starts: readonly number[];
}

/** A part of `Source.normal` and what comes in its place. */
interface Range {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

function readSource(path: string, text: string): Source {
  const shortened: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    shortened.push(at - shortened.length);
  }
  const normal = normalise(text);
  const starts: number[] = [];
  for (let at = 0; at < normal.length; at = endOfLine(normal, at)) starts.push(at);
  return { path, normal, lineEnd: lineEndOf(text), shortened, lines: splitLines(text), starts };
}

function endOfLine(normal: string, start: number): number {
  const end = normal.indexOf('\n', start);
  return end === -1 ? normal.length : end + 1;
}

function normalise(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** As far from the beginning as `at`, plus one for each line end before it that had two characters. */
function toOriginal({ shortened }: Source, at: number): number {
  let low = 0;
  let high = shortened.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((shortened[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return at + low;
}

function textRanges(source: Source, edit: TextEdit): readonly Range[] {
  const { path, normal } = source;
  const [oldText, newText] = [normalise(edit.oldText), normalise(edit.newText)];
  if (oldText === '')
    throw wrong(`oldText is empty; to add lines to ${showPath(path)}, give fromLine and toLine`);
  if (oldText === newText)
    throw wrong(`oldText and newText are the same: ${quote(oldText)}; nothing would change`);
  const places = findPlaces(normal, oldText);
  if (places.length === 0) {
    const nearest = describeNearest(source.lines, oldText) ?? 'no line is like it';
    throw wrong(`no match for ${quote(oldText)} in ${showPath(path)}; ${nearest}`);
  }
  if (places.length > maxPlaces) {
    const rule = 'give a longer oldText, or change the file with a command';
    throw wrong(
      `more than ${maxPlaces} matches for ${quote(oldText)} in ${showPath(path)}, and no edit is made at so many; ${rule}`,
    );
  }
  if (places.length > 1 && !edit.replaceAll) {
    const rule = 'give more of the text around the one you mean, or set replaceAll';
    throw wrong(
      `${places.length} matches for ${quote(oldText)} in ${showPath(path)}, on lines ${linesOf(source, places)}; ${rule}`,
    );
  }
  return places.map((start) => ({ start, end: start + oldText.length, newText }));
}

function lineRange(source: Source, { fromLine, toLine, newText }: LineEdit): Range {
  const { path, normal, lines } = source;
  if (fromLine > lines.length + 1 || toLine > lines.length) {
    throw wrong(`lines ${fromLine} to ${toLine} are not in ${showPath(path)}: it has ${lines.length} lines`);
  }
  if (toLine < fromLine - 1) {
    throw wrong(
      `toLine ${toLine} lies before fromLine ${fromLine}; to insert, let toLine be ${fromLine - 1}`,
    );
  }
  const start = startOfLine(source, fromLine);
  const end = startOfLine(source, toLine + 1);
  const body = normalise(newText);
  const isOpenEnd = end === normal.length && normal !== '' && !normal.endsWith('\n');
  if (!isOpenEnd) return { start, end, newText: body === '' || body.endsWith('\n') ? body : `${body}\n` };
  // The last line has no line end, and the new last line shall have none either.
  const unended = body.endsWith('\n') ? body.slice(0, -1) : body;
  if (body === '') return { start: Math.max(0, start - 1), end, newText: '' };
  return { start, end, newText: start === end ? `\n${unended}` : unended };
}

/** Where a line begins, counted from 1; the end of the text for one past the last. */
function startOfLine({ starts, normal }: Source, line: number): number {
  return starts[line - 1] ?? normal.length;
}

function refuseOverlap(source: Source, ranges: readonly Range[]): void {
  const second = ranges.find((range, index) => range.start < (ranges[index - 1]?.end ?? 0));
  if (second === undefined) return;
  const line = linesOf(source, [second.start]);
  throw wrong(
    `two edits of ${showPath(source.path)} overlap at line ${line}; all edits refer to the file as it is now. Make one of them`,
  );
}

function linesOf({ normal }: Source, places: readonly number[]): string {
  const named = places.slice(0, maxLinesNamed).map((place) => normal.slice(0, place).split('\n').length);
  return `${named.join(', ')}${places.length > maxLinesNamed ? ', …' : ''}`;
}

function quote(text: string): string {
  return `"${showLine(text)}"`;
}

function wrong(message: string): Error {
  return workspaceError('VALIDATION_ERROR', message);
}
