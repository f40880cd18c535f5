import { valueOf } from './clues.ts';
import type { Clues } from './clues.ts';
import { methodSwaps, signSwaps } from './edit-table.ts';
import type { EditKind } from './edit-table.ts';
import type { FoundFunction } from './functions.ts';
import { proposeConstants, proposeTexts } from './propose-values.ts';
import { proposeNames } from './propose-names.ts';
import type { ProgramFile } from './program.ts';
import { numberIn } from './symptoms.ts';
import type { Token } from './tokens.ts';

/** A place in a function that may be wrong. */
export interface Site {
  readonly file: ProgramFile;
  readonly found: FoundFunction;
  readonly place: number;
  readonly token: Token;
  readonly clues: Clues;
}

/** A change of one place. */
export interface Proposal {
  readonly kind: EditKind;
  /** In the source: what is cut out, and what is put there. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** How well it goes with what the tests show, from 0 on. */
  readonly fit: number;
}

/** Everything that one place may have been meant to be. */
export function proposeAt(site: Site): readonly Proposal[] {
  switch (site.token.type) {
    case 'sign':
      return [...proposeSigns(site), ...proposeOrder(site)];
    case 'word':
      return [
        ...proposeMethods(site),
        ...proposeLengths(site),
        ...proposeAwait(site),
        ...proposeTruth(site),
        ...proposeNames(site),
      ];
    case 'number':
      return proposeConstants(site);
    case 'string':
    case 'template':
      return proposeTexts(site);
    default:
      return [];
  }
}

/** A function that ends with a value and does not give it back. */
export function proposeReturn({ file, found }: Pick<Site, 'file' | 'found'>): readonly Proposal[] {
  const { tokens } = file;
  const body = tokens.slice(found.body + 1, found.last);
  if (!found.hasBlock || body.length === 0 || body.some(({ text }) => text === 'return')) return [];
  let depth = 0;
  let start: Token | undefined = body[0];
  for (const [place, { text, type }] of body.entries()) {
    if (type === 'sign' && /^[([{]$/.test(text)) depth += 1;
    if (type === 'sign' && /^[)\]}]$/.test(text)) depth -= 1;
    const next = body[place + 1];
    if (depth === 0 && (text === ';' || text === '}') && next !== undefined) start = next;
  }
  if (start === undefined || /^(?:if|for|while|const|let|var|throw|switch|try)$/.test(start.text)) return [];
  return [{ kind: 'return', start: start.start, end: start.start, text: 'return ', fit: 2 }];
}

function proposeSigns({ token, file, place, clues }: Site): readonly Proposal[] {
  const { start, end, text } = token;
  const before = file.tokens[place - 1];
  const isUnary =
    before === undefined ||
    (before.type === 'sign' && !/^[)\]}]$/.test(before.text)) ||
    before.text === 'return';
  if (text === '!') return [{ kind: 'negation', start, end, text: '', fit: 0 }];
  if (isUnary && text === '-') return [{ kind: 'arithmetic', start, end, text: '', fit: 0 }];
  if (isUnary) return [];
  if (text === '=' && isCondition(file.tokens, place))
    return [{ kind: 'comparison', start, end, text: '===', fit: 6 }];
  return (signSwaps.get(text) ?? []).map(([other, kind]) => {
    const fit =
      kind === 'boundary'
        ? boundaryFit(file.tokens, place, clues)
        : signFit(other, file.tokens[place + 1], { text, clues });
    return { kind, start, end, text: other, fit };
  });
}

/** Signs that make a result larger, the later the more so. */
const growing: readonly string[] = ['%', '/', '-', '+', '*', '**'];

/** Whether the result comes nearer to what was expected; and `x - 32` for `x + 32` makes a difference of 64. */
function signFit(
  other: string,
  operand: Token | undefined,
  { text, clues }: { readonly text: string; readonly clues: Clues },
): number {
  // Nothing and zero are not the same.
  const isZero = clues.tests.some(({ expected }) => /^(?:0|false|''|"")$/.test(expected ?? ''));
  if (text === '||') return other === '??' && isZero ? 6 : 0;
  const [from, to] = [growing.indexOf(text.replace('=', '')), growing.indexOf(other.replace('=', ''))];
  const gaps = clues.tests.flatMap(({ actual, expected }) => {
    const [came, wanted] = [numberIn(actual), numberIn(expected)];
    return came === undefined || wanted === undefined || came === wanted ? [] : [wanted - came];
  });
  if (from < 0 || to < 0 || gaps.length === 0) return 0;
  const value = operand?.type === 'number' ? valueOf(operand.text) : clues.constants.get(operand?.text ?? '');
  const isSum = /^[+-]$/.test(text) && /^[+-]$/.test(other);
  if (isSum && value !== undefined && gaps.every((gap) => Math.abs(gap) === 2 * value)) return 4;
  return gaps.every((gap) => gap > 0 === to > from) ? 1 : -3;
}

/** A test at the very number that is compared with is about that boundary. */
function boundaryFit(tokens: readonly Token[], place: number, { numbers, constants }: Clues): number {
  const sides = [tokens[place - 1], tokens[place + 1]].flatMap((token) => {
    if (token?.type === 'number') return [valueOf(token.text)];
    const known = token === undefined ? undefined : constants.get(token.text);
    return known === undefined ? [] : [known];
  });
  if (sides.some((value) => numbers.has(value) && value !== 0 && value !== 1)) return 6;
  return sides.some((value) => numbers.has(value)) ? 2 : 0;
}

function isCondition(tokens: readonly Token[], place: number): boolean {
  for (let step = place - 1; step > place - 8 && step > 0; step -= 1) {
    const { text = '' } = tokens[step] ?? {};
    if (text === '(') return /^(?:if|while)$/.test(tokens[step - 1]?.text ?? '');
    if (text === ';' || text === '{') return false;
  }
  return false;
}

