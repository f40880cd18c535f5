import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { workspaceTools } from '../../src/tools/workspace/workspace-tools.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

let place: TemporaryWorkspace;
afterEach(() => place.remove());

interface Scene {
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** What an agent that may do everything is answered when it writes one file. */
async function write({ files = {}, links = {} }: Scene, name: string): Promise<string> {
  place = await temporaryWorkspace(files);
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(path.dirname(place.at(link)), { recursive: true });
    symlinkSync(target, place.at(link));
  }
  const model = scriptedModel([
    { toolCalls: [{ name: 'write_file', arguments: { path: name, content: 'evil' } }] },
    'Done.',
  ]);
  const agent = createAgent({
    model,
    tools: workspaceTools(place.workspace, { shell: false, fetch: false }),
    policy: { permissions: [{ tool: 'write_file', permission: 'allow' }] },
  });
  await agent.run('Go');
  return JSON.stringify(model.calls.at(-1)?.request.messages.at(-1));
}

const worktree = {
  'tree/.git': 'gitdir: ../store/worktrees/tree\n',
  'store/worktrees/tree/commondir': '../..\n',
  'store/config': '[core]\n',
};
const configured = {
  '.git/config':
    '[core]\n\thooksPath = "team hooks"\n[diff "x"]\n textconv = ./tools/show.sh --flag\n[alias]\n\tst = !sh tools/status.sh\n[include]\n\tpath = ../shared/gitconfig # for all\n',
  'tools/show.sh': '',
  'tools/status.sh': '',
};

describe('write_file refuses what is protected by a detour', () => {
  it.each<Scene & { what: string; name: string }>([
    { what: 'the folder that a file .git names', files: worktree, name: 'store/worktrees/tree/HEAD' },
    { what: 'the repository of a worktree', files: worktree, name: 'store/hooks/pre-commit' },
    {
      what: 'a folder that .git names and is not there',
      files: { '.git': 'gitdir: ./later' },
      name: 'later/config',
    },
    { what: 'hooks that the configuration names', files: configured, name: 'team hooks/pre-commit' },
    { what: 'a program that it names', files: configured, name: 'tools/show.sh' },
    { what: 'a program of an alias', files: configured, name: 'tools/status.sh' },
    { what: 'a file that it includes', files: configured, name: 'shared/gitconfig' },
    {
      what: 'what a protected link leads to',
      files: { team: '' },
      links: { '.npmrc': 'team' },
      name: 'team',
    },
    {
      what: 'what a protected link in a package leads to',
      files: { 'team/rc': '' },
      links: { 'packages/a/.npmrc': '../../team/rc' },
      name: 'team/rc',
    },
    {
      what: 'what a chain of links leads to',
      files: { real: '' },
      links: { '.envrc': 'one', one: 'two', two: 'real' },
      name: 'real',
    },
    { what: 'what a dangling link leads to', links: { '.envrc': 'later/envrc' }, name: 'later/envrc' },
    {
      what: 'a protected folder through a link',
      files: { 'gh/x': '' },
      links: { '.github': 'gh' },
      name: 'gh/workflows/ci.yml',
    },
    {
      what: 'the configuration of git through a link',
      files: { 'g/x': '' },
      links: { '.git': 'g' },
      name: 'g/config',
    },
    {
      what: 'the last file of a repository without .git',
      files: { 'docs/objects/x': '', 'docs/refs/x': '' },
      name: 'docs/HEAD',
    },
    {
      what: 'such a repository, its folders last',
      files: { 'd/HEAD': '', 'd/refs/x': '' },
      name: 'd/objects/x',
    },
    {
      what: 'the configuration of such a repository',
      files: { 'd/HEAD': '', 'd/refs/x': '', 'd/objects/x': '' },
      name: 'd/config',
    },
  ])('$what', async ({ name, ...scene }) => {
    expect(await write(scene, name)).toContain('it is protected, because');
    expect(
      readdirSync(place.workspace.root, { recursive: true }).filter((found) => isEvil(String(found))),
    ).toEqual([]);
  });

  it.each<Scene & { what: string; name: string }>([
    { what: 'beside what git names', files: configured, name: 'tools/other.sh' },
    { what: 'beside a worktree', files: worktree, name: 'tree/file' },
    {
      what: 'of a name that only begins like one',
      files: { team: '' },
      links: { '.npmrc': 'team' },
      name: 'team2',
    },
    { what: 'called HEAD in an ordinary folder', name: 'docs/HEAD' },
    { what: 'below a folder that a link to elsewhere protects', links: { '.ssh': '/etc' }, name: 'etc/file' },
    { what: 'that a person runs on purpose', name: 'Makefile' },
  ])('and leaves a file alone $what', async ({ name, ...scene }) => {
    expect(await write(scene, name)).toContain('Created');
  });
});

function isEvil(name: string): boolean {
  try {
    return readFileSync(place.at(name), 'utf8') === 'evil';
  } catch {
    return false; // A folder, or a link to nothing.
  }
}
