import { symlinkSync, unlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { listFilesTool } from '../../src/tools/workspace/search/list-files.ts';
import { readFileTool } from '../../src/tools/workspace/read-file.ts';
import { walkInside } from '../../src/tools/workspace/search/walk.ts';
import { call, failureOf, makePipe, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const { signal } = new AbortController();
const opened: TemporaryWorkspace[] = [];
afterEach(() => opened.splice(0).forEach(({ remove }) => remove()));

async function given(...parameters: Parameters<typeof temporaryWorkspace>): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace(...parameters);
  opened.push(made);
  return made;
}

describe('read_file', () => {
  it('cuts a long line between characters and never through one', async () => {
    const { workspace } = await given({ f: `${'x'.repeat(1999)}😀 and more\n` });
    const shown = await call(readFileTool(workspace), { path: 'f' });
    expect(shown).toContain(`x…\n`);
    expect(shown).not.toMatch(/\p{Surrogate}/u);
  });

  it.each([
    {
      what: 'a file that is too large',
      input: { path: 'large' },
      says: 'it has 101 bytes, and files of more than 100',
    },
    {
      what: 'a line past the end',
      input: { path: 'a.txt', fromLine: 3 },
      says: 'from line 3: it has 1 line',
    },
    { what: 'a path outside', input: { path: '../secret.txt' }, says: 'leads out of the workspace' },
    { what: 'a folder', input: { path: '.' }, says: 'list_files shows what is in it' },
  ])('refuses $what', async ({ input, says }) => {
    const { workspace } = await given({ large: 'x'.repeat(101), 'a.txt': 'a\n' }, { maxFileBytes: 100 });
    expect((await failureOf(call(readFileTool(workspace), input))).message).toContain(says);
  });

  it.each([
    { what: 'an empty file', content: '', shown: 'f is empty.' },
    { what: 'numbered lines', content: 'a\n\nb\n', shown: '1\ta\n2\t\n3\tb' },
    {
      what: 'a last line without an end',
      content: 'a\nb',
      shown: '1\ta\n2\tb\n\n(The last line has no line end.)',
    },
    {
      what: 'a binary file by its kind and size',
      content: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0]),
      shown: 'f is a PNG image: 5 bytes. Its contents are not shown.',
    },
    {
      what: 'bytes that are no UTF-8',
      content: new Uint8Array([97, 0xe9, 10]),
      shown:
        '1\ta\ufffd\n\n(Some bytes are not UTF-8 and are shown as \ufffd. edit_file cannot change this file.)',
    },
  ])('shows $what', async ({ content, shown }) => {
    const { workspace } = await given({ f: content });
    expect(await call(readFileTool(workspace), { path: 'f' })).toBe(shown);
  });

  it('shows a part and says how to read on', async () => {
    const { workspace } = await given({ f: '1\n2\n3\n4\n5\n' });
    expect(await call(readFileTool(workspace), { path: 'f', fromLine: 2, lines: 2 })).toBe(
      '2\t2\n3\t3\n\n(Lines 2 to 3 of 5. Read on with fromLine: 4.)',
    );
  });

  it.each([
    { what: 'lines', content: 'x\n'.repeat(5000), last: 2000 },
    { what: 'characters', content: `${'x'.repeat(999)}\n`.repeat(500), last: 59 },
  ])('bounds the number of $what', async ({ content, last }) => {
    const { workspace } = await given({ f: content });
    const shown = await call(readFileTool(workspace), { path: 'f' });
    expect(shown.length).toBeLessThan(61_000);
    expect(shown).toContain(`Read on with fromLine: ${last + 1}.`);
  });

  it('cuts a line that is too long, and says so', async () => {
    const { workspace } = await given({ f: `${'x'.repeat(100_000)}\n` });
    const shown = await call(readFileTool(workspace), { path: 'f' });
    expect(shown.length).toBeLessThan(3000);
    expect(shown).toContain('Lines of more than 2000 characters were cut');
  });

  it('stops when it is called off', async () => {
    const { workspace } = await given({ f: 'x' });
    const reason = new Error('called off');
    await expect(
      call(readFileTool(workspace), { path: 'f' }, { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
  });
});

describe('list_files', () => {
  it('lists sorted, with kinds and sizes, and says what was left out', async () => {
    const { workspace, at } = await given({
      'src/app.ts': 'hello',
      'src/deep/er/x.ts': '',
      'a b.txt': '1',
      '.git/config': '',
      'node_modules/x/index.js': '',
    });
    symlinkSync('..', at('up'));
    makePipe(at('pipe'));
    expect(await call(listFilesTool(workspace), {})).toBe(
      [
        '.git/ (not entered)',
        '"a b.txt" 1',
        'node_modules/ (not entered)',
        'pipe (pipe, socket or device)',
        'src/',
        'src/app.ts 5',
        'src/deep/',
        'up (link)',
        '',
        '(1 folder at level 2 not entered. Give a larger depth, or list one of them.)',
      ].join('\n'),
    );
    expect(await call(listFilesTool(workspace), { path: 'src', depth: 9 })).toBe(
      ['src/app.ts 5', 'src/deep/', 'src/deep/er/', 'src/deep/er/x.ts 0'].join('\n'),
    );
  });

  it('is bounded, and says so', async () => {
    const files = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`f${index}`, '']));
    const { workspace } = await given(files);
    const listed = await call(listFilesTool(workspace), {});
    expect(listed.split('\n').length).toBe(1002);
    expect(listed).toContain('There are more than 1000 entries');
  });

  it.each([
    { what: 'a folder outside', path: '..', code: 'PATH_OUTSIDE_WORKSPACE' },
    { what: 'a link to a folder outside', path: 'up', code: 'PATH_OUTSIDE_WORKSPACE' },
    { what: 'a folder that is not there', path: 'scr', code: 'NOT_FOUND' },
    { what: 'a file', path: 'src/a', code: 'VALIDATION_ERROR' },
  ])('refuses $what', async ({ path, code }) => {
    const { workspace, at } = await given({ 'src/a': '' });
    symlinkSync('..', at('up'));
    expect((await failureOf(call(listFilesTool(workspace), { path }))).code).toBe(code);
  });

  it('says that a folder is empty', async () => {
    const { workspace } = await given();
    expect(await call(listFilesTool(workspace), {})).toBe('. is empty.');
  });
});

