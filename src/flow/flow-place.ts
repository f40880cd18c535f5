import { visible } from '../base/printable.ts';

// A failure holds a thousand characters; the line shares them with two sentences.
const maxShownBefore = 60;
const maxShownAfter = 40;

/** Where in a text something stands: line and column from 1, and the line with a mark under the place, on two lines. */
export function showPlace(text: string, at: number): { readonly place: string; readonly picture: string } {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const nextBreak = text.indexOf('\n', at);
  const lineEnd = nextBreak === -1 ? text.length : nextBreak;
  const line = text.slice(0, at).split('\n').length;
  const from = Math.max(lineStart, at - maxShownBefore);
  const to = Math.min(lineEnd, at + maxShownAfter);
  const head = `${from > lineStart ? '…' : ''}${shown(text.slice(from, at))}`;
  const tail = `${shown(text.slice(at, to))}${to < lineEnd ? '…' : ''}`;
  return {
    place: `line ${line}, column ${at - lineStart + 1}`,
    picture: `  ${head}${tail}\n  ${' '.repeat(Array.from(head).length)}^`,
  };
}

/** Tabs and carriage returns would move the mark away from its place. */
function shown(text: string): string {
  return visible(text.replaceAll(/[\t\r]/g, ' '));
}
