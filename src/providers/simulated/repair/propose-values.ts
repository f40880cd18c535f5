import { valueOf } from './clues.ts';
import type { Proposal, Site } from './propose.ts';
import { numberIn, plainText } from './symptoms.ts';

/** Another number: one more or less, ten or a hundred times, or what the test says. */
export function proposeConstants(site: Site): readonly Proposal[] {
  const { token, clues } = site;
  const value = valueOf(token.text);
  if (!Number.isFinite(value)) return [];
  const role = roleOf(site);
  const others = new Set([value + 1, value - 1]);
  if (role !== 'index')
    for (const other of [value * 10, value / 10, value * 100, value / 100]) others.add(other);
  for (const wanted of wantedInstead(value, clues.tests)) others.add(wanted);
  others.delete(value);
  return [...others]
    .filter((other) => Number.isFinite(other) && (other >= 0 || value <= 0))
    .map((other) => ({
      kind: 'constant',
      start: token.start,
      end: token.end,
      text: String(Number(other.toPrecision(12))),
      fit: fitOf({ value, other, role }, clues.tests),
    }));
}

/** What a number does where it stands. */
type Role = 'index' | 'factor' | 'divisor' | 'summand' | 'plain';

function roleOf({ token, file, place }: Site): Role {
  const { tokens } = file;
  const before = tokens[place - 1]?.text ?? '';
  const after = tokens[place + 1]?.text ?? '';
  if (before === '[' || (before === '=' && /^(?:let|var)$/.test(tokens[place - 3]?.text ?? '')))
    return 'index';
  if (before === '=' && tokens[place - 3]?.text === 'const')
    return roleOfName(tokens, tokens[place - 2]?.text);
  return roleBetween(before, after) ?? (token.text === '0' || token.text === '1' ? 'index' : 'plain');
}

function roleOfName(tokens: Site['file']['tokens'], name: string | undefined): Role {
  const uses = tokens.flatMap(({ text }, place) => {
    const role =
      text === name ? roleBetween(tokens[place - 1]?.text ?? '', tokens[place + 1]?.text ?? '') : undefined;
    return role === undefined ? [] : [role];
  });
  return uses[0] ?? 'plain';
}

function roleBetween(before: string, after: string): Role | undefined {
  if (before === '/') return 'divisor';
  if (before === '*' || after === '*' || after === '/') return 'factor';
  return /^[+-]=?$/.test(before) || /^[+-]$/.test(after) ? 'summand' : undefined;
}

type Tests = Site['clues']['tests'];

/** Where the number itself shows up in what came, what was expected there is a good guess. */
function wantedInstead(value: number, tests: Tests): readonly number[] {
  return tests.flatMap(({ actual, expected }) => {
    const [came, wanted] = [numberIn(actual), numberIn(expected)];
    if (came === undefined || wanted === undefined) return [];
    if (came === value) return [wanted];
    // A factor must grow with the result, and a divisor the other way round.
    return [(value * wanted) / came, (value * came) / wanted].filter(
      (scaled) => Number.isFinite(scaled) && String(scaled).length < 10,
    );
  });
}

interface Exchange {
  readonly value: number;
  readonly other: number;
  readonly role: Role;
}

/** Numbers that stand in every program for all sorts of things, and are seldom what is wrong. */
const smallest = 3;

/** A change that explains every difference in the same way is a good one. */
function fitOf({ value, other, role }: Exchange, tests: Tests): number {
  const numbers = tests.flatMap(({ actual, expected }) => {
    const [came, wanted] = [numberIn(actual), numberIn(expected)];
    return came === undefined || wanted === undefined ? [] : [{ came, wanted }];
  });
  const doubt = Math.abs(value) < smallest ? -3 : 0;
  if (numbers.length === 0) return doubt;
  const explains = ({ came, wanted }: { readonly came: number; readonly wanted: number }): boolean => {
    if (role === 'factor') return near(wanted * value, came * other);
    if (role === 'divisor') return near(wanted * other, came * value);
    if (role === 'summand') return near(Math.abs(wanted - came), Math.abs(other - value));
    return came === value && wanted === other;
  };
  if (numbers.every(explains)) return 4 + doubt;
  const isByOne = role === 'summand' && Math.abs(other - value) === 1;
  return (isByOne ? 0 : -2) + doubt;
}

function near(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(other));
}

/** A text that differs from what was expected in its middle, mended there. */
export function proposeTexts({ token, clues }: Site): readonly Proposal[] {
  const quote = token.text.charAt(0);
  const literal = token.text.slice(1, -1);
  const found = new Map<string, number>();
  for (const { actual, expected } of clues.tests) {
    for (const [text, fit] of mendedTexts(literal, plainText(actual), plainText(expected)))
      found.set(text, fit);
  }
  return [...found].map(([text, fit]) => ({
    kind: 'text',
    start: token.start,
    end: token.end,
    text: quote + text + quote,
    fit,
  }));
}

const maxText = 2000;

function mendedTexts(
  literal: string,
  actual: string,
  expected: string,
): readonly (readonly [string, number])[] {
  if (actual === '' || expected === '' || Math.max(actual.length, expected.length) > maxText) return [];
  let start = 0;
  while (start < Math.min(actual.length, expected.length) && actual[start] === expected[start]) start += 1;
  let end = 0;
  const most = Math.min(actual.length, expected.length) - start;
  while (end < most && actual.at(-1 - end) === expected.at(-1 - end)) end += 1;
  const came = actual.slice(start, actual.length - end);
  const wanted = expected.slice(start, expected.length - end);
  if (came !== '' && literal.includes(came)) return [[literal.replace(came, () => wanted), 5]];
  if (came !== '' || literal === '' || wanted === '')
    return literal === '' && came === '' ? [[wanted, 1]] : [];
  const before = actual.slice(0, start);
  const after = actual.slice(start);
  const longer: (readonly [string, number])[] = [];
  if (before.endsWith(literal)) longer.push([literal + wanted, 5]);
  if (after.startsWith(literal)) longer.push([wanted + literal, 5]);
  return longer;
}