describe('walkInside()', () => {
  it('tells the nearest first, follows no link and enters neither .git nor node_modules', async () => {
    const { workspace, at } = await given({
      'b/c/x': '',
      'b/a': '',
      z: '',
      '.git/x': '',
      'b/node_modules/y': '',
    });
    symlinkSync('b', at('link'));
    const seen: string[] = [];
    const onEntry = ({ path, depth }: { readonly path: string; readonly depth: number }): undefined => {
      seen.push(`${depth} ${path}`);
    };
    const end = await walkInside(workspace, '.', { signal, maxEntries: 100, maxDepth: 10, onEntry });
    expect(seen).toEqual(['1 .git', '1 b', '1 link', '1 z', '2 b/a', '2 b/c', '2 b/node_modules', '3 b/c/x']);
    expect(end).toEqual({ entries: 8, end: 'complete', tooDeep: 0, unreadable: [] });
  });

  it.each([
    { what: 'too many', maxEntries: 3, wish: undefined, end: 'too-many', entries: 3 },
    { what: 'stopped', maxEntries: 100, wish: 'stop' as const, end: 'stopped', entries: 1 },
    { what: 'folders skipped by wish', maxEntries: 100, wish: 'skip' as const, end: 'complete', entries: 2 },
  ])('ends: $what', async ({ maxEntries, wish, end, entries }) => {
    const { workspace } = await given({ 'a/1': '', 'a/2': '', 'b/1': '' });
    const walked = await walkInside(workspace, '.', {
      signal,
      maxEntries,
      maxDepth: 10,
      onEntry: () => wish,
    });
    expect(walked).toMatchObject({ end, entries });
  });

  it('goes on where a folder has a name that no tool takes, and tells which', async () => {
    const { workspace } = await given({ 'bad\\name/x': '', 'good/x': '', '~home/x': '' });
    const walked = await walkInside(workspace, '.', {
      signal,
      maxEntries: 100,
      maxDepth: 10,
      onEntry: () => undefined,
    });
    expect(walked).toMatchObject({ entries: 5, end: 'complete', unreadable: ['bad\\name'] });
  });

  it('tells the size while it tells the entry, and nothing for what has gone', async () => {
    const { workspace, at } = await given({ a: '12345', b: '' });
    const sizes: (number | undefined)[] = [];
    const onEntry = async ({
      stat,
    }: {
      readonly stat: () => Promise<{ readonly size: number } | undefined>;
    }): Promise<undefined> => {
      sizes.push((await stat())?.size);
      if (sizes.length === 1) unlinkSync(at('b'));
    };
    await walkInside(workspace, '.', { signal, maxEntries: 100, maxDepth: 10, onEntry });
    expect(sizes).toEqual([5, undefined]);
  });

  it('stops when it is called off', async () => {
    const { workspace } = await given({ a: '', b: '' });
    const control = new AbortController();
    const reason = new Error('called off');
    const onEntry = (): undefined => control.abort(reason) as undefined;
    const walking = walkInside(workspace, '.', {
      signal: control.signal,
      maxEntries: 9,
      maxDepth: 9,
      onEntry,
    });
    await expect(walking).rejects.toBe(reason);
  });
});

it('a walk lets others run, whatever is done with each entry', async () => {
  const { workspace } = await given({ a: '', b: '', c: '' });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const busy = (): undefined => {
    const start = performance.now();
    while (performance.now() - start < 30);
  };
  await walkInside(workspace, '.', { signal, maxEntries: 10, maxDepth: 1, onEntry: busy });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
