/** Far above what arguments nest, and far below the end of the stack. */
const maxDepth = 200;

/**
 * Reads a text that is JSON but for its spelling, and writes it as JSON. Known spellings: trailing commas, single quotes, bare
 * names, `True`, `False`, `None`, comments, line breaks inside of texts. Every value in it is taken over as it stands: nothing
 * is added, dropped or guessed. Nothing for anything else, and for whatever is not closed.
 */
export function toStrictJson(text: string): string | undefined {
  const held: Held = { text, index: 0, output: '' };
  if (!skip(held) || !readValue(held, 0) || !skip(held)) return undefined;
  return held.index === text.length ? held.output : undefined;
}

interface Held {
  readonly text: string;
  index: number;
  output: string;
}

const blanks = /(?:[\s\uFEFF]+|\/\/[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;

/** Goes over blanks and comments. A comment that does not end is no comment. */
function skip(held: Held): boolean {
  take(held, blanks);
  return !held.text.startsWith('/*', held.index);
}

function take(held: Held, pattern: RegExp): string | undefined {
  pattern.lastIndex = held.index;
  const found = pattern.exec(held.text)?.[0];
  if (found !== undefined) held.index += found.length;
  return found;
}

function readValue(held: Held, depth: number): boolean {
  if (depth > maxDepth) return false;
  switch (held.text[held.index]) {
    case '{':
      return readMembers(held, depth);
    case '[':
      return readItems(held, depth);
    case '"':
    case "'":
      return readText(held) !== undefined;
    default:
      return readScalar(held);
  }
}

/** Between members: what follows, and whether a comma stood before it. A comma before the end is the trailing one. */
function readNext(held: Held, closing: '}' | ']', isFirst: boolean): 'member' | 'end' | 'wrong' {
  if (!skip(held)) return 'wrong';
  const hasComma = !isFirst && held.text[held.index] === ',';
  if (hasComma) {
    held.index += 1;
    if (!skip(held)) return 'wrong';
  }
  if (held.text[held.index] === closing) {
    held.index += 1;
    held.output += closing;
    return 'end';
  }
  if (isFirst) return 'member';
  if (!hasComma) return 'wrong';
  held.output += ',';
  return 'member';
}

function readMembers(held: Held, depth: number): boolean {
  open(held, '{');
  const names = new Set<string>();
  for (let next = readNext(held, '}', true); next !== 'end'; next = readNext(held, '}', false)) {
    if (next === 'wrong') return false;
    const name = readName(held);
    // Of two members of one name one would be dropped.
    if (name === undefined || names.has(name)) return false;
    names.add(name);
    if (!skip(held) || held.text[held.index] !== ':') return false;
    open(held, ':');
    if (!skip(held) || !readValue(held, depth + 1)) return false;
  }
  return true;
}

function readItems(held: Held, depth: number): boolean {
  open(held, '[');
  for (let next = readNext(held, ']', true); next !== 'end'; next = readNext(held, ']', false)) {
    if (next === 'wrong' || !readValue(held, depth + 1)) return false;
  }
  return true;
}

function open(held: Held, character: '{' | '[' | ':'): void {
  held.index += 1;
  held.output += character;
}

const bareName = /[A-Za-z_$][\w$]*/y;

function readName(held: Held): string | undefined {
  const character = held.text[held.index];
  if (character === '"' || character === "'") return readText(held);
  const name = take(held, bareName);
  // `{ True: 1 }` has a name in JavaScript and a truth value in Python.
  if (name === undefined || words.has(name)) return undefined;
  held.output += `"${name}"`;
  return name;
}

const words: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.$])/y;

function readScalar(held: Held): boolean {
  const word = take(held, bareName);
  const scalar = word === undefined ? take(held, number) : words.get(word);
  if (scalar === undefined) return false;
  held.output += scalar;
  return true;
}

const doubleQuoted = /"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const singleQuoted = /'[^'\\]*(?:\\[^][^'\\]*)*'/y;
const knownEscape = /\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4})/g;

/** A quoted text, also with raw line breaks; its value. An escape that JSON does not know has no one meaning. */
function readText(held: Held): string | undefined {
  const quoted = take(held, held.text[held.index] === '"' ? doubleQuoted : singleQuoted);
  if (quoted === undefined) return undefined;
  const inside = quoted.slice(1, -1);
  if (inside.replaceAll(knownEscape, '').includes('\\')) return undefined;
  const spelled = inside.replaceAll(spelling, (part) => respelled.get(part) ?? escapeUnit(part));
  const json = `"${spelled}"`;
  held.output += json;
  return JSON.parse(json) as string; // Of a text in quotes.
}

/** Escapes are kept in one piece, so that the quote in `\"` is not taken for a bare one. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const spelling = /\\[^]|["\u0000-\u001f]/g;
const respelled: ReadonlyMap<string, string> = new Map([
  ["\\'", "'"],
  ['"', '\\"'],
]);

function escapeUnit(part: string): string {
  if (part.startsWith('\\')) return part;
  return `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
