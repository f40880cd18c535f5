import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../classify-provider-failure.ts';
import { failureTraits } from '../../codes.ts';
import { normalise } from '../normalise.ts';
import { allWording } from './wording.ts';

const rules = allWording().map(({ provider, rule }) => {
  const title = `${provider === '' ? 'all' : provider}, ${rule.code}: ${rule.example.slice(0, 80)}`;
  return [title, { provider, rule }] as const;
});

describe('the checker of patterns', () => {
  it.each([
    ['a.*b', '.*'],
    ['a.+b', '.+'],
    ['a.{2,}b', '.{2,}'],
    ['[^x]*y', '[^x]*'],
    [String.raw`\S*x`, String.raw`\S*`],
    [String.raw`\s*x`, String.raw`\s*`],
    [String.raw`a\D+`, String.raw`\D+`],
    ['(a+)+$', 'a+'],
    ['(?:ab|c)*d', '(?:…)*'],
    [String.raw`\w+\w+x`, String.raw`\w+ before \w`],
    [String.raw`\d+\w*x`, String.raw`\w*`],
    [String.raw`(?:\w+){0,5}x`, String.raw`\w+ at the end of a repeated group`],
    [String.raw`(?: \S+){0,9}x`, String.raw`\S+ at the end of a repeated group`],
  ])('reports /%s/', (source, offence) => {
    expect(offencesOf(source).join('; ')).toContain(offence);
  });

  it.each([
    'a.{0,40}b',
    '[^{}]{0,60}?x',
    String.raw`(?:\w+ ){0,4}limit`,
    String.raw`(?: \w+){0,3} too long`,
    String.raw`limit: \d+ tokens`,
    String.raw`model \S+ is`,
    String.raw`escaped \. \+ \* [.*+]`,
    'colou?r',
  ])('accepts /%s/', (source) => {
    expect(offencesOf(source)).toEqual([]);
  });
});

describe('every wording rule', () => {
  it('is there to be looked at', () => {
    expect(rules.length).toBeGreaterThan(40);
    expect(rules.filter(([, { provider }]) => provider !== '').length).toBeGreaterThan(5);
  });

  it.each(rules)('holds for its example: %s', (_, { provider, rule }) => {
    expect(normalise([rule.example])).toMatch(rule.pattern);
    const { code, retryable } = classifyProviderFailure({ provider, body: rule.example });
    expect({ code, retryable }).toEqual({
      code: rule.code,
      retryable: rule.retryable ?? failureTraits[rule.code].retryable,
    });
  });

  it.each(rules)('is matched against lower case without quotes, and keeps no state: %s', (_, { rule }) => {
    expect(rule.pattern.flags.replace('u', '')).toBe('');
    // A capital or a quote in the pattern could never match. Escapes such as \S and \W are none.
    const literal = rule.pattern.source.replaceAll(/\\./g, '');
    expect(literal).not.toMatch(/[A-Z"'`]/);
  });

  it.each(rules)('has no quantifier without a bound over a broad class: %s', (_, { rule }) => {
    expect(offencesOf(rule.pattern.source)).toEqual([]);
  });

  it('takes little time on the worst text its own words can make', () => {
    const maxTextLength = 6000;
    const slow = rules.flatMap(([title, { rule }]) => {
      const words = rule.pattern.source.match(/[a-z]{3,}/g) ?? [];
      const units = [...new Set(words)].slice(0, 12).flatMap((word) => [`${word} `, word, `${word} a `]);
      const startedMs = performance.now();
      for (const unit of units) rule.pattern.test(unit.repeat(Math.ceil(maxTextLength / unit.length)));
      const eachMs = (performance.now() - startedMs) / Math.max(1, units.length);
      return eachMs < 20 ? [] : [`${title}: ${eachMs} ms`];
    });
    expect(slow).toEqual([]);
  });
});

interface Piece {
  readonly atom: string;
  readonly quantifier: string;
}

/**
 * Finds quantifiers without a bound that may make a pattern slow: over a class that nearly everything belongs to, over
 * a group, before something that its class also holds, or at the end of a group that is repeated itself. Conservative:
 * it may report a harmless pattern, never the other way round for the forms above.
 */
function offencesOf(source: string): readonly string[] {
  const pieces = piecesOf(source);
  return pieces.flatMap((piece, index) => {
    if (!isUnbounded(piece.quantifier)) return [];
    const name = `${piece.atom}${piece.quantifier}`;
    if (piece.atom === ')') return [`(?:…)${piece.quantifier}`];
    const isNarrow =
      /^\\[wdS]$/.test(piece.atom) ||
      (piece.atom.startsWith('[') && !piece.atom.startsWith('[^')) ||
      /^\\?.$/.test(piece.atom);
    const isBroad = !isNarrow || piece.atom === '.' || /^\\[sDW]$/.test(piece.atom);
    const isStarred = piece.quantifier.startsWith('*') && /^\\[wS]$/.test(piece.atom);
    if (isBroad || isStarred) return [name];
    const next = pieces[index + 1];
    if (next?.atom === ')' && isRepeated(next.quantifier)) {
      // `(?: \w+){0,3}` is harmless, for the blank at its beginning parts the rounds; `\S+` may be anything but a blank too.
      const opening = openingOf(pieces, index + 1);
      const first = pieces[opening + 1];
      const isParted = first?.atom === ' ' && first.quantifier === '' && pieces[index + 2]?.atom === ' ';
      return isParted ? [] : [`${name} at the end of a repeated group`];
    }
    const rival = next?.atom === '(' ? pieces[index + 2] : next;
    return rival !== undefined && overlaps(piece.atom, rival.atom) ? [`${name} before ${rival.atom}`] : [];
  });
}

/** Whether a character that `atom` matches may also be the first of what follows, as far as one can tell by looking. */
function overlaps(atom: string, next: string): boolean {
  if (next === ')' || next === '|' || next === '(' || next === '$' || next === String.raw`\b`) return false;
  if (next === ' ') return false;
  if (atom === next || next === '.') return true;
  if (atom === String.raw`\S`) return true;
  if (atom === String.raw`\w`) return /^[a-z0-9_]$|^\\[wdS]$|^\[/i.test(next);
  if (atom === String.raw`\d`) return /^[0-9]$|^\\[wdS]$|^\[/.test(next);
  return false;
}

function isUnbounded(quantifier: string): boolean {
  return /^[*+]|^\{\d+,\}/.test(quantifier);
}

function isRepeated(quantifier: string): boolean {
  return quantifier !== '' && !quantifier.startsWith('?');
}

function openingOf(pieces: readonly Piece[], closing: number): number {
  let depth = 0;
  for (let index = closing; index >= 0; index -= 1) {
    if (pieces[index]?.atom === ')') depth += 1;
    if (pieces[index]?.atom === '(') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

/** Cuts the source of a pattern into atoms, each with its quantifier. Groups become `(` and `)`. */
function piecesOf(source: string): readonly Piece[] {
  const token =
    /(\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]))?|[^\\[(])([*+?]\??|\{\d+(?:,\d*)?\}\??)?/gu;
  return [...source.matchAll(token)].map(([, atom = '', quantifier = '']) => ({
    atom: atom.startsWith('(') ? '(' : atom,
    quantifier: atom.startsWith('(') ? '' : quantifier,
  }));
}
