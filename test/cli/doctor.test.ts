import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { findNode } from '../../src/cli/commands/doctor-command.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import {
  copyStore,
  ended,
  fillMany,
  fillStore,
  flipByte,
  forgetEvents,
  makeForeign,
  makeNewer,
  makeText,
} from './broken-stores.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// A busy machine starts processes slowly.
vi.setConfig({ testTimeout: 60_000 });

let line: CommandLine;

beforeAll(async () => {
  line = await buildCommandLine();
  await fillStore(at('whole.db'));
  await fillMany(at('many.db'));
}, 120_000);

afterAll(async () => {
  await line.remove();
});

const at = (name: string): string => path.join(line.folder, name);

/** The store and what lies beside it, each with its length. */
const stateOf = (store: string): readonly string[] =>
  readdirSync(line.folder)
    .filter((name) => name.startsWith(store))
    .map((name) => `${name} ${statSync(at(name)).size}`);

interface Report {
  readonly failures: readonly { readonly failure: object }[];
}

describe('rerail doctor says what is wrong with', () => {
  const broken = [
    { what: 'a store that is not there', name: 'none.db', code: 'STORAGE_NOT_FOUND', says: /does not exist/ },
    {
      what: 'a store that was deleted',
      name: 'deleted.db',
      change: (file: string) => rmSync(file),
      code: 'STORAGE_LOST',
      says: /is missing or empty,\s+but there was one/,
    },
    {
      what: 'a store that was emptied',
      name: 'emptied.db',
      change: (file: string) => truncateSync(file),
      code: 'STORAGE_LOST',
      says: /missing\s+or\s+empty/,
    },
    {
      what: 'an empty file',
      name: 'empty.db',
      change: (file: string) => {
        truncateSync(file);
        rmSync(`${file}-heads`);
      },
      code: 'STORAGE_NOT_FOUND',
      says: /it is empty/,
    },
    { what: 'a folder', name: 'dist', code: 'STORAGE_NOT_FOUND', says: /it is a directory/ },
    {
      what: 'a file in a file',
      name: 'package.json/a.db',
      code: 'STORAGE_NOT_FOUND',
      says: /does not exist/,
    },
    { what: 'a newer schema', name: 'newer.db', change: makeNewer, code: 'STORAGE_NEWER_SCHEMA', says: /99/ },
    { what: 'a text', name: 'notes.txt', change: makeText, code: 'STORAGE_CORRUPT', says: /no SQLite/ },
    {
      what: 'the database of another program',
      name: 'foreign.db',
      change: makeForeign,
      code: 'STORAGE_CORRUPT',
      says: /not one\s+of\s+Rerail/,
    },
  ];

  it.each(broken)('$what, and leaves it as it is', async ({ name, change, code, says }) => {
    if (change !== undefined) copyStore(line.folder, name, change);
    const before = stateOf(name);
    const { exitCode, out, err } = await line.run(['doctor', '--store', name]);
    expect(out).toMatch(says);
    expect(out).toMatch(new RegExp(String.raw`^${code}\n {2}found`, 'm'));
    expect(out).toMatch(/^ {2}do +\w.*\w/m);
    expect(out).toMatch(/\n1 problem(?:, \d+ warnings?)?\.\n$/);
    expect({ exitCode, err }).toEqual({ exitCode: 30, err: '' });
    expect(stateOf(name)).toEqual(before);
  });

  it('a byte that has changed, with run, event and what to do', async () => {
    const name = copyStore(line.folder, 'flipped.db', flipByte);
    const { exitCode, out } = await line.run(['doctor', '--store', name]);
    expect(exitCode).toBe(30);
    expect(out).toMatch(/^ok +holds +2 runs, \d+ events, /m);
    expect(out).toMatch(/^STORAGE_CORRUPT\n {2}run +order-17\n {2}event +\d+\n {2}found +.+/m);
    expect(out).toMatch(/restore a\s+backup/);
    const json = JSON.parse((await line.run(['doctor', '--store', name, '--json'])).out) as Report;
    expect(json).toMatchObject({ isWell: false, exitCode: 30, store: { file: name, runs: 2 } });
    expect(json.failures[0]?.failure).toMatchObject({
      code: 'STORAGE_CORRUPT',
      origin: 'storage',
      context: { runId: ended, seq: expect.any(Number) as number },
    });
  });

  it('events that are gone', async () => {
    const name = copyStore(line.folder, 'forgotten.db', forgetEvents);
    const { exitCode, out } = await line.run(['doctor', '--store', name]);
    expect(exitCode).toBe(30);
    expect(out).toMatch(/^STORAGE_DIVERGED\n {2}run +order-17\n/m);
    expect(out).toMatch(/^STORAGE_DIVERGED\n {2}run +order-18\n/m);
    expect(out).toContain('acceptHead');
  });

  it('a machine without SQLite, and says what to install', async () => {
    // Outside the project, where the package cannot be found.
    const outside = mkdtempSync(path.join(os.tmpdir(), 'rerail-without-sqlite-'));
    cpSync(at('dist'), path.join(outside, 'dist'), { recursive: true });
    cpSync(at('package.json'), path.join(outside, 'package.json'));
    const hasOwn = process.allowedNodeEnvironmentFlags.has('--experimental-sqlite');
    const options = {
      main: path.join(outside, 'dist', 'cli', 'main.js'),
      nodeOptions: hasOwn ? ['--no-experimental-sqlite'] : [],
    };
    try {
      const { exitCode, out } = await line.run(['doctor', '--store', at('whole.db')], options);
      expect(out).toMatch(/^failure +sqlite +there is none$/m);
      expect(out).toMatch(/^CONFIG_ERROR$/m);
      expect(out).toMatch(/npm install\s+@photostructure\/sqlite/);
      expect(exitCode).toBe(2);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});

describe('rerail doctor', () => {
  it('finds a whole store well', async () => {
    const { exitCode, out, err } = await line.run(['doctor', '--store', 'whole.db']);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toMatch(/^ok +node +\d+\.\d+\.\d+$/m);
    expect(out).toMatch(/^ok +sqlite +3\.\d+\.\d+, by (?:node:sqlite|@photostructure\/sqlite)$/m);
    expect(out).toMatch(/^ok +store +whole\.db$/m);
    expect(out).toMatch(/^ok +holds +2 runs, \d+ events, \d+ blobs?; [\d,]+ bytes$/m);
    expect(out).toMatch(/\nAll is well(?: but for \d+ warnings?)?\.\n$/);
  });

  it('says what happens without a key, and that not all is well', async () => {
    const noKeys = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GEMINI_API_KEY: '', MISTRAL_API_KEY: '' };
    const { exitCode, out } = await line.run(['doctor'], { env: noKeys });
    const words = out.replaceAll(/\s+/g, ' ');
    expect({ exitCode, words }).toEqual({
      exitCode: 0,
      words: expect.stringMatching(
        /warning model the embedded one, .*answer by fixed rules, without a language model.* All is well but for \d warnings?\./,
      ) as string,
    });
    const named = await line.run(['doctor', '--model', 'simulated:embedded'], { env: noKeys });
    expect(named.out).toMatch(/^ok +model +the embedded one/m);
  });

  it('prints one object for programs', async () => {
    const { exitCode, out } = await line.run(['doctor', '--store', 'whole.db', '--json']);
    const number = expect.any(Number) as number;
    const text = expect.any(String) as string;
    expect(JSON.parse(out)).toEqual({
      rerail: text,
      node: { version: process.versions.node },
      sqlite: { driver: text, version: text },
      store: { file: 'whole.db', bytes: number, runs: 2, events: number, blobs: number },
      checks: expect.arrayContaining([
        { name: 'node', status: 'ok', text: process.versions.node },
        { name: 'store', status: 'ok', text: 'whole.db' },
        expect.objectContaining({ name: 'sandbox', text }) as object,
        expect.objectContaining({ name: 'clock', status: 'ok', text }) as object,
      ]) as readonly object[],
      worstCase: expect.objectContaining({ requestsPerTurn: number, longestTurnMs: number }) as object,
      isWell: true,
      exitCode: 0,
      failures: [],
    });
    expect(out.indexOf('\n')).toBe(out.length - 1);
    expect(exitCode).toBe(0);
  });

  it('finds a key that cannot be one, before anything is sent, and shows it nowhere', async () => {
    const env = { ANTHROPIC_API_KEY: "'sk-ant-veryverysecretvalue'" };
    const { exitCode, out, err } = await line.run(['doctor', '--online'], { env });
    expect(out).toMatch(/^failure +keys +The key in ANTHROPIC_API_KEY of anthropic has quotes/m);
    expect(out + err).not.toContain('veryverysecret');
    expect(exitCode).toBe(10);
  });

  it('looks at the machine alone where no store is named', async () => {
    const { exitCode, out } = await line.run(['doctor', '--json']);
    expect(JSON.parse(out)).not.toHaveProperty('store');
    expect(exitCode).toBe(0);
  });

  it.each([{ value: '' }, { value: '--json' }])('refuses "$value" for a store', async ({ value }) => {
    const { exitCode, err } = await line.run(['doctor', '--store', value]);
    expect(err).toMatch(/--store needs (?:the path of a file|a value)/);
    expect(exitCode).toBe(2);
  });

  it('ends at Ctrl-C', async () => {
    const press = `process.on('newListener', (name) => name === 'SIGINT' && setImmediate(() => process.kill(process.pid, name)))`;
    const { exitCode, out, err } = await line.run(['doctor', '--store', 'many.db'], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(press)}`],
    });
    expect(err).toBe('rerail: It was interrupted before it was done. No run was changed. (CANCELLED)\n');
    expect({ exitCode, out }).toEqual({ exitCode: 130, out: '' });
  });

  it.each([
    { version: '20.18.3', type: 'failed' },
    { version: '18.20.0', type: 'failed' },
    { version: '20.19.0', type: 'found' },
    { version: '22.1.0', type: 'found' },
  ])('knows whether Node $version will do', ({ version, type }) => {
    expect(findNode(version)).toMatchObject({ type, version });
  });
});

describe('rerail doctor at a terminal', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('says that it is at work, and wipes that away', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const err: string[] = [];
    const io: CliIo = {
      stdout: { write: () => undefined },
      stderr: { write: (text) => err.push(text) },
      stdin: () => nothing(),
      readFile: () => nothing(),
      isTerminal: { stdin: true, stdout: true, stderr: true },
      columns: 80,
      env: {},
      now: () => 0,
      folder: line.folder,
      home: at('home'),
      terminal: undefined,
      command: 'rerail',
      version: '1.2.3',
    };
    const exitCode = runCommandLine(['doctor', '--store', at('many.db')], io);
    // The check of so many runs takes more turns than these.
    for (let turn = 0; turn < 100; turn += 1) {
      await nextTurn();
      vi.advanceTimersByTime(1000);
    }
    expect(await exitCode).toBe(0);
    expect(err[0]?.startsWith('\r\u001b[Krerail: Looking at every event of "')).toBe(true);
    expect(err[0]).toMatch(/: 1 s\. Ctrl-C ends it\.$/);
    expect(err.at(-1)).toBe('\r\u001b[K');
  });
});

async function* nothing(): AsyncIterable<Uint8Array> {
  // Nobody reads here.
}
