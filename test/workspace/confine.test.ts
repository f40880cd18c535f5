import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { openInside, readBounded, useInside } from '../../src/tools/workspace/confine.ts';
import type { Workspace } from '../../src/tools/workspace/workspace.ts';
import { canary, failureOf, makePipe, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const { signal } = new AbortController();
const opened: TemporaryWorkspace[] = [];
afterEach(() => opened.splice(0).forEach(({ remove }) => remove()));

async function given(...parameters: Parameters<typeof temporaryWorkspace>): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace(...parameters);
  opened.push(made);
  return made;
}

function read(workspace: Workspace, name: string, maxBytes = 10_000): Promise<string> {
  return useInside(workspace, { path: name, kind: 'file' }, async (file) =>
    String((await readBounded(file, maxBytes, signal)).bytes),
  );
}

describe('openInside() refuses, on what it has opened,', () => {
  it.each([
    { what: 'a link to a file outside', name: 'link', target: '../secret.txt' },
    { what: 'a link by its full path', name: 'link', target: '/etc/passwd' },
    { what: 'a file in a linked folder', name: 'folder/secret.txt', link: 'folder', target: '..' },
    { what: 'the neighbour that begins alike', name: 'evil/f', link: 'evil', target: '../ws-evil' },
    { what: 'a link that leads to nothing outside', name: 'link', target: '../absent' },
    { what: 'a link that leads to nothing inside', name: 'link', target: 'absent' },
    { what: 'a name in a folder that is a dangling link', name: 'link/x', link: 'link', target: '../absent' },
    { what: 'what is not there in a folder outside', name: 'link/absent', link: 'link', target: '..' },
    { what: 'a link that leads in a circle', name: 'link', target: 'link' },
    { what: 'a link into procfs', name: 'link', target: '/proc/self/environ' },
    {
      what: 'a link to the root of the workspace of procfs',
      name: 'link/secret.txt',
      link: 'link',
      target: '/proc/self/cwd',
    },
    { what: 'a link to a device', name: 'link', target: '/dev/zero' },
    { what: 'a link to a terminal', name: 'link', target: '/dev/tty' },
  ])('$what', async ({ name, link = name, target }) => {
    const { workspace, at } = await given();
    symlinkSync(target, at(link));
    const error = await failureOf(openInside(workspace, name, 'file'));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(error.message).toContain(name);
    expect(error.failure.sideEffect).toBe('none');
  });

  it('a chain of links that ends outside', async () => {
    const { workspace, at } = await given();
    mkdirSync(at('a'));
    symlinkSync('a/two', at('one'));
    symlinkSync('../three', at('a/two'));
    symlinkSync('../secret.txt', at('three'));
    expect((await failureOf(openInside(workspace, 'one', 'file'))).code).toBe('PATH_OUTSIDE_WORKSPACE');
  });

  it('a file that has a second name, unless that is allowed', async () => {
    const { workspace, at, outside } = await given();
    linkSync(path.join(outside, 'secret.txt'), at('hard'));
    const error = await failureOf(read(workspace, 'hard'));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(error.message).toContain('the file has 2 names (hard links)');
    const lenient = { ...workspace, options: { ...workspace.options, allowHardLinks: true } };
    expect(await read(lenient, 'hard')).toBe(canary);
  });

  it('a pipe that nobody writes to, without waiting for it', async () => {
    const { workspace, at } = await given();
    makePipe(at('pipe'));
    const error = await failureOf(openInside(workspace, 'pipe', 'file'));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(error.message).toBe('Cannot use pipe as a file: it is a pipe');
  });

  it('a socket', async () => {
    const { workspace, at } = await given();
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(at('socket'), resolve);
    });
    const error = await failureOf(openInside(workspace, 'socket', 'file'));
    server.close();
    expect(error.message).toBe('Cannot use socket as a file: it is a socket');
  });

  it('a folder as a file, and a file as a folder', async () => {
    const { workspace } = await given({ 'src/a.ts': '' });
    expect((await failureOf(openInside(workspace, 'src', 'file'))).message).toBe(
      'Cannot use src as a file: it is a folder; list_files shows what is in it',
    );
    expect((await failureOf(openInside(workspace, 'src/a.ts', 'folder'))).message).toBe(
      'Cannot use src/a.ts as a folder: it is a file',
    );
  });

  it('what the kernel makes up, which says that it is empty', async () => {
    const { workspace } = await given();
    const error = await failureOf(openInside({ ...workspace, root: '/proc/self' }, 'environ', 'file'));
    // The root is no real path there, so that the one or the other refuses it; the real folder has the number in its name.
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    const real = `/proc/${process.pid}`;
    const second = await failureOf(openInside({ ...workspace, root: real }, 'environ', 'file'));
    expect(second.message).toContain('made up by the kernel');
  });
});

describe('openInside() says what may have been meant', () => {
  it.each([
    { asked: 'src/ap.ts', says: 'no file src/ap.ts; there are src/api.ts, src/app.ts' },
    { asked: 'scr/app.ts', says: 'no folder scr; there is src' },
    { asked: 'src/app.ts/x', says: 'no file src/app.ts/x; list_files shows what is there' },
    { asked: 'zzz', says: 'no file zzz; list_files shows what is there' },
  ])('for $asked', async ({ asked, says }) => {
    const { workspace } = await given({ 'src/app.ts': '', 'src/api.ts': '', 'src/zebra.ts': '' });
    const error = await failureOf(openInside(workspace, asked, 'file'));
    expect(error.code).toBe('NOT_FOUND');
    expect(error.message).toBe(says);
  });
});

