import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConfigWorld } from '../../../test/cli/config-world.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { stripTypes } from './strip-types.ts';
import type { TypeStrippers } from './strip-types.ts';

const none: TypeStrippers = { isNative: false, strip: undefined, compiler: () => undefined };

describe('a configuration in TypeScript that is wrong', () => {
  const rows: readonly { readonly fault: string; readonly text: string; readonly says: string | RegExp }[] = [
    {
      fault: 'throws',
      text: "const a = 1;\nthrow new TypeError('no disk');",
      says: /^rerail\.config\.ts near line 2: threw while it was loaded: TypeError: no disk$/,
    },
    {
      fault: 'throws no error',
      text: "throw 'x';",
      says: /^rerail\.config\.ts: threw while it was loaded: something: the text "x"$/,
    },
    {
      fault: 'is no TypeScript',
      text: 'export default {\n  model: = 3\n};',
      says: /^rerail\.config\.ts near line 2: Expression expected\.$/,
    },
    {
      fault: 'exports nothing',
      text: 'export const config = {};',
      says: 'rerail.config.ts: exports nothing as its default: write export default defineConfig({ … })',
    },
    {
      fault: 'exports a function',
      text: 'export default () => ({});',
      says: 'rerail.config.ts: exports a function: write export default defineConfig({ … }), with the object itself',
    },
    {
      fault: 'exports a promise',
      text: 'export default Promise.resolve({});',
      says: 'rerail.config.ts: exports a promise: write "await" before it, or export the object itself',
    },
    {
      fault: 'imports what is not there',
      text: "import './gone.ts';\nexport default {};",
      says: /^rerail\.config\.ts: threw while it was loaded: Error: Cannot find module .*gone\.ts/,
    },
    {
      fault: 'imports what a package does not have',
      text: "import { definConfig } from 'rerail/config';\nexport default definConfig({});",
      says: /threw while it was loaded: SyntaxError: .* does not provide an export named 'definConfig'/,
    },
    {
      fault: 'imports a part of rerail that is not there',
      text: "import 'rerail/nothing';\nexport default {};",
      says: /threw while it was loaded: .*rerail/,
    },
    {
      fault: 'imports by a name that it makes up',
      text: "await import(['./hid', 'den.mjs'].join(''));\nexport default {};",
      says: /"\.\/hidden\.mjs" was not looked at when this file was read/,
    },
    {
      fault: 'imports by a short name that the workspace gives to a file',
      text: "import '#hidden';\nexport default {};",
      says: /"#hidden" was not looked at when this file was read/,
    },
    ...[
      "require('./hidden.cjs')",
      "require('./hidden')",
      "require('./hidden.json')",
      "require('../hidden.cjs')",
      "require(['..', 'hidden.json'].join('/'))",
      "require(new URL('hidden.cjs', import.meta.url).pathname)",
      "createRequire('/elsewhere/x.js')(new URL('hidden.cjs', import.meta.url).pathname)",
      "process.getBuiltinModule('node:module').createRequire(import.meta.url)('./hidden.cjs')",
    ].map((call) => ({
      fault: `loads by ${call}`,
      text: `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\nexport default ${call};`,
      says: /hidden[.\w]*" was not looked at when this file was read: .*instead of requiring it/,
    })),
    {
      fault: 'imports a text that imports something',
      text: "await import('data:text/javascript,export default 1');\nexport default {};",
      says: /was not looked at when this file was read/,
    },
    {
      fault: 'imports by the name of the package that it lies in',
      text: "import 'shop/hidden';\nexport default {};",
      says: /"shop\/hidden" was not looked at when this file was read/,
    },
    {
      fault: 'has a wrong value',
      text: 'export default {\n  fetch: true,\n  limits: {\n    maxTurns: "ten",\n  },\n};',
      says: 'rerail.config.ts near line 4: limits.maxTurns must be a whole number of at least 1, found "ten"',
    },
    {
      fault: 'has an unknown name',
      text: 'export default {\n  modle: "a:b",\n};',
      says: 'rerail.config.ts near line 2: "modle" is not known; did you mean "model"?',
    },
    {
      fault: 'has a tool that is none',
      text: 'export default {\n  tools: [{}],\n};',
      says: 'rerail.config.ts near line 2: tools[0] must be a tool made by tool(), found an object',
    },
  ];

  it.each(rows)('says so where it $fault', async ({ text, says }) => {
    const world = createConfigWorld();
    world.write('hidden.mjs', 'export const a = 1;');
    for (const name of ['hidden.cjs', 'hidden.js', '../hidden.cjs', '../hidden.json'])
      world.write(name, name.endsWith('json') ? '{}' : 'module.exports = {};');
    world.write('hidden.json', '{}');
    const manifest = { imports: { '#hidden': './hidden.mjs' }, exports: { './hidden': './hidden.mjs' } };
    world.write('package.json', JSON.stringify({ name: 'shop', ...manifest }));
    world.write('rerail.config.ts', text);
    await world.trust();
    const { code, problems } = await world.refusal();
    expect(code).toBe('CONFIG_ERROR');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(says);
  });

  it('is left after 5 seconds where it waits for something', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.mjs', 'await new Promise(() => {});\nexport default {};');
    await world.trust();
    const clock = simulatedClock();
    const refused = world.refusal({}, { clock });
    await expect.poll(() => clock.pending(), { timeout: 20_000 }).toBeGreaterThan(0);
    await clock.advance(5000);
    expect((await refused).problems).toEqual([
      'rerail.config.mjs: was still being loaded after 5 s: a configuration must not wait for anything',
    ]);
  });

  it('says what to install where nothing can take the types out', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.ts', 'export default {};');
    await world.trust();
    const [problem] = (await world.refusal({}, { strippers: none })).problems;
    expect(problem).toMatch(
      /^rerail\.config\.ts: is in TypeScript, which Node .* use Node 22\.13 or later, or take the types out and name it rerail\.config\.mjs$/,
    );
  });
});

