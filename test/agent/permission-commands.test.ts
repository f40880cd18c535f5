import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PermissionRule } from '../../src/index.ts';
import { decidePermission } from '../../src/agent/approval/permission.ts';
import { allow, deny, everything, fate } from './command-fate.ts';

// Narrow to allow, wide to forbid, and asked where it is not understood: what an agent does with a command by its rules.

const allowed: readonly (readonly [rule: string, ...commands: readonly string[]])[] = [
  [
    'node --test',
    'node --test',
    'node --test test/x.test.js',
    'node --test --test-reporter=spec',
    'node --test --test-name-pattern=area test/area.test.js',
    'node --test test',
  ],
  [
    'npm test',
    'npm test',
    'npm test --silent',
    'npm test -s',
    'npm test -- --run',
    'npm test -- test/x.test.ts',
  ],
  ['npm run', 'npm run lint', 'npm run test:unit'],
  ['tar', 'tar tf x.tar', 'tar -tzf x.tar.gz', 'tar -czf x.tar.gz src'],
  ['git status', 'git status', 'git status --short', 'git status -sb', 'git status --porcelain=v2 src'],
  ['git diff', 'git diff', 'git diff --stat HEAD~1', 'git diff -U3 src/x.ts'],
  ['git log', 'git log --oneline -5', 'git log -n 3 --format=%h'],
  ['git', 'git status', 'git log --oneline', 'git diff --name-only'],
  ['ls', 'ls', 'ls -la src'],
  ['cat', 'cat README.md'],
  ['grep', 'grep -rn area src'],
  ['npx vitest', 'npx vitest run a.test.ts'],
  ['tsc', 'tsc --noEmit'],
  ['go test', 'go test ./... -run Area -v'],
  ['cargo test', 'cargo test --release area'],
  ['pytest', 'pytest -q tests/test_a.py -k area'],
];

const notAllowed: readonly (readonly [rule: string, ...commands: readonly string[]])[] = [
  [
    'node --test',
    'node --test --test-reporter=data:text/javascript,x',
    'node --test --test-reporter data:text/javascript,x',
    'node --test --test-reporter=./evil.mjs',
    'node --test --import=./evil.mjs',
    'node --test --import ./evil.mjs',
    'node --test -r ./evil.cjs',
    'node --test --require=./evil.cjs',
    'node --test --experimental-loader=./evil.mjs',
    'node --test --env-file=evil',
    'node --test --test-global-setup=./evil.mjs',
    'node --test --test-reporter-destination=/etc/passwd',
    'node --test evil.js',
    'node --test ../other/test/x.test.js',
    'node --test /tmp/x.test.js',
    'node --test data:text/javascript,x',
    './node --test',
    '/tmp/node --test',
    'node  --test',
    'node --test; id',
    'node --test $(id)',
    'FOO=1 node --test',
  ],
  [
    'npm test',
    'npm test -prefix=evil',
    'npm test --prefix evil',
    'npm test --prefix=evil',
    'npm test -C evil',
    'npm test --workspace=evil',
    'npm test -w evil',
    'npm test --workspaces',
    'npm test folder',
    'npm test --script-shell=./evil',
    'npm test --node-options=--import=./evil.mjs',
    'npm test --ignore-scripts=false --foo',
    'npm test -- --config evil.ts',
    'npm test -- --reporter=./evil.mjs',
    'npm test -- --globalSetup=./evil.mjs',
    './npm test',
    '/tmp/npm test',
  ],
  [
    'git status',
    './git status',
    '/tmp/git status',
    'git -c core.fsmonitor=id status',
    'git --exec-path=. status',
    'git -C other status',
    'sudo git status',
    'env git status',
    'git status && id',
    'git status | sh',
    'git status\nid',
    'git statu\\s',
  ],
  [
    'git diff',
    'git diff --ext-diff',
    'git diff --output=x',
    'git diff -O x',
    'git diff --no-index /etc/passwd x',
    'git diff --textconv',
  ],
  ['git log', 'git log --output=x', 'git log --ext-diff -p', 'git log --show-signature'],
  ['git branch', 'git branch evil', 'git branch -D main', 'git branch --edit-description'],
  [
    'git push',
    'git push --force',
    'git push -f',
    'git push --receive-pack=id origin',
    'git push --exec=id',
    'git push ext::id',
    'git push origin +main',
    'git push /tmp/other main',
  ],
  ['rg', 'rg --pre=id x', 'rg --hostname-bin=id x', 'rg -z x'],
  ['find', 'find . -exec id', 'find . -delete', 'find . -fprintf x y', 'find . -okdir id'],
  ['sort', 'sort --compress-program=id f', 'sort -o x f', 'sort --files0-from=x'],
  ['uniq', 'uniq names.txt .bashrc'],
  ['tar', 'tar xCf / x.tar', 'tar xP1f x.tar'],
  ['tar', 'tar -xf x.tar --to-command=id', 'tar -I id -xf x', 'tar --checkpoint-action=exec=id -cf x .'],
  [
    'npx vitest',
    'npx vitest --config evil.ts',
    'npx evil',
    'npx -p evil vitest',
    'npx vitest --reporter=./evil.ts',
  ],
  ['make test', 'make test SHELL=evil', 'make test -f evil', 'make test -C evil', 'make test other'],
  ['tsc', 'tsc -p evil', 'tsc --build', 'tsc @evil'],
  [
    'eslint',
    'eslint --config evil.js .',
    'eslint -f ./evil.js .',
    'eslint --plugin evil .',
    'eslint --resolve-plugins-relative-to x .',
  ],
  ['go test', 'go test -exec id', 'go test -toolexec=id', 'go test -vettool=x', 'go test -o x'],
  ['my-program', 'my-program --anything', 'my-program folder'],
];

