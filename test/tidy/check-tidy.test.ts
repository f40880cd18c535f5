import { describe, expect, it } from 'vitest';
import { checkTidy } from './check-tidy.ts';
import { layers } from './layers.ts';
import type { Rule } from './problem.ts';

interface Planted {
  readonly title: string;
  readonly rule: Rule;
  readonly path: string;
  readonly text: string;
  readonly line?: number;
}

const machinePath = (...parts: readonly string[]): string => ['', ...parts].join('/');
const linesOf = (count: number): string => 'export const a = 1;\n'.repeat(count);
const functionOf = (lines: number): string =>
  `export function f(): void {\n${'  g();\n'.repeat(lines - 2)}}\n`;

const planted: readonly Planted[] = [
  // One crossing for each layer that may not import everything.
  ...[
    ['base', 'errors'],
    ['errors', 'model'],
    ['model', 'resilience'],
    ['resilience', 'model'],
    ['agent', 'context'],
    ['context', 'agent'],
    ['providers', 'tools'],
    ['tools', 'runtime'],
    ['storage', 'telemetry'],
    ['telemetry', 'agent'],
    ['runtime', 'providers'],
    ['flow', 'mcp'],
    ['engines', 'storage'],
    ['mcp', 'flow'],
    ['interop', 'chaos'],
  ].map(([from, to]): Planted => ({
    title: `an import of ${to} in ${from}`,
    rule: 'layer',
    path: `src/${from}/a.ts`,
    text: `import { b } from '../${to}/b.ts';\n`,
  })),
  {
    title: 'a type import where only storage and telemetry may have one',
    rule: 'layer',
    path: 'src/providers/a.ts',
    text: `import type { B } from '../agent/b.ts';\n`,
  },
  {
    title: 'an inline type import, which still loads the module',
    rule: 'layer',
    path: 'src/storage/a.ts',
    text: `import { type B } from '../agent/b.ts';\n`,
  },
  {
    title: 'a re-export across layers',
    rule: 'layer',
    path: 'src/base/a.ts',
    text: `export { b } from '../agent/b.ts';\n`,
  },
  {
    title: 'an entry that lists names of a layer it may not',
    rule: 'layer',
    path: 'src/model/index.ts',
    text: `export { b } from '../storage/b.ts';\n`,
  },
  {
    title: 'a dynamic import across layers',
    rule: 'layer',
    path: 'src/agent/a.ts',
    text: `\nexport const b = (): Promise<unknown> => import('../storage/b.ts');\n`,
    line: 2,
  },
  {
    title: 'an import type across layers',
    rule: 'layer',
    path: 'src/base/a.ts',
    text: `export type B = import('../agent/b.ts').B;\n`,
  },
  {
    title: 'a source that imports a helper of the tests',
    rule: 'layer',
    path: 'src/agent/a.ts',
    text: `import { b } from '../../test/b.ts';\n`,
  },
  {
    title: 'a test that imports a layer it may not',
    rule: 'layer',
    path: 'src/agent/a.test.ts',
    text: `import { b } from '../storage/b.ts';\n`,
  },
  { title: 'a folder that is no layer', rule: 'layer', path: 'src/utilities/a.ts', text: linesOf(1) },
  { title: 'a source outside the layers', rule: 'layer', path: 'src/helpers.ts', text: linesOf(1) },
  {
    title: 'an import without .ts',
    rule: 'import-path',
    path: 'src/base/a.ts',
    text: `import { b } from './b.js';\n`,
  },
  {
    title: 'an import from an index',
    rule: 'import-path',
    path: 'src/agent/a.ts',
    text: `import { b } from '../errors/index.ts';\n`,
  },
  {
    title: 'our own package by its name',
    rule: 'import-path',
    path: 'src/cli/a.ts',
    text: `import { b } from 'rerail';\n`,
  },
  {
    title: 'an import of a test',
    rule: 'import-path',
    path: 'src/base/a.ts',
    text: `import { b } from './b.test.ts';\n`,
  },
  { title: 'code in an index', rule: 'index', path: 'src/errors/index.ts', text: linesOf(1) },
  {
    title: 'an import in an index',
    rule: 'index',
    path: 'src/index.ts',
    text: `import { b } from './base/b.ts';\n`,
  },
  { title: 'export *', rule: 'export-star', path: 'src/index.ts', text: `export * from './base/b.ts';\n` },
  {
    title: 'export * as',
    rule: 'export-star',
    path: 'src/base/a.ts',
    text: `export * as b from './b.ts';\n`,
  },
  {
    title: 'a default export',
    rule: 'default-export',
    path: 'src/base/a.ts',
    text: `export default function a(): void {}\n`,
  },
  {
    title: 'an assigned default export',
    rule: 'default-export',
    path: 'test/a.ts',
    text: `const a = 1;\nexport default a;\n`,
    line: 2,
  },
  {
    title: 'a default export by renaming',
    rule: 'default-export',
    path: 'src/index.ts',
    text: `export { b as default } from './base/b.ts';\n`,
  },
  { title: 'a file in camelCase', rule: 'file-name', path: 'src/base/loadPeer.ts', text: linesOf(1) },
  { title: 'a folder in snake_case', rule: 'file-name', path: 'test/load_peer/a.ts', text: linesOf(1) },
  { title: 'a file of 301 lines', rule: 'file-length', path: 'src/base/a.ts', text: linesOf(301) },
  {
    title: 'a table of 401 lines',
    rule: 'file-length',
    path: 'src/errors/codes.ts',
    text: `// Table: codes\n${linesOf(400)}`,
  },
  { title: 'a function of 51 lines', rule: 'function-length', path: 'src/base/a.ts', text: functionOf(51) },
  {
    title: 'an arrow function of 51 lines',
    rule: 'function-length',
    path: 'scripts/a.mjs',
    text: `export const f = () => {\n${'  g();\n'.repeat(49)}};\n`,
  },
  {
    title: 'four parameters',
    rule: 'parameters',
    path: 'src/base/a.ts',
    text: `export function f(a: 1, b: 2, c: 3, d: 4): void {}\n`,
  },
  {
    title: 'four parameters in a port',
    rule: 'parameters',
    path: 'src/model/a.ts',
    text: `export interface P {\n  readonly f: (a: 1, b: 2, c: 3, d: 4) => void;\n}\n`,
    line: 2,
  },
  ...[
    'Date.now()',
    'globalThis.Date.now()',
    `Date['now']()`,
    'new Date()',
    'Date()',
    'Math.random()',
    'setTimeout(f, 1)',
    'globalThis.setTimeout(f, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'performance.now()',
    `fetch('x')`,
    '{ fetch }',
    `process.env['KEY']`,
    'process.hrtime()',
    'crypto.randomUUID()',
    'AbortSignal.timeout(1)',
  ].map((expression): Planted => ({
    title: `${expression} in a layer that is handed it`,
    rule: 'ambient',
    path: 'src/runtime/a.ts',
    text: `export const a = ${expression};\n`,
  })),
  ...['base', 'errors', 'agent', 'resilience', 'context', 'flow'].map((layer): Planted => ({
    title: `Date.now in ${layer}`,
    rule: 'ambient',
    path: `src/${layer}/a.ts`,
    text: `export const now = Date.now;\n`,
  })),
  {
    title: 'a timer by import',
    rule: 'ambient',
    path: 'src/resilience/a.ts',
    text: `import { setTimeout as sleep } from 'node:timers/promises';\n`,
  },
  {
    title: 'a note to finish later',
    rule: 'unfinished',
    path: 'src/base/a.ts',
    text: `// TODO: later\n`,
  },
  {
    title: 'a registry host',
    rule: 'registry-host',
    path: 'package-lock.json',
    text: `{\n  "resolved": "https://${['registry', 'npmjs', 'org'].join('.')}/a.tgz"\n}\n`,
    line: 2,
  },
  {
    title: 'a path of one machine',
    rule: 'machine-path',
    path: 'README.md',
    text: `See ${machinePath('home', 'me', 'notes')}.\n`,
  },
  {
    title: 'a path of one machine in an address',
    rule: 'machine-path',
    path: 'test/a.test.ts',
    text: `export const a = 'file://${machinePath('work', 'a')}';\n`,
  },
  {
    title: 'a temporary path outside tests',
    rule: 'machine-path',
    path: 'scripts/a.mjs',
    text: `export const a = '${machinePath('tmp', 'a')}';\n`,
  },
  ...['it.skip', 'test.only', 'describe.todo', 'describe.concurrent.skip'].map((call): Planted => ({
    title: call,
    rule: 'silenced-test',
    path: 'src/base/a.test.ts',
    text: `${call}('does', () => {});\n`,
  })),
];

