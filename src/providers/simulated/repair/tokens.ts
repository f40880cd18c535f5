/** A piece of a program, with where it stands. */
export interface Token {
  readonly type: 'word' | 'number' | 'string' | 'template' | 'regex' | 'sign';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Counted from 1. */
  readonly line: number;
}

const maxLength = 200_000;
const space = /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const kinds = [
  ['template', /`(?:\\[\s\S]|[^\\`])*`?/y],
  ['string', /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y],
  ['number', /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)n?/iy],
  ['word', /[\p{L}_$#@][\p{L}\p{N}_$]*/uy],
  ['sign', /=>|===|!==|==|!=|<=|>=|&&=?|\|\|=?|\?\?=?|\?\.|\*\*|\+\+|--|[+\-*/%]=|\.\.\.|[\s\S]/y],
] as const satisfies readonly (readonly [Token['type'], RegExp])[];
const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
/** After one of these a slash divides; anywhere else it begins a pattern. */
const endsValue = /^(?:[\p{L}\p{N}_$]+|[)\]}])$/u;
const beforeValue: ReadonlySet<string> = new Set(['return', 'typeof', 'case', 'in', 'of', 'await', 'throw']);

/** Cuts JavaScript or TypeScript into its pieces; blanks and comments are left out. Never throws. */
export function tokenize(source: string): readonly Token[] {
  const text = source.slice(0, maxLength);
  const tokens: Token[] = [];
  let [place, line] = [0, 1];
  while (place < text.length) {
    const blank = match(space, text, place);
    if (blank !== undefined) {
      place += blank.length;
      line += countLines(blank);
      continue;
    }
    const token = tokenAt(text, { place, line, before: tokens.at(-1) });
    tokens.push(token);
    place = token.end;
    line += countLines(token.text);
  }
  return tokens;
}

interface Spot {
  readonly place: number;
  readonly line: number;
  readonly before: Token | undefined;
}

function tokenAt(text: string, { place, line, before }: Spot): Token {
  const make = (type: Token['type'], found: string): Token => ({
    type,
    text: found,
    start: place,
    end: place + found.length,
    line,
  });
  const divides = before !== undefined && endsValue.test(before.text) && !beforeValue.has(before.text);
  const pattern = text[place] === '/' && !divides ? match(regex, text, place) : undefined;
  if (pattern !== undefined) return make('regex', pattern);
  for (const [type, kind] of kinds) {
    const found = match(kind, text, place);
    if (found !== undefined) return make(type, found);
  }
  return make('sign', text.charAt(place));
}

function match(pattern: RegExp, text: string, place: number): string | undefined {
  pattern.lastIndex = place;
  return pattern.exec(text)?.[0];
}

function countLines(text: string): number {
  let count = 0;
  for (let place = text.indexOf('\n'); place >= 0; place = text.indexOf('\n', place + 1)) count += 1;
  return count;
}
