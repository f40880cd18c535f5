import { nearestNames } from '../../../base/nearest.ts';
import type { Proposal, Site } from './propose.ts';
import type { Token } from './tokens.ts';

const keywords: ReadonlySet<string> = new Set(
  `async await break case catch class const continue default delete do else export extends false finally for from function if
  import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield`.split(
    /\s+/,
  ),
);
const maxNames = 20;

/** Another variable, or another property. */
export function proposeNames(site: Site): readonly Proposal[] {
  const { token, file, place } = site;
  if (keywords.has(token.text)) return [];
  const before = file.tokens[place - 1]?.text;
  const after = file.tokens[place + 1]?.text;
  if (before === '.' || before === '?.') return after === '(' ? unknownName(site) : otherProperties(site);
  const isDeclared = /^(?:const|let|var|function|class)$/.test(before ?? '');
  const isKey = after === ':' && (before === '{' || before === ',');
  return isDeclared || isKey ? [] : [...unknownName(site), ...otherVariables(site)];
}

/** `totl is not defined`: what comes nearest to it. */
function unknownName({ token, clues, file, found }: Site): readonly Proposal[] {
  const isUnknown = clues.tests.some(({ message }) => {
    const name = /(?:^|[\s.])([\w$]+) is not (?:defined|a function)/.exec(message)?.[1];
    return name === token.text;
  });
  if (!isUnknown) return [];
  const names = [...scopeOf(file.tokens, found), ...clues.used].filter((name) => name !== token.text);
  return nearestNames(token.text, names).map((text) => ({
    kind: 'variable',
    start: token.start,
    end: token.end,
    text,
    fit: 6,
  }));
}

/** A property of what the tests hand in that nobody reads is probably the one that was meant. */
function otherProperties({ token, clues, file, found }: Site): readonly Proposal[] {
  if (token.text === 'length') return [];
  const isInTests = clues.words.has(token.text);
  const unread = [...clues.words].filter((word) => !clues.used.has(word) && !keywords.has(word));
  const close = nearestNames(token.text, unread);
  const others = propertiesIn(file.tokens.slice(found.body, found.last)).filter(
    (name) => name !== token.text,
  );
  const make = (text: string, fit: number): Proposal => ({
    kind: 'property',
    start: token.start,
    end: token.end,
    text,
    fit,
  });
  return [
    ...(isInTests ? [] : unread.slice(0, maxNames).map((name) => make(name, close.includes(name) ? 6 : 1))),
    ...others.slice(0, maxNames).map((name) => make(name, isInTests ? -2 : 0)),
  ];
}

function propertiesIn(tokens: readonly Token[]): readonly string[] {
  const names = tokens.flatMap(({ type, text }, place) => {
    const isRead = tokens[place - 1]?.text === '.' && tokens[place + 1]?.text !== '(';
    return type === 'word' && isRead && text !== 'length' ? [text] : [];
  });
  return [...new Set(names)];
}

/** One parameter or local for another; one that nobody uses was surely meant to be used. */
function otherVariables(site: Site): readonly Proposal[] {
  const { token, file, found } = site;
  const names = scopeOf(file.tokens, found);
  if (!names.includes(token.text)) return [];
  const body = file.tokens.slice(found.body, found.last + 1);
  const isUsed = (name: string): boolean =>
    body.some(
      ({ text }, place) => text === name && !/^(?:const|let|var|\.)$/.test(body[place - 1]?.text ?? ''),
    );
  return names
    .filter((name) => name !== token.text)
    .slice(0, maxNames)
    .map((text) => ({
      kind: 'variable',
      start: token.start,
      end: token.end,
      text,
      fit: (isUsed(text) ? -1 : 5) + handedFit(site, text),
    }));
}

/** `clamp(12, 1, 10)` gave 1 where 10 was expected: then `low` was taken for `high`. */
function handedFit({ token, file, place, found, clues }: Site, name: string): number {
  const [own, other] = [found.parameters.indexOf(token.text), found.parameters.indexOf(name)];
  if (own < 0 || other < 0) return 0;
  const isIt = clues.handed.some(
    ({ functionName, values }) =>
      functionName === found.name &&
      clues.tests.some(({ actual, expected }) => values[own] === actual && values[other] === expected),
  );
  if (!isIt) return 0;
  const isResult = /^(?:return|[?:]|=>)$/.test(file.tokens[place - 1]?.text ?? '');
  const isNear = file.tokens.some(({ line, text }) => line === token.line && text === name);
  return 4 + (isResult ? 2 : 0) + (isNear ? 1 : 0);
}

function scopeOf(tokens: readonly Token[], { parameters, body, last }: Site['found']): readonly string[] {
  const locals = tokens.slice(body, last + 1).flatMap(({ type, text }, place) => {
    const before = tokens[body + place - 1]?.text ?? '';
    return type === 'word' && /^(?:const|let|var)$/.test(before) ? [text] : [];
  });
  return [...new Set([...parameters, ...locals])];
}
