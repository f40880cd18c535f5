import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redact } from '../../base/redact.ts';
import { createConfigWorld } from '../../../test/cli/config-world.ts';

const userFile = (home: string, name = 'config.json'): string => path.join(home, '.config', 'rerail', name);

describe('a configuration that is wrong (U03)', () => {
  const anthropicKey = `sk-ant-api03-${'a'.repeat(95)}`;
  const rows: readonly {
    readonly fault: string;
    readonly text: string | Uint8Array;
    readonly says: readonly string[];
  }[] = [
    {
      fault: 'no JSON',
      text: 'model = x',
      says: ['rerail.config.json:1:1: a value was expected, found "model"'],
    },
    {
      fault: 'cut off',
      text: '{\n  "model": "a:b"',
      says: ['rerail.config.json:2:17: "," or "}" was expected, found the end of the file'],
    },
    {
      fault: 'a comment',
      text: '{\n  // mine\n  "fetch": true\n}',
      says: ['rerail.config.json:2:3: JSON has no comments: remove it, or use rerail.config.ts'],
    },
    {
      fault: 'a trailing comma',
      text: '{\n  "fetch": true,\n}',
      says: ['rerail.config.json:3:1: a comma before "}": JSON has no trailing commas, remove it'],
    },
    {
      fault: 'a trailing comma in a list',
      text: '{ "protect": ["a",] }',
      says: ['rerail.config.json:1:19: a comma before "]": JSON has no trailing commas, remove it'],
    },
    {
      fault: 'a text that is not closed',
      text: '{ "model": "a }',
      says: ['rerail.config.json:1:12: a text in double quotes is not closed on its line'],
    },
    {
      fault: 'text after the end',
      text: '{}\n{}',
      says: ['rerail.config.json:2:1: nothing may follow the end of the object, found "{"'],
    },
    {
      fault: 'endless depth',
      text: '['.repeat(5000),
      says: ['rerail.config.json:1:66: more than 64 levels of brackets'],
    },
    {
      fault: 'an empty file',
      text: '',
      says: ['rerail.config.json:1:1: the file is empty: write {} or remove it'],
    },
    {
      fault: 'a list',
      text: '[]',
      says: [
        'rerail.config.json:1: A configuration must be an object, such as { "model": "anthropic:claude-sonnet-5" }, found an empty list',
      ],
    },
    {
      fault: 'a byte order mark',
      text: '\uFEFF{}',
      says: [
        'rerail.config.json:1: begins with a byte order mark, which JSON does not allow: save it as UTF-8 without BOM',
      ],
    },
    {
      fault: 'UTF-16',
      text: new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
      says: [
        'rerail.config.json:1: begins with a byte order mark, which JSON does not allow: save it as UTF-8 without BOM',
      ],
    },
    {
      fault: 'bytes that are no text',
      text: new Uint8Array([0x7b, 0xff, 0x7d]),
      says: ['rerail.config.json: is not text in UTF-8: save it as UTF-8'],
    },
    {
      fault: 'a name that comes twice',
      text: '{\n"fetch": true,\n"fetch": false }',
      says: ['rerail.config.json:3: "fetch" appears twice; the first is on line 2: remove one of them'],
    },
    {
      fault: 'an unknown name',
      text: '{\n\n"modle": "a:b" }',
      says: ['rerail.config.json:3: "modle" is not known; did you mean "model"?'],
    },
    {
      fault: 'an unknown inner name',
      text: '{ "limits": {\n"maxTurn": 3 } }',
      says: ['rerail.config.json:2: "maxTurn" is not known; did you mean "maxTurns"?'],
    },
    {
      fault: 'a name like no other',
      text: '{ "zzzzzz": 1 }',
      says: [
        'rerail.config.json:1: "zzzzzz" is not known; known are model, baseURL, instructions, store, permissions, protect, sandbox, limits, retry, explain, fetch, commands, tools',
      ],
    },
    {
      fault: 'a prototype',
      text: '{ "__proto__": { "fetch": false } }',
      says: [
        'rerail.config.json:1: "__proto__" is not known; known are model, baseURL, instructions, store, permissions, protect, sandbox, limits, retry, explain, fetch, commands, tools',
      ],
    },
    {
      fault: 'a key by its name',
      text: '{ "apiKey": "x" }',
      says: [
        'rerail.config.json:1: "apiKey" is not known: keys do not belong in a configuration, set them in the environment, as ANTHROPIC_API_KEY',
      ],
    },
    {
      fault: 'a key by its looks',
      text: `{ "model": "${anthropicKey}" }`,
      says: [
        'rerail.config.json:1: model holds what looks like a secret: take it out of the file and set it in the environment, as ANTHROPIC_API_KEY',
      ],
    },
    {
      fault: 'a wrong type',
      text: '{\n"model": "a:b",\n"limits": {\n"maxTurns": "ten" } }',
      says: ['rerail.config.json:4: limits.maxTurns must be a whole number of at least 1, found "ten"'],
    },
    {
      fault: 'a broken number',
      text: '{ "limits": { "maxTurns": 1.5 } }',
      says: ['rerail.config.json:1: limits.maxTurns must be a whole number of at least 1, found 1.5'],
    },
    {
      fault: 'a group that is none',
      text: '{ "limits": 5 }',
      says: ['rerail.config.json:1: limits must be such as { "maxTurns": 30 }, found 5'],
    },
    {
      fault: 'an unknown preset',
      text: '{ "retry": "patent" }',
      says: [
        'rerail.config.json:1: retry must be "none", "quick", "standard" or "patient", or an object, found "patent"; did you mean "patient"?',
      ],
    },
    {
      fault: 'a jitter out of bounds',
      text: '{ "retry": { "jitter": 2 } }',
      says: ['rerail.config.json:1: retry.jitter must be a number from 0 to 1, found 2'],
    },
    {
      fault: 'a sandbox that is none',
      text: '{ "sandbox": { "min": "strong" } }',
      says: ['rerail.config.json:1: sandbox.min must be "contained", "restricted" or "bare", found "strong"'],
    },
    {
      fault: 'a sandbox on and off',
      text: '{ "sandbox": { "min": "bare", "off": true } }',
      says: ['rerail.config.json:1: sandbox has both "min" and "off": keep one of them'],
    },
    {
      fault: 'an empty model',
      text: '{ "model": "" }',
      says: ['rerail.config.json:1: model must be a text or a list of texts, found ""'],
    },
    {
      fault: 'no model',
      text: '{ "model": [] }',
      says: ['rerail.config.json:1: model must be at least one model, found an empty list'],
    },
    {
      fault: 'a flag that is none',
      text: '{ "fetch": "yes" }',
      says: ['rerail.config.json:1: fetch must be true or false, found "yes"'],
    },
    {
      fault: 'tools in JSON',
      text: '{ "tools": [{ "name": "x" }] }',
      says: ['rerail.config.json:1: tools[0] must be a tool made by tool(), found an object'],
    },
    {
      fault: 'a rule that is none',
      text: '{ "permissions": [\n{ "tool": "shell", "permission": "ask" },\n{ "tool": "shell", "permission": "maybe" }] }',
      says: [
        'rerail.config.json:3: "permissions[1].permission" must be "allow" or "ask" or "deny", got the text "maybe"',
      ],
    },
    {
      fault: 'everything at once',
      text: '{\n"modle": "x",\n"fetch": 1,\n"fetch": 2,\n"limits": { "maxTurns": 0 }\n}',
      says: [
        'rerail.config.json:4: "fetch" appears twice; the first is on line 3: remove one of them',
        'rerail.config.json:2: "modle" is not known; did you mean "model"?',
        'rerail.config.json:3: fetch must be true or false, found 2',
        'rerail.config.json:5: limits.maxTurns must be a whole number of at least 1, found 0',
      ],
    },
  ];

  it.each(rows)('says where it has $fault', async ({ text, says }) => {
    const world = createConfigWorld();
    world.write('rerail.config.json', text);
    await world.trust();
    const { code, problems } = await world.refusal();
    expect({ code, problems }).toEqual({ code: 'CONFIG_ERROR', problems: says });
  });

  it('never shows a key that is in it', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.json', `{ "model": ["a:b", "${anthropicKey}"], "store": "${anthropicKey}" }`);
    await world.trust();
    expect(JSON.stringify(await world.refusal())).not.toContain('aaaaaaaa');
  });

  it('is refused where it is a directory, before and after trust', async () => {
    const world = createConfigWorld();
    mkdirSync(path.join(world.workspace, 'rerail.config.json'));
    expect((await world.refusal()).problems).toEqual([
      'rerail.config.json: is a directory, not a file; type --config none to continue without it',
    ]);
    expect((await world.load({ config: 'none' })).notices).toEqual([]);
  });

  it('is refused at 100 MB without being read', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.json', new Uint8Array(100_000_000));
    expect((await world.refusal()).problems).toEqual([
      'rerail.config.json: has 100000000 bytes, which is more than the 1000000 that are read; type --config none to continue without it',
    ]);
  });

  it('is refused where it cannot be read: a link to itself, a socket', async () => {
    const linked = createConfigWorld();
    symlinkSync('rerail.config.json', path.join(linked.workspace, 'rerail.config.json'));
    expect((await linked.refusal()).problems[0]).toMatch('rerail.config.json: cannot be read (ELOOP)');
    const taken = createConfigWorld();
    const server = createServer().listen(path.join(taken.workspace, 'rerail.config.json'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect((await taken.refusal()).problems[0]).toMatch('rerail.config.json: is no regular file');
  });

  it('is refused where --config names none', async () => {
    const world = createConfigWorld();
    expect((await world.refusal({ config: 'no.json' })).problems).toEqual([
      'no.json: is not there; --config needs the path of a file, or "none"',
    ]);
  });

  it('reports on files, environment and flags together', async () => {
    const world = createConfigWorld({
      env: { RERAIL_MAX_TURNS: 'ten', RERAIL_SANDBOX: 'x', RERAIL_FETCH: 'maybe' },
    });
    world.write('rerail.config.json', '{ "fetch": 1 }');
    await world.trust();
    world.write(userFile(world.home), '{ "stor": "x" }');
    const { message, problems } = await world.refusal({ sandbox: 'strong' });
    expect(problems).toEqual([
      'flag --sandbox: sandbox.min must be "contained", "restricted" or "bare", found "strong"',
      'environment RERAIL_SANDBOX: sandbox.min must be "contained", "restricted" or "bare", found "x"',
      'environment RERAIL_FETCH: fetch must be true or false, found "maybe"',
      'environment RERAIL_MAX_TURNS: limits.maxTurns must be a whole number of at least 1, found "ten"',
      'rerail.config.json:1: fetch must be true or false, found 1',
      '~/.config/rerail/config.json:1: "stor" is not known; did you mean "store"?',
    ]);
    expect(message).toMatch(/^6 problems\. flag --sandbox/);
  });

  it.each([
    { workspace: 'nowhere', says: /Cannot work in ".*nowhere": it is not there/ },
    { workspace: 'a-file', says: /Cannot work in ".*a-file": it is no folder/ },
  ])('refuses to work in $workspace', async ({ workspace, says }) => {
    const world = createConfigWorld();
    world.write('a-file', '');
    expect((await world.refusal({ workspace })).message).toMatch(says);
  });
});

