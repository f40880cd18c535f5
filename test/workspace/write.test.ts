import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { editFileTool } from '../../src/tools/workspace/edit-file.ts';
import { readFileTool } from '../../src/tools/workspace/read-file.ts';
import { replaceTarget, withTarget } from '../../src/tools/workspace/write-inside.ts';
import { writeFileTool } from '../../src/tools/workspace/write-file.ts';
import { call, canary, failureOf, makePipe, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const { signal } = new AbortController();
const opened: TemporaryWorkspace[] = [];
afterEach(() => opened.splice(0).forEach(({ remove }) => remove()));

async function given(...parameters: Parameters<typeof temporaryWorkspace>): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace(...parameters);
  opened.push(made);
  return made;
}

describe('write_file refuses', () => {
  it.each([
    { what: 'a link to a file outside', link: 'x', target: '../secret.txt', name: 'x' },
    { what: 'a link that leads to nothing yet', link: 'x', target: '../new.txt', name: 'x' },
    { what: 'a link that stays inside', link: 'x', target: 'a.txt', name: 'x' },
    { what: 'a folder that leads outside', link: 'x', target: '..', name: 'x/new.txt' },
    { what: 'a new folder in one that leads outside', link: 'x', target: '..', name: 'x/deep/er/new.txt' },
    { what: 'a folder that leads to nothing yet', link: 'x', target: '../made', name: 'x/new.txt' },
    { what: 'a folder that leads into .git', link: 'x', target: '.git/hooks', name: 'x/pre-commit' },
    { what: 'a folder that leads into a new folder of .git', link: 'x', target: '.git', name: 'x/new/hook' },
    { what: 'a file that leads to .git', link: 'x', target: '.git/config', name: 'x' },
    { what: 'a path that climbs', link: 'x', target: 'a.txt', name: '../new.txt' },
  ])('$what, and writes nothing', async ({ link, target, name }) => {
    const { workspace, at, outside } = await given({ 'a.txt': 'a', '.git/config': 'c', '.git/hooks/x': '' });
    symlinkSync(target, at(link));
    const before = listing(outside);
    const error = await failureOf(call(writeFileTool(workspace), { path: name, content: 'evil' }));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(listing(outside)).toBe(before);
    expect(readFileSync(path.join(outside, 'secret.txt'), 'utf8')).toBe(canary);
    expect(lstatSync(at(link)).isSymbolicLink()).toBe(true);
  });

  it.each([
    '.git/hooks/pre-commit',
    '.git/config',
    '.git',
    '.GIT/hooks/pre-commit',
    'sub/.git/config',
    'rerail.config.ts',
    'RERAIL.config.json',
    '.rerail/trusted',
    '.github/workflows/ci.yml',
    '.gitlab-ci.yml',
    '.bashrc',
    '.npmrc',
    '.envrc',
    '.husky/pre-push',
    'migrations/001.sql',
  ])('%s, which is protected, also where it is absent', async (name) => {
    const { workspace, outside } = await given({}, { protect: ['migrations/**'] });
    const before = listing(outside);
    const error = await failureOf(call(writeFileTool(workspace), { path: name, content: 'evil' }));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(error.message).toContain('it is protected, because');
    expect(error.failure.hint).toContain('It can be read');
    expect(listing(outside)).toBe(before);
  });

  it('a protected file that can be read all the same', async () => {
    const { workspace } = await given({ '.github/workflows/ci.yml': 'on: push\n' });
    const file = '.github/workflows/ci.yml';
    expect(await call(readFileTool(workspace), { path: file })).toBe('1\ton: push');
    const edits = [{ oldText: 'push', newText: 'evil' }];
    const error = await failureOf(call(editFileTool(workspace), { path: file, edits }));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
  });

  it('a file that was not read, or that has changed since, and says to read it', async () => {
    const { workspace, at } = await given({ 'a.txt': 'first' });
    const writeFile = writeFileTool(workspace);
    const unread = await failureOf(call(writeFile, { path: 'a.txt', content: 'new' }));
    expect(unread.code).toBe('VALIDATION_ERROR');
    expect(unread.message).toContain('has not been read; read it with read_file first');
    await call(readFileTool(workspace), { path: './a.txt' });
    writeFileSync(at('a.txt'), 'by somebody else');
    const changed = await failureOf(call(writeFile, { path: 'a.txt', content: 'new' }));
    expect(changed.message).toContain('it has changed since it was read; read it again');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('by somebody else');
  });

  it.each([
    { what: 'a folder', make: (at: string) => mkdirSync(at), says: 'it is a folder' },
    { what: 'a pipe', make: (at: string) => makePipe(at), says: 'it is no regular file' },
    {
      what: 'a read-only file',
      make: (at: string) => writeFileSync(at, 'x', { mode: 0o444 }),
      says: 'it is marked as read-only',
    },
    {
      what: 'a file that is too large',
      make: (at: string) => writeFileSync(at, 'x'.repeat(101)),
      says: 'maxFileBytes',
    },
  ])('$what in its place', async ({ make, says }) => {
    const { workspace, at } = await given({}, { maxFileBytes: 100 });
    make(at('x'));
    const error = await failureOf(call(writeFileTool(workspace), { path: 'x', content: 'new' }));
    expect(error.message).toContain(says);
  });

  it('a file with a second name, which may lie outside', async () => {
    const { workspace, at, outside } = await given();
    linkSync(path.join(outside, 'secret.txt'), at('x'));
    const error = await failureOf(call(writeFileTool(workspace), { path: 'x', content: 'new' }));
    expect(error.message).toContain('hard links');
  });

  it('more than a file may hold, and the root itself', async () => {
    const { workspace, at } = await given({}, { maxFileBytes: 100 });
    const writeFile = writeFileTool(workspace);
    const large = await failureOf(call(writeFile, { path: 'x', content: 'é'.repeat(51) }));
    expect(large.message).toBe(
      'Cannot write x: it would have 102 bytes, and at most 100 are allowed (maxFileBytes)',
    );
    expect((await failureOf(call(writeFile, { path: '.', content: '' }))).message).toContain(
      'it is a folder',
    );
    expect(readdirSync(at('.'))).toEqual([]);
  });

  it('to go on when it is called off, and leaves nothing behind', async () => {
    const { workspace, at } = await given();
    const reason = new Error('called off');
    const writing = call(
      writeFileTool(workspace),
      { path: 'a/b', content: 'x' },
      { signal: AbortSignal.abort(reason) },
    );
    await expect(writing).rejects.toBe(reason);
    expect(readdirSync(at('.'))).toEqual([]);
  });
});

