import { markLengthAt, markSource } from './redact-marks.ts';
import { isHeaderName, isPasswordName, isSecretName } from './redact-names.ts';
import { isNoSecret, looksMachineMade, looksTyped, maxJudgedCharacters } from './redact-shapes.ts';
import { readLine, readQuoted, readUnquoted } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/** The name of a secret in a text. */
export interface Label extends Span {
  readonly name: string;
  /** A name that is secret in the query of an address only, such as `key` and `sig`. */
  readonly isQuery: boolean;
}

/** The secrets that belong to a label: none, one, or the members of a list. */
export function findValues(text: string, label: Label): readonly Span[] {
  const separator = findSeparator(text, label);
  if (separator === undefined) return [];
  const quoted = readQuotedValues(text, separator.end);
  if (quoted.length > 0) {
    if (isNextLabel(text, quoted[0])) return [];
    const values = quoted.map((span) => afterScheme(text, span, label));
    return values.filter((span) => isSecret(text, span, { label, form: 'quoted' }));
  }
  const header = isHeaderName(label.name) ? readHeader(text, label, separator) : undefined;
  if (header !== undefined) return [header];
  const span = readWord(text, separator.end, label);
  if (isLabelAgain(text, span)) return [];
  const isCertain = (separator.isTight && text.charAt(span.end) !== '(') || isWholeLine(text, label, span);
  return isSecret(text, span, { label, form: isCertain ? 'certain' : 'doubtful' }) ? [span] : [];
}

interface Separator {
  readonly end: number;
  /** An equals sign without space around it: nothing but a value follows. */
  readonly isTight: boolean;
  /** The name stands in quotes of its own, which end before the value. */
  readonly isAfterQuote: boolean;
}