describe('checkTidy()', () => {
  it.each(planted)('reports exactly $title ($rule)', ({ rule, path, text, line = 1 }) => {
    const { problems } = checkTidy(new Map([[path, text]]));
    expect(
      problems.map((problem) => ({ rule: problem.rule, path: problem.path, line: problem.line })),
    ).toEqual([{ rule, path, line }]);
  });

  const fine: readonly (readonly [title: string, path: string, text: string])[] = [
    ['a script that uses what was built', 'scripts/a.mjs', `import { b } from '../dist/base/b.js';\n`],
    ['an import of the own layer', 'src/base/a.ts', `import { b } from './b.ts';\n`],
    ['types of agent in storage', 'src/storage/a.ts', `import type { B } from '../agent/b.ts';\n`],
    ['types of agent in telemetry', 'src/telemetry/a.ts', `export type { B } from '../agent/b.ts';\n`],
    ['everything in a face', 'src/cli/a.ts', `import { b } from '../providers/b.ts';\n`],
    ['the testing tools in a test', 'src/agent/a.test.ts', `import { b } from '../testing/b.ts';\n`],
    ['a named re-export in an index', 'src/index.ts', `export { a } from './base/a.ts';\n`],
    ['a default export in a config', 'vitest.config.ts', `export default {};\n`],
    ['a clock in base/system.ts', 'src/base/system.ts', `export const now = Date.now;\n`],
    ['a clock at an edge', 'src/providers/a.ts', `export const now = Date.now;\n`],
    ['a date made of a number', 'src/runtime/a.ts', `export const a = new Date(0);\n`],
    ['the type of fetch', 'src/runtime/a.ts', `export type Fetch = typeof fetch;\n`],
    [
      'a fetch that was handed in',
      'src/runtime/a.ts',
      `export const a = ({ fetch }: B): C => fetch('x');\nexport const b = (deps: B): C => deps.fetch('x');\n`,
    ],
    ['a file of 300 lines', 'src/base/a.ts', linesOf(300)],
    ['a table of 400 lines', 'src/errors/codes.ts', `// Table: codes\n${linesOf(399)}`],
    ['data of any length', 'src/errors/codes.json', '{}\n'.repeat(500)],
    ['a long test', 'src/base/a.test.ts', functionOf(301)],
    [
      'a function of 50 lines and its comments',
      'src/base/a.ts',
      functionOf(50).replace('{', '{\n  // Why.\n\n'),
    ],
    ['an address with such a segment', 'README.md', `https://example.com${machinePath('home', 'page')}\n`],
    ['a word that only begins like a note', 'src/base/a.ts', `export const TODOS = 1;\n`],
    ['a property called only', 'src/base/a.test.ts', `export const a = query.only;\n`],
  ];

  it.each(fine)('accepts %s', (_title, path, text) => {
    expect(checkTidy(new Map([[path, text]])).problems).toEqual([]);
  });

  it('counts the entries of a folder: files and folders, without tests', () => {
    const filled = (count: number): ReadonlyMap<string, string> =>
      new Map(
        Array.from({ length: count }, (_, index): [string, string] => [`src/base/a${index}.ts`, '']).concat([
          ['src/base/a0.test.ts', ''],
          ['src/base/room/a.ts', ''],
          ['src/base/room/b.ts', ''],
        ]),
      );
    expect(checkTidy(filled(39)).problems).toEqual([]);
    expect(checkTidy(filled(40)).problems).toMatchObject([{ rule: 'folder-size', path: 'src/base' }]);
  });

  it('counts what it looked at', () => {
    const files = new Map([
      ['src/base/a.ts', `import { b } from './b.ts';\nexport type C = import('./c.ts').C;\n`],
      ['README.md', 'import nothing'],
    ]);
    expect(checkTidy(files)).toEqual({ problems: [], modules: 1, imports: 2 });
    expect(checkTidy(new Map())).toEqual({ problems: [], modules: 0, imports: 0 });
  });

  it('lets the entry of a layer list what stands in the table for it, and no other file', () => {
    const text = `export { b } from '../runtime/b.ts';\n`;
    expect(checkTidy(new Map([['src/model/index.ts', text]])).problems).toEqual([]);
    expect(checkTidy(new Map([['src/model/a.ts', text]])).problems).toHaveLength(1);
  });

  it('knows every layer of the table, and allows each exactly what the table says', () => {
    const names = Object.keys(layers);
    const allowed = names.flatMap((from) =>
      names
        .filter((to) => to !== from)
        .filter((to) => {
          const text = `import { b } from '../${to}/b.ts';\n`;
          return checkTidy(new Map([[`src/${from}/a.ts`, text]])).problems.length === 0;
        })
        .map((to) => `${from} ${to}`),
    );
    const faces = ['cli', 'inspector', 'chaos', 'sim', 'testing'];
    const expected = {
      base: '',
      errors: 'base',
      model: 'base errors',
      resilience: 'base errors',
      agent: 'base errors model resilience',
      context: 'base errors model',
      providers: 'base errors model',
      tools: 'base errors model',
      storage: 'base errors model',
      telemetry: 'base errors model',
      runtime: 'base errors model resilience agent context',
      machine: 'base errors model resilience agent context runtime',
      flow: 'base errors model resilience agent context runtime',
      engines: 'base errors model resilience agent context runtime',
      mcp: 'base errors model resilience agent context runtime',
      interop: 'base errors model resilience agent context providers runtime',
    };
    const expectedPairs = [
      ...Object.entries(expected).flatMap(([from, to]) =>
        to.split(' ').flatMap((name) => (name === '' ? [] : `${from} ${name}`)),
      ),
      ...faces.flatMap((from) => names.filter((to) => to !== from).map((to) => `${from} ${to}`)),
    ];
    expect(allowed.toSorted()).toEqual(expectedPairs.toSorted());
  });
});