describe('a configuration in TypeScript', () => {
  const typed = `import { tool, type Tool } from 'rerail';
import { defineConfig, type RerailConfig } from 'rerail/config';
import { simulated } from 'rerail/providers/simulated';
import { city } from './parts/city.ts';

const weather: Tool = tool({
  name: 'weather',
  description: city + ' ' + typeof simulated,
  input: { type: 'object', properties: {}, additionalProperties: false },
  effect: 'read',
  execute: () => 'sunny',
});
const config: RerailConfig = defineConfig({ tools: [weather], limits: { maxTurns: 9, maxTokens: Infinity } });
export default config satisfies RerailConfig;
`;

  it('is loaded with its types, its parts and rerail itself, where nothing is installed', async () => {
    const world = createConfigWorld();
    world.write('parts/city.ts', "export const city: string = 'Oslo';");
    world.write('rerail.config.ts', typed);
    await world.trust();
    const { tools, limits, origins } = await world.load();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([['weather', 'Oslo function']]);
    expect(limits).toEqual({ maxTurns: 9, maxTokens: Infinity });
    expect(origins.find((origin) => origin.path === 'tools')).toEqual({
      path: 'tools',
      value: 'weather',
      from: 'rerail.config.ts near line 13',
    });
  });

  it.each(['config.ts', 'config.mts', 'config.mjs', 'config.js'])(
    'is taken from %s of a person',
    async (name) => {
      const world = createConfigWorld();
      world.write(
        path.join(world.home, '.config', 'rerail', name),
        "import { defineConfig } from 'rerail/config';\nexport default defineConfig({ fetch: false });",
      );
      expect((await world.load()).canFetch).toBe(false);
    },
  );

  it.each(['rerail.config.ts', 'rerail.config.mjs'])('is loaded where %s is a link', async (name) => {
    const world = createConfigWorld();
    const file = world.write(`conf/real${path.extname(name)}`, '');
    symlinkSync(file, path.join(world.workspace, name));
    world.write('conf/dep.mjs', 'export const turns = 3;');
    const text = "import { turns } from './dep.mjs';\nexport default { limits: { maxTurns: turns } };";
    writeFileSync(file, text);
    await world.trust();
    expect((await world.load()).limits).toEqual({ maxTurns: 3 });
    world.write('conf/dep.mjs', 'export const turns = 4;');
    expect(await world.load()).toMatchObject({
      limits: {},
      notices: [expect.stringContaining('has changed since you trusted it')],
    });
  });

  it('is loaded again after it and its parts have changed', async () => {
    const world = createConfigWorld();
    const load = async (turns: number): Promise<number | undefined> => {
      world.write('turns.ts', `export const turns: number = ${turns};`);
      world.write(
        'rerail.config.ts',
        "import { turns } from './turns.ts';\nexport default { limits: { maxTurns: turns } };",
      );
      await world.trust();
      return (await world.load()).limits.maxTurns;
    };
    expect([await load(3), await load(4)]).toEqual([3, 4]);
  });

  it('is used without a question where it was named', async () => {
    const world = createConfigWorld();
    const file = world.write('../other/mine.ts', 'export default { fetch: false as boolean };');
    expect(existsSync(file)).toBe(true);
    expect((await world.load({ config: file })).canFetch).toBe(false);
  });
});

describe('stripTypes()', () => {
  const rows = [
    { way: 'Node itself', strippers: { ...none, isNative: true }, gives: { type: 'native' } },
    {
      way: "Node's function",
      strippers: { ...none, strip: () => 'stripped' },
      gives: { type: 'script', text: 'stripped' },
    },
    {
      way: "Node's function, which refuses",
      strippers: {
        ...none,
        strip: () => {
          throw new SyntaxError('an enum');
        },
      },
      gives: { type: 'broken', line: 1, text: 'an enum' },
    },
    { way: 'nothing', strippers: none, gives: { type: 'no-compiler' } },
  ];

  it.each(rows)('goes by $way', ({ strippers, gives }) => {
    expect(stripTypes('const a: 1 = 1;', { file: 'a.ts', strippers })).toEqual(gives);
  });
});
