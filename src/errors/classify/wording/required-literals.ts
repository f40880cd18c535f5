/**
 * The texts of which at least one must stand in whatever a pattern matches, or `undefined` where that cannot be said.
 *
 * With it a rule is tried only where one of its texts occurs, so that a classification costs no more as rules are added.
 * Sound for the syntax that our tables use (alternatives, groups, classes, quantifiers, lookaround); whatever it does not
 * understand it treats as 'may match anything'.
 */
export function requiredLiterals(pattern: RegExp): readonly string[] | undefined {
  if (pattern.flags !== '' || /\\[uxcpPk\d]/.test(pattern.source)) return undefined;
  const reader: Reader = { source: pattern.source, at: 0 };
  const literals = readAlternatives(reader);
  return reader.at === reader.source.length ? literals : undefined;
}

/** Whether a text selects anything: three letters do, of Chinese two. Shorter ones occur everywhere. */
function isTelling(literal: string): boolean {
  const isChinese = literal.charCodeAt(0) >= 0x2e80;
  return literal.length >= (isChinese ? 2 : 3);
}

interface Reader {
  readonly source: string;
  at: number;
}

type Literals = readonly string[] | undefined;

function readAlternatives(reader: Reader): Literals {
  const branches = [readSequence(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at += 1;
    branches.push(readSequence(reader));
  }
  const known = branches.filter((branch) => branch !== undefined);
  return known.length === branches.length ? [...new Set(known.flat())] : undefined;
}

function readSequence(reader: Reader): Literals {
  const found: Literals[] = [];
  let run = '';
  const endRun = (): void => {
    found.push(isTelling(run) ? [run] : undefined);
    run = '';
  };
  while (reader.at < reader.source.length && !'|)'.includes(reader.source.charAt(reader.at))) {
    const plain = readPlain(reader);
    run += plain;
    if (plain !== '') continue;
    const atom = readAtom(reader);
    if (atom.type === 'nothing') continue;
    const { min, max } = readQuantifier(reader);
    if (atom.type === 'character' && min > 0) run += atom.character;
    if (atom.type === 'character' && min === 1 && max === 1) continue;
    endRun();
    if (atom.type === 'group' && min > 0) found.push(atom.literals);
  }
  endRun();
  return best(found);
}

/** Characters that mean themselves, at once, for most are such: not the last one where a quantifier follows it. */
const plainRun = /[^\\^$.*+?()[\]{}|]+(?![*+?{])/y;

function readPlain(reader: Reader): string {
  plainRun.lastIndex = reader.at;
  const plain = plainRun.exec(reader.source)?.[0] ?? '';
  reader.at += plain.length;
  return plain;
}

/** Of several that must all occur, the one that selects best: long texts, few of them. */
function best(candidates: readonly Literals[]): Literals {
  const weight = (literals: readonly string[]): number =>
    Math.min(...literals.map((literal) => literal.length)) - literals.length / 8;
  return candidates
    .filter((literals) => literals !== undefined)
    .reduce<Literals>(
      (kept, next) => (kept === undefined || weight(next) > weight(kept) ? next : kept),
      undefined,
    );
}

type Atom =
  | { readonly type: 'nothing' }
  | { readonly type: 'anything' }
  | { readonly type: 'character'; readonly character: string }
  | { readonly type: 'group'; readonly literals: Literals };

function readAtom(reader: Reader): Atom {
  const character = reader.source.charAt(reader.at);
  reader.at += 1;
  if (character === '(') return readGroup(reader);
  if (character === '[') return readClass(reader);
  if (character === '\\') return readEscape(reader);
  if (character === '^' || character === '$') return { type: 'nothing' };
  return character === '.' ? { type: 'anything' } : { type: 'character', character };
}

function readGroup(reader: Reader): Atom {
  const opening =
    /^\?(?::|=|!|<=|<!|<[a-z]+>)/i.exec(reader.source.slice(reader.at, reader.at + 20))?.[0] ?? '';
  reader.at += opening.length;
  const literals = readAlternatives(reader);
  reader.at += 1;
  // Looking around takes no place in the text, so what stands on its two sides still adjoins.
  return /^\?<?[=!]$/.test(opening) ? { type: 'nothing' } : { type: 'group', literals };
}

function readClass(reader: Reader): Atom {
  while (reader.at < reader.source.length && reader.source[reader.at] !== ']') {
    reader.at += reader.source[reader.at] === '\\' ? 2 : 1;
  }
  reader.at += 1;
  return { type: 'anything' };
}

function readEscape(reader: Reader): Atom {
  const character = reader.source.charAt(reader.at);
  reader.at += 1;
  if (character === 'b' || character === 'B') return { type: 'nothing' };
  return /[\w]/.test(character) ? { type: 'anything' } : { type: 'character', character };
}

const once = { min: 1, max: 1 } as const;

function readQuantifier(reader: Reader): { readonly min: number; readonly max: number } {
  if (!'?*+{'.includes(reader.source.charAt(reader.at))) return once;
  const quantifier = /^(?:[?*+]|\{(\d+)(,?)(\d*)\})\??/.exec(reader.source.slice(reader.at, reader.at + 20));
  if (quantifier === null) return once;
  reader.at += quantifier[0].length;
  const [whole, min = ''] = quantifier;
  if (whole.startsWith('?')) return { min: 0, max: 1 };
  if (whole.startsWith('*')) return { min: 0, max: Infinity };
  return { min: whole.startsWith('+') ? 1 : Number(min), max: Infinity };
}
