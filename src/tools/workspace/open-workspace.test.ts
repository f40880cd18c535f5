import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { openWorkspace } from './open-workspace.ts';
import type { WorkspaceOptions } from './workspace.ts';

const base = mkdtempSync(path.join(tmpdir(), 'rerail-open-'));
const root = path.join(base, 'ws');
mkdirSync(root);
writeFileSync(path.join(base, 'file'), '');
symlinkSync(root, path.join(base, 'link'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('openWorkspace()', () => {
  it.each([
    { what: 'a folder that is not there', root: path.join(base, 'absent'), says: 'there is no such folder' },
    { what: 'a file', root: path.join(base, 'file'), says: 'it is no folder' },
    { what: 'everything', root: '/', says: 'in which nothing is outside' },
    { what: 'nothing', root: '', says: '"root" must be the path of a folder' },
  ])('refuses $what as the root', async ({ root: given, says }) => {
    await expect(openWorkspace(given)).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(openWorkspace(given)).rejects.toThrow(says);
  });

  it.each([
    {
      options: { maxFileBites: 1 },
      says: 'There is no option "maxFileBites" of openWorkspace(): did you mean "maxFileBytes"?',
    },
    { options: { maxFileBytes: 0 }, says: '"maxFileBytes" must be a whole number of bytes above 0, got 0' },
    { options: { maxFileBytes: '1' }, says: '"maxFileBytes" must be' },
    { options: { allowHardLinks: 'yes' }, says: '"allowHardLinks" must be true or false' },
    { options: { protect: 'a' }, says: '"protect" must be a list' },
    { options: { protect: ['ok', ''] }, says: '"protect[1]" must be a path from the root' },
    { options: { protect: ['../x'] }, says: '"protect[0]" must be a path from the root' },
    { options: { protect: ['/etc'] }, says: '"protect[0]" must be a path from the root' },
    { options: { sandbox: 'off' }, says: '"sandbox" must be an object' },
    {
      options: { sandbox: { min: 'off' } },
      says: '"sandbox.min" must be one of contained, restricted, bare',
    },
    { options: { sandbox: { off: ' ' } }, says: '"sandbox.off" must be who has switched it off' },
    { options: { sandbox: { minimum: 'bare' } }, says: 'There is no option "minimum"' },
    { options: null, says: 'The options of openWorkspace() must be an object' },
  ])('names the field of $options', async ({ options, says }) => {
    await expect(openWorkspace(root, options as unknown as WorkspaceOptions)).rejects.toThrow(says);
  });

  it('has the real path of the folder, the defaults, and an empty memory', async () => {
    const workspace = await openWorkspace(path.join(base, 'link'));
    const { root: real } = await openWorkspace(root);
    expect(workspace.root).toBe(real);
    expect(workspace.options).toEqual({
      protect: [],
      maxFileBytes: 10_000_000,
      allowHardLinks: false,
      sandbox: {},
    });
    expect(workspace.memory.seen.size).toBe(0);
    expect(workspace.memory.changes).toEqual([]);
  });

  it('probes the sandbox once, when it is first needed', async () => {
    const probed: string[] = [];
    const sandbox = { level: 'bare' } as Sandbox;
    const workspace = await openWorkspace(root, {}, (given) => {
      probed.push(given.root);
      return Promise.resolve(sandbox);
    });
    expect(probed).toEqual([]);
    expect(await Promise.all([workspace.sandbox(), workspace.sandbox()])).toEqual([sandbox, sandbox]);
    expect(probed).toEqual([workspace.root]);
  });
});
