import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../model/tool.ts';
import { findFilesTool } from './find-files.ts';
import { openWorkspace } from '../open-workspace.ts';
import type { Workspace } from '../workspace.ts';

let root = '';
let workspace: Workspace;

const files: Readonly<Record<string, string>> = {
  '.gitignore': '# made\ndist/\n*.log\n!keep.log\n/only-here.txt\nbuild/out\n',
  'README.md': '',
  'only-here.txt': '',
  'debug.log': '',
  'keep.log': '',
  '.hidden.ts': '',
  'src/a.ts': '',
  'src/b.tsx': '',
  'src/deep/down/c.ts': '',
  'src/only-here.txt': '',
  'src/name\nwith break.ts': '',
  'dist/a.ts': '',
  'build/out/x.ts': '',
  'build/in/x.ts': '',
  'node_modules/dep/index.ts': '',
  'sub/node_modules/dep/index.ts': '',
  '.git/hooks/pre-commit.ts': '',
};

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'rerail-find-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  await mkdir(path.join(root, 'many'));
  const many = [...Array(620).keys()].map((index) => `many/file-${String(index).padStart(4, '0')}.dat`);
  await Promise.all(many.map((name) => writeFile(path.join(root, name), '')));
  await symlink(root, path.join(root, 'src', 'circle'));
  await symlink('/etc', path.join(root, 'outside'));
  workspace = await openWorkspace(root);
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

async function find(input: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<string> {
  const context = { signal: signal ?? new AbortController().signal } as ToolContext; // All that it uses of it.
  return String(await findFilesTool(workspace).execute(input, context));
}

/** The paths alone, without the words around them. */
async function pathsOf(input: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const lines = (await find(input)).split('\n');
  return lines.slice(1).filter((line) => !line.startsWith('('));
}

describe('find_files', () => {
  it.each([
    { what: 'out of the workspace', input: { pattern: '*', path: '../' }, code: 'PATH_OUTSIDE_WORKSPACE' },
    {
      what: 'through a link to outside',
      input: { pattern: '*', path: 'outside' },
      code: 'PATH_OUTSIDE_WORKSPACE',
    },
    { what: 'in a folder that is not there', input: { pattern: '*', path: 'scr' }, code: 'NOT_FOUND' },
    { what: 'in a file', input: { pattern: '*', path: 'README.md' }, code: 'VALIDATION_ERROR' },
    { what: 'for an open bracket', input: { pattern: 'src/[a' }, code: 'VALIDATION_ERROR' },
    { what: 'for a pattern of 1 MB', input: { pattern: '*'.repeat(1_000_000) }, code: 'VALIDATION_ERROR' },
    {
      what: 'for a path from the root of the machine',
      input: { pattern: '/etc/*' },
      code: 'VALIDATION_ERROR',
    },
    { what: 'for a path to above', input: { pattern: '../*' }, code: 'VALIDATION_ERROR' },
    { what: 'for nothing', input: { pattern: '' }, code: 'VALIDATION_ERROR' },
  ])('does not look $what', async ({ input, code }) => {
    await expect(find(input)).rejects.toMatchObject({ code });
  });

  it('says where a pattern is wrong', async () => {
    await expect(find({ pattern: 'src/{a' })).rejects.toThrow(
      /"src\/\{a": the \{ is not closed .* \(character 5\)/,
    );
  });

  it('ends with its signal', async () => {
    await expect(find({ pattern: '*' }, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });

  it.each([
    { what: 'thirty stars', pattern: `${'*a'.repeat(30)}*b` },
    { what: 'thirty double stars', pattern: `${'**/'.repeat(30)}nowhere` },
    { what: 'choices that multiply', pattern: `${'{a,b,*}'.repeat(100)}z` },
  ])('is through with $what in no time', async ({ pattern }) => {
    expect(await find({ pattern })).toContain('No file matches');
  });

  it.each([
    {
      pattern: '*.ts',
      found: [
        '.hidden.ts',
        'build/in/x.ts',
        'src/a.ts',
        'src/deep/down/c.ts',
        'src/name<U+000A>with break.ts',
      ],
    },
    { pattern: 'src/*.{ts,tsx}', found: ['src/a.ts', 'src/b.tsx', 'src/name<U+000A>with break.ts'] },
    { pattern: './src/**/c.ts', found: ['src/deep/down/c.ts'] },
    { pattern: '*.log', found: ['keep.log'] },
    { pattern: 'only-here.txt', found: ['src/only-here.txt'] },
    { pattern: 'circle', found: ['src/circle'] },
    { pattern: '**/index.ts', found: [] },
  ])('finds $pattern and leaves out what git leaves out', async ({ pattern, found }) => {
    expect(await pathsOf({ pattern })).toEqual(found);
  });

  it('matches from the folder that is named, even one that git leaves out', async () => {
    expect(await pathsOf({ pattern: 'deep/**', path: 'src' })).toEqual(['src/deep/down/c.ts']);
    expect(await pathsOf({ pattern: '*.ts', path: 'dist' })).toEqual(['dist/a.ts']);
    expect(await pathsOf({ pattern: 'index.ts', path: 'node_modules' })).toEqual([
      'node_modules/dep/index.ts',
    ]);
  });

  it('shows 500 in the order of their paths and says how many more there are', async () => {
    const paths = await pathsOf({ pattern: 'many/*' });
    expect(paths).toHaveLength(500);
    expect(paths).toEqual([...paths].toSorted());
    expect(await find({ pattern: 'many/*' })).toMatch(/^620 files match[^]*\(120 more are not shown/);
  });

  it('says how much was left out by .gitignore', async () => {
    expect(await find({ pattern: '*.nothing' })).toBe(
      'No file matches "*.nothing" in the workspace.\n(The .gitignore left out 4 entries.)',
    );
  });
});
