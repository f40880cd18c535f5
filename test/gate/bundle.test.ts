import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.mjs';
import type { Manifest } from '../../scripts/bundle.mjs';

let folder = '';
let manifest: Manifest = { exports: {}, bin: {} };

beforeAll(async () => {
  const cache = path.resolve('node_modules/.cache');
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(path.join(cache, 'bundle-test-'));
  manifest = JSON.parse(await readFile('package.json', 'utf8')) as Manifest;
  await bundle(manifest, { folder: path.join(folder, 'dist') });
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('bundle()', () => {
  it('refuses an entry whose source does not exist', async () => {
    const wrong = { exports: { '.': './dist/no-such-entry.js' }, bin: {} };
    await expect(bundle(wrong, { folder: path.join(folder, 'wrong') })).rejects.toThrow('no-such-entry');
  });

  it('writes every script that package.json names', () => {
    const named = JSON.stringify([manifest.exports, manifest.bin]).match(/dist\/[^"]+\.js(?=")/g) ?? [];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !existsSync(path.join(folder, file)))).toEqual([]);
  });

  it('gives all entries the same classes', async () => {
    const [root, errors] = await Promise.all([load('dist/index.js'), load('dist/errors/index.js')]);
    expect(root['RerailError']).toBeTypeOf('function');
    expect(root['RerailError']).toBe(errors['RerailError']);
  });

  it('loads a handful of files for the root, for every file costs a part of a millisecond', async () => {
    const { files, others } = await loadedBy('dist/index.js');
    expect(files.length).toBeLessThan(8);
    expect(others.filter((name) => !name.startsWith('node:'))).toEqual([]);
  });

  it('loads nothing but our own for rerail/errors, and nothing of the agent', async () => {
    expect(await loadedBy('dist/errors/index.js')).toEqual({
      files: ['dist/errors/index.js', 'dist/shared/errors.js'],
      others: [],
    });
  });
});

async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(pathToFileURL(path.join(folder, file)).href)) as Readonly<Record<string, unknown>>;
}

/** What an import of a file loads, by the import statements, which the bundler writes at the beginning of a line. */
async function loadedBy(
  file: string,
): Promise<{ readonly files: readonly string[]; readonly others: readonly string[] }> {
  const files = new Set([file]);
  const others = new Set<string>();
  for (const next of files) {
    const text = await readFile(path.join(folder, next), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^\n;]*?\bfrom "([^"\n]+)";$/gm)) {
      if (name.startsWith('.')) files.add(path.posix.join(path.posix.dirname(next), name));
      else others.add(name);
    }
  }
  return { files: [...files], others: [...others] };
}
