import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../base/system.ts';
import { openWorkspace } from '../workspace/open-workspace.ts';
import { probeSandbox } from './probe-sandbox.ts';
import { limitsOf, runProcess } from './run-process.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

let root: string;
let sandbox: Sandbox;

beforeEach(async () => {
  const workspace = await openWorkspace(await mkdtemp(path.join(tmpdir(), 'rerail-run-')));
  ({ root } = workspace);
  sandbox = await probeSandbox(workspace, { atMost: 'bare' });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const never = new AbortController().signal;
const run = (command: string, more: Partial<SandboxedCommand> = {}): ReturnType<Sandbox['run']> =>
  sandbox.run({ command, timeoutMs: 30_000, signal: never, ...more });

it.each([
  { what: 'holds a NUL', command: 'echo \0', folder: '.', code: 'SANDBOX_EXECUTION_FAILED' },
  {
    what: 'is too long for the system',
    command: `echo ${'x'.repeat(200_000)}`,
    folder: '.',
    code: 'SANDBOX_EXECUTION_FAILED',
  },
  { what: 'names a folder outside', command: 'true', folder: '..', code: 'PATH_OUTSIDE_WORKSPACE' },
  { what: 'names a folder that is not there', command: 'true', folder: 'none', code: 'NOT_FOUND' },
])('a command that $what is not started, and had no effect', async ({ command, folder, code }) => {
  await expect(run(command, { folder })).rejects.toMatchObject({ failure: { code, sideEffect: 'none' } });
});

it('a folder that is a link to outside is refused', async () => {
  await run(`ln -s / out`);
  await expect(run('true', { folder: 'out' })).rejects.toMatchObject({ code: 'PATH_OUTSIDE_WORKSPACE' });
});

it('a wrapper that is not there or fails is a failure with its words, and not a result', async () => {
  const launch = {
    environment: {},
    folder: root,
    limits: limitsOf(1000),
    isContained: false,
    finish: () => Promise.resolve([]),
  };
  const command = { command: 'true', timeoutMs: 30_000, signal: never };
  const none = runProcess({ ...launch, wrapper: ['/none/bwrap'] }, command, systemClock);
  await expect(none).rejects.toMatchObject({
    code: 'SANDBOX_EXECUTION_FAILED',
    message: expect.stringContaining('ENOENT') as string,
  });
  const failing = runProcess(
    { ...launch, wrapper: ['/bin/sh', '-c', 'echo no namespace >&2; exit 1'] },
    command,
    systemClock,
  );
  await expect(failing).rejects.toMatchObject({ message: 'The command could not be started: no namespace' });
});

it.each([
  { command: 'exit 0', end: { exitCode: 0 } },
  { command: 'exit 126', end: { exitCode: 126 } },
  { command: 'no-such-program', end: { exitCode: 127 } },
  { command: 'exit 255', end: { exitCode: 255 } },
  { command: 'kill -9 $$', end: { signal: 'SIGKILL' } },
  { command: 'sh -c "kill -9 \\$\\$"; exit $?', end: { exitCode: 137 } },
])('"$command" ends as it ends', async ({ command, end }) => {
  const { exitCode, signal } = await run(command);
  expect(JSON.parse(JSON.stringify({ exitCode, signal }))).toEqual(end);
});

it('the kernel holds the processes of a command to their limits', async () => {
  const launch = {
    wrapper: [],
    environment: {},
    folder: root,
    limits: { cpuSeconds: 1, fileBytes: 2048 },
    isContained: false,
    finish: () => Promise.resolve([]),
  };
  const signals = { timeoutMs: 30_000, signal: never };
  const file = await runProcess(
    launch,
    { command: 'head -c 9999 /dev/zero > file', ...signals },
    systemClock,
  );
  expect(file.exitCode === 0).toBe(false);
  expect(await readFile(path.join(root, 'file'))).toHaveLength(2048);
  const spin = await runProcess(launch, { command: 'while :; do :; done', ...signals }, systemClock);
  expect(['SIGXCPU', 'SIGKILL']).toContain(spin.signal);
  expect(spin.ended).toBeUndefined();
});

it('there is no input, no terminal and nothing of our environment', async () => {
  process.env['RERAIL_TEST_SECRET'] = 'canary-of-the-parent';
  const { stdout, exitCode } = await run(
    'read line; echo "read $?"; env; (: </dev/tty) 2>/dev/null || echo no-tty',
  );
  delete process.env['RERAIL_TEST_SECRET'];
  expect(exitCode).toBe(0);
  expect(stdout.text).toContain('read 1');
  expect(stdout.text).toContain('no-tty');
  expect(stdout.text).not.toContain('canary-of-the-parent');
});

it('a deaf command is ended at its time, and what it holds open holds us no longer', async () => {
  const deaf = `trap '' TERM; setsid sh -c 'sleep 20' & echo begun; while :; do sleep 0.1; done`;
  const result = await run(deaf, { timeoutMs: 300 });
  expect(result).toMatchObject({ ended: 'timeout', signal: 'SIGKILL', survivorsPossible: true });
  expect(result.stdout.text).toBe('begun\n');
  expect(result.durationMs).toBeLessThan(15_000);
});

it('a command that listens is asked before it is ended', async () => {
  const polite = `trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.05; done`;
  const result = await run(polite, { timeoutMs: 500 });
  expect(result).toMatchObject({ ended: 'timeout', exitCode: 7 });
  expect(result.stdout.text).toBe('begun\nbye\n');
});

it('a cancelled command ends, and one that is cancelled before does not begin', async () => {
  const later = new AbortController();
  const running = run('echo begun; sleep 30', { signal: later.signal, onOutput: () => later.abort() });
  expect(await running).toMatchObject({ ended: 'cancelled' });
  const result = await run('touch made', { signal: AbortSignal.abort() });
  expect(result).toMatchObject({ ended: 'cancelled', survivorsPossible: false });
  await expect(readFile(path.join(root, 'made'))).rejects.toThrow('ENOENT');
});

it('a background process that holds the output does not hold the call', async () => {
  const result = await run('setsid sleep 15 & echo done');
  expect(result).toMatchObject({ exitCode: 0, survivorsPossible: true });
  expect(result.durationMs).toBeLessThan(10_000);
});

it('a flood of 200 MB is cut while it is read, and memory stays flat', async () => {
  const before = process.memoryUsage().rss;
  const highest = { rss: 0 };
  const watch = setInterval(() => (highest.rss = Math.max(highest.rss, process.memoryUsage().rss)), 5);
  const { stdout } = await run(`head -c 200000000 /dev/zero | tr '\\0' x; echo end`, {
    maxOutputBytes: 10_000,
  });
  clearInterval(watch);
  expect(stdout).toMatchObject({ bytes: 200_000_004, omittedBytes: 199_990_004 });
  expect(stdout.text.endsWith('xend\n')).toBe(true);
  expect(highest.rss - before).toBeLessThan(150_000_000);
});

it('output is told as it comes, and not more than ten times a second', async () => {
  const told: string[] = [];
  await run('for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.02; done', {
    onOutput: (text) => told.push(text),
  });
  expect(told.join('')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n');
  expect(told.length).toBeLessThan(10);
});

it('no listener stays on the signal', async () => {
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, 'addEventListener');
  const remove = vi.spyOn(signal, 'removeEventListener');
  await run('true', { signal });
  expect(add).toHaveBeenCalledTimes(1);
  expect(remove).toHaveBeenCalledTimes(1);
});
