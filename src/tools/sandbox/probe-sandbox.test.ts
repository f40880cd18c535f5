import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWorkspace } from '../workspace/open-workspace.ts';
import type { SandboxChoice, Workspace } from '../workspace/workspace.ts';
import { labels } from './labels.ts';
import { probeSandbox } from './probe-sandbox.ts';

let base: string;

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'rerail-probe-test-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const signal = new AbortController().signal;

async function open(sandbox: SandboxChoice = {}): Promise<Workspace> {
  return openWorkspace(await mkdtemp(path.join(base, 'workspace-')), { sandbox });
}

/** Something that is called bwrap and says that it is new enough; the rest of it is given. */
async function fakeBwrap(body: string): Promise<string> {
  const file = path.join(base, 'bwrap');
  await writeFile(
    file,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo bubblewrap 0.8.0; exit; fi\n${body}\n`,
  );
  await chmod(file, 0o755);
  return file;
}

/** Leaves out everything that it is told and runs the command as it is. */
const holdsNothing = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';

it.runIf(process.platform === 'linux').each([
  {
    what: 'that holds nothing',
    body: holdsNothing,
    says: 'contained: a trial command got out: it wrote a file outside',
  },
  {
    what: 'that fails',
    body: 'echo "No permissions to create a namespace" >&2; exit 1',
    says: 'No permissions to create',
  },
  { what: 'that runs nothing', body: 'exit 0', says: 'contained: ' },
])('a bubblewrap $what is not believed', async ({ body, says }) => {
  const sandbox = await probeSandbox(await open(), { bwrapPath: await fakeBwrap(body) });
  expect(sandbox.level).not.toBe('contained');
  expect(sandbox.reasons[0]).toContain(says);
});

it('a demanded level that cannot be had is a failure that names what was wanted, what was found and why', async () => {
  const workspace = await open({ min: 'contained' });
  const probe = probeSandbox(workspace, { bwrapPath: path.join(base, 'none') });
  await expect(probe).rejects.toMatchObject({
    code: 'SANDBOX_SETUP_FAILED',
    origin: 'sandbox',
    failure: { sideEffect: 'none', context: { wanted: 'contained' } },
    message: expect.stringMatching(
      /level "contained" at least, and this machine has "(restricted|bare)": .*not installed/,
    ) as string,
  });
});

it('a demand and a switch that contradict each other are not settled by guessing', async () => {
  const workspace = await open({ min: 'bare', off: 'Ada, on the command line' });
  await expect(probeSandbox(workspace)).rejects.toMatchObject({
    code: 'SANDBOX_SETUP_FAILED',
    message: expect.stringContaining('has "off": switched off by Ada, on the command line') as string,
  });
});

it('what somebody has switched off says who, and still bounds a command', async () => {
  const sandbox = await probeSandbox(await open({ off: 'Ada, on the command line' }));
  expect(sandbox).toMatchObject({
    level: 'off',
    label: 'Containment switched off by Ada, on the command line.',
    reasons: [],
  });
  const result = await sandbox.run({ command: 'sleep 20', timeoutMs: 100, signal });
  expect(result).toMatchObject({ level: 'off', ended: 'timeout' });
});

it('the weakest level says that it holds nothing, and why there was no stronger one', async () => {
  const sandbox = await probeSandbox(await open(), { atMost: 'bare' });
  expect(sandbox).toMatchObject({ level: 'bare', label: labels.bare() });
});

it('probing leaves nothing behind in the workspace', async () => {
  const workspace = await open();
  await probeSandbox(workspace, { bwrapPath: await fakeBwrap(holdsNothing) });
  expect(await readdir(workspace.root)).toEqual([]);
});