describe('openInside()', () => {
  it('follows links that stay inside, and says where the file really lies', async () => {
    const { workspace, at } = await given({ 'real/a.txt': 'hello' });
    symlinkSync('real', at('folder'));
    symlinkSync('folder/a.txt', at('file'));
    const file = await openInside(workspace, 'file', 'file');
    expect(file.path).toBe('real/a.txt');
    await file.handle.close();
    expect(await read(workspace, at('folder/a.txt'))).toBe('hello');
  });

  it('opens the root itself', async () => {
    const { workspace } = await given();
    expect(
      await useInside(workspace, { path: '.', kind: 'folder' }, (folder) => Promise.resolve(folder.path)),
    ).toBe('');
  });

  it('reads on in the file that it has opened when the name leads elsewhere meanwhile', async () => {
    const { workspace, at } = await given({ 'a.txt': 'inside' });
    const text = await useInside(workspace, { path: 'a.txt', kind: 'file' }, async (file) => {
      execFileSync('ln', ['-sfn', '../secret.txt', at('a.txt')]);
      return String((await readBounded(file, 100, signal)).bytes);
    });
    expect(text).toBe('inside');
  });

  it('leaves no descriptor open, whatever happens', async () => {
    const { workspace, at } = await given({ 'a.txt': '1', 'b.txt': '2' });
    symlinkSync('../secret.txt', at('link'));
    linkSync(at('b.txt'), at('c.txt'));
    const before = readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 20; round += 1) {
      await read(workspace, 'a.txt');
      for (const name of ['link', 'c.txt', 'absent', '..']) await failureOf(read(workspace, name));
    }
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 2);
  });

  it('never opens a file outside, however its path is spelled', async () => {
    const { workspace, at, outside } = await given({ 'a/b.txt': 'inside' });
    symlinkSync('..', at('up'));
    symlinkSync(outside, at('a/out'));
    symlinkSync('../a', at('a/self'));
    const parts = [
      '..',
      '.',
      '',
      'a',
      'up',
      'out',
      'self',
      'ws',
      'ws-evil',
      'f',
      'b.txt',
      'secret.txt',
      '%2e%2e',
      '~',
      '..\\..',
      '. ',
    ];
    const start = fc.constantFrom('', './', `${outside}/`, `${workspace.root}/`, '/proc/self/cwd/');
    await fc.assert(
      fc.asyncProperty(
        start,
        fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }),
        async (head, rest) => {
          const text = await read(workspace, head + rest.join('/')).catch(() => 'refused');
          expect(['inside', 'refused']).toContain(text);
        },
      ),
      {
        numRuns: 400,
        examples: [
          ['', ['a', 'b.txt']],
          ['', ['up', 'secret.txt']],
          ['', ['a', 'out', 'ws', 'a', 'b.txt']],
        ],
      },
    );
    expect(await read(workspace, 'a/self/b.txt')).toBe('inside');
  });
});

describe('readBounded()', () => {
  it('reads no more than it is told, and says so', async () => {
    const { workspace } = await given({ 'a.txt': 'x'.repeat(600_000) });
    const bounded = await useInside(workspace, { path: 'a.txt', kind: 'file' }, (file) =>
      readBounded(file, 1000, signal),
    );
    expect(bounded.bytes.length).toBe(1000);
    expect(bounded.isWhole).toBe(false);
    const whole = await useInside(workspace, { path: 'a.txt', kind: 'file' }, (file) =>
      readBounded(file, 600_000, signal),
    );
    expect(whole.bytes.length).toBe(600_000);
    expect(whole.isWhole).toBe(true);
  });

  it('counts what comes, not what the file said of its size', async () => {
    const { workspace, at } = await given({ 'a.txt': 'x' });
    const bounded = await useInside(workspace, { path: 'a.txt', kind: 'file' }, (file) => {
      truncateSync(at('a.txt'), 1_000_000);
      return readBounded(file, 300_000, signal);
    });
    expect(bounded).toMatchObject({ isWhole: false });
    expect(bounded.bytes.length).toBe(300_000);
  });

  it('stops when it is called off', async () => {
    const { workspace } = await given({ 'a.txt': 'x' });
    const reason = new Error('called off');
    const reading = useInside(workspace, { path: 'a.txt', kind: 'file' }, (file) =>
      readBounded(file, 10, AbortSignal.abort(reason)),
    );
    await expect(reading).rejects.toBe(reason);
  });
});

describe.skipIf(process.getuid?.() === 0)('as an ordinary user, openInside()', () => {
  it('says that a file may not be read', async () => {
    const { workspace, at } = await given({ 'a.txt': 'x' });
    chmodSync(at('a.txt'), 0);
    expect((await failureOf(openInside(workspace, 'a.txt', 'file'))).code).toBe('PERMISSION_DENIED');
  });
});
