/**
 * Checks a sentence of a model against the facts it cites. Everything in it that can be looked up must be there: numbers (as digits and as
 * words), codes and other words in capitals, whatever is quoted, names with signs in them (paths, addresses, `snake_case`,
 * `camelCase`) and what is called a tool, a model and the like. Plain words are the model's own.
 */
import { abbreviations, amountWords, besideNames } from './claim-words.ts';

/** What a sentence may rest on. */
export interface Evidence {
  /** Lines that it cites. */
  readonly facts: readonly string[];
  /** Names that everybody may use. */
  readonly names: readonly string[];
}

/** The first thing in a sentence that its facts do not contain, or nothing. */
export function findInvention(sentence: string, evidence: Evidence): string | undefined {
  const text = sentence.normalize('NFKC');
  const known = knownBy(evidence);
  const quoted = [...text.matchAll(quotes)].flatMap((found) => found.slice(1)).filter(isText);
  const rest = known.without(text);
  return (
    quoted.find((name) => !known.holds(name.trim())) ??
    rest
      .match(words)
      ?.map(trimSigns)
      .find((word) => !isKnown(word, known)) ??
    findLongNumber(rest) ??
    findNamed(rest, known)
  );
}

/** Straight, curly and other quotes, and code. A single straight one is an apostrophe more often than not. */
const quotes =
  /"([^"]*)"?|“([^”]*)”?|‘([^’]*)’|«([^»]*)»?|„([^“”]*)[“”]?|`([^`]*)`?|(?<!\p{L})'([^']+)'(?!\p{L})/gu;
const words = /[^\s"“”„«»`()[\]{}]+/gu;

interface Known {
  /** Whether it stands there as it is, as a whole word or several. */
  readonly holds: (name: string) => boolean;
  readonly hasNumber: (value: number) => boolean;
  /** Whether this plain word is used there. */
  readonly hasWord: (word: string) => boolean;
  /** A text without the names that everybody may use. */
  readonly without: (text: string) => string;
}

function knownBy({ facts, names }: Evidence): Known {
  const lines = facts.map((fact) => fact.normalize('NFKC'));
  // A name that is only a number, or looks like a code, would let every such number and code pass.
  const plain = names.map((name) => name.normalize('NFKC')).filter((name) => /\p{Ll}/u.test(name));
  const all = [...lines, ...plain];
  const numbers = new Set(lines.flatMap((line) => line.match(wholeNumbers)?.map(valueOf) ?? []));
  const used = new Set(all.flatMap((line) => line.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []));
  const longestFirst = plain.filter((name) => name.length > 1).toSorted((a, b) => b.length - a.length);
  return {
    holds: (name) => all.some((line) => placeOf(line, name, 0) !== -1),
    hasNumber: (value) => numbers.has(value),
    hasWord: (word) => used.has(word.toLowerCase()),
    without: (text) => longestFirst.reduce(withoutName, text),
  };
}

/** Those that are no part of a name: not the 5.2 of `gpt-5.2`. */
const wholeNumbers = /(?<![\p{L}\p{N}_.@/-])\d[\d,_]*(?:\.\d+)?(?=(?:ms|s|min|h|k|x|%)?(?![\p{L}\p{N}_]))/gu;

function valueOf(digits: string): number {
  return Number(digits.replaceAll(/[,_]/gu, ''));
}

function withoutName(text: string, name: string): string {
  let rest = text;
  // Bounded: each round takes a name away.
  for (let at = placeOf(rest, name, 0); at !== -1; at = placeOf(rest, name, at + 1)) {
    // Something stays in its place: what stood around it was not side by side.
    rest = `${rest.slice(0, at)} … ${rest.slice(at + name.length)}`;
  }
  return rest;
}

/** Where a name stands as a whole: `TIMEOUT` does not stand in `TIMEOUT_2`, nor `4` in `40`, `1.4` and `4,000`. */
function placeOf(text: string, name: string, from: number): number {
  for (let at = text.indexOf(name, from); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!goesOn(text, at, -1) && !goesOn(text, at + name.length - 1, 1)) return at;
  }
  return -1;
}

