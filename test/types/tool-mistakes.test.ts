import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

// What the compiler says to the mistakes that people make with tool(): it must name the property, or stand at it, in a few lines.

const root = path.resolve(import.meta.dirname, '../..');
const file = path.join(root, 'test/types/fixture.ts');

const head = `import { z } from 'zod';
import * as v from 'valibot';
import { tool } from '../../src/index.ts';
const input = z.object({ n: z.number() });
const run = () => 'x';
export const made = `;

/** The fixture is not on disk: everything else is. */
function diagnose(code: string): readonly ts.Diagnostic[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), (name) => ts.sys.readFile(name)) as {
    readonly config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  const text = `${head}${code}\n`;
  host.fileExists = (name) => name === file || disk.fileExists(name);
  host.readFile = (name) => (name === file ? text : disk.readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
      : cached(name, () => disk.getSourceFile(name, ...rest));
  const program = ts.createProgram(
    [file],
    { ...options, noEmit: true, incremental: false, noUnusedLocals: false },
    host,
  );
  return program.getSemanticDiagnostics(program.getSourceFile(file));
}

const sources = new Map<string, ts.SourceFile | undefined>();

function cached(name: string, load: () => ts.SourceFile | undefined): ts.SourceFile | undefined {
  if (!sources.has(name)) sources.set(name, load());
  return sources.get(name);
}

function read({ messageText, file: source, start = 0 }: ts.Diagnostic): {
  readonly text: string;
  readonly at: string;
} {
  const text = ts.flattenDiagnosticMessageText(messageText, '\n');
  return { text, at: source?.text.slice(start, start + 20) ?? '' };
}

const mistakes: readonly {
  readonly what: string;
  readonly code: string;
  readonly names: string;
  readonly lines?: number;
}[] = [
  { what: 'no input', code: `tool({ name: 'a', description: 'b', execute: run })`, names: 'input' },
  {
    what: 'a misnamed input',
    code: `tool({ name: 'a', description: 'b', inputs: input, execute: run })`,
    names: 'input',
  },
  {
    what: 'an input that is no schema',
    code: `tool({ name: 'a', description: 'b', input: 'text', execute: run })`,
    names: 'input',
  },
  {
    what: 'a wrong effect',
    code: `tool({ name: 'a', description: 'b', input, effect: 'twice', execute: run })`,
    names: 'effect',
  },
  {
    what: 'a timeout that is a text',
    code: `tool({ name: 'a', description: 'b', input, timeoutMs: '5', execute: run })`,
    names: 'timeoutMs',
  },
  {
    what: 'an unknown property',
    code: `tool({ name: 'a', description: 'b', input, timeout: 5, execute: run })`,
    names: 'timeout',
  },
  { what: 'no name', code: `tool({ description: 'b', input, execute: run })`, names: 'name' },
  { what: 'no description', code: `tool({ name: 'a', input, execute: run })`, names: 'description' },
  // The two types are spelt out below: what matters stands in the first lines.
  {
    what: 'a wrong parameter of execute',
    code: `tool({ name: 'a', description: 'b', input, execute: ({ n }: { n: string }) => n })`,
    names: 'execute',
    lines: 7,
  },
  {
    what: 'a verify of the wrong shape',
    code: `tool({ name: 'a', description: 'b', input, execute: run, verify: () => true })`,
    names: 'verify',
    lines: 4,
  },
];

describe('the compiler on tool()', { timeout: 120_000 }, () => {
  it.each(mistakes)('names the property: $what', ({ code, names, lines = 3 }) => {
    const [first, ...others] = diagnose(code);
    if (first === undefined) throw new Error('It compiles');
    expect(others).toEqual([]);
    const { text, at } = read(first);
    expect(text.split('\n').length).toBeLessThanOrEqual(lines);
    expect(text.includes(`'${names}'`) || at.startsWith(names), `${text} at ${at}`).toBe(true);
  });

  it.each([
    `tool({ name: 'a', description: 'b', input, execute: ({ n }) => n.toFixed(2) })`,
    `tool({ name: 'a', description: 'b', input: v.object({ n: v.number() }), execute: ({ n }) => n.toFixed(2) })`,
    `tool({ name: 'a', description: 'b', input: { type: 'object', properties: {} }, execute: ({ n }) => typeof n })`,
    `tool({ name: 'a', description: 'b', input, isolate: { module: './x.js' } })`,
    `tool({ name: 'a', description: 'b', input, execute: run, verify: ({ n }) => ({ happened: true, result: n }) })`,
  ])('infers what is right: %s', (code) => {
    expect(diagnose(code).map((diagnostic) => read(diagnostic).text)).toEqual([]);
  });
});
