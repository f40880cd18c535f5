import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../model/tool.ts';
import { openWorkspace } from '../open-workspace.ts';
import { searchFilesTool } from './search-files.ts';
import type { Workspace } from '../workspace.ts';

let root = '';
let outside = '';
let workspace: Workspace;

const files: Readonly<Record<string, string | Uint8Array>> = {
  '.gitignore': 'dist/\n',
  'src/a.ts': 'import { b } from "./b";\nconst total = price * 2;\r\n\nexport { total };\n',
  'src/b.ts': 'one\ntwo\nthree needle\nfour\nfive\nsix\nseven\neight needle\nnine\n',
  'src/c.md': 'Ein Wörtchen mit 😀 needle\n',
  'dist/a.ts': 'needle in what was built\n',
  'node_modules/dep/index.js': 'needle in a package\n',
  '.git/config': 'needle in git\n',
  'long.txt': `${'x'.repeat(5000)}LONGLINE${'y'.repeat(5000)}\n`,
  'binary.bin': Uint8Array.from([0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0, 1, 2]),
  'latin1.txt': Uint8Array.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x6d, 0x61, 0x72, 0x6b, 0x65, 0x72]),
  'hostile/aaaa.txt': `${'a'.repeat(40)}!\n`,
  'many/a.txt': 'match me\n'.repeat(150),
  'many/b.txt': 'match me\n'.repeat(150),
  'wide/a.txt': `${'w'.repeat(290)}\n`.repeat(190),
};

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'rerail-search-'));
  outside = await mkdtemp(path.join(tmpdir(), 'rerail-outside-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
  await writeFile(path.join(root, 'large.txt'), 'large needle\n'.repeat(20_000));
  await writeFile(path.join(outside, 'secret.txt'), 'secret needle');
  await symlink(path.join(outside, 'secret.txt'), path.join(root, 'src', 'link.ts'));
  await symlink(outside, path.join(root, 'folder-link'));
  await link(path.join(outside, 'secret.txt'), path.join(root, 'hard.txt'));
  workspace = await openWorkspace(root, { maxFileBytes: 100_000 });
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(outside, { recursive: true, force: true });
});

