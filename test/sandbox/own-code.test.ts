import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { findBwrap } from './find-bwrap.ts';
import type { OwnCodeCall, OwnCodeOrder } from './own-code-program.ts';

// An agent works in the folder that its own program is installed in, as most do. What it writes there would run outside the sandbox.

const bwrap = findBwrap();
let bundled: Program;
let root: string;
beforeAll(async () => {
  bundled = await bundleProgram('test/sandbox/own-code-program.ts');
});
afterAll(() => bundled.remove());
afterEach(() => rmSync(root, { recursive: true, force: true }));

const manifest = {
  name: 'rerail',
  type: 'module',
  exports: './dist/index.js',
  dependencies: { 'string-width': '8' },
  peerDependencies: { pg: '8', '@opentelemetry/api': '1' },
};

interface Layout {
  readonly what: string;
  /** Where package, dependency and program really lie. */
  readonly rerail: string;
  readonly dependency: string;
  readonly entry: string;
  readonly links: Readonly<Record<string, string>>;
  /** Names by which a tool may come to what must not change. */
  readonly names: readonly string[];
}

const inPnpm = 'node_modules/.pnpm/rerail@1.0.0/node_modules';
const layouts: readonly Layout[] = [
  {
    what: 'npm',
    rerail: 'node_modules/rerail',
    dependency: 'node_modules/string-width',
    entry: 'agent.mjs',
    links: { 'node_modules/.bin/rerail': '../rerail/dist/index.js' },
    names: ['node_modules/@opentelemetry/api/index.js', 'node_modules/.bin/node'],
  },
  {
    what: 'pnpm',
    rerail: `${inPnpm}/rerail`,
    dependency: 'node_modules/.pnpm/string-width@8/node_modules/string-width',
    entry: 'agent.mjs',
    links: {
      'node_modules/rerail': '.pnpm/rerail@1.0.0/node_modules/rerail',
      [`${inPnpm}/string-width`]: '../../string-width@8/node_modules/string-width',
    },
    names: ['node_modules/rerail/dist/index.js', `${inPnpm}/string-width/index.js`, `${inPnpm}/pg/index.js`],
  },
  {
    what: 'a monorepo that shares its packages',
    rerail: 'node_modules/rerail',
    dependency: 'node_modules/rerail/node_modules/string-width',
    entry: 'packages/app/agent.mjs',
    links: {},
    names: ['packages/app/node_modules/rerail/index.js', 'NODE_MODULES/Rerail/dist/index.js'],
  },
  {
    what: 'a link to a folder elsewhere in the workspace',
    rerail: 'vendor/rerail',
    dependency: 'node_modules/string-width',
    entry: 'agent.mjs',
    links: { 'node_modules/rerail': '../vendor/rerail' },
    names: ['node_modules/rerail/package.json'],
  },
];

/** Files whose code runs in the process of the agent. */
const codeFiles = ({ rerail, dependency, entry }: Layout): readonly string[] => [
  `${rerail}/dist/index.js`,
  `${rerail}/package.json`,
  `${dependency}/index.js`,
  entry,
];

function install({ rerail, dependency, entry, links }: Layout): void {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'rerail-own-')));
  const put = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  put(`${rerail}/package.json`, JSON.stringify(manifest));
  put(`${rerail}/dist/.keep`, '');
  copyFileSync(bundled.file, path.join(root, rerail, 'dist/index.js'));
  put(`${dependency}/package.json`, '{ "name": "string-width" }');
  put(`${dependency}/index.js`, '// good');
  put('node_modules/other/index.js', '// good');
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    symlinkSync(target, path.join(root, name));
  }
  put(
    entry,
    `import { runAgent } from 'rerail'; console.log(JSON.stringify(await runAgent(JSON.parse(process.argv[2]))));`,
  );
}

function run(
  layout: Layout,
  calls: readonly OwnCodeCall[],
  atMost: OwnCodeOrder['atMost'],
): readonly string[] {
  const order: OwnCodeOrder = { root, calls, atMost, ...(bwrap === undefined ? {} : { bwrapPath: bwrap }) };
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(root, layout.entry), JSON.stringify(order)],
    { cwd: root, encoding: 'utf8', timeout: 60_000 },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout) as readonly string[];
}

