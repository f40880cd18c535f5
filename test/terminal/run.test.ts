import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { buildCommandLine } from '../cli/command-line.ts';
import type { CommandLine } from '../cli/command-line.ts';
import { openPseudoTerminal } from './pseudo-terminal.ts';
import type { PseudoTerminal } from './pseudo-terminal.ts';

// The real program at a terminal: what `run` and `resume` ask, and what Ctrl-C is there.

const ctrlC = '\u0003';
const overwrite = 'Write the file b.txt with content "hello"';
const wish = 'Write the file c.txt with content "hello"';

let program: CommandLine;
let folder: string;
let terminal: PseudoTerminal | undefined;

beforeAll(async () => {
  program = await buildCommandLine();
}, 60_000);
afterAll(() => program.remove());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-run-terminal-'));
  await mkdir(path.join(folder, 'project'));
  await writeFile(path.join(folder, 'project', 'b.txt'), 'before\n');
});
afterEach(async () => {
  terminal?.kill();
  terminal = undefined;
  await rm(folder, { recursive: true, force: true });
});

function open(argv: readonly string[], env: Readonly<Record<string, string>> = {}): PseudoTerminal {
  const store = path.join(folder, 'runs.db');
  terminal = openPseudoTerminal({
    args: [program.main, ...argv, '--store', store, '--model', 'simulated:embedded'],
    folder: path.join(folder, 'project'),
    env: { HOME: folder, ...env },
  });
  return terminal;
}

async function statusOf(runId: string): Promise<string | undefined> {
  const store = sqlite(path.join(folder, 'runs.db'));
  const row = await store.runs.find(runId);
  await store.close();
  return row?.status;
}

describe('a question of rerail run', { timeout: 30_000 }, () => {
  it.each([
    { what: 'a terminal', env: {} },
    { what: 'a dumb terminal', env: { TERM: 'dumb' } },
  ])('is not answered by Ctrl-C, which cancels the run, at $what', async ({ env }) => {
    const asked = open(['run', wish, '--run-id', 'r'], env);
    await asked.waitFor(/y\/n >/);
    asked.type(ctrlC);
    expect(await asked.exited()).toBe(130);
    expect(asked.text()).toMatch(/resume with: [^]+ resume\s+r\s/);
    expect(asked.text()).not.toMatch(/denied|answered/);
    expect(await statusOf('r')).toBe('cancelled');
  });

  it('shows what the file holds now beside what it would hold', async () => {
    const asked = open(['run', overwrite]);
    const text = await asked.waitFor(/y\/n >/);
    expect(text).toMatch(/b\.txt, changed: 1 added, 1 removed\n\s+- \| before\n\s+\+ \| hello/);
  });
});

describe('a question of a run that waits', { timeout: 30_000 }, () => {
  beforeEach(async () => {
    await open(['run', wish, '--on-approval', 'suspend', '--run-id', 'r']).exited();
  });

  it('stays open where Ctrl-C is pressed at it, and is asked again', async () => {
    const first = open(['resume', 'r']);
    await first.waitFor(/c\.txt, new: 1 added, 0 removed[\s\S]*y\/n >/);
    first.type(ctrlC);
    expect(await first.exited()).toBe(130);
    expect(await statusOf('r')).toBe('suspended');
    const second = open(['resume', 'r']);
    await second.waitFor(/y\/n >/);
    second.type('y\r');
    expect(await second.exited()).toBe(0);
    expect(await readFile(path.join(folder, 'project', 'c.txt'), 'utf8')).toBe('hello');
  });

  it('lets a file be written over as the person saw it, though another process had read it', async () => {
    await open(['run', overwrite, '--on-approval', 'suspend', '--run-id', 'over']).exited();
    const approved = open(['approve', 'over']);
    await approved.waitFor(/Run exactly this, once\? \[y\/N\]/);
    approved.type('y\r');
    expect(await approved.exited()).toBe(0);
    expect(await readFile(path.join(folder, 'project', 'b.txt'), 'utf8')).toBe('hello');
  });

  it('is answered by rerail approve, with the change shown', async () => {
    const approved = open(['approve', 'r']);
    await approved.waitFor(/Run exactly this, once\? \[y\/N\]/);
    approved.type('y\r');
    expect(await approved.exited()).toBe(0);
    expect(approved.text()).toMatch(/c\.txt, new: 1 added, 0 removed/);
    expect(await readFile(path.join(folder, 'project', 'c.txt'), 'utf8')).toBe('hello');
  });
});
