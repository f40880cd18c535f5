import type { TextChange } from './repair-tools.ts';

/** The one replacement that makes one content of a file another, around lines that stand only once. */
export function changeBetween(path: string, from: string, to: string): TextChange {
  const [old, fresh] = [from.split('\n'), to.split('\n')];
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const part = (lines: readonly string[]): string => lines.slice(start, lines.length - end).join('\n');
  const isEmpty = (): boolean => Math.min(old.length, fresh.length) === start + end;
  // A line that comes twice says nothing about where, and no line at all has no line break; neighbours help with both.
  while ((isEmpty() || !isOnce(from, part(old))) && (start > 0 || end > 0)) {
    if (start > 0) start -= 1;
    else end -= 1;
  }
  return { path, before: part(old), after: part(fresh) };
}

/** Those that overlap count, too. */
function isOnce(text: string, part: string): boolean {
  const place = text.indexOf(part);
  return part !== '' && place >= 0 && text.indexOf(part, place + 1) < 0;
}
