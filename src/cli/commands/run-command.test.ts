import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import type { CliIo } from '../start/io.ts';
import { runRun } from './run-command.ts';

// A person who can only type lines: standard output is a pipe, the keyboard and standard error are a terminal.

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-run-unit-'));
  await writeFile(path.join(folder, 'a.txt'), 'before\n');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

interface Typed {
  readonly lines: readonly string[];
  readonly flags?: Readonly<Record<string, unknown>>;
}

async function ask(
  words: string,
  { lines, flags = {} }: Typed,
): Promise<{ exitCode: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const io: CliIo = {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    async *stdin() {
      for (const line of lines) yield new TextEncoder().encode(`${line}\n`);
    },
    async *readFile() {
      // There is none.
    },
    isTerminal: { stdin: true, stdout: false, stderr: true },
    columns: undefined,
    env: {},
    now: () => Date.now(),
    folder,
    home: folder,
    terminal: undefined,
    command: 'rerail',
    version: '0.0.0',
  };
  const given = { args: [words.split(' ')], flags: { model: 'simulated:embedded', ...flags } };
  const exitCode = await runRun(given, io);
  return { exitCode, out, err };
}

const wish = 'Write the file b.txt with content "hello"';

describe('runRun()', { timeout: 20_000 }, () => {
  it('does not do what was not approved, and ends with 22', async () => {
    const { exitCode, err } = await ask(wish, { lines: [] });
    await expect(readFile(path.join(folder, 'b.txt'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
    expect({ exitCode, isAsked: err.includes('May "write_file" run?') }).toEqual({
      exitCode: 22,
      isAsked: true,
    });
  });

  it('asks no model where commands cannot be held as far as is demanded', async () => {
    const workspace = await openWorkspace(folder, { sandbox: { min: 'contained' } });
    const expected = await workspace.sandbox().then(
      () => 0,
      () => 'SANDBOX_SETUP_FAILED',
    );
    const end = await ask('Say hello', { lines: [], flags: { sandbox: 'contained' } }).then(
      ({ exitCode }) => exitCode,
      (error: unknown) => (RerailError.isInstance(error) ? error.failure.code : error),
    );
    expect(end).toBe(expected);
  });

  it('does not do what a person said no to', async () => {
    await ask(wish, { lines: ['n', 'n', 'n', 'n'] });
    await expect(readFile(path.join(folder, 'b.txt'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does it after a yes, and keeps the question away from standard output', async () => {
    const { exitCode, out, err } = await ask(wish, { lines: ['y'] });
    expect(await readFile(path.join(folder, 'b.txt'), 'utf8')).toBe('hello');
    expect(exitCode).toBe(0);
    expect(err).toContain('May "write_file" run?');
    expect(out).not.toContain('May');
  });
});