const shell = (command: string): OwnCodeCall => ({ name: 'shell', arguments: { command } });
const write = (name: string): OwnCodeCall => ({
  name: 'write_file',
  arguments: { path: name, content: '// evil' },
});
const textsOf = (layout: Layout): readonly string[] =>
  codeFiles(layout).map((name) => readFileSync(path.join(root, name), 'utf8'));

describe.each(layouts)('Rerail installed in its workspace by $what', (layout) => {
  it('is not changed by the file tools, whatever the rules allow and by whichever name', () => {
    install(layout);
    const before = textsOf(layout);
    const forbidden = [
      ...codeFiles(layout),
      ...layout.names,
      'node_modules/rerail/new.js',
      `${layout.rerail}/dist/new.js`,
    ];
    const allowed = ['src/app.mjs', 'node_modules/other/new.js', 'packages/app/other.mjs'];
    const answers = run(layout, [...forbidden, ...allowed].map(write), 'bare');
    for (const [index, name] of forbidden.entries())
      expect({ name, answer: answers[index] }).toMatchObject({
        answer: expect.stringContaining('it is protected, because') as string,
      });
    for (const [index, name] of allowed.entries())
      expect({ name, answer: answers[forbidden.length + index] }).toMatchObject({
        answer: expect.stringContaining('Created') as string,
      });
    expect(textsOf(layout)).toEqual(before);
  });

  it.runIf(bwrap !== undefined)('is not changed by a contained command', () => {
    install(layout);
    const before = textsOf(layout);
    const folders = [layout.rerail, layout.dependency, 'node_modules', 'packages', 'vendor'];
    const commands = [
      ...codeFiles(layout).map(
        (name) =>
          `echo evil >> ${name}; echo evil > new && mv -f new ${name}; rm -f ${name}; ln -f ${name} second && echo evil > second`,
      ),
      'for p in pg @opentelemetry/api; do mkdir -p node_modules/$p && echo evil > node_modules/$p/index.js; done',
      'mkdir -p node_modules/.bin && echo evil > node_modules/.bin/node',
    ];
    // A link cannot be held, so the last ones may take it away, and are noticed.
    const last = folders.map((name) => `mv ${name} moved; rm -rf ${name}; chmod -R 777 ${name}`);
    const answers = run(layout, [...commands, ...last].map(shell), 'contained');
    for (const answer of answers.slice(0, commands.length))
      expect(answer).not.toContain('changed the program');
    expect(textsOf(layout)).toEqual(before);
    for (const name of ['node_modules/pg', 'node_modules/@opentelemetry/api', 'node_modules/.bin/node'])
      expect(existsSync(path.join(root, name))).toBe(false);
  });

  it.each(['restricted', 'bare'] as const)(
    'where %s cannot hold it, the command that changes it is the last',
    (atMost) => {
      install(layout);
      const answers = run(
        layout,
        [
          shell('echo harmless > file'),
          shell(`echo '// evil' >> ${layout.rerail}/dist/index.js`),
          shell('echo ran > ran'),
        ],
        atMost,
      );
      expect(answers[0]).not.toContain('changed the program');
      expect(answers[1]).toContain('A command has changed the program that runs it');
      expect(answers[1]).toContain(`${layout.rerail}/dist/index.js`);
      expect(answers[2]).toContain('could not be started: A command has changed the program that runs it');
      expect(existsSync(path.join(root, 'ran'))).toBe(false);
    },
  );
});

it.each(bwrap === undefined ? (['restricted'] as const) : (['contained', 'restricted'] as const))(
  'a second name (a hard link) of a file of Rerail is no way to change it unseen: %s',
  (atMost) => {
    const [layout] = layouts as [Layout]; // There are four.
    install(layout);
    linkSync(path.join(root, layout.rerail, 'dist/index.js'), path.join(root, 'second'));
    const before = textsOf(layout);
    const [answer] = run(layout, [shell(`echo '// evil' >> second`)], atMost);
    const isSeen = answer?.includes('A command has changed the program that runs it');
    const isUnchanged = JSON.stringify(textsOf(layout)) === JSON.stringify(before);
    expect({ isSeen, isUnchanged }).toEqual({
      isSeen: atMost === 'restricted',
      isUnchanged: atMost === 'contained',
    });
  },
);