describe('where a value comes from', () => {
  it('is the strongest who has a say, value by value', async () => {
    const someone = fc.record({
      flag: fc.boolean(),
      environment: fc.boolean(),
      workspace: fc.boolean(),
      user: fc.boolean(),
    });
    const run = async (
      speaks: Record<'flag' | 'environment' | 'workspace' | 'user', boolean>,
      turns: typeof speaks,
    ): Promise<void> => {
      const env = {
        ...(speaks.environment ? { RERAIL_STORE: 'environment.db' } : {}),
        ...(turns.environment ? { RERAIL_MAX_TURNS: '3' } : {}),
      };
      const world = createConfigWorld({ env });
      const file = (
        isSpoken: boolean,
        hasTurns: boolean,
        [store, maxTurns]: readonly [string, number],
      ): string =>
        JSON.stringify({ ...(isSpoken ? { store } : {}), ...(hasTurns ? { limits: { maxTurns } } : {}) });
      world.write('rerail.config.json', file(speaks.workspace, turns.workspace, ['workspace.db', 4]));
      world.write(userFile(world.home), file(speaks.user, turns.user, ['user.db', 5]));
      await world.trust();
      const settings = await world.load({
        ...(speaks.flag ? { store: 'flag.db' } : {}),
        ...(turns.flag ? { limits: { maxTurns: 2 } } : {}),
      });
      const strongest = (of: typeof speaks): string =>
        (['flag', 'environment', 'workspace', 'user'] as const).find((name) => of[name]) ?? 'runs';
      expect(path.basename(settings.storeFile, '.db')).toBe(strongest(speaks));
      const numbers: Readonly<Record<string, number | undefined>> = {
        flag: 2,
        environment: 3,
        workspace: 4,
        user: 5,
      };
      expect(settings.limits.maxTurns).toBe(numbers[strongest(turns)]);
    };
    await fc.assert(fc.asyncProperty(someone, someone, run), { numRuns: 40 });
  });

  it('is said with file and line', async () => {
    const world = createConfigWorld({ env: { RERAIL_MODEL: 'simulated' } });
    world.write(
      'rerail.config.json',
      '{\n"fetch": false,\n"model": "openai:gpt-5.4",\n"limits": {\n"maxTurns": 7 } }',
    );
    await world.trust();
    const { origins, notices, modelLine } = await world.load({ store: 'a.db' });
    const from = Object.fromEntries(
      origins.map((origin) => [origin.path, `${origin.value} ← ${origin.from}`]),
    );
    expect(from).toMatchObject({
      model: 'simulated:embedded ← environment RERAIL_MODEL',
      store: 'a.db ← flag --store',
      fetch: 'false ← rerail.config.json:2',
      'limits.maxTurns': '7 ← rerail.config.json:5',
      'limits.maxToolCalls': '500 ← default',
      retry: 'standard ← default',
      sandbox: 'the strongest available ← default',
    });
    expect(notices).toEqual(['RERAIL_MODEL hides model of rerail.config.json:3']);
    expect(modelLine).toBe('Model: the embedded one, which only plays a part, because RERAIL_MODEL says so.');
  });

  it('joins rules and protections, so that no file can drop those of another', async () => {
    const world = createConfigWorld();
    world.write(
      'rerail.config.json',
      '{ "permissions": [{ "tool": "fetch", "permission": "allow" }], "protect": ["a"] }',
    );
    world.write(
      userFile(world.home),
      '{ "permissions": [{ "tool": "fetch", "permission": "deny" }], "protect": ["b"] }',
    );
    await world.trust();
    const { permissions, protect, origins } = await world.load();
    expect(permissions.map(({ permission }) => permission)).toEqual(['allow', 'deny']);
    expect(protect).toEqual(['a', 'b']);
    expect(origins.filter((origin) => origin.path === 'protect').map(({ from }) => from)).toEqual([
      'rerail.config.json:1',
      '~/.config/rerail/config.json:1',
    ]);
  });

  it('finds relative paths from where they were written', async () => {
    const world = createConfigWorld();
    world.write(userFile(world.home), '{ "store": "mine.db", "commands": ["~/cmds", "more"] }');
    const { storeFile, commandFolders } = await world.load();
    const folder = path.dirname(userFile(world.home));
    expect(storeFile).toBe(path.join(folder, 'mine.db'));
    expect(commandFolders).toEqual([path.join(world.home, 'cmds'), path.join(folder, 'more')]);
  });

  it('says who switched the sandbox off', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.json', '{ "sandbox": { "off": "in a container" } }');
    await world.trust();
    expect((await world.load()).sandbox).toEqual({ off: 'rerail.config.json:1: in a container' });
    expect((await world.load({ sandbox: 'off' })).sandbox).toEqual({ off: '--sandbox' });
    expect((await world.load({ sandbox: 'contained' })).sandbox).toEqual({ min: 'contained' });
  });

  it('keeps files of its own out of the hands of an agent that works in the home folder', async () => {
    const world = createConfigWorld();
    const { protect } = await world.load({ workspace: world.home });
    expect(protect).toEqual([
      '.config/rerail',
      '.config/rerail/**',
      '.local/state/rerail',
      '.local/state/rerail/**',
      '.local/state/rerail/runs.db*',
    ]);
  });

  it('keeps the whole workspace out of them where it is a folder of our own', async () => {
    const world = createConfigWorld();
    const own = path.dirname(world.write(userFile(world.home), '{}'));
    expect((await world.load({ workspace: own })).protect).toEqual(['*']);
  });

  it('makes keys of providers that were not chosen secrets too, and those of other services', async () => {
    const keys = { GROQ_API_KEY: 'PlainUnformattedKey77', COHERE_API_KEY: 'OtherServiceKey1234' };
    const world = createConfigWorld({ env: { ...keys, RERAIL_MODEL: 'simulated:embedded' } });
    world.write('.env', 'MISTRAL_API_KEY=FromTheFileKey5678\n');
    await world.trust();
    await world.load();
    expect(redact('PlainUnformattedKey77 OtherServiceKey1234 FromTheFileKey5678')).not.toMatch(/Key/);
  });

  it('names a variable that nothing reads', async () => {
    const world = createConfigWorld({ env: { RERAIL_MODLE: 'x' } });
    expect((await world.load()).notices).toEqual([
      'RERAIL_MODLE is set, and nothing reads it; did you mean RERAIL_MODEL?',
    ]);
  });

  it('uses the folders that the environment names, and passes over relative ones', async () => {
    const world = createConfigWorld({ env: { XDG_CONFIG_HOME: 'etc', XDG_STATE_HOME: '/var/lib/someone' } });
    world.write(userFile(world.home), '{ "fetch": false }');
    const { storeFile, canFetch } = await world.load();
    expect({ storeFile, canFetch }).toEqual({
      storeFile: '/var/lib/someone/rerail/runs.db',
      canFetch: false,
    });
  });
});
