/**
 * How many tokens a text is, without a tokenizer: words, groups of digits, signs and breaks are counted as tokenizers cut them,
 * and other scripts by the character. The weights were fitted to cl100k and o200k, whichever counts more, and lean upwards:
 * an overestimate costs a little room, an underestimate a refused request.
 */

/** A longer text is judged by samples of it, so that a result of many megabytes costs no more than one of this length. */
const maxScannedCharacters = 16_384;
const samples = 16;
const sampleCharacters = maxScannedCharacters / samples;

/** Estimates the tokens of a text. A whole number, 0 for no text; the work is bounded. */
export function estimateTextTokens(text: string): number {
  if (text.length <= maxScannedCharacters) return Math.ceil(tokensBetween(text, 0, text.length));
  const stride = (text.length - sampleCharacters) / (samples - 1);
  let tokens = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const from = Math.floor(sample * stride);
    tokens += tokensBetween(text, from, from + sampleCharacters);
  }
  return Math.ceil((tokens / maxScannedCharacters) * text.length);
}

const weights = {
  word: 1.06,
  /** For every three letters beyond the sixth of a word. */
  longWord: 0.36,
  /** The same for capitals, beyond the fourth. */
  longShout: 0.3,
  /** Up to three digits. */
  digits: 1.15,
  sign: 0.95,
  /** A sign directly after another one. */
  nextSign: 0.5,
  /** A sign directly before a word is often one token with it. */
  signBeforeWord: -0.38,
  lineBreak: 0.85,
  indent: 0.6,
  gap: 1.45,
  /** A character beyond the 24th of an unbroken run of letters and digits: keys, hashes, base64. */
  denseCharacter: 0.45,
  accentedLetter: 1.2,
  /** Words of a language with accents: tokenizers are made for English first. */
  foreignWord: 0.32,
  foreignLongWord: 0.35,
} as const;

const foreignShare = 0.008;
const denseFrom = 24;

const lower = 0;
const upper = 1;
const digit = 2;
const blank = 3;
const lineEnd = 4;
const sign = 5;
const accented = 6;
const other = 7;

const asciiKinds = new Uint8Array(128).map((_, unit) => {
  if (unit >= 97 && unit <= 122) return lower;
  if (unit >= 65 && unit <= 90) return upper;
  if (unit >= 48 && unit <= 57) return digit;
  if (unit === 32 || unit === 9) return blank;
  return unit === 10 || unit === 13 ? lineEnd : sign;
});

/** Tokens a character, by the last code unit of a range. A surrogate is half a character. */
const scripts: readonly (readonly [last: number, tokens: number])[] = [
  [0x03ff, 1.1], // Greek
  [0x052f, 0.58], // Cyrillic
  [0x058f, 1.3], // Armenian
  [0x05ff, 1.35], // Hebrew
  [0x08ff, 0.88], // Arabic
  [0x0dff, 1.3], // Indic scripts
  [0x0eff, 1], // Thai, Lao
  [0x1dff, 1.6], // Myanmar, Georgian, Ethiopic, Khmer and others
  [0x1fff, 1.3], // Greek with marks
  [0x206f, 1], // Dashes, quotation marks
  [0x2fff, 1.6], // Symbols
  [0x30ff, 1.05], // Kana
  [0xabff, 1.55], // Han
  [0xd7ff, 1.5], // Hangul
  [0xdfff, 1.4], // Surrogates: emoji, rare Han
  [0xffff, 1.05], // Full-width forms
];

/** The same by blocks of code units, for a search in the list would cost more than all the rest. */
const blockBits = 4;
const scriptTokens = new Float64Array(0x1_0000 >> blockBits).map((_, block) => {
  const range = scripts.find(([last]) => block << blockBits <= last);
  return range?.[1] ?? 1;
});

/** Written while a text is read. */
interface Scan {
  tokens: number;
  words: number;
  longWords: number;
  letters: number;
  accents: number;
  /** The length of the piece that is being read, and of the run of letters and digits around it. */
  piece: number;
  run: number;
  isIndent: boolean;
}

function tokensBetween(text: string, from: number, to: number): number {
  const scan: Scan = {
    tokens: 0,
    words: 0,
    longWords: 0,
    letters: 0,
    accents: 0,
    piece: 0,
    run: 0,
    isIndent: false,
  };
  let before = lineEnd;
  for (let index = from; index < to; index += 1) {
    const unit = text.charCodeAt(index);
    const kind = kindOf(unit);
    if (kind <= digit) {
      scan.run += 1;
      if (scan.run > denseFrom) scan.tokens += weights.denseCharacter;
      if (kind === digit) readDigit(scan, before);
      else readLetter(scan, kind, before);
    } else {
      scan.run = 0;
      if (kind === other) scan.tokens += scriptTokens[unit >> blockBits] ?? 1;
      else readBreak(scan, kind, before);
    }
    before = kind;
  }
  return sumUp(scan);
}

function kindOf(unit: number): number {
  if (unit < 128) return asciiKinds[unit] ?? sign;
  return unit < 0x370 || (unit >= 0x1e00 && unit < 0x1f00) ? accented : other;
}

function readLetter(scan: Scan, kind: number, before: number): void {
  const goesOn = before === kind || before === accented || (kind === lower && before === upper);
  if (!goesOn) {
    scan.words += 1;
    scan.piece = 0;
  }
  if (before === sign) scan.tokens += weights.signBeforeWord;
  scan.letters += 1;
  scan.piece += 1;
  if (kind === lower && scan.piece > 6 && scan.piece % 3 === 1) scan.longWords += 1;
  if (kind === upper && scan.piece > 4 && scan.piece % 3 === 2) scan.tokens += weights.longShout;
}

function readDigit(scan: Scan, before: number): void {
  if (before !== digit) scan.piece = 0;
  if (scan.piece % 3 === 0) scan.tokens += weights.digits;
  scan.piece += 1;
}

function readBreak(scan: Scan, kind: number, before: number): void {
  if (kind === sign) {
    scan.tokens += before === sign ? weights.nextSign : weights.sign;
  } else if (kind === lineEnd) {
    if (before !== lineEnd) scan.tokens += weights.lineBreak;
  } else if (kind === accented) {
    scan.accents += 1;
    scan.letters += 1;
  } else {
    readBlank(scan, before);
  }
}

/** A single blank is one token with the word behind it, so only the second one counts, and all others with it. */
function readBlank(scan: Scan, before: number): void {
  if (before === blank && scan.piece === 1) scan.tokens += scan.isIndent ? weights.indent : weights.gap;
  if (before !== blank) scan.isIndent = before === lineEnd;
  scan.piece = before === blank ? scan.piece + 1 : 1;
}

function sumUp({ tokens, words, longWords, letters, accents }: Scan): number {
  const isForeign = accents > letters * foreignShare;
  const perWord = weights.word + (isForeign ? weights.foreignWord : 0);
  const perLongWord = weights.longWord + (isForeign ? weights.foreignLongWord : 0);
  return Math.max(0, tokens + words * perWord + longWords * perLongWord + accents * weights.accentedLetter);
}
