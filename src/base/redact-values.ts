import { markLengthAt } from './redact-marks.ts';

/** A part of a text, `end` excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Puts a mark where the spans are; they stand in order and do not overlap. */
export function replaceSpans(text: string, spans: readonly Span[], replacement: string): string {
  if (spans.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  for (const span of spans) {
    pieces.push(text.slice(done, span.start), replacement);
    done = span.end;
  }
  return pieces.join('') + text.slice(done);
}

// The readers below look at each character once and stop at what they do not read, so that a caller who goes on at
// `end` is linear.

const openingQuote = /(?:[A-Za-z_.]{1,32}\()?[bru]{0,2}(\\{0,4}["'`]|%2[27]|&quot;|&#3[49];)/y;

/**
 * The value between quotes that begins at `index`, or undefined where no quote stands there. Knows quotes that were
 * escaped once or twice, `%22` and `&quot;`, and wrappers such as `b'…'` and `SecretStr('…')`. A value whose closing
 * quote is missing, because the text was cut, ends with its line.
 */
export function readQuoted(text: string, index: number): Span | undefined {
  openingQuote.lastIndex = index;
  const quote = openingQuote.exec(text)?.[1];
  if (quote === undefined) return undefined;
  const start = openingQuote.lastIndex;
  return { start, end: endOfQuoted(text, start, quote) };
}

const runs = {
  '"': /[^"\r\n]*/y,
  "'": /[^'\r\n]*/y,
  '`': /[^`\r\n]*/y,
  '%': /[^%\r\n]*/y,
  '&': /[^&\r\n]*/y,
} as const;

function endOfQuoted(text: string, start: number, quote: string): number {
  const closing = quote.replaceAll('\\', '');
  const backslashes = quote.length - closing.length;
  // The pattern of an opening quote admits no other first character.
  const run = runs[closing.charAt(0) as keyof typeof runs];
  let at = start;
  while (at < text.length) {
    run.lastIndex = at;
    run.test(text);
    at = run.lastIndex;
    if (text.charAt(at) !== closing.charAt(0)) return at; // The line or the text ended.
    const escapes = backslashesBefore(text, { index: at, floor: start });
    const isClosing = backslashes === 0 ? escapes % 2 === 0 : escapes <= backslashes;
    if (isClosing && text.startsWith(closing, at)) return backslashes === 0 ? at : at - escapes;
    at += 1;
  }
  return at;
}

function backslashesBefore(
  text: string,
  { index, floor }: { readonly index: number; readonly floor: number },
): number {
  let start = index;
  while (start > floor && text.charCodeAt(start - 1) === 0x5c) start -= 1;
  return index - start;
}

const plainRun = /[^\s"'`,;&<>()[\]{}|\\%]+/y;
const escapeThatEnds = /\\{1,8}["'`nrt]|%2[267]|%0[AaDd]/y;

/** The value without quotes that begins at `index`: up to a space, a quote, a bracket or one of `, ; & < > |`. */
export function readUnquoted(text: string, index: number): Span {
  let at = index;
  while (at < text.length) {
    plainRun.lastIndex = at;
    if (plainRun.test(text)) at = plainRun.lastIndex;
    const step = lengthOfOddPiece(text, at);
    if (step === 0) break;
    at += step;
  }
  // The full stop or colon of the sentence is not part of the value.
  return { start: index, end: at > index && '.:!?'.includes(text.charAt(at - 1)) ? at - 1 : at };
}

/** A mark, or a backslash or percent sign that belongs to the value: characters that end it in other company. */
function lengthOfOddPiece(text: string, at: number): number {
  const character = text.charAt(at);
  if (character === '[') return markLengthAt(text, at);
  if (character !== '\\' && character !== '%') return 0;
  escapeThatEnds.lastIndex = at;
  return escapeThatEnds.test(text) ? 0 : 1;
}

const lineRun = /[^\r\n"'`\\]*/y;
const writtenBreak = /\\{1,4}[rn]/y;
const escapes = /\\{0,4}/y;

/** The rest of a line from `index` on; where the line is part of a quoted text, one of `quotes` ends it too. */
export function readLine(text: string, index: number, quotes: string): Span {
  let at = index;
  while (at < text.length) {
    lineRun.lastIndex = at;
    lineRun.test(text);
    at = lineRun.lastIndex;
    writtenBreak.lastIndex = at;
    if (at >= text.length || '\r\n'.includes(text.charAt(at)) || writtenBreak.test(text)) break;
    escapes.lastIndex = at;
    escapes.test(text);
    if (escapes.lastIndex < text.length && quotes.includes(text.charAt(escapes.lastIndex))) break;
    at = Math.max(at + 1, escapes.lastIndex);
  }
  return { start: index, end: at };
}