describe('between reading and writing', () => {
  it.each([
    {
      what: 'the folder is moved away',
      disturb: ({ at, outside }: TemporaryWorkspace) => renameSync(at('src'), path.join(outside, 'moved')),
      says: 'somebody has moved or removed it meanwhile. Nothing was written',
    },
    {
      what: 'the folder is swapped for a link to outside',
      disturb: ({ at, outside }: TemporaryWorkspace) => {
        renameSync(at('src'), at('aside'));
        symlinkSync(path.join(outside, 'ws-evil'), at('src'));
      },
      says: 'somebody has moved or removed it meanwhile. Nothing was written',
    },
    {
      what: 'the file is changed',
      disturb: ({ at }: TemporaryWorkspace) => {
        writeFileSync(at('src/a.txt'), 'other');
        utimesSync(at('src/a.txt'), 1, 1);
      },
      says: 'somebody else has changed it in this moment',
    },
    {
      what: 'the file is swapped for a link',
      disturb: ({ at }: TemporaryWorkspace) =>
        execFileSync('ln', ['-sfn', '../../secret.txt', at('src/a.txt')]),
      says: 'somebody else has changed it in this moment',
    },
    {
      what: 'the file is removed',
      disturb: ({ at }: TemporaryWorkspace) => renameSync(at('src/a.txt'), at('b.txt')),
      says: 'somebody else has changed it in this moment',
    },
  ])('$what: nothing is written', async ({ disturb, says }) => {
    const made = await given({ 'src/a.txt': 'first' });
    const { workspace, outside } = made;
    const writing = withTarget(
      workspace,
      { path: 'src/a.txt', signal, createFolders: false },
      async (target) => {
        disturb(made);
        return replaceTarget(workspace, target, { bytes: Buffer.from('EVIL'), runId: 'r', signal });
      },
    );
    const error = await failureOf(writing);
    expect(error.message).toContain(says);
    expect(error.failure.sideEffect).toBe('none');
    expect(contents(outside)).not.toContain('EVIL');
    expect(listing(outside)).not.toContain('.tmp');
    expect(workspace.memory.changes).toEqual([]);
  });

  it('something appears where nothing was: it is not written over', async () => {
    const { workspace, at } = await given();
    const writing = withTarget(
      workspace,
      { path: 'new.txt', signal, createFolders: true },
      async (target) => {
        writeFileSync(at('new.txt'), 'theirs');
        return replaceTarget(workspace, target, { bytes: Buffer.from('ours'), runId: 'r', signal });
      },
    );
    expect((await failureOf(writing)).message).toContain('somebody else has changed it');
    expect(readFileSync(at('new.txt'), 'utf8')).toBe('theirs');
  });
});

