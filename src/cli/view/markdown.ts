import { safeLine } from './safe-text.ts';
import { wrapSpans } from './wrap-spans.ts';
import type { Span } from './wrap-spans.ts';
import type { Look, ViewPaint } from './view-paint.ts';

/** What a line of Markdown depends on: whether it is in a block of code, and by which mark that ends. */
export interface MarkdownState {
  readonly fence: string | undefined;
}

export const noMarkdown: MarkdownState = { fence: undefined };

export interface MarkdownScreen extends ViewPaint {
  readonly columns: number;
}

export interface MarkdownLine {
  readonly lines: readonly string[];
  readonly state: MarkdownState;
}

/** One line of Markdown from outside as it is shown, and what follows for the next. Without colour the marks stay. */
export function renderMarkdown(source: string, state: MarkdownState, screen: MarkdownScreen): MarkdownLine {
  const line = safeLine(source).trimEnd();
  const fence = /^ *(`{3,}|~{3,})/.exec(line)?.[1];
  if (state.fence !== undefined) {
    const isEnd = fence !== undefined && fence.startsWith(state.fence) && line.trim() === fence;
    return isEnd
      ? { lines: codeLines(line, 'dim', screen), state: noMarkdown }
      : { lines: codeLines(line, 'code', screen), state };
  }
  if (fence !== undefined) return { lines: codeLines(line, 'dim', screen), state: { fence } };
  return { lines: proseLines(line, screen), state };
}

/** The state after a text, of which the last line is not complete. */
export function markdownStateAfter(text: string): MarkdownState {
  const lines = text.split('\n').slice(0, -1);
  const plain: MarkdownScreen = { columns: 80, isColoured: false, paint: (_look, shown) => shown };
  return lines.reduce((state, line) => renderMarkdown(line, state, plain).state, noMarkdown);
}

function codeLines(line: string, look: Look, { columns, paint }: MarkdownScreen): readonly string[] {
  return wrapSpans([{ text: line, look }], { columns, paint, isCode: true });
}

function proseLines(line: string, screen: MarkdownScreen): readonly string[] {
  const { columns, paint, isColoured } = screen;
  if (/^\s*\|/.test(line)) return wrapSpans([{ text: line }], { columns, paint, isCode: true });
  const { first, rest, body, look } = blockOf(line, isColoured);
  return wrapSpans(inlineSpans(body, look, isColoured), { columns, paint, first, rest });
}

interface Block {
  readonly first: string;
  readonly rest: string;
  readonly body: string;
  readonly look?: Look;
}

function blockOf(line: string, isColoured: boolean): Block {
  const heading = /^ {0,3}#{1,6} +(.*?)(?: +#+)?$/.exec(line);
  if (heading !== null)
    return { first: '', rest: '', body: isColoured ? (heading[1] ?? '') : line, look: 'bold' };
  const item = /^( *)([-*+]|\d{1,9}[.)]) +(\S.*)$/.exec(line);
  if (item !== null) {
    const [, indent = '', sign = '', body = ''] = item;
    const bullet = isColoured && /^[-*+]$/.test(sign) ? '•' : sign;
    return { first: `${indent}${bullet} `, rest: ' '.repeat(indent.length + bullet.length + 1), body };
  }
  const quote = /^( *)> ?(.*)$/.exec(line);
  if (quote !== null) {
    const margin = `${quote[1] ?? ''}${isColoured ? '│' : '>'} `;
    return { first: margin, rest: margin, body: quote[2] ?? '', look: 'dim' };
  }
  const indent = /^ */.exec(line)?.[0] ?? '';
  return { first: indent, rest: indent, body: line.slice(indent.length) };
}

const marks =
  /(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\p{L}\p{N}_])__(?=\S)(.+?)(?<=\S)__(?![\p{L}\p{N}_])|\*(?=[^\s*])([^*]+?)(?<=\S)\*|(?<![\p{L}\p{N}_])_(?=[^\s_])([^_]+?)(?<=\S)_(?![\p{L}\p{N}_])/gu;

// Looking for marks takes longer than the line is long.
const maxMarkedLength = 2000;

/** Bold, italic and code within one line. What is not closed on it stays as it is. */
function inlineSpans(text: string, base: Look | undefined, isColoured: boolean): readonly Span[] {
  if (!isColoured || text.length > maxMarkedLength)
    return base === undefined ? [{ text }] : [{ text, look: base }];
  const spans: Span[] = [];
  const push = (piece: string, look: Look | undefined): void => {
    if (piece !== '') spans.push(look === undefined ? { text: piece } : { text: piece, look });
  };
  let end = 0;
  for (const found of text.matchAll(marks)) {
    const [whole, , code, bold, otherBold, italic, otherItalic] = found;
    push(text.slice(end, found.index), base);
    end = found.index + whole.length;
    if (code !== undefined) push(code.trim(), 'code');
    else if (bold !== undefined || otherBold !== undefined)
      spans.push(...inlineSpans(bold ?? otherBold ?? '', 'bold', isColoured));
    else spans.push(...inlineSpans(italic ?? otherItalic ?? '', 'italic', isColoured));
  }
  push(text.slice(end), base);
  return spans;
}
