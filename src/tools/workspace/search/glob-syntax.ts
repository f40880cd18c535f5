/** One part of a pattern for paths. */
export type GlobNode =
  | { readonly type: 'literal'; readonly character: number }
  /** `?` */
  | { readonly type: 'one' }
  /** `*` */
  | { readonly type: 'star' }
  /** A `**` with a slash behind it: any number of folders, none as well. */
  | { readonly type: 'folders' }
  /** A `**` at the end: everything below. */
  | { readonly type: 'rest' }
  | { readonly type: 'set'; readonly ranges: readonly CharacterRange[]; readonly isNegated: boolean }
  | { readonly type: 'choice'; readonly branches: readonly (readonly GlobNode[])[] };

export interface CharacterRange {
  readonly from: number;
  readonly to: number;
}

/** What is wrong with a pattern, and at which character, counted from 1. */
export interface GlobProblem {
  readonly type: 'invalid';
  readonly problem: string;
  readonly at: number;
}

/** The longest pattern that is looked at. */
const maxGlobLength = 1000;
const maxBraceDepth = 10;

/** Reads a pattern for paths; the time it takes grows with its length and nothing else. */
export function parseGlob(
  pattern: string,
  { braces }: { readonly braces: boolean },
): { readonly type: 'nodes'; readonly nodes: readonly GlobNode[] } | GlobProblem {
  if (pattern.length > maxGlobLength) {
    const problem = `it has ${pattern.length} characters, and at most ${maxGlobLength} are looked at`;
    return { type: 'invalid', problem, at: maxGlobLength + 1 };
  }
  const reader: Reader = { characters: Array.from(pattern), index: 0, braces, depth: 0, problem: undefined };
  const nodes = readSequence(reader);
  return reader.problem ?? { type: 'nodes', nodes };
}

interface Reader {
  readonly characters: readonly string[];
  readonly braces: boolean;
  index: number;
  depth: number;
  problem: GlobProblem | undefined;
}

/** Up to the end, or to what ends a branch of the braces that it stands in. */
function readSequence(reader: Reader): readonly GlobNode[] {
  const nodes: GlobNode[] = [];
  while (reader.problem === undefined && reader.index < reader.characters.length) {
    if (reader.depth > 0 && isBranchEnd(reader.characters[reader.index])) break;
    nodes.push(readNode(reader));
  }
  return nodes;
}

function isBranchEnd(character: string | undefined): boolean {
  return character === ',' || character === '}';
}

function readNode(reader: Reader): GlobNode {
  const character = reader.characters[reader.index] ?? '';
  switch (character) {
    case '*':
      return readStars(reader);
    case '?':
      reader.index += 1;
      return { type: 'one' };
    case '[':
      return readSet(reader);
    case '{':
      return reader.braces ? readChoice(reader) : readLiteral(reader);
    case '\\':
      return readEscaped(reader);
    default:
      return readLiteral(reader);
  }
}

function readLiteral(reader: Reader): GlobNode {
  const character = reader.characters[reader.index] ?? '';
  reader.index += 1;
  return { type: 'literal', character: character.codePointAt(0) ?? 0 };
}

function readEscaped(reader: Reader): GlobNode {
  reader.index += 1;
  if (reader.index >= reader.characters.length) {
    refuse(reader, reader.index - 1, 'a \\ stands at its end with nothing to stand before');
  }
  return readLiteral(reader);
}

/** Two stars reach over folders only where they are the whole name; anywhere else they are one. */
function readStars(reader: Reader): GlobNode {
  const { characters } = reader;
  const start = reader.index;
  while (characters[reader.index] === '*') reader.index += 1;
  const before = characters[start - 1];
  const isAtStart = before === undefined || before === '/' || before === '{' || before === ',';
  if (!isAtStart || reader.index - start < 2) return { type: 'star' };
  const after = characters[reader.index];
  if (after === '/') {
    reader.index += 1;
    return { type: 'folders' };
  }
  const isAtEnd = after === undefined || (reader.depth > 0 && isBranchEnd(after));
  return isAtEnd ? { type: 'rest' } : { type: 'star' };
}

function readSet(reader: Reader): GlobNode {
  const start = reader.index;
  reader.index += 1;
  const sign = reader.characters[reader.index];
  const isNegated = sign === '!' || sign === '^';
  if (isNegated) reader.index += 1;
  const ranges: CharacterRange[] = [];
  // A bracket that comes first stands for itself.
  while (reader.characters[reader.index] !== ']' || ranges.length === 0) {
    const from = readMember(reader);
    if (from === undefined) {
      refuse(reader, start, 'the [ is not closed by a ]; write \\[ for the character itself');
      break;
    }
    ranges.push(readRange(reader, from));
  }
  reader.index += 1;
  return { type: 'set', ranges, isNegated };
}

function readRange(reader: Reader, from: number): CharacterRange {
  const { characters, index } = reader;
  const isRange = characters[index] === '-' && characters[index + 1] !== ']' && index + 1 < characters.length;
  if (!isRange) return { from, to: from };
  reader.index += 1;
  const to = readMember(reader) ?? from;
  if (to < from) refuse(reader, index - 1, 'the range goes backwards');
  return { from, to };
}

function readMember(reader: Reader): number | undefined {
  if (reader.characters[reader.index] === '\\') reader.index += 1;
  const character = reader.characters[reader.index];
  reader.index += 1;
  return character?.codePointAt(0);
}

function readChoice(reader: Reader): GlobNode {
  const start = reader.index;
  const branches: (readonly GlobNode[])[] = [];
  reader.depth += 1;
  if (reader.depth > maxBraceDepth)
    refuse(reader, start, `braces stand in more than ${maxBraceDepth} others`);
  do {
    reader.index += 1;
    branches.push(readSequence(reader));
  } while (reader.problem === undefined && reader.characters[reader.index] === ',');
  reader.depth -= 1;
  if (reader.characters[reader.index] !== '}') {
    refuse(reader, start, 'the { is not closed by a }; write \\{ for the character itself');
  }
  reader.index += 1;
  return { type: 'choice', branches };
}

/** The first thing that is wrong is the one to mend. */
function refuse(reader: Reader, index: number, problem: string): void {
  reader.problem ??= { type: 'invalid', problem, at: index + 1 };
}
