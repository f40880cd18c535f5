/** What a regular expression of a schema may cost: how long a text it may be tried on, or why it may not be tried at all. */
export type PatternCost =
  | { readonly type: 'usable'; readonly maxTextLength: number }
  | { readonly type: 'dangerous'; readonly why: string };

/**
 * Judges a pattern before any text of a model meets it: the engine backtracks, and a pattern with a repetition inside a
 * repetition can take longer than the universe for forty letters. Judged by shape, so some harmless ones are refused too.
 */
export function judgePattern(pattern: string): PatternCost {
  const root = createGroup(0);
  const held: Held = { groups: [root], repetitions: 0, index: 0, pattern };
  while (held.index < pattern.length) {
    const danger = step(held);
    if (danger !== undefined) return { type: 'dangerous', why: danger };
  }
  const degree = held.repetitions + (pattern.startsWith('^') || held.repetitions === 0 ? 0 : 1);
  return { type: 'usable', maxTextLength: lengthsByDegree[degree] ?? shortestLength };
}

/** So that the worst case, length to the power of the degree, stays at about a hundred million steps. */
const lengthsByDegree: readonly number[] = [Infinity, Infinity, 10_000, 1000, 200];
const shortestLength = 100;

/** A part that may come more often than this counts as one without an end. */
const manyTimes = 20;
/** A group with choices inside that comes more often than this is as bad as one without an end. */
const manyRounds = 9;

interface Group {
  readonly start: number;
  hasRepetition: boolean;
  /** Something in it may come more or less often: `a?`, `\d{1,3}`. */
  hasChoice: boolean;
  hasGroup: boolean;
  /** The parts of the branch that is being read. */
  atoms: Atom[];
  branches: Atom[][];
}

interface Atom {
  /** As it is written, without how often. */
  readonly source: string;
  isRepeated: boolean;
}

interface Held {
  readonly groups: Group[];
  /** Over the whole pattern. */
  repetitions: number;
  index: number;
  readonly pattern: string;
}

function createGroup(start: number): Group {
  return { start, hasRepetition: false, hasChoice: false, hasGroup: false, atoms: [], branches: [] };
}

/** Reads one part and how often it comes. Says what is dangerous about it. */
function step(held: Held): string | undefined {
  const { groups, pattern, index } = held;
  const group = groups.at(-1);
  if (group === undefined) return 'its brackets do not match';
  const character = pattern[index];
  if (character === '(') {
    groups.push(createGroup(index));
    held.index += groupOpening(pattern, index);
    return undefined;
  }
  if (character === '|') {
    group.branches.push(group.atoms);
    group.atoms = [];
    held.index += 1;
    return undefined;
  }
  if (character === ')') return closeGroup(held, group);
  const end = atomEnd(pattern, index);
  const source = pattern.slice(index, end);
  // A look back at what was matched is tried again for every way in which it was.
  if (/^\\[1-9k]/.test(source)) held.repetitions += 1;
  takeRepetition(held, { group, source, end });
  return undefined;
}

/** How long `(`, `(?:`, `(?<name>` or a look-around is. */
function groupOpening(pattern: string, index: number): number {
  const opening = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(pattern.slice(index, index + 100));
  return opening?.[0].length ?? 1;
}

function atomEnd(pattern: string, index: number): number {
  const character = pattern[index];
  if (character === '[') return classEnd(pattern, index);
  if (character !== '\\') return index + 1;
  const escape = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|k<\w+>|.)/su.exec(
    pattern.slice(index, index + 100),
  );
  return index + (escape?.[0].length ?? 1);
}

function classEnd(pattern: string, start: number): number {
  let index = start + 1;
  while (index < pattern.length && pattern[index] !== ']') index += pattern[index] === '\\' ? 2 : 1;
  return Math.min(index + 1, pattern.length);
}

interface Part {
  readonly group: Group;
  readonly source: string;
  readonly end: number;
}

/** How often a part may come at most. */
function takeRepetition(held: Held, { group, source, end }: Part): number {
  const { length, most, isExact } = quantifierAt(held.pattern, end);
  if (most > manyTimes && !isExact) {
    held.repetitions += 1;
    group.hasRepetition = true;
  }
  if (!isExact) group.hasChoice = true;
  group.atoms.push({ source, isRepeated: !isExact });
  held.index = end + length;
  return most;
}

interface Quantifier {
  readonly length: number;
  readonly most: number;
  /** `{4}` comes four times: there is nothing to try. */
  readonly isExact: boolean;
}

function quantifierAt(pattern: string, index: number): Quantifier {
  const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(pattern.slice(index, index + 40));
  if (found === null) return { length: 0, most: 1, isExact: true };
  const [whole, least, comma, most] = found;
  const { length } = whole;
  if (least === undefined) return { length, most: whole.startsWith('?') ? 1 : Infinity, isExact: false };
  if (comma === '') return { length, most: Number(least), isExact: true };
  return { length, most: most === '' ? Infinity : Number(most), isExact: false };
}

function closeGroup(held: Held, group: Group): string | undefined {
  const { groups, pattern } = held;
  groups.pop();
  const outer = groups.at(-1);
  if (outer === undefined) return 'its brackets do not match';
  group.branches.push(group.atoms);
  const end = held.index + 1;
  const source = pattern.slice(group.start, end);
  const rounds = takeRepetition(held, { group: outer, source, end });
  outer.hasGroup = true;
  outer.hasRepetition ||= group.hasRepetition;
  outer.hasChoice ||= group.hasChoice;
  if (rounds <= manyRounds) {
    if (group.hasRepetition) held.repetitions += rounds - 1;
    return undefined;
  }
  if (group.hasChoice && !isDelimited(group)) {
    return `it repeats ${source.slice(0, 60)}, which holds a repetition itself`;
  }
  if (group.branches.length > 1 && !hasDistinctBranches(group)) {
    return `it repeats ${source.slice(0, 60)}, whose branches may start the same way`;
  }
  return undefined;
}

/** `(-[a-z]+)*`: each round begins or ends with a character that nothing else in it matches, so there is one way only. */
function isDelimited({ branches, hasGroup }: Group): boolean {
  const [atoms] = branches;
  if (hasGroup || branches.length !== 1 || atoms === undefined || atoms.length < 2) return false;
  return [0, atoms.length - 1].some((place) => {
    const delimiter = atoms[place];
    const character =
      delimiter === undefined || delimiter.isRepeated ? undefined : literalOf(delimiter.source);
    return (
      character !== undefined &&
      atoms.every((atom, index) => index === place || !matches(atom.source, character))
    );
  });
}

function hasDistinctBranches({ branches }: Group): boolean {
  const firsts = branches.map(([first]) =>
    first === undefined || first.isRepeated ? undefined : literalOf(first.source),
  );
  return !firsts.includes(undefined) && new Set(firsts).size === firsts.length;
}

/** The one character that a part stands for, where it does. */
function literalOf(source: string): string | undefined {
  if (/^[^\\^$.*+?()[\]{}|]$/su.test(source)) return source;
  return /^\\[^\w\s]$/.test(source) ? source.slice(1) : undefined;
}

function matches(source: string, character: string): boolean {
  try {
    return new RegExp(`^(?:${source})$`, 'u').test(character);
  } catch {
    return true; // What cannot be tried alone is taken for the worst.
  }
}