function goesOn(text: string, edge: number, step: 1 | -1): boolean {
  if (!isWordSign(text[edge])) return false;
  const next = text[edge + step];
  return isWordSign(next) || (isJoint(next) && isWordSign(text[edge + 2 * step]));
}

function isWordSign(sign: string | undefined): boolean {
  return sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);
}

function isJoint(sign: string | undefined): boolean {
  return sign !== undefined && /[.,:/@\\-]/u.test(sign);
}

function isText(found: string | undefined): found is string {
  return found !== undefined && found.trim() !== '';
}

function trimSigns(word: string): string {
  return word.replaceAll(/^[^\p{L}\p{N}_/\\@$€#<~.+-]+|[^\p{L}\p{N}_/\\>%]+$/gu, '');
}

function isKnown(word: string, known: Known): boolean {
  if (word === '') return true;
  const number = amount.exec(word)?.[1];
  if (number !== undefined) return known.hasNumber(valueOf(number));
  if (plainWord.test(word)) return isKnownAmount(word, known);
  return known.holds(word) || abbreviations.has(word) || isCompound(word, known);
}

/** `4`, `1,200`, `4.0`, `20%`, `3x`, `12s`, `2nd`, `$5`: of these only the number is looked up. */
const amount = /^[+~#$€-]?(\d[\d,_]*(?:\.\d+)?)(?:%|x|ms|s|min|h|st|nd|rd|th|k)?$/u;
/** Small letters, one capital at the beginning, an apostrophe. */
const plainWord = /^\p{L}\p{Ll}*(?:['’]\p{Ll}{1,3})?$/u;

function isKnownAmount(word: string, known: Known): boolean {
  const value = amountWords.get(word.toLowerCase());
  return value === undefined || known.hasNumber(value) || known.hasWord(word);
}

/** `read-only`, `step-by-step`, `20-minute`, `3–4`, but not `gpt-6`, and not `twenty-five`. */
function isCompound(word: string, known: Known): boolean {
  const parts = word.split(/[-–—…]+/u).filter((part) => part !== '');
  if (parts.length < 2 || !parts.every((part) => plainWord.test(part) || amount.test(part))) return false;
  const firstWord = parts.findIndex((part) => plainWord.test(part));
  const hasNumberBehind = firstWord !== -1 && parts.slice(firstWord).some((part) => amount.test(part));
  const amounts = parts.filter((part) => amountWords.has(part.toLowerCase())).length;
  return !hasNumberBehind && amounts < 2 && parts.every((part) => isKnown(part, known));
}

/** `two hundred`, `1 200`: a number of several words is none of those it consists of. */
function findLongNumber(text: string): string | undefined {
  const parts = text.split(/\s+/u).map(trimSigns);
  const isAmount = (part: string | undefined): boolean =>
    part !== undefined && (/^\d[\d.,]*$/u.test(part) || amountWords.has(part.toLowerCase()));
  const at = parts.findIndex((part, index) => isAmount(part) && isAmount(parts[index + 1]));
  return at === -1 ? undefined : parts.slice(at, at + 2).join(' ');
}

/** What is called a tool or the like without quotes: `the tool refund`, `the refund tool`. */
function findNamed(text: string, known: Known): string | undefined {
  const named = [...text.matchAll(behindKind), ...text.matchAll(beforeKind)].map(([, name = '']) => name);
  return named.find((name) => isName(name, known));
}

const behindKind =
  /\b(?:tool|model|agent|provider|function|node|capability)s?\s+(?:called\s+|named\s+)?([\p{L}\p{N}_-]+)/giu;
const beforeKind = /([\p{L}\p{N}_-]+)\s+(?:tool|model|agent|provider|function|node|capability)s?\b/giu;

function isName(word: string, known: Known): boolean {
  const small = word.toLowerCase();
  return !(besideNames.has(small) || /(?:ed|ly)$/u.test(small) || known.hasWord(small));
}