/** `a - b` where `b - a` was meant, as in the comparison of a sort. */
function proposeOrder({ token, file, place, clues }: Site): readonly Proposal[] {
  if (token.text !== '-' && token.text !== '/') return [];
  const left = chain(file.tokens, place, -1);
  const right = chain(file.tokens, place, 1);
  if (left === undefined || right === undefined) return [];
  const { source } = file;
  const [one, other] = [source.slice(left.start, left.end), source.slice(right.start, right.end)];
  const isSort = /ort(?:ed)?\(/.test(source.slice(Math.max(0, left.start - 80), left.start));
  const isNegated = clues.tests.some(
    ({ actual, expected }) => actual !== undefined && actual !== '0' && `-${actual}` === expected,
  );
  const swapped = `${other} ${token.text} ${one}`;
  const fit = (isSort ? 4 : -2) + (isNegated ? 7 : 0);
  return [
    { kind: 'order', start: left.start, end: right.end, text: swapped, fit },
    // From 2 to 5 there are four numbers, not three.
    ...(token.text === '-' && !isSort && !/^\d/.test(other)
      ? [{ kind: 'boundary', start: right.end, end: right.end, text: ' + 1', fit: -1 } as const]
      : []),
  ];
}

/** `order.total`, on the left or on the right of an operator. */
function chain(
  tokens: readonly Token[],
  place: number,
  step: 1 | -1,
): { readonly start: number; readonly end: number } | undefined {
  let last = place;
  while (isLink(tokens[last + step], last === place ? undefined : tokens[last])) last += step;
  const beyond = tokens[last + step]?.text ?? '';
  if (last === place || (step === 1 && /^[([]$/.test(beyond))) return undefined;
  const [from, to] = step === 1 ? [tokens[place + 1], tokens[last]] : [tokens[last], tokens[place - 1]];
  return from === undefined || to === undefined ? undefined : { start: from.start, end: to.end };
}

function isLink(token: Token | undefined, before: Token | undefined): boolean {
  if (token === undefined) return false;
  const isDot = token.text === '.';
  if (before === undefined)
    return !isDot && (token.type === 'word' || token.type === 'number') && token.text !== 'return';
  return isDot ? before.text !== '.' : before.text === '.' && token.type === 'word';
}

function proposeMethods({ token, file, place, clues }: Site): readonly Proposal[] {
  if (file.tokens[place - 1]?.text !== '.') return [];
  const isByOne = clues.tests.some(({ actual, expected }) => {
    return Math.abs((numberIn(actual) ?? Number.NaN) - (numberIn(expected) ?? Number.NaN)) <= 1;
  });
  return (methodSwaps.get(token.text) ?? []).map((text) => {
    const fit = isByOne && /^(?:floor|ceil|round|trunc)$/.test(token.text) ? 4 : 0;
    return { kind: 'method', start: token.start, end: token.end, text, fit };
  });
}

/** One too many, or one too few. */
function proposeLengths({ token, file, place }: Site): readonly Proposal[] {
  const { tokens } = file;
  if (token.text !== 'length' || tokens[place - 1]?.text !== '.') return [];
  const [sign, one] = [tokens[place + 1], tokens[place + 2]];
  const { end } = token;
  if (/^[+-]$/.test(sign?.text ?? '') && one?.text === '1') {
    return [{ kind: 'boundary', start: end, end: one.end, text: '', fit: 2 }];
  }
  const isIndex = sign?.text === ']';
  return [{ kind: 'boundary', start: end, end, text: ' - 1', fit: isIndex ? 6 : 0 }];
}

const maxBack = 12;

function proposeAwait({ token, file, place, clues, found }: Site): readonly Proposal[] {
  const { tokens } = file;
  if (tokens[place + 1]?.text !== '(' || !found.isAsync) return [];
  const isKnown = clues.asyncNames.has(token.text);
  let first = place;
  while (first > 1 && place - first < maxBack && tokens[first - 1]?.text === '.') first -= 2;
  const start = tokens[first]?.start ?? token.start;
  const before = tokens[first - 1]?.text;
  if (before === 'await' || before === 'function' || before === 'new' || first === found.first) return [];
  return isKnown ? [{ kind: 'await', start, end: start, text: 'await ', fit: 6 }] : [];
}

function proposeTruth({ token, file, place, clues }: Site): readonly Proposal[] {
  const { start, end, text } = token;
  if (text === 'true' || text === 'false') {
    return [{ kind: 'negation', start, end, text: text === 'true' ? 'false' : 'true', fit: 0 }];
  }
  const isChosen = file.tokens[place + 1]?.text === '?' && file.tokens[place + 2]?.text !== ':';
  if (isChosen && /^(?:return|=|\(|=>)$/.test(file.tokens[place - 1]?.text ?? '')) {
    return [{ kind: 'negation', start, end: start, text: '!', fit: isExchanged(clues) ? 14 : 1 }];
  }
  if (text !== 'if' || file.tokens[place + 1]?.text !== '(') return [];
  const open = file.tokens[place + 1];
  const first = file.tokens[place + 2];
  const second = file.tokens[place + 3]?.text ?? '';
  // Only a condition of one value is turned round: the others have a sign that can be.
  const isPlain = first?.type === 'word' && /^[.()]$/.test(second);
  return open === undefined || !isPlain
    ? []
    : [{ kind: 'negation', start: open.end, end: open.end, text: '!', fit: 0 }];
}

/** One test gets what the other expects, and the other way round. */
function isExchanged({ tests }: Clues): boolean {
  return tests.some((one) =>
    tests.some((other) => one !== other && one.actual === other.expected && one.expected === other.actual),
  );
}
