import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWorkspace } from '../workspace/open-workspace.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { findProtected, placeBounds } from './protected-places.ts';

let workspace: Workspace;

beforeEach(async () => {
  workspace = await openWorkspace(await mkdtemp(path.join(tmpdir(), 'rerail-places-')), {
    protect: ['secret/*.key'],
  });
});
afterEach(() => rm(workspace.root, { recursive: true, force: true }));

async function put(name: string): Promise<void> {
  const file = path.join(workspace.root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, 'text');
}

const inRoot = (...names: readonly string[]): readonly string[] =>
  names.map((name) => path.join(workspace.root, name));

it('finds what is protected at any depth, holds it, and keeps the folders above it in their place', async () => {
  for (const name of [
    '.git/config',
    'a/b/.git/hooks/x',
    'secret/one.key',
    'src/app.ts',
    '.github/workflows/ci.yml',
  ])
    await put(name);
  const { found, held, above } = await findProtected(workspace);
  expect([...found.keys()].toSorted()).toEqual(['.git', '.github/workflows', 'a/b/.git', 'secret/one.key']);
  expect(held.toSorted()).toEqual(inRoot('.git', '.github/workflows', 'a/b/.git', 'secret/one.key'));
  expect(above).toEqual(
    inRoot('a', 'a/b', 'secret', '.github').toSorted((one, other) => one.length - other.length),
  );
});

it('a link is known by where it leads, and what it leads to inside is held too', async () => {
  await put('real/config');
  await symlink('real', path.join(workspace.root, '.git'));
  await symlink('/etc', path.join(workspace.root, '.ssh'));
  const { found, held } = await findProtected(workspace);
  expect(Object.fromEntries(found)).toEqual({
    '.git': `link to real and so to ${inRoot('real')[0]}`,
    '.ssh': 'link to /etc and so to /etc',
    real: 'held',
  });
  expect(held).toEqual(inRoot('real'));
});

it('looks neither into node_modules nor through a link', async () => {
  await put('node_modules/a/.github/workflows/ci.yml');
  await symlink('..', path.join(workspace.root, 'up'));
  expect((await findProtected(workspace)).found.size).toBe(0);
});

it('says that it has not looked at everything where there are too many names', async () => {
  for (const name of ['a', 'b', 'c', 'deep/.git/config']) await put(name);
  expect(await findProtected(workspace, { maxNames: 4 })).toMatchObject({ isCut: true });
  expect(await findProtected(workspace, { maxNames: 5 })).toMatchObject({ isCut: false });
});

it('finds what lies in the folder whose names are too many', async () => {
  for (const name of ['a', 'b', 'c', '.git/config']) await put(name);
  const { found, isCut } = await findProtected(workspace, { maxNames: 2 });
  expect({ found: [...found.keys()], isCut }).toEqual({ found: ['.git'], isCut: true });
});

it('says so where there are more places than can be held', async () => {
  for (let number = 0; number < placeBounds.held; number += 1) await put(`${number}/.npmrc`);
  expect(await findProtected(workspace)).toMatchObject({ canHoldAll: true });
  await put('.git/config');
  expect(await findProtected(workspace)).toMatchObject({ canHoldAll: false });
});

it.runIf(process.getuid?.() !== 0)('names a folder that it cannot list', async () => {
  await put('dark/x');
  await chmod(path.join(workspace.root, 'dark'), 0o000);
  expect((await findProtected(workspace)).unreadable).toEqual(['dark']);
  await chmod(path.join(workspace.root, 'dark'), 0o755);
});
