import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRow } from '../../src/model/store/store.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// The real program beside other processes: readers that leave before the end, and processes that have the run or the store.

let program: CommandLine;
let folder: string;

const files = {
  'project/slow.js':
    'const timer = setInterval(() => console.log("at work"), 20);\nprocess.on("SIGTERM", () => { clearInterval(timer); });\n',
  'allow.json': '{"permissions":[{"tool":["shell","edit_file"],"permission":"allow"}]}',
};
const slowPlea = 'The tests fail (`node slow.js`). Find out why and fix it.';

beforeAll(async () => {
  program = await buildCommandLine();
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-pipes-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
}, 60_000);

afterAll(async () => {
  await program.remove();
  await rm(folder, { recursive: true, force: true });
});

const storeFile = (): string => path.join(folder, 'runs.db');

function start(argv: readonly string[]): ChildProcess {
  const settings = ['--workspace', path.join(folder, 'project'), '--store', storeFile()];
  const agent = ['--model', 'simulated:embedded', '--config', path.join(folder, 'allow.json')];
  const isAgent = ['run', 'resume'].includes(argv[0] ?? '');
  const more = isAgent ? [...settings, ...agent] : ['--store', storeFile()];
  const child = spawn(process.execPath, [program.main, ...argv, ...more], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: path.join(folder, 'home'), TERM: 'dumb', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 40_000,
    killSignal: 'SIGKILL',
  });
  return child;
}

interface Ended {
  readonly exitCode: number | null;
  readonly said: string;
}

function ended(child: ChildProcess): Promise<Ended> {
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, said })));
}

/** Reads until a text has come, and then no more. */
function leave(child: ChildProcess, output: 'stdout' | 'stderr', after: string): void {
  let said = '';
  child[output]?.on('data', (text: Buffer | string) => {
    said += String(text);
    if (said.includes(after)) child[output]?.destroy();
  });
}

async function rowOf(runId: string): Promise<RunRow | undefined> {
  const store = sqlite(storeFile());
  try {
    return await store.runs.find(runId);
  } finally {
    await store.close();
  }
}

describe('a reader that leaves before the end (F11, F21)', { timeout: 60_000 }, () => {
  it.each([
    { output: 'stdout', argv: ['--json'], after: '\n' },
    { output: 'stdout', argv: ['--json'], after: 'at work' },
    { output: 'stderr', argv: [], after: 'turn 1' },
  ] as const)(
    'ends a run with 141 and its end on record: $output $argv after $after',
    async ({ output, argv, after }) => {
      const runId = `left-${output}-${after.length}`;
      const child = start(['run', slowPlea, '--run-id', runId, ...argv]);
      leave(child, output, after);
      const { exitCode } = await ended(child);
      expect(exitCode).toBe(141);
      const row = await rowOf(runId);
      expect(row).toMatchObject({ status: 'cancelled' });
      expect(row?.owner).toBeUndefined();
    },
  );

  it('ends a resumed run the same way', async () => {
    // The command was interrupted, so a person must first say whether it happened.
    expect((await ended(start(['resume', 'left-stdout-7']))).exitCode).toBe(23);
    const { said } = await ended(start(['why', 'left-stdout-7']));
    const [, hash = ''] = /--call ([0-9a-f]+)/.exec(said) ?? [];
    const answer = ['--call', hash, '--answer', 'did-not-happen'];
    const child = start(['resume', 'left-stdout-7', '--json', ...answer]);
    leave(child, 'stdout', 'at work');
    expect((await ended(child)).exitCode).toBe(141);
    const row = await rowOf('left-stdout-7');
    expect(row).toMatchObject({ status: 'cancelled' });
    expect(row?.owner).toBeUndefined();
  });

  it.each(['runs', 'show', 'why', 'replay', 'export'])(
    'is no failure of %s, which ends with 141',
    async (name) => {
      const child = start(name === 'runs' ? [name] : [name, 'left-stdout-7']);
      child.stdout?.destroy();
      const { exitCode, said } = await ended(child);
      expect({ exitCode, said }).toEqual({ exitCode: 141, said: '' });
    },
  );
});

describe('another process (F23, B11)', { timeout: 60_000 }, () => {
  it('has the run: 31, and the run is left to it', async () => {
    const first = start(['run', slowPlea, '--run-id', 'shared', '--json']);
    await new Promise<void>((resolve) => {
      let said = '';
      first.stdout?.on('data', (text: Buffer) => {
        said += text.toString();
        if (said.includes('at work')) resolve();
      });
    });
    const firstEnd = ended(first);
    for (const argv of [
      ['run', slowPlea, '--run-id', 'shared'],
      ['resume', 'shared'],
    ]) {
      const { exitCode } = await ended(start(argv));
      expect({ argv: argv[0], exitCode }).toEqual({ argv: argv[0], exitCode: 31 });
    }
    expect(await rowOf('shared')).toMatchObject({ status: 'running' });
    first.kill('SIGINT');
    expect((await firstEnd).exitCode).toBe(130);
  });

  it('has the store: 31, what is waited for is said, and nothing is promised that does not happen', async () => {
    const database = loadDriver()(storeFile());
    database.exec('BEGIN EXCLUSIVE');
    const { exitCode, said } = await ended(start(['run', 'What is 2+3?', '--run-id', 'locked-out']));
    database.exec('ROLLBACK');
    database.close();
    expect(exitCode).toBe(31);
    expect(said).toContain('note: waiting for the store');
    expect(said).toContain('STORAGE_LOCKED');
    expect(said).not.toContain('goes on by itself');
    expect(await rowOf('locked-out')).toBeUndefined();
  });
});
