/** What stands where a secret stood. It never holds a part of the secret, so that redacting twice changes nothing. */
export const mark = '[redacted]';

/** The mark of a secret whose kind is known: `[redacted anthropic key]`. A kind is one to three lower-case words. */
export function markOf(kind: string): string {
  return `[redacted ${kind}]`;
}

/** The source of a pattern for any mark, for those who must not cut one in two at its spaces. */
export const markSource = String.raw`\[redacted(?: [a-z]{2,12}){0,3}\]`;
const markAtPosition = new RegExp(markSource, 'y');

/** The length of the mark that begins at `index`, or 0 where none does. */
export function markLengthAt(text: string, index: number): number {
  markAtPosition.lastIndex = index;
  return markAtPosition.test(text) ? markAtPosition.lastIndex - index : 0;
}

/** Whether a text is one mark and nothing else. */
export function isMark(text: string): boolean {
  return text.length > 0 && markLengthAt(text, 0) === text.length;
}

/**
 * Where a word may begin: not after a letter or digit, unless these are the end of an escape, for in logs a key also
 * follows a written-out `\n`, `%3D`, `\u0022` or the `m` of a colour code. To be put before a pattern.
 */
export const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\[[0-9;]{1,8}m))`;

const wordStartAtPosition = new RegExp(wordStart, 'y');

/** Whether a word may begin at `index`. */
export function isWordStart(text: string, index: number): boolean {
  wordStartAtPosition.lastIndex = index;
  return wordStartAtPosition.test(text);
}
