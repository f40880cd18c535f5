import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentHash } from '../../src/cli/config/trust-list.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// The real program in a hostile clone, with every kind of home folder that an environment can name.

let program: CommandLine;
let folder: string;
/** A clone with code wherever a home folder of ours would have some. */
let clone: string;
let ran: string;
let temporary: string;

beforeAll(async () => {
  program = await buildCommandLine();
}, 60_000);
afterAll(() => program.remove());

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'rerail-home-')));
  clone = path.join(folder, 'clone');
  ran = path.join(folder, 'ran');
  temporary = path.join(folder, 'tmp');
  mkdirSync(temporary);
  const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, 'yes');\nexport default { fetch: false };\n`;
  const config = write('rerail.config.mjs', code);
  const entry = { path: config, sha256: contentHash(Buffer.from(code)), atMs: 1 };
  for (const home of ['.', 'sub', 'etc']) {
    write(path.join(home, '.config/rerail/config.mjs'), code);
    write(path.join(home, 'rerail/config.mjs'), code);
    const list = JSON.stringify({ version: 1, files: [entry] });
    for (const state of ['.local/state/rerail', 'rerail'])
      chmodSync(write(path.join(home, state, 'trust.json'), list), 0o600);
  }
  return () => rmSync(folder, { recursive: true, force: true });
});

function write(file: string, text: string): string {
  const full = path.join(clone, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

type Env = Readonly<Record<string, string>>;

interface Place {
  readonly cwd?: string;
  /** Another installation of the program. */
  readonly main?: string;
}

function rerail(
  argv: readonly string[],
  env: Env,
  { cwd = clone, main = program.main }: Place = {},
): { exitCode: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], TMPDIR: temporary, NODE_NO_WARNINGS: '1', TERM: 'dumb', ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { exitCode: status, said: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ') };
}

const commands = [['config'], ['runs'], ['run', 'hello', '--config', 'none'], ['init'], ['trust']];

describe('HOME in a hostile clone (F4)', { timeout: 120_000 }, () => {
  it.each([
    { home: '', says: 'HOME is empty' },
    { home: '.', says: 'HOME is ".", which is not an absolute path' },
    { home: 'sub', says: 'HOME is "sub", which is not an absolute path' },
    { home: './sub', says: 'which is not an absolute path' },
    { home: '~', says: 'which is not an absolute path' },
  ])('is refused where it is $home', ({ home, says }) => {
    for (const argv of commands) {
      const { exitCode, said } = rerail(argv, { HOME: home });
      expect({ argv, exitCode }).toEqual({ argv, exitCode: 2 });
      expect(said).toContain(says);
      expect(said).toContain('Set HOME to the absolute path of your home folder');
    }
    expect(existsSync(ran)).toBe(false);
  });

  it('does not matter to a command that has no use for it', () => {
    expect(rerail(['--version'], { HOME: '' }).exitCode).toBe(0);
    expect(rerail(['classify', '--status', '429'], { HOME: 'sub' }).exitCode).toBe(0);
  });

  const places: readonly { readonly what: string; readonly env: (at: (name: string) => string) => Env }[] = [
    { what: 'HOME is the clone', env: (at) => ({ HOME: at('clone') }) },
    { what: 'HOME is in the clone', env: (at) => ({ HOME: at('clone/sub') }) },
    { what: 'HOME is a link into the clone', env: (at) => ({ HOME: at('link') }) },
    { what: 'HOME has a way back in it', env: (at) => ({ HOME: at('elsewhere/../clone') }) },
    {
      what: 'XDG_CONFIG_HOME and XDG_STATE_HOME are in the clone',
      env: (at) => ({ HOME: at('home'), XDG_CONFIG_HOME: at('clone/etc'), XDG_STATE_HOME: at('clone/etc') }),
    },
    {
      what: 'XDG_CONFIG_HOME and XDG_STATE_HOME are relative',
      env: (at) => ({ HOME: at('home'), XDG_CONFIG_HOME: 'etc', XDG_STATE_HOME: 'etc' }),
    },
    {
      what: 'the temporary folder is in the clone as well',
      env: (at) => ({ HOME: at('clone'), TMPDIR: at('clone/sub') }),
    },
  ];

  it.each(places)('brings no configuration and no trust along where $what', ({ env }) => {
    mkdirSync(path.join(folder, 'home'));
    mkdirSync(path.join(folder, 'elsewhere'));
    symlinkSync(clone, path.join(folder, 'link'));
    const given = env((name) => `${folder}/${name}`);
    const { exitCode, said } = rerail(['config'], given);
    expect(exitCode).toBe(0);
    expect(said).toContain('rerail.config.mjs was found and not used');
    expect(said).toMatch(
      /is inside the workspace, so no configuration of yours was read|not an absolute path, and was ignored/,
    );
    expect(said).toContain('fetch true');
    expect(existsSync(ran)).toBe(false);
    // The state of the last row would be in the folder that everybody uses.
    if (given['TMPDIR'] !== undefined) return;
    expect(rerail(['run', 'hello', '--run-id', 'r1'], given).exitCode).toBe(0);
    expect(rerail(['runs'], given).said).toContain('r1');
    expect(existsSync(ran)).toBe(false);
    const state = path.join(clone, '.local', 'state', 'rerail');
    expect(readdirSync(state)).toEqual(['trust.json']);
  });

  it('counts for the whole repository, and for the folder where the program was called', () => {
    mkdirSync(path.join(clone, '.git'));
    expect(rerail(['config'], { HOME: clone }, { cwd: path.join(clone, 'sub') }).said).toContain(
      'inside the workspace',
    );
    const other = path.join(folder, 'other');
    mkdirSync(other);
    expect(rerail(['config', '--workspace', other], { HOME: clone }).said).toContain('inside the workspace');
    expect(existsSync(ran)).toBe(false);
  });
});

describe('a clone with a compiler of its own (D4)', { timeout: 120_000 }, () => {
  it.each([
    { what: 'beside the clone', at: 'tools/node_modules/rerail' },
    { what: 'in the clone', at: 'clone/node_modules/rerail' },
    { what: 'in a subfolder of its repository', at: 'clone/sub/node_modules/rerail' },
  ])('does not get it run by a program that is installed $what', ({ at }) => {
    const installed = path.join(folder, at);
    cpSync(program.folder, installed, { recursive: true });
    rmSync(path.join(clone, 'rerail.config.mjs'));
    mkdirSync(path.join(clone, '.git'));
    const code = `require('node:fs').writeFileSync(${JSON.stringify(ran)}, 'yes');\nexports.transpileModule = (text) => ({ outputText: text });`;
    for (const name of ['typescript', 'tsx', 'jiti', 'esbuild', '@swc/core', 'amaro', 'ts-node']) {
      write(`node_modules/${name}/package.json`, '{"main":"index.js"}');
      write(`node_modules/${name}/index.js`, code);
    }
    const env = { HOME: path.join(folder, 'home') };
    mkdirSync(env.HOME);
    const main = path.join(installed, 'dist', 'cli', 'main.js');
    expect(rerail(['init'], env, { main }).exitCode).toBe(0);
    expect(rerail(['config'], env, { main }).said).toMatch(/limits\.maxCostUsd 5 \(rerail\.config\.m?[jt]s/);
    // SQLite is not installed there, so a run ends before it begins: what was read for it is what counts.
    for (const argv of [['doctor'], ['trust', '--yes'], ['run', 'hello'], ['runs']])
      rerail(argv, env, { main });
    expect(existsSync(ran)).toBe(false);
    const typed =
      "import { defineConfig } from 'rerail/config';\nexport default defineConfig({ fetch: false as boolean });";
    rmSync(path.join(clone, 'rerail.config.mjs'), { force: true });
    write('rerail.config.ts', typed);
    rerail(['trust', '--yes'], env, { main });
    const { said } = rerail(['config'], env, { main });
    expect(said).toMatch(/fetch false|is in TypeScript, which Node \S+ cannot load by itself/);
    expect(existsSync(ran)).toBe(false);
  });
});

describe('a home folder that cannot be used (F22)', { timeout: 120_000 }, () => {
  const homes: readonly { readonly what: string; readonly env: () => Env }[] = [
    {
      what: 'is a file',
      env: () => {
        writeFileSync(path.join(folder, 'file'), '');
        return { HOME: path.join(folder, 'file') };
      },
    },
    { what: 'is below a file', env: () => ({ HOME: '/dev/null/home' }) },
    { what: 'is a device', env: () => ({ HOME: '/dev/null' }) },
    { what: 'cannot be written', env: () => ({ HOME: '/sys/kernel' }) },
    {
      what: 'has a file in the place of its state',
      env: () => {
        mkdirSync(path.join(folder, 'home'));
        writeFileSync(path.join(folder, 'home', '.local'), '');
        return { HOME: path.join(folder, 'home') };
      },
    },
  ];

  it.each(homes)('leaves state in a private temporary folder where it $what, and says so', ({ env }) => {
    const given = env();
    const began = rerail(['run', 'hello', '--run-id', 'r1', '--config', 'none'], given);
    expect(began.exitCode).toBe(0);
    expect(began.said).toContain('State cannot be kept in');
    expect(began.said).toContain('To keep them, set XDG_STATE_HOME');
    const state = path.join(temporary, `rerail-${process.getuid?.()}`);
    expect(statSync(state).mode & 0o777).toBe(0o700);
    const listed = rerail(['runs'], given);
    expect(listed).toMatchObject({ exitCode: 0 });
    expect(listed.said).toContain('r1');
    expect(listed.said).toContain('State cannot be kept in');
    expect(rerail(['trust', '--yes'], given).exitCode).toBe(0);
    expect(rerail(['config'], given).said).toContain('fetch false');
  });

  it('passes over a temporary folder that others have made', () => {
    const first = path.join(temporary, `rerail-${process.getuid?.()}`);
    symlinkSync(clone, first);
    mkdirSync(`${first}-1`, { mode: 0o755 });
    chmodSync(`${first}-1`, 0o777);
    const began = rerail(['run', 'hello', '--config', 'none'], { HOME: '/dev/null' });
    expect(began.exitCode).toBe(0);
    expect(readdirSync(`${first}-2`)).toContain('runs.db');
    expect(readdirSync(`${first}-1`)).toEqual([]);
    expect(existsSync(path.join(clone, 'runs.db'))).toBe(false);
  });

  it('is not needed where XDG_STATE_HOME names a folder', () => {
    const state = path.join(folder, 'state');
    const began = rerail(['run', 'hello', '--config', 'none'], { HOME: '/dev/null', XDG_STATE_HOME: state });
    expect(began.exitCode).toBe(0);
    expect(began.said).not.toContain('State cannot be kept in');
    expect(readdirSync(path.join(state, 'rerail'))).toContain('runs.db');
  });

  it('is that of the account where HOME is not set', () => {
    const { exitCode, said } = rerail(['config'], {});
    expect(exitCode).toBe(0);
    expect(said).not.toContain('not an absolute path');
  });
});
