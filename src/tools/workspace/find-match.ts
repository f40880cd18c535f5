import { visible } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';

/** More are not looked for: a longer text is needed then. */
export const maxPlaces = 100_000;
const maxLinesCompared = 20_000;
const maxCharactersCompared = 200;
const maxTies = 50;
const minSimilarity = 0.4;
const maxShownCharacters = 120;

/** Where a text occurs in another, from left to right and without overlap; one place more than `maxPlaces` where there are more. */
export function findPlaces(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  let at = text.indexOf(wanted);
  while (at !== -1 && places.length <= maxPlaces) {
    places.push(at);
    at = text.indexOf(wanted, at + wanted.length);
  }
  return places;
}

/** What comes nearest to a text that was not found, in words that a sentence ends with; nothing where nothing does. */
export function describeNearest(lines: readonly string[], wanted: string): string | undefined {
  const wantedLines = wanted.split('\n');
  const offset = wantedLines.findIndex((line) => line.trim() !== '');
  const first = wantedLines[offset];
  if (first === undefined) return undefined;
  const starts = likestLines(lines, first);
  const runs = starts.map((start) => firstDifference(lines, { start: start - offset, wantedLines }));
  const [best] = runs.toSorted((one, other) => other.matching - one.matching);
  return best === undefined ? undefined : describe(lines, best, wantedLines);
}

/** A line as a message quotes it: bounded, and what cannot be seen is marked. */
export function showLine(line: string): string {
  return boundText(visible(line), maxShownCharacters);
}

/** The places, counted from 0, of the lines that are most like another; blanks at both ends do not count. */
function likestLines(lines: readonly string[], wanted: string): readonly number[] {
  const pairs = pairsOf(wanted);
  let best = minSimilarity;
  let found: number[] = [];
  for (const [index, line] of lines.slice(0, maxLinesCompared).entries()) {
    const similarity = line.trim() === wanted.trim() ? 1 : similarityTo(pairs, line);
    if (similarity > best) {
      best = similarity;
      found = [];
    }
    if (similarity === best && found.length < maxTies) found.push(index);
  }
  return found;
}

interface Pairs {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

/** How often each two neighbouring characters occur: cheap, and hardly disturbed by a word more or less. */
function pairsOf(line: string): Pairs {
  const text = line.trim().slice(0, maxCharactersCompared);
  const counts = new Map<string, number>();
  for (let index = 0; index + 1 < text.length; index += 1) {
    const pair = text.slice(index, index + 2);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return { counts, total: Math.max(0, text.length - 1) };
}

/** From 0, nothing in common, to 1, the same pairs. */
function similarityTo(wanted: Pairs, line: string): number {
  const own = pairsOf(line);
  if (own.total + wanted.total === 0) return 0;
  let common = 0;
  for (const [pair, count] of own.counts) common += Math.min(count, wanted.counts.get(pair) ?? 0);
  return (2 * common) / (own.total + wanted.total);
}

interface Difference {
  /** Lines that are the same, from the first on. */
  readonly matching: number;
  /** Where the first line would stand, from 0. */
  readonly start: number;
}

function firstDifference(
  lines: readonly string[],
  { start, wantedLines }: { readonly start: number; readonly wantedLines: readonly string[] },
): Difference {
  const matching = wantedLines.findIndex((wanted, index) => lines[start + index] !== wanted);
  return { start, matching: Math.max(0, matching) };
}

function describe(
  lines: readonly string[],
  { start, matching }: Difference,
  wantedLines: readonly string[],
): string {
  const found = lines[start + matching];
  const wanted = wantedLines[matching] ?? '';
  const number = start + matching + 1;
  if (found === undefined) return `the text begins at line ${start + 1}, but the file ends before it does`;
  const blanks = found.trim() === wanted.trim() ? ' (only the blanks differ)' : '';
  if (matching === 0) return `nearest line ${number}: ${showLine(found)}${blanks}`;
  return `its first ${matching === 1 ? 'line is' : `${matching} lines are`} at line ${start + 1}, but line ${number} is: ${showLine(found)}${blanks}`;
}
