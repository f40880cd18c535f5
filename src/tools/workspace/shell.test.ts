import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ToolContext } from '../../model/tool.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { probeSandbox } from '../sandbox/probe-sandbox.ts';
import { openWorkspace } from './open-workspace.ts';
import { shellTool } from './shell.ts';
import type { ShellOptions } from './shell.ts';
import type { Workspace } from './workspace.ts';

let workspace: Workspace;

beforeEach(async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'rerail-shell-'));
  workspace = await openWorkspace(root, {}, (opened) => probeSandbox(opened, { atMost: 'bare' }));
});
afterEach(() => rm(workspace.root, { recursive: true, force: true }));

const said: string[] = [];
const refuse = (): never => {
  throw new Error('not asked for');
};
const context = (signal = new AbortController().signal): ToolContext => ({
  runId: 'run-1',
  callId: 'call-1',
  signal,
  idempotencyKey: 'key-1',
  attempt: 1,
  retry: refuse,
  fail: refuse,
  progress: (message) => void said.push(message),
  assist: refuse,
  background: refuse,
  remember: refuse,
  recall: refuse,
  ask: refuse,
});

async function shell(input: object, options: ShellOptions = {}): Promise<unknown> {
  return shellTool(workspace, options).execute(input, context());
}

it.each([
  { what: 'leads out', input: { command: 'true', folder: '../x' }, code: 'PATH_OUTSIDE_WORKSPACE' },
  { what: 'is not there', input: { command: 'true', folder: 'none' }, code: 'NOT_FOUND' },
])('a folder that $what is a failure without side effects', async ({ input, code }) => {
  const error: unknown = await shell(input).catch((thrown: unknown) => thrown);
  expect(RerailError.isInstance(error) && error.failure).toMatchObject({ code, sideEffect: 'none' });
});

it('a command that cannot be started is a failure without side effects', async () => {
  await expect(shell({ command: 'echo \0' })).rejects.toMatchObject({
    code: 'SANDBOX_EXECUTION_FAILED',
    failure: { sideEffect: 'none', origin: 'sandbox' },
  });
});

it('where the demanded sandbox cannot be had, nothing runs', async () => {
  const strict = await openWorkspace(workspace.root, { sandbox: { min: 'contained' } }, (opened) =>
    probeSandbox(opened, { bwrapPath: path.join(opened.root, 'none') }),
  );
  const run = shellTool(strict).execute({ command: 'touch made' }, context());
  await expect(run).rejects.toMatchObject({ code: 'SANDBOX_SETUP_FAILED' });
  expect(await shell({ command: 'ls' })).toContain('stdout: empty');
});

it.each([
  { options: { timeoutMs: 0 }, says: '"timeoutMs" must be a whole number above 0, got 0' },
  {
    options: { timeoutMs: 20, maxTimeoutMs: 10 },
    says: '"timeoutMs" must be at most "maxTimeoutMs", 10, got 20',
  },
  { options: { maxOutputBytes: 1.5 }, says: '"maxOutputBytes" must be a whole number above 0, got 1.5' },
])('$options makes no tool', ({ options, says }) => {
  expect(() => shellTool(workspace, options)).toThrow(says);
});

it('another exit code than 0 is a result, with the level and both streams', async () => {
  const result = String(await shell({ command: 'echo out; echo bad >&2; exit 3' }));
  expect(result.replace(/\d+ ms/, 'N ms')).toBe(
    'exit code: 3\nduration: N ms\nsandbox: bare\nstdout (4 bytes):\nout\nstderr (4 bytes):\nbad',
  );
});

it('a command that is ended says so, and that something may still run', async () => {
  const result = String(await shell({ command: 'echo begun; sleep 30', timeoutMs: 200 }));
  expect(result).toContain('ended: timeout, after 200 ms\nended by signal: SIGTERM');
  expect(result).toContain(
    'sandbox: bare\na process that it started may still run\nstdout (6 bytes):\nbegun',
  );
});

it('long output is cut in the middle and counted', async () => {
  const result = String(await shell({ command: 'seq 1 10000' }, { maxOutputBytes: 20 }));
  expect(result).toContain('stdout (48894 bytes, 48874 of them left out in the middle):\n1\n2\n3');
  expect(result.endsWith('\n10000\nstderr: empty')).toBe(true);
});

it('a command runs in the folder it is told, and tells of output while it runs', async () => {
  said.length = 0;
  await shell({ command: 'mkdir -p src && sleep 0.3 && echo made' });
  expect(await shell({ command: 'pwd', folder: 'src' })).toContain(path.join(workspace.root, 'src'));
  expect(said.join('')).toContain('made\n');
});

it('the tool asks, promises nothing about being called again, and takes its input as it says', async () => {
  const made = shellTool(workspace);
  expect(made).toMatchObject({ name: 'shell', effect: 'once', permission: 'ask' });
  expect(await made.parse({ command: 'ls', cwd: '/' })).toMatchObject({ type: 'invalid' });
  expect(await made.parse({ command: '' })).toMatchObject({ type: 'invalid' });
  expect(await made.parse({ command: 'ls', timeoutMs: 700_000 })).toMatchObject({ type: 'invalid' });
  expect(await made.parse({ command: 'ls', folder: 'src', timeoutMs: 1000 })).toMatchObject({
    type: 'valid',
  });
});