describe('write_file', () => {
  it('creates a file and its folders, and says what it did', async () => {
    const { workspace, at } = await given();
    const result = await call(writeFileTool(workspace), { path: 'src/deep/new.ts', content: 'a\nb\n' });
    expect(result).toBe('Created src/deep/new.ts (2 lines, 4 bytes).');
    expect(readFileSync(at('src/deep/new.ts'), 'utf8')).toBe('a\nb\n');
    expect(readdirSync(at('src/deep'))).toEqual(['new.ts']);
  });

  it('writes again over what it has written or read itself', async () => {
    const { workspace, at } = await given({ 'a.txt': 'first' });
    const writeFile = writeFileTool(workspace);
    await call(readFileTool(workspace), { path: 'a.txt' });
    expect(await call(writeFile, { path: 'a.txt', content: 'second' })).toContain('Replaced a.txt');
    expect(await call(writeFile, { path: at('a.txt'), content: 'third' })).toContain('Replaced a.txt');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('third');
    expect(workspace.memory.changes.map(({ before }) => String(before))).toEqual(['first', 'second']);
  });

  it('done again, also by a process that knows nothing of it, is done once', async () => {
    const { workspace, at } = await given({ 'a.txt': 'same' });
    const { mtimeMs } = statSync(at('a.txt'));
    const result = await call(writeFileTool(workspace), { path: 'a.txt', content: 'same' });
    expect(result).toBe('a.txt already has this content (1 line, 4 bytes).');
    expect(statSync(at('a.txt')).mtimeMs).toBe(mtimeMs);
    expect(workspace.memory.changes).toEqual([]);
  });

  it.each([0o644, 0o755, 0o600, 0o640])('keeps the mode %i of the old file', async (mode) => {
    const { workspace, at } = await given({ 'run.sh': 'a' });
    chmodSync(at('run.sh'), mode);
    await call(readFileTool(workspace), { path: 'run.sh' });
    await call(writeFileTool(workspace), { path: 'run.sh', content: 'b' });
    expect(statSync(at('run.sh')).mode & 0o7777).toBe(mode);
  });

  it('writes into a linked folder that stays inside, under its real name', async () => {
    const { workspace, at } = await given({ 'real/a.txt': '' });
    symlinkSync('real', at('link'));
    expect(await call(writeFileTool(workspace), { path: 'link/new.txt', content: '' })).toContain(
      'real/new.txt',
    );
    expect(existsSync(at('real/new.txt'))).toBe(true);
  });

  it('asks first, and calls for the same file run one after the other', async () => {
    const { workspace } = await given();
    const { permission, effect, resource } = writeFileTool(workspace);
    expect({ permission, effect }).toEqual({ permission: 'ask', effect: 'idempotent' });
    const name = resource as (input: unknown) => string | undefined;
    expect(name({ path: './a.txt' })).toBe(name({ path: 'b/../a.txt' }));
    expect(name({ path: '../a.txt' })).toBeUndefined();
  });
});

function listing(folder: string): string {
  return readdirSync(folder, { recursive: true }).map(String).toSorted().join('\n');
}

/** Everything that stands in any file, links not followed. */
function contents(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8')).join('\n');
}
