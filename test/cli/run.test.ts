import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine, Result } from './command-line.ts';

// The real program, with its exit codes, pipes and signals.

let program: CommandLine;
let folder: string;

const files = {
  'project/package.json': '{"type":"module"}',
  'project/src/area.js': 'export function perimeter(width, height) {\n  return 2 * (width - height);\n}\n',
  'project/test/area.test.js': `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { perimeter } from '../src/area.js';\n\ntest('perimeter', () => {\n  assert.equal(perimeter(3, 2), 10);\n});\n`,
  'project/slow.js': 'process.stdout.write("begun\\n");\nsetTimeout(() => undefined, 60_000);\n',
  'allow.json': '{"permissions":[{"tool":["shell","edit_file"],"permission":"allow"}]}',
  'tools.mjs': `import { tool } from 'rerail';
const input = { type: 'object', properties: { invoice: { type: 'string' } }, required: ['invoice'] };
export default {
  tools: [
    tool({
      name: 'pay_invoice',
      description: 'Pays an invoice.',
      input,
      execute: async (_input, { ask }) => 'paid from ' + (await ask('From which account?')),
    }),
  ],
};
`,
  'schema.json': '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
};

const plea = 'The tests fail (node --test). Find out why and fix it.';
const slowPlea = 'The tests fail (`node slow.js`). Find out why and fix it.';

beforeAll(async () => {
  program = await buildCommandLine();
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-run-test-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
}, 60_000);

afterAll(async () => {
  await program.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Nothing of whoever runs the tests: neither keys nor settings. */
function surroundings(): Record<string, string | undefined> {
  return { PATH: process.env['PATH'], HOME: folder, TMPDIR: process.env['TMPDIR'], TERM: 'dumb' };
}

const standing = (): readonly string[] => [
  '--workspace',
  path.join(folder, 'project'),
  '--store',
  path.join(folder, 'runs.db'),
  '--model',
  'simulated:embedded',
];

const allowed = (): readonly string[] => [...standing(), '--config', path.join(folder, 'allow.json')];

interface Started {
  readonly signal?: { readonly name: NodeJS.Signals; readonly after: string };
  readonly stdin?: string;
  /** Stop reading after the first piece. */
  readonly closesPipe?: boolean;
}

function start(
  argv: readonly string[],
  { signal, stdin = '', closesPipe = false }: Started = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.main, 'run', ...argv], {
      cwd: folder,
      env: surroundings(),
      timeout: 40_000,
      killSignal: 'SIGKILL',
    });
    let [out, err] = ['', ''];
    let isSent = false;
    const look = (): void => {
      if (signal === undefined || isSent || !`${out}${err}`.includes(signal.after)) return;
      isSent = true;
      child.kill(signal.name);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (closesPipe) child.stdout.destroy();
      look();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
      look();
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, out, err }));
    child.stdin.on('error', () => undefined); // A program that does not read its input closes the pipe.
    child.stdin.end(stdin);
  });
}

/** Processes at work in a folder, where the system tells. */
async function processesIn(root: string): Promise<readonly string[]> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')));
  return folders.filter((name) => name.startsWith(root));
}

