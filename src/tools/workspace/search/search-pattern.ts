import { visible } from '../../../base/printable.ts';
import { workspaceError } from '../workspace-error.ts';

/** A pattern as the thread compiles it. */
export interface SearchPattern {
  readonly source: string;
  readonly flags: string;
}

const maxPatternCharacters = 1000;

/** Makes a regular expression of what the model wrote, or says where it is none. It is only read here, not tried. */
export function readSearchPattern(
  pattern: string,
  { isRegex, ignoreCase }: { readonly isRegex: boolean; readonly ignoreCase: boolean },
): SearchPattern {
  const shown = `"${visible(pattern.slice(0, 100))}"`;
  if (pattern === '') throw refused('Cannot search for an empty text');
  if (pattern.length > maxPatternCharacters) {
    const size = `it has ${pattern.length} characters, and at most ${maxPatternCharacters} are searched for`;
    throw refused(`Cannot search for ${shown}…: ${size}`);
  }
  if (!isRegex && pattern.includes('\n')) {
    throw refused(`Cannot search for ${shown}: it holds a line break, and lines are searched one by one`);
  }
  const source = isRegex ? pattern : escape(pattern);
  const letters = ignoreCase ? 'i' : '';
  // With `u` a dot is a whole character and \p{…} means something; without it signs may be escaped that need not be.
  const flags = [`u${letters}`, letters].find((candidate) => complaintOf(source, candidate) === undefined);
  if (flags !== undefined) return { source, flags };
  const complaint = complaintOf(source, letters) ?? '';
  throw refused(
    `Cannot search for ${shown}: at character ${placeOf(source, letters, complaint)} the regular expression is wrong: ${complaint}`,
    'Mend it, or leave out isRegex to search for the text as it stands. It is JavaScript syntax: flags such as (?i) are not known, use ignoreCase.',
  );
}

function refused(message: string, hint?: string): Error {
  return workspaceError('VALIDATION_ERROR', message, hint === undefined ? {} : { hint });
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
}

/** What the engine has against a pattern, without the pattern. */
function complaintOf(source: string, flags: string): string | undefined {
  try {
    return new RegExp(source, flags) instanceof RegExp ? undefined : 'it is none';
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

/** The engine does not say where: what is not closed begins at its bracket, all else ends the shortest part with the same fault. */
function placeOf(source: string, flags: string, complaint: string): number {
  const opening = unclosedAt(source);
  if (/^(unterminated|missing)/i.test(complaint) && opening !== undefined) return opening + 1;
  for (let length = 1; length < source.length; length += 1) {
    if (complaintOf(source.slice(0, length), flags) === complaint) return length;
  }
  return source.length;
}

/** Where the last bracket begins that nothing closes. */
function unclosedAt(source: string): number | undefined {
  const groups: number[] = [];
  let set: number | undefined;
  for (let index = 0; index < source.length; index += 1) {
    const sign = source[index];
    if (sign === '\\') index += 1;
    else if (set !== undefined) set = sign === ']' ? undefined : set;
    else if (sign === '[') set = index;
    else if (sign === '(') groups.push(index);
    else if (sign === ')') groups.pop();
  }
  return set ?? groups.at(-1);
}
