import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdsSystem, ownRuntime, systemPaths } from './system-folders.ts';

let home: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'rerail-home-')));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function putNode(folder: string): Promise<string> {
  await mkdir(path.join(home, folder), { recursive: true });
  const file = path.join(home, folder, 'node');
  await writeFile(file, '');
  return file;
}

it('a Node that lies in a home folder brings its programs and packages and nothing else of it', async () => {
  const node = await putNode('bin');
  await mkdir(path.join(home, 'lib/node_modules'), { recursive: true });
  expect(ownRuntime(node)).toEqual({
    programs: path.join(home, 'bin'),
    packages: path.join(home, 'lib/node_modules'),
  });
});

it.each([
  { what: 'in no installation', folder: 'bin' },
  { what: 'loose in a folder', folder: '.' },
])('a Node that lies $what brings nothing', async ({ folder }) => {
  expect(ownRuntime(await putNode(folder))).toBeUndefined();
});

it.runIf(process.platform === 'linux')(
  'of the settings of the system there is a short list, without secrets',
  () => {
    const names = systemPaths().map((found) => found.path);
    expect(names).toContain('/usr');
    for (const secret of [
      '/etc',
      '/etc/shadow',
      '/etc/ssl',
      '/etc/ssl/private',
      '/home',
      '/var',
      '/run',
      '/sys',
    ]) {
      expect(names).not.toContain(secret);
    }
  },
);

it.each([
  { root: '/', holds: true },
  { root: '/tmp', holds: true },
  { root: '/usr/src/app', holds: false },
  { root: '/srv/app', holds: false },
])('that $root holds folders of the system is $holds', ({ root, holds }) => {
  expect(holdsSystem(root)).toBe(holds);
});