const sign =
  /(\\{0,4}["'`]|%2[27]|&quot;|&#3[49];)?\]?([ \t]{0,8})(?:provided[ \t]{0,2})?(=>|:=|={1,3}|:|%3[AaDd])([ \t]{0,8})(?:\r?\n[ \t]{0,40}(?=["']))?/y;
const comma = /\\{0,4}["'],\s{0,40}(?=[bru]?\\{0,4}["'])/y;
const space = /[ \t]{1,4}/y;

function findSeparator(text: string, { name, start, end }: Label): Separator | undefined {
  sign.lastIndex = end;
  const hit = sign.exec(text);
  if (hit !== null) {
    const isTight = hit[2] === '' && hit[4] === '' && /=$|%3d/i.test(hit[3] ?? '');
    return { end: sign.lastIndex, isTight, isAfterQuote: hit[1] !== undefined };
  }
  if (text.charAt(start - 1) === '<' && text.charAt(end) === '>')
    return { end: end + 1, isTight: true, isAfterQuote: false };
  // `['x-api-key', '…']` is how raw headers are printed, `--api-key …` how flags are.
  const other = name.startsWith('--') ? space : comma;
  if (other === comma && !isHeaderName(name)) return undefined;
  other.lastIndex = end;
  return other.test(text) ? { end: other.lastIndex, isTight: false, isAfterQuote: true } : undefined;
}

const listStart = /\[\s{0,40}/y;
const listComma = /\\{0,4}["'`]\s{0,8},\s{0,40}/y;

/** A quoted value, or those of a list, as in `'set-cookie': [ '…', '…' ]`. */
function readQuotedValues(text: string, at: number): readonly Span[] {
  listStart.lastIndex = at;
  const isList = markLengthAt(text, at) === 0 && listStart.test(text);
  const spans: Span[] = [];
  let span = readQuoted(text, isList ? listStart.lastIndex : at);
  while (span !== undefined) {
    spans.push(span);
    listComma.lastIndex = span.end;
    span = isList && listComma.test(text) ? readQuoted(text, listComma.lastIndex) : undefined;
  }
  return spans;
}

const quoteAndSign = /\\{0,4}["'`][ \t]{0,4}[:=]/y;

/** In `invalid x-api-key: "client_secret": "…"` the first quotes hold the name of what the second hold. */
function isNextLabel(text: string, span: Span | undefined): boolean {
  if (span === undefined || span.end - span.start > maxJudgedCharacters) return false;
  quoteAndSign.lastIndex = span.end;
  return quoteAndSign.test(text) && isSecretName(text.slice(span.start, span.end));
}

/** In `--header=x-api-key="…"` the value of the first name is a second one, found next. */
function isLabelAgain(text: string, { start, end }: Span): boolean {
  const isShort = end - start <= maxJudgedCharacters;
  return isShort && text.charAt(end - 1) === '=' && isSecretName(text.slice(start, end - 1));
}

const scheme =
  /(?:bearer|basic|token|apikey|key|digest|dpop|negotiate|hawk|oauth|signature|sharedkey)[ \t]{1,4}/iy;
const anyScheme = /[A-Za-z][\w-]{1,20}[ \t]{1,4}/y;

/** The name of the scheme stays, for it helps and hides nothing. */
function afterScheme(text: string, span: Span, label: Label): Span {
  scheme.lastIndex = span.start;
  const isScheme = !isPasswordName(label.name) && scheme.test(text) && scheme.lastIndex < span.end;
  return isScheme ? { start: scheme.lastIndex, end: span.end } : span;
}

/** A value without quotes. After a scheme it is the second word, which in `authorization` any first word may be. */
function readWord(text: string, at: number, label: Label): Span {
  scheme.lastIndex = at;
  if (scheme.test(text)) return readUnquoted(text, scheme.lastIndex);
  anyScheme.lastIndex = at;
  if (!/authorization$/i.test(label.name) || !anyScheme.test(text)) return readUnquoted(text, at);
  const second = readUnquoted(text, anyScheme.lastIndex);
  return looksMachineMade(text.slice(second.start, second.end)) ? second : readUnquoted(text, at);
}

/** What else ends a header line: where a line break is written `\\n`, the line is part of some quoted text. */
const quotesOf = { real: '', written: `"'\``, none: '' } as const;

/** The value of a header: the rest of its line where it begins one, else as many cookies as follow. */
function readHeader(text: string, label: Label, separator: Separator): Span | undefined {
  const line = startOfLine(text, label.start);
  const quote = text.charAt(label.start - 1);
  const isInQuotes = !separator.isAfterQuote && /["'`]/.test(quote);
  const isCookie = /cookie/i.test(label.name);
  if (line === 'none' && !isInQuotes) return isCookie ? readCookies(text, separator.end) : undefined;
  const { start, end } = afterScheme(
    text,
    readLine(text, separator.end, isInQuotes ? quote : quotesOf[line]),
    label,
  );
  const value = text.slice(start, end).trimEnd();
  const span = { start, end: start + value.length };
  const isHidden = isCookie ? value.includes('=') : isHeaderValue(text, span, label);
  return isHidden ? span : undefined;
}

function isHeaderValue(text: string, span: Span, label: Label): boolean {
  const value = text.slice(span.start, span.end);
  const isOneWord = value.length > maxJudgedCharacters || !/\s/.test(value);
  if (isOneWord) return isSecret(text, span, { label, form: 'certain' });
  return !isNoSecret(value) && value.split(/\s+/).some(looksMachineMade);
}

const cookiePair = new RegExp(
  String.raw`[^\s;,"'=\\]{1,128}=[^\s;"'\\[]*(?:${markSource}[^\s;"'\\[]*)?(?:;[ \t]{0,2})?`,
  'y',
);

function readCookies(text: string, start: number): Span | undefined {
  let end = start;
  cookiePair.lastIndex = start;
  while (cookiePair.test(text)) end = cookiePair.lastIndex;
  return end === start ? undefined : { start, end };
}

/** Looks back from a name to the beginning of its line, over what lists, shells and diffs put there. */
const lineStart = /(?<=(^|[\r\n]|\\[rn])[ \t]{0,40}(?:(?:export|set|env|[-*>#$+])[ \t]{1,4})?["']?)/y;
const lineEnd = /["'`]?[ \t]{0,8}(?:$|[\r\n]|\\[rn])/y;

/** Whether a name begins a line, and whether the break before it is real or a written `\n`. */
function startOfLine(text: string, index: number): 'real' | 'written' | 'none' {
  lineStart.lastIndex = index;
  const hit = lineStart.exec(text);
  if (hit === null) return 'none';
  return hit[1]?.startsWith('\\') === true ? 'written' : 'real';
}

/** `password = swordfish` alone on its line is a setting, not a sentence. */
function isWholeLine(text: string, label: Label, span: Span): boolean {
  lineEnd.lastIndex = span.end;
  return lineEnd.test(text) && startOfLine(text, label.start) !== 'none';
}

interface Evidence {
  readonly label: Label;
  /** `quoted` and `certain`: what follows is a value. `doubtful`: it may be the rest of a sentence. */
  readonly form: 'quoted' | 'certain' | 'doubtful';
}

function isSecret(text: string, span: Span, { label, form }: Evidence): boolean {
  // A value that is not hidden is read again for the labels within it, so only short ones may stay.
  if (span.end - span.start > maxJudgedCharacters) return true;
  const value = text.slice(span.start, span.end);
  const isPassword = isPasswordName(label.name);
  if (form === 'doubtful' && !(isPassword ? looksTyped(value) : looksMachineMade(value))) return false;
  if (isNoSecret(value)) return false;
  if (label.isQuery) return /^sig/i.test(label.name) ? value.length >= 8 : looksMachineMade(value);
  // `api_key=api_key` hands a variable on.
  const isVariable = form === 'certain' && /^[a-z_.]+$/i.test(value) && isSecretName(value);
  return isPassword || (value.length >= 4 && !isVariable && !/^[\d:.,-]{1,7}$/.test(value));
}
