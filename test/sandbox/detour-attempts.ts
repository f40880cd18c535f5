// Table: ways to what is protected in the workspace that pass its own name by. Part of `attempts.ts`.
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Attempt, Scene } from './attempt.ts';

/** Puts the beginnings of the detours into a workspace. */
export function layDetours(root: string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  for (const [name, target] of Object.entries(secondNames))
    linkSync(path.join(root, target), path.join(root, name));
}

/** Tools whose folders are missing: each would be obeyed by the next program that opens the folder. */
const missingTools = [
  '.claude/settings.json',
  '.cursor/mcp.json',
  '.devcontainer.json',
  '.devcontainer/devcontainer.json',
  'AGENTS.md',
  'claude.md',
  'packages/a/Agents.MD',
  '.cargo/config.toml',
  '.gemini/settings.json',
  '.codex/config.toml',
  '.windsurf/rules/x.md',
  '.aider.conf.yml',
  '.mcp.json',
  '.pnp.cjs',
  '.yarn/releases/yarn.cjs',
  '.husky/pre-commit',
  'lefthook.yaml',
  '.gdbinit',
  'node_modules/rerail/dist/index.js',
  'node_modules/.bin/node',
] as const;

const files = {
  '.git/config':
    '[core]\n\thooksPath = my-hooks\n\tfsmonitor = tools/watch.sh\n[include]\n\tpath = ../team.gitconfig\n',
  '.git/hooks/post-commit': 'good\n',
  'tools/watch.sh': 'good\n',
  'my-hooks/README': 'good\n',
  'team.gitconfig': 'good\n',
  'tree/.git': 'gitdir: ../store/worktrees/tree\n',
  'store/worktrees/tree/commondir': '../..\n',
  'store/config': 'good\n',
  'store/hooks/README': 'good\n',
  'gh/workflows/ci.yml': 'good\n',
  'sub/README': 'good\n',
  'team/curlrc': 'good\n',
};
const links = { 'sub/.github': '../gh', '.curlrc': 'hop', hop: 'team/curlrc', '.envrc': 'later-envrc' };
/** Other names of files that are protected under their first. */
const secondNames = { 'second-config': '.git/config', 'sub/second-hook': '.git/hooks/post-commit' };

const isEvil =
  (...names: readonly string[]) =>
  ({ root }: Scene): boolean =>
    names.some((name) => {
      const file = path.join(root, name);
      return existsSync(file) && statSync(file).isFile() && readFileSync(file, 'utf8').includes('evil');
    });

const write = (...names: readonly string[]): string =>
  names.map((name) => `mkdir -p "$(dirname ${name})"; echo evil > ${name}`).join('; ');

const detour = (name: string, ...places: readonly string[]): Attempt => ({
  name,
  script: () => write(...places),
  isOut: isEvil(...places),
});

export const detourAttempts: readonly Attempt[] = [
  detour(
    'write the folder of hooks that the configuration of git names',
    'my-hooks/pre-commit',
    'my-hooks/README',
  ),
  detour('write a program that the configuration of git names', 'tools/watch.sh'),
  detour('write a file that the configuration of git includes', 'team.gitconfig'),
  detour('write the repository that a file .git names', 'store/worktrees/tree/config.worktree'),
  detour('write the repository that a worktree shares', 'store/config', 'store/hooks/post-checkout'),
  detour('write what a protected link leads to', 'npmrc-of-the-team'),
  detour(
    'write what a protected name in a linked folder leads to',
    'gh/workflows/ci.yml',
    'gh/workflows/new.yml',
  ),
  detour('make what a protected link leads to and was not there', 'later-envrc'),
  {
    name: 'turn a link between a protected name and its file elsewhere',
    script: () => 'echo evil > own-curlrc && ln -sfn own-curlrc hop',
    isOut: isEvil('.curlrc'),
  },
  {
    name: 'write a protected file through a second name that it had before',
    script: () => 'echo evil >> second-config; echo evil >> sub/second-hook',
    isOut: isEvil('.git/config', '.git/hooks/post-commit'),
  },
  {
    name: 'make a repository without .git',
    script: () =>
      'mkdir -p docs/objects docs/refs && echo "ref: refs/heads/main" > docs/HEAD && echo evil > docs/config',
    isOut: isEvil('docs/config'),
  },
  ...missingTools.map((name) => detour(`make ${name}`, name)),
];