async function search(input: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<string> {
  const context = { signal: signal ?? new AbortController().signal } as ToolContext; // All that it uses of it.
  return String(await searchFilesTool(workspace).execute(input, context));
}

describe('search_files', () => {
  it.each([
    { what: 'repetitions in repetitions', pattern: '(a+)+$' },
    { what: 'choices that overlap', pattern: '^(a|a|aa)+$' },
    { what: 'a reference back', pattern: String.raw`^(a*)*\1b$` },
  ])('ends $what in a thread of its own and says what to do', async ({ pattern }) => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 20);
    const searching = search({ pattern, isRegex: true, path: 'hostile' });
    await expect(searching).rejects.toMatchObject({
      code: 'TIMEOUT',
      failure: { retryable: false, hint: expect.stringContaining('simpler pattern') as string },
      message: expect.stringContaining('hostile/aaaa.txt') as string,
    });
    clearInterval(ticking);
    // This thread was never held up.
    expect(ticks).toBeGreaterThan(10);
  });

  it('ends at once with its signal, however busy the pattern is', async () => {
    const controller = new AbortController();
    const searching = search({ pattern: '(a+)+$', isRegex: true, path: 'hostile' }, controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 200);
    await expect(searching).rejects.toThrow('enough');
  });

  it.each([
    { pattern: 'foo(bar', says: /at character 4 .*Unterminated group/ },
    { pattern: 'a[bc', says: /at character 2 .*(Unterminated|missing)/i },
    { pattern: 'ab**', says: /at character 4 .*Nothing to repeat/ },
    { pattern: 'ok)x', says: /at character 3 .*Unmatched '\)'/ },
    { pattern: '[z-a]', says: /at character \d .*Range out of order/ },
    { pattern: 'x{3,1}', says: /at character 6 .*numbers out of order/ },
    { pattern: '(?i)abc', says: /at character \d .*Invalid group/ },
    { pattern: 'abc\\', says: /at character 4 /u },
  ])('says where $pattern is wrong', async ({ pattern, says }) => {
    const searching = search({ pattern, isRegex: true });
    await expect(searching).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(search({ pattern, isRegex: true })).rejects.toThrow(says);
  });

  it.each([
    { what: 'an empty text', input: { pattern: '' }, code: 'VALIDATION_ERROR' },
    {
      what: 'a pattern of 1 MB',
      input: { pattern: '(a|b)'.repeat(200_000), isRegex: true },
      code: 'VALIDATION_ERROR',
    },
    { what: 'a text of several lines', input: { pattern: 'a\nb' }, code: 'VALIDATION_ERROR' },
    { what: 'a glob that is none', input: { pattern: 'a', glob: '{a' }, code: 'VALIDATION_ERROR' },
    { what: 'in a folder above', input: { pattern: 'a', path: '..' }, code: 'PATH_OUTSIDE_WORKSPACE' },
    {
      what: 'in a link to outside',
      input: { pattern: 'secret', path: 'src/link.ts' },
      code: 'PATH_OUTSIDE_WORKSPACE',
    },
    {
      what: 'in a folder that is a link to outside',
      input: { pattern: 'secret', path: 'folder-link' },
      code: 'PATH_OUTSIDE_WORKSPACE',
    },
    {
      what: 'in a file with a name outside',
      input: { pattern: 'secret', path: 'hard.txt' },
      code: 'PATH_OUTSIDE_WORKSPACE',
    },
    { what: 'in a file that is not there', input: { pattern: 'a', path: 'src/z.ts' }, code: 'NOT_FOUND' },
  ])('does not search for $what', async ({ input, code }) => {
    await expect(search(input)).rejects.toMatchObject({ code });
  });

  it('finds a text with its lines and numbers, and never what lies outside or in node_modules and .git', async () => {
    expect(await search({ pattern: 'needle' })).toBe(
      [
        '3 lines match "needle" in 10 files:',
        'src/b.ts',
        '3: three needle',
        '8: eight needle',
        'src/c.md',
        '1: Ein Wörtchen mit 😀 needle',
        '(Skipped files: 1 binary, 1 too large, 1 unreadable.)',
        '(The .gitignore left out 1 entry.)',
      ].join('\n'),
    );
  });

  it('shows lines around, each once', async () => {
    expect(await search({ pattern: 'needle', path: 'src/b.ts', contextLines: 2 })).toBe(
      [
        '2 lines match "needle" in 1 file:',
        'src/b.ts',
        '1- one',
        '2- two',
        '3: three needle',
        '4- four',
        '5- five',
        '6- six',
        '7- seven',
        '8: eight needle',
        '9- nine',
      ].join('\n'),
    );
    expect(await search({ pattern: 'needle', path: 'src/b.ts', contextLines: 1 })).toContain(
      '4- four\n--\n7- seven',
    );
  });

  it.each([
    {
      what: 'a sign that means something as itself',
      input: { pattern: 'price * 2;' },
      line: '2: const total = price * 2;',
    },
    {
      what: 'an end of line on files of Windows',
      input: { pattern: '2;$', isRegex: true },
      line: '2: const total = price * 2;',
    },
    {
      what: 'letters of any case',
      input: { pattern: 'TOTAL =', ignoreCase: true },
      line: '2: const total = price * 2;',
    },
    {
      what: 'classes of characters',
      input: { pattern: String.raw`mit \p{Emoji}+ `, isRegex: true },
      line: '1: Ein Wörtchen mit 😀 needle',
    },
    {
      what: 'an escape that is not needed',
      input: { pattern: String.raw`\"\.\/b\"`, isRegex: true },
      line: '1: import { b } from "./b";',
    },
    { what: 'a file that is no UTF-8', input: { pattern: 'marker' }, line: '1: caf� marker' },
    {
      what: 'only the files of a glob',
      input: { pattern: 'needle', glob: '*.md' },
      line: '1: Ein Wörtchen mit 😀 needle',
    },
  ])('finds $what', async ({ input, line }) => {
    const lines = (await search(input)).split('\n');
    expect(lines[0]).toMatch(/^1 line matches/);
    expect(lines[2]).toBe(line);
  });

  it('cuts a long line around the match', async () => {
    const line = (await search({ pattern: 'LONGLINE' })).split('\n')[2] ?? '';
    expect(line).toMatch(/^1: …x+LONGLINEy+…$/);
    expect(line.length).toBeLessThan(320);
  });

  it('shows at most 200 lines and says how many more there are', async () => {
    const text = await search({ pattern: 'match me', path: 'many' });
    expect(text).toMatch(/^300 lines match/);
    expect(text.match(/^\d+: match me$/gm)).toHaveLength(200);
    expect(text).toContain('(100 more lines match and are not shown.');
  });

  it('shows at most 30,000 characters and says how many more there are', async () => {
    const text = await search({ pattern: 'www', path: 'wide' });
    expect(text.length).toBeLessThan(31_000);
    const shown = text.match(/^\d+: w+$/gm) ?? [];
    expect(text).toContain(`(${190 - shown.length} more lines match and are not shown.`);
  });

  it('says that a text was not taken for a regular expression', async () => {
    expect(await search({ pattern: 'need.*le|x' })).toContain(
      '(The pattern was taken as plain text. Set isRegex',
    );
  });
});
