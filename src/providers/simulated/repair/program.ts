import { closeOf, findFunctions } from './functions.ts';
import type { FoundFunction } from './functions.ts';
import { tokenize } from './tokens.ts';
import type { Token } from './tokens.ts';

/** A file that was read, looked through once. */
export interface ProgramFile {
  readonly path: string;
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly functions: readonly FoundFunction[];
  /** Paths of the project's own files that it imports, as far as they can be told. */
  readonly imports: readonly string[];
}

/** Everything that was read of a project. */
export type Program = ReadonlyMap<string, ProgramFile>;

export function lookThrough(path: string, source: string): ProgramFile {
  const tokens = tokenize(source);
  return { path, source, tokens, functions: findFunctions(tokens), imports: importsIn(path, tokens) };
}

/** Whether a file holds tests, by its name. */
export function isTestFile(path: string): boolean {
  return /(?:^|\/)(?:tests?|spec|__tests__)\/|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)test[._-][^/]*$/.test(
    path,
  );
}

/** One test of a test file. */
export interface TestCase {
  readonly name: string;
  readonly tokens: readonly Token[];
  readonly firstLine: number;
  readonly lastLine: number;
}

const testWords: ReadonlySet<string> = new Set(['test', 'it', 'specify']);

/** The tests that a file holds: `test('name', …)` and `it('name', …)`. */
export function testCasesIn({ tokens }: ProgramFile): readonly TestCase[] {
  return tokens.flatMap(({ text, line }, place) => {
    const open = tokens[place + 1];
    const title = tokens[place + 2];
    if (!testWords.has(text) || open?.text !== '(' || title === undefined) return [];
    if (title.type !== 'string' && title.type !== 'template') return [];
    const close = closeOf(tokens, place + 1);
    const lastLine = tokens[close]?.line ?? line;
    return [
      { name: title.text.slice(1, -1), tokens: tokens.slice(place + 3, close), firstLine: line, lastLine },
    ];
  });
}

function importsIn(path: string, tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap(({ type, text }, place) => {
    const before = tokens[place - 1]?.text;
    const isImport =
      before === 'from' || before === 'import' || (before === '(' && isLoading(tokens[place - 2]));
    if (type !== 'string' || !isImport || !/^['"]\.{1,2}\//.test(text)) return [];
    return [resolve(path, text.slice(1, -1))];
  });
}

function isLoading(token: Token | undefined): boolean {
  return token?.text === 'require' || token?.text === 'import';
}

/** `../src/a.js` seen from `test/a.test.js` is `src/a.js`. */
function resolve(from: string, specifier: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  return /\.[cm]?[jt]sx?$|\.json$/.test(path) ? path : `${path}.js`;
}