const forbidden: readonly (readonly [rule: string, ...commands: readonly string[]])[] = [
  [
    'git push',
    'git push',
    'git push --force origin main',
    'git --no-pager push',
    '/usr/lib/git-core/git-push',
    'git -c x=y push',
    'git -C dir push',
    'git --git-dir=x push',
    'git --git-dir x push',
    '/usr/bin/git push',
    './git push',
    'GIT push',
    'git.exe push',
    'command git push',
    'command -p git push',
    'env git push',
    'env -i PATH=/bin git push',
    'A=1 git push',
    'exec git push',
    'xargs git push',
    'sudo git push',
    'sudo -u root git push',
    'nohup git push',
    'time git push',
    'timeout 5 git push',
    'nice -n 5 git push',
    'busybox sh -c "git push"',
    'sh -c "git push"',
    "bash -lc 'git push'",
    'eval git push',
    '(git push)',
    '{ git push; }',
    '$(git push)',
    '`git push`',
    'true && git push',
    'true; git push',
    'true | git push',
    'git status\ngit push',
    'g\\it push',
    "'git' push",
    'git "push"',
    'gi\'t\' pu"sh"',
    'git \\\n push',
    'gi\\\nt push',
    'git\tpush',
    'git  push',
    'git -c alias.p=push p',
    'git${IFS}push',
    '{git,push}',
    'git push&',
    'git push>/dev/null',
    'if true; then git push; fi',
  ],
  ['rm -rf', 'rm -rf x', 'rm -fr x', 'rm -r -f x', 'rm x -rf', '/bin/rm -rf x', 'sudo rm -rf x', 'rm -rfv x'],
  [
    'npm publish',
    'npm publish',
    'npm --silent publish',
    'npm publish --dry-run',
    'npm -w x publish',
    'npm "publish"',
  ],
  ['curl', 'curl https://x', '/usr/bin/curl x', 'echo $(curl x)', 'x=1 curl y', 'wget -q x || curl x'],
];

const notUnderstood: readonly (readonly [rule: string, ...commands: readonly string[]])[] = [
  [
    'git push',
    'echo git push',
    'git log push',
    "git commit -m 'push it'",
    'printf "%s" x | base64 -d | sh',
    '$CMD',
    'npm test && npm run lint',
    'git pu*',
    "$'\\x67it' push",
    '\uFF47it push',
  ],
  ['rm -rf', 'rm --recursive --force x'],
];

const still: readonly (readonly [rule: string, ...commands: readonly string[]])[] = [
  ['git push', 'git pull', 'git status', 'npm test', 'ls -la', 'node --test', 'echo hello', 'cat push.md'],
  ['rm -rf', 'rm x', 'ls -rf'],
];

