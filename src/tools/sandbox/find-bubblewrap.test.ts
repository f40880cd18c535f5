import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findBubblewrap } from './find-bubblewrap.ts';

let base: string;
let root: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), 'rerail-find-')));
  root = path.join(base, 'workspace');
  await mkdir(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** A program that leaves a trace when it is started. */
async function putProgram(file: string, version: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho ran >> ${base}/trace\necho ${version}\n`);
  await chmod(file, 0o755);
  return file;
}

it('one in the workspace is not used, nor started, nor through a link from outside', async () => {
  const planted = await putProgram(path.join(root, 'node_modules/.bin/bwrap'), 'bubblewrap 0.9.0');
  const link = path.join(base, 'bwrap');
  await symlink(planted, link);
  const found = await findBubblewrap(root, [planted, link]);
  expect(found).toBe(
    `${planted} lies in the workspace and is not used; ${link} lies in the workspace and is not used`,
  );
  await expect(realpath(path.join(base, 'trace'))).rejects.toThrow('ENOENT');
});

it.each([
  { what: 'where there is none', version: undefined, says: 'bubblewrap is not installed' },
  { what: 'that is too old', version: 'bubblewrap 0.4.1', says: 'too old' },
  { what: 'that does not say its version', version: 'hello', says: '--version failed' },
])('says why, $what', async ({ version, says }) => {
  const file = path.join(base, 'bin', 'bwrap');
  if (version !== undefined) await putProgram(file, version);
  expect(await findBubblewrap(root, [file])).toContain(says);
});

it('one that others can write is not used', async () => {
  const file = await putProgram(path.join(base, 'bwrap'), 'bubblewrap 0.9.0');
  await chmod(file, 0o777);
  expect(await findBubblewrap(root, [file])).toContain('can be written by others');
});

it.each([
  { version: 'bubblewrap 0.8.0', canDisableNamespaces: true },
  { version: 'bubblewrap 0.6.1', canDisableNamespaces: false },
  { version: 'bubblewrap 1.0', canDisableNamespaces: true },
])('$version is used', async ({ version, canDisableNamespaces }) => {
  const file = await putProgram(path.join(base, 'bwrap'), version);
  expect(await findBubblewrap(root, [file])).toEqual({ path: file, canDisableNamespaces });
});
