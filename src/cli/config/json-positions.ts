/** A JSON text, read with the line of every name, or the place where it stops being JSON. */
export type PositionedJson =
  | {
      readonly type: 'read';
      readonly value: unknown;
      /** By path, `limits.maxTurns` or `permissions[2].tool`: the line on which the name or the item begins. */
      readonly lines: ReadonlyMap<string, number>;
      /** Names that come twice in one object; the second place. */
      readonly duplicates: readonly {
        readonly path: string;
        readonly line: number;
        readonly firstLine: number;
      }[];
    }
  | { readonly type: 'broken'; readonly line: number; readonly column: number; readonly text: string };

/** Reads JSON as RFC 8259 has it: no comments, no trailing commas. Never throws for a text. */
export function readPositionedJson(text: string): PositionedJson {
  const held: Held = { text, at: 0, line: 1, lineStart: 0, lines: new Map(), duplicates: [] };
  try {
    skipBlanks(held);
    if (held.at >= text.length) fail('the file is empty: write {} or remove it');
    const value = readValue(held, '', 0);
    skipBlanks(held);
    if (held.at < text.length) fail(`nothing may follow the end of the object, found ${shownAt(held)}`);
    return { type: 'read', value, lines: held.lines, duplicates: held.duplicates };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { type: 'broken', line: held.line, column: held.at - held.lineStart + 1, text: error.message };
  }
}

interface Held {
  readonly text: string;
  at: number;
  line: number;
  lineStart: number;
  readonly lines: Map<string, number>;
  readonly duplicates: { readonly path: string; readonly line: number; readonly firstLine: number }[];
}

const maxDepth = 64;

function fail(text: string): never {
  throw new SyntaxError(text);
}

function skipBlanks(held: Held): void {
  for (; held.at < held.text.length; held.at += 1) {
    const character = held.text[held.at];
    if (character === '\n') {
      held.line += 1;
      held.lineStart = held.at + 1;
    } else if (character !== ' ' && character !== '\t' && character !== '\r') break;
  }
  if (/^(?:\/\/|\/\*|#)/.test(held.text.slice(held.at, held.at + 2))) {
    fail('JSON has no comments: remove it, or use rerail.config.ts');
  }
}

function readValue(held: Held, path: string, depth: number): unknown {
  if (depth > maxDepth) fail(`more than ${maxDepth} levels of brackets`);
  const character = held.text[held.at];
  if (character === '{') return readObject(held, path, depth);
  if (character === '[') return readList(held, path, depth);
  if (character === '"') return readText(held);
  return readWord(held);
}

function readObject(held: Held, path: string, depth: number): unknown {
  const entries = new Map<string, unknown>();
  held.at += 1;
  skipBlanks(held);
  if (take(held, '}')) return {};
  for (;;) {
    // Bounded: each round takes characters of the text.
    if (held.text[held.at] !== '"') fail(`a name in double quotes was expected, found ${shownAt(held)}`);
    const { line } = held;
    const name = readText(held);
    const at = path === '' ? name : `${path}.${name}`;
    const firstLine = entries.has(name) ? (held.lines.get(at) ?? line) : undefined;
    if (firstLine === undefined) held.lines.set(at, line);
    else held.duplicates.push({ path: at, line, firstLine });
    skipBlanks(held);
    if (!take(held, ':'))
      fail(`":" was expected after ${JSON.stringify(name.slice(0, 60))}, found ${shownAt(held)}`);
    skipBlanks(held);
    entries.set(name, readValue(held, at, depth + 1));
    skipBlanks(held);
    if (take(held, '}')) return Object.fromEntries(entries);
    if (!take(held, ',')) fail(`"," or "}" was expected, found ${shownAt(held)}`);
    skipBlanks(held);
    if (held.text[held.at] === '}') fail('a comma before "}": JSON has no trailing commas, remove it');
  }
}

function readList(held: Held, path: string, depth: number): unknown {
  const items: unknown[] = [];
  held.at += 1;
  skipBlanks(held);
  if (take(held, ']')) return items;
  for (;;) {
    // Bounded: each round takes characters of the text.
    const at = `${path}[${items.length}]`;
    held.lines.set(at, held.line);
    items.push(readValue(held, at, depth + 1));
    skipBlanks(held);
    if (take(held, ']')) return items;
    if (!take(held, ',')) fail(`"," or "]" was expected, found ${shownAt(held)}`);
    skipBlanks(held);
    if (held.text[held.at] === ']') fail('a comma before "]": JSON has no trailing commas, remove it');
  }
}

function take(held: Held, character: string): boolean {
  if (held.text[held.at] !== character) return false;
  held.at += 1;
  return true;
}

const textPattern = /"(?:[^"\\\n]|\\.)*"/y;
const wordPattern = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function readText(held: Held): string {
  const source = matchAt(held, textPattern);
  if (source === undefined) fail('a text in double quotes is not closed on its line');
  try {
    return String(JSON.parse(source));
  } catch (error) {
    held.at -= source.length;
    throw new SyntaxError('a text has a bad escape or an invisible character in it', { cause: error });
  }
}

function readWord(held: Held): unknown {
  const source = matchAt(held, wordPattern);
  if (source === undefined) fail(`a value was expected, found ${shownAt(held)}`);
  return JSON.parse(source) as unknown;
}

function matchAt(held: Held, pattern: RegExp): string | undefined {
  pattern.lastIndex = held.at;
  const [source] = pattern.exec(held.text) ?? [];
  if (source === undefined) return undefined;
  held.at += source.length;
  return source;
}

const maxShownCharacters = 20;

function shownAt({ text, at }: Held): string {
  if (at >= text.length) return 'the end of the file';
  const [word = ''] = /^(?:[\w.+-]+|.)/su.exec(text.slice(at, at + maxShownCharacters)) ?? [];
  return JSON.stringify(word);
}