const flat = (cases: typeof allowed) =>
  cases.flatMap(([rule, ...commands]) => commands.map((command) => ({ rule, command })));

describe('a rule that allows', () => {
  it.each(flat(allowed))('"$rule" runs: $command', async ({ rule, command }) => {
    expect(await fate(command, [allow(rule)])).toBe('allow');
  });

  it.each(flat(notAllowed))('"$rule" asks about: $command', async ({ rule, command }) => {
    expect(await fate(command, [allow(rule)])).toBe('ask');
  });
});

describe('a rule that forbids', () => {
  it.each(flat(forbidden))('"$rule" forbids: $command', async ({ rule, command }) => {
    expect(await fate(command, [everything, deny(rule)])).toBe('deny');
  });

  it.each(flat(notUnderstood))(
    '"$rule" asks about what it does not understand: $command',
    async ({ rule, command }) => {
      const became = await fate(command, [everything, deny(rule)]);
      expect(became).toBe('ask');
    },
  );

  it.each(flat(still))('"$rule" leaves alone: $command', async ({ rule, command }) => {
    expect(await fate(command, [everything, deny(rule)])).toBe('allow');
  });

  it('sees the command in every way of writing it that keeps its words', () => {
    const wrap = fc.constantFrom(
      (text: string) => text,
      (text: string) => `sudo ${text}`,
      (text: string) => `env A=1 ${text}`,
      (text: string) => `sh -c '${text}'`,
      (text: string) => `(${text})`,
      (text: string) => `true; ${text}`,
      (text: string) => `${text} | cat`,
      (text: string) => `command ${text} &`,
      (text: string) => `nohup /usr/bin/${text} --verbose`,
    );
    const quote = fc.constantFrom(
      (word: string) => word,
      (word: string) => `'${word}'`,
      (word: string) => `"${word}"`,
      (word: string) => `${word.slice(0, 1)}\\${word.slice(1)}`,
      (word: string) => `${word.slice(0, 2)}''${word.slice(2)}`,
    );
    const between = fc.constantFrom(' ', '  ', '\t', ' \\\n ', ' --no-pager ', ' -c a=b ', ' -C dir ');
    const subject = { name: 'shell', effect: 'once', permission: 'allow' } as const;
    fc.assert(
      fc.property(fc.tuple(wrap, quote, quote, between), ([around, first, second, gap]) => {
        const command = around(`${first('git')}${gap}${second('push')}`);
        expect(decidePermission(subject, { command }, [everything, deny('git push')]).permission).not.toBe(
          'allow',
        );
      }),
      { numRuns: 3000, seed: 11 },
    );
  });
});

describe('a rule about paths', () => {
  const rule = (permission: 'allow' | 'deny'): PermissionRule => ({
    input: { path: { matches: 'src/*' } },
    permission,
  });
  const subject = { name: 'write_file', effect: 'once', permission: 'ask' } as const;
  const judge = (path: string, permission: 'allow' | 'deny') =>
    decidePermission(subject, { path }, [rule(permission)]).permission;

  it.each([
    'src/x',
    './src/x',
    './/src/x',
    'src//x',
    'src/./x',
    '/srv/project/src/x',
    'src/../src/x',
    'other/../src/x',
    'src\\x',
    '~/project/src/x',
    'file:///srv/src/x',
    'src',
    './src/',
    '/srv/project/src',
    'SRC/x',
  ])('that forbids src/* forbids %s', (path) => {
    expect(judge(path, 'deny')).toBe('deny');
  });

  it.each(['/srv/project/src/x', 'src/../../x', 'other/../src/x', '../src/x', 'lib/x', 'xsrc/y'])(
    'that allows src/* asks about %s',
    (path) => {
      expect(judge(path, 'allow')).toBe('ask');
    },
  );

  it('that forbids a name forbids it in another form of Unicode', () => {
    const rules = [{ input: { path: { matches: 'caf\u00e9' } }, permission: 'deny' }] as const;
    expect(decidePermission(subject, { path: 'cafe\u0301' }, rules).permission).toBe('deny');
  });

  it('leaves other places alone', () => {
    expect(judge('src/x', 'allow')).toBe('allow');
    expect(judge('lib/x', 'deny')).toBe('ask');
    expect(judge('docs/src.md', 'deny')).toBe('ask');
  });
});
