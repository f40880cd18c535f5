import { describe, expect, it } from 'vitest';
import { protectedPaths, refuseProtected, whyProtected } from './protected-paths.ts';
import type { Workspace } from './workspace.ts';

describe('whyProtected()', () => {
  it.each([
    '.git',
    '.git/hooks/pre-commit',
    '.git/config',
    'packages/a/.git',
    '.GIT/config',
    '.Git/hooks/post-checkout',
    '.g\u200cit/config',
    '.\uff47it/config',
    '.gi\u0074\u0301/config',
    'GIT~1/config',
    '.git./config',
    '.gitmodules',
    'rerail.config.ts',
    'Rerail.Config.JSON',
    'sub/rerail.config.mjs',
    '.rerail/journal.db',
    '.github/workflows/ci.yml',
    '.GitHub/WORKFLOWS/ci.yml',
    '.github/wor\u212aflows/ci.yml',
    '.gitlab-ci.yml',
    'Jenkinsfile',
    '.husky/pre-commit',
    '.npmrc',
    'packages/a/.npmrc',
    '.bashrc',
    '.profile',
    '.zshrc',
    '.envrc',
    '.config/fish/config.fish',
    '.vscode/tasks.json',
    '.ssh/authorized_keys',
  ])('protects %s, whether it is there or not', (path) => {
    expect(whyProtected(workspaceWith([]), path)).toBeTypeOf('string');
  });

  it('knows every row of its table, in lower case', () => {
    for (const { paths, why } of protectedPaths) {
      for (const path of paths) expect(whyProtected(workspaceWith([]), path.toUpperCase())).toBe(why);
    }
  });

  it.each([
    'src/git.ts',
    '.gitignore',
    '.github/CODEOWNERS.md',
    'workflows/ci.yml',
    'profile',
    'src/.configuration/fish',
    'docs/rerail.config.md',
    'git~/x',
    '.github',
  ])('leaves %s alone', (path) => {
    expect(whyProtected(workspaceWith([]), path)).toBeUndefined();
  });

  it.each([
    { glob: 'migrations/**', path: 'migrations/001.sql' },
    { glob: 'migrations', path: 'migrations/deep/002.sql' },
    { glob: './migrations/', path: 'MIGRATIONS/deep/002.sql' },
    { glob: '*.lock', path: 'yarn.lock' },
    { glob: '**/*.lock', path: 'a/b/c.lock' },
    { glob: '**/*.lock', path: 'c.lock' },
    { glob: 'a/**/z', path: 'a/z' },
    { glob: 'a/**/z', path: 'a/b/c/z/inside' },
    { glob: '**', path: 'anything' },
    { glob: 'caf\u00e9/**', path: 'cafe\u0301/x' },
  ])('protects $path by the pattern $glob', ({ glob, path }) => {
    expect(whyProtected(workspaceWith(['other', glob]), path)).toContain('this workspace protects');
  });

  it.each([
    { glob: '*.lock', path: 'a/yarn.lock' },
    { glob: 'a/*/z', path: 'a/b/c/z' },
    { glob: 'migrations/**', path: 'migrations2/001.sql' },
    { glob: 'a/b', path: 'a' },
  ])('does not protect $path by the pattern $glob', ({ glob, path }) => {
    expect(whyProtected(workspaceWith([glob]), path)).toBeUndefined();
  });

  it('is not made slow by a pattern full of stars', () => {
    const glob = `${'**/*a*/'.repeat(200)}z`;
    const path = `${'aaaa/'.repeat(400)}y`;
    expect(whyProtected(workspaceWith([glob]), path)).toBeUndefined();
  });
});

describe('refuseProtected()', () => {
  it('says which path, why, and what can be done', () => {
    expect(() => refuseProtected(workspaceWith([]), '.git/config')).toThrow(
      'Cannot change .git/config: it is protected, because git runs and trusts what is in it',
    );
  });
});

function workspaceWith(protect: readonly string[]): Workspace {
  return {
    root: '/ws',
    options: { protect, maxFileBytes: 1000, allowHardLinks: false, sandbox: {} },
    sandbox: () => Promise.reject(new Error('not needed')),
    memory: { seen: new Map(), changes: [] },
  };
}
