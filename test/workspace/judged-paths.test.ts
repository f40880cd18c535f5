import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { PermissionRule } from '../../src/index.ts';
import { openWorkspace, workspaceTools } from '../../src/tools/workspace/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'rerail-judged-'));
  await mkdir(path.join(root, 'src'));
  await mkdir(path.join(root, 'lib'));
  await writeFile(path.join(root, 'src/x.txt'), 'old\n');
  await symlink('src', path.join(root, 'door'));
  await symlink('../src', path.join(root, 'lib/back'));
  return () => rm(root, { recursive: true, force: true });
});

async function write(name: string, permissions: readonly PermissionRule[]): Promise<string> {
  const workspace = await openWorkspace(root);
  const toolCalls = [{ name: 'write_file', arguments: { path: name, content: 'new\n' } }];
  const agent = createAgent({
    model: scriptedModel([{ toolCalls }, 'Done.']),
    tools: [...workspaceTools(workspace, { shell: false, fetch: false })],
    policy: { permissions },
  });
  const outcome = await agent.run('Write');
  if (outcome.type === 'suspended') return 'ask';
  const told = JSON.stringify(outcome.messages.findLast(({ role }) => role === 'tool')?.content);
  return told.includes('may not be called like this') ? 'deny' : 'allow';
}

const everything: PermissionRule = { tool: 'write_file', permission: 'allow' };
const forbid: PermissionRule = { input: { path: { matches: 'src/*' } }, permission: 'deny' };
const permit: PermissionRule = { input: { path: { matches: 'lib/*' } }, permission: 'allow' };

describe('a rule about a folder', () => {
  it.each([
    'src/new.txt',
    './src/new.txt',
    'src/../src/new.txt',
    'door/new.txt',
    'lib/back/new.txt',
    'lib/../door/new.txt',
  ])('that forbids it forbids %s, whatever it is called', async (name) => {
    expect(await write(name, [everything, forbid])).toBe('deny');
    await expect(readFile(path.join(root, 'src/new.txt'))).rejects.toThrow('ENOENT');
  });

  it('also by its absolute name', async () => {
    expect(await write(path.join(root, 'src/new.txt'), [everything, forbid])).toBe('deny');
  });

  it('that allows another one asks where a link leads out of that', async () => {
    expect(await write('lib/back/new.txt', [permit])).toBe('ask');
    expect(await write('lib/new.txt', [permit])).toBe('allow');
  });

  it('leaves the others alone', async () => {
    expect(await write('docs/new.txt', [everything, forbid])).toBe('allow');
  });

  it.each(['src', './src', 'door', 'lib/back'])('does not have it searched as %s', async (name) => {
    const workspace = await openWorkspace(root);
    const toolCalls = [{ name: 'search_files', arguments: { pattern: 'old', path: name } }];
    const agent = createAgent({
      model: scriptedModel([{ toolCalls }, 'Done.']),
      tools: [...workspaceTools(workspace, { shell: false, fetch: false })],
      policy: { permissions: [forbid] },
    });
    const { messages } = await agent.run('Search');
    expect(JSON.stringify(messages)).toContain('may not be called like this');
    expect(JSON.stringify(messages)).not.toContain('x.txt:1');
  });
});
