import { visible } from '../../../base/printable.ts';
import type { FoundLine } from './search-worker.ts';

/** The lines of a file that are shown. */
export interface FileMatches {
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

/** What is told of a search besides its lines. */
export interface SearchFacts {
  readonly pattern: string;
  readonly isRegex: boolean;
  /** All lines that match, shown or not. */
  readonly matches: number;
  readonly searched: number;
  /** Files that there was no time for. */
  readonly unsearched: number;
  readonly skipped: { readonly binary: number; readonly tooLarge: number; readonly unreadable: number };
  readonly maxTotalMs: number;
  readonly maxCharacters: number;
  readonly notes: readonly string[];
}

/** What the model is told: each file with its lines, `:` behind the number of one that matches and `-` behind others; then what is missing. */
export function reportSearch(files: readonly FileMatches[], facts: SearchFacts): string {
  const { shown, shownMatches } = fit(files, facts.maxCharacters);
  const notes = notesOf(facts, facts.matches - shownMatches);
  return [headline(facts), ...shown, ...notes.map((note) => `(${note})`)].join('\n');
}

function headline({ pattern, matches, searched }: SearchFacts): string {
  const count =
    matches === 0 ? 'No line matches' : `${matches} ${matches === 1 ? 'line matches' : 'lines match'}`;
  return `${count} "${visible(pattern)}" in ${searched} ${searched === 1 ? 'file' : 'files'}${matches === 0 ? '.' : ':'}`;
}

interface Fitted {
  readonly shown: readonly string[];
  readonly shownMatches: number;
}

function fit(files: readonly FileMatches[], maxCharacters: number): Fitted {
  const shown: string[] = [];
  let characters = 0;
  let shownMatches = 0;
  for (const { path, lines } of files) {
    const before = shown.length;
    const heading = visible(path);
    characters += heading.length + 1;
    shown.push(heading);
    for (const [index, line] of lines.entries()) {
      const isApart = index > 0 && lines[index - 1]?.number !== line.number - 1;
      const hasContext = lines.some(({ isMatch }) => !isMatch);
      const text = `${line.number}${line.isMatch ? ':' : '-'} ${line.text}`;
      characters += text.length + 1;
      if (characters > maxCharacters) {
        return { shown: shown.length === before + 1 ? shown.slice(0, before) : shown, shownMatches };
      }
      if (isApart && hasContext) shown.push('--');
      shown.push(text);
      if (line.isMatch) shownMatches += 1;
    }
  }
  return { shown, shownMatches };
}

function notesOf(facts: SearchFacts, left: number): readonly string[] {
  const { matches, isRegex, pattern, unsearched, skipped, maxTotalMs, notes } = facts;
  const skips = [
    ...(skipped.binary > 0 ? [`${skipped.binary} binary`] : []),
    ...(skipped.tooLarge > 0 ? [`${skipped.tooLarge} too large`] : []),
    ...(skipped.unreadable > 0 ? [`${skipped.unreadable} unreadable`] : []),
  ];
  const looksLikeRegex = matches === 0 && !isRegex && /[\\()[\]|*+?^$]/.test(pattern);
  return [
    ...(left > 0
      ? [`${left} more lines match and are not shown. Narrow the pattern, the path or the glob.`]
      : []),
    ...(unsearched > 0
      ? [
          `The search stopped after ${maxTotalMs / 1000} s: ${unsearched} files were not searched. Name a smaller path or a glob.`,
        ]
      : []),
    ...(skips.length > 0 ? [`Skipped files: ${skips.join(', ')}.`] : []),
    ...(looksLikeRegex ? ['The pattern was taken as plain text. Set isRegex for a regular expression.'] : []),
    ...notes,
  ];
}