describe('rerail run', { timeout: 60_000 }, () => {
  it('denies a call that no person can allow, typed, with exit code 22', async () => {
    const { exitCode, out, err } = await start([plea, ...standing(), '--run-id', 'denied']);
    expect(exitCode).toBe(22);
    expect(err).toContain('rerail: 1 call was denied, because no person was asked for approval: shell.');
    expect(err).not.toContain('in time');
    const listed = await program.run(['runs', '--store', path.join(folder, 'runs.db')]);
    expect(listed.out).toMatch(/^denied .* completed, 1 denied /m);
    expect(out).toMatch(/^I cannot run the tests, so I have changed nothing more\./);
    expect(await readFile(path.join(folder, 'project/src/area.js'), 'utf8')).toBe(
      files['project/src/area.js'],
    );
  });

  it('waits with exit code 23 on request, and says how to resume', async () => {
    const { exitCode, out, err } = await start([
      plea,
      ...standing(),
      '--on-approval',
      'suspend',
      '--run-id',
      'waits',
    ]);
    expect(exitCode).toBe(23);
    expect(out).toBe('');
    expect(err).toMatch(
      /: .* approve waits --call [0-9a-f]+ --model simulated:embedded --store .*runs\.db --workspace /,
    );
    expect(err).toMatch(/ reject waits(?: --call [0-9a-f]+)? --reason "…" /);
    expect(err).not.toMatch(/ resume waits/);
  });

  it('waits with exit code 23 where a tool asks something, in any mode, and says how to answer', async () => {
    const config = ['--config', path.join(folder, 'tools.mjs')];
    for (const flags of [[], ['--on-approval', 'suspend']]) {
      const runId = `asks-${flags.length}`;
      const waiting = await start(['Pay invoice 9', ...standing(), ...config, ...flags, '--run-id', runId]);
      expect(waiting.exitCode).toBe(23);
      expect(waiting.err).toContain('From which account?');
      expect(waiting.err).toMatch(new RegExp(`answer it, and resume: .* resume ${runId} --answer "…" `, 'u'));
      const why = await program.run(['why', runId, '--store', path.join(folder, 'runs.db')]);
      expect(why.out).toContain('It waits for an answer to this: From which account?');
      const bare = await program.run(['resume', runId, ...standing(), ...config]);
      expect(bare.exitCode).toBe(23);
      expect(bare.err).toContain('--answer "…"');
      const resumed = await program.run(['resume', runId, '--answer', '4711', ...standing(), ...config]);
      expect(resumed.exitCode).toBe(0);
      expect(resumed.out).toContain('paid from 4711');
      const shown = await program.run(['show', runId, '--store', path.join(folder, 'runs.db')]);
      expect(shown.out).toMatch(/A person is asked: From which account\?[^]+Answered/u);
    }
  });

  it('cancels at the first Ctrl-C, says how to resume, ends with 130 and leaves nothing running', async () => {
    const signal = { name: 'SIGINT', after: 'begun' } as const;
    const { exitCode, err } = await start([slowPlea, ...allowed(), '--run-id', 'interrupted'], { signal });
    expect(exitCode).toBe(130);
    expect(err).toMatch(/ resume interrupted .*--store /);
    expect(await processesIn(path.join(folder, 'project'))).toEqual([]);
  });

  it('ends in order at SIGTERM, with 143', async () => {
    const signal = { name: 'SIGTERM', after: 'begun' } as const;
    const { exitCode, err } = await start([slowPlea, ...allowed()], { signal });
    expect(exitCode).toBe(143);
    expect(err).toContain('cancelled');
  });

  it('releases the run where the terminal is closed: 129, nothing left running, and the run can be resumed', async () => {
    const signal = { name: 'SIGHUP', after: 'begun' } as const;
    const { exitCode } = await start([slowPlea, ...allowed(), '--run-id', 'hung-up'], { signal });
    expect(exitCode).toBe(129);
    expect(await processesIn(path.join(folder, 'project'))).toEqual([]);
    const store = sqlite(path.join(folder, 'runs.db'));
    const row = await store.runs.find('hung-up');
    await store.close();
    expect(row).toMatchObject({ status: 'running' });
    expect(row?.owner).toBeUndefined();
  });

  it('stops with 21 when the turns are used up', async () => {
    const { exitCode, err } = await start([plea, ...allowed(), '--max-turns', '1', '-q']);
    expect(exitCode).toBe(21);
    expect(err).toMatch(/^rerail: The run \S+ was stopped: max-turns\n$/);
  });

  it('ends quietly where the reader is gone', async () => {
    const { exitCode, err } = await start([slowPlea, ...allowed(), '--json'], { closesPipe: true });
    expect({ exitCode, err }).toEqual({ exitCode: 141, err: '' });
  });

  it.each([
    { name: 'nothing to do', argv: [], says: 'There is nothing to do' },
    {
      name: 'a schema that is none',
      argv: ['hi', '--output-schema', 'project/slow.js'],
      says: 'is not JSON',
    },
    { name: 'a time that is none', argv: ['hi', '--timeout', 'soon'], says: '--timeout must be a time' },
  ])('ends with 2 for $name, before anything is started', async ({ argv, says }) => {
    const { exitCode, out, err } = await start(argv);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(says);
  });

  it('prints every event as a line of JSON, and the outcome last', async () => {
    const { exitCode, out, err } = await start(['What is 2+3?', ...standing(), '--json', '--run-id', 'sum']);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string });
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(lines[0]).toMatchObject({ type: 'run-started', runId: 'sum' });
    expect(lines.at(-1)).toMatchObject({
      type: 'run-finished',
      outcome: { type: 'completed', text: '2+3 = 5' },
    });
    expect(lines.filter(({ type }) => type === 'run-finished')).toHaveLength(1);
  });

  it('puts the answer alone on standard output, and adds the pipe to the words', async () => {
    const { exitCode, out, err } = await start(['Hello', ...standing()], { stdin: 'What is 4+4?\n' });
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: '4+4 = 8\n' });
    expect(err).toContain('Model: the embedded one');
  });

  it('prints structured output as JSON', async () => {
    const argv = ['I live in Paris', ...standing(), '--output-schema', 'schema.json', '-q'];
    expect(await start(argv)).toEqual({ exitCode: 0, out: '{"city":"Paris"}\n', err: '' });
  });

  it('repairs a project with the embedded model and real tools', async () => {
    const { exitCode, out } = await start([plea, ...allowed()]);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^The tests pass now \(1 of 1\)\./);
    expect(await readFile(path.join(folder, 'project/src/area.js'), 'utf8')).toContain('width + height');
  });
});
