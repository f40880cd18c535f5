import { describe, expect, it } from 'vitest';
import { allow, deny, everything, fate } from './command-fate.ts';

// Spellings that were thought up against the rules: what an allow must not reach, what a deny must not miss, and what stays usable.

type Cases = readonly (readonly [rule: string, ...commands: readonly string[]])[];

const notAllowed: Cases = [
  [
    'npm run test',
    'npm run test folder',
    'npm run test evil.js',
    'npm run test -- folder',
    'npm run test --silent folder',
  ],
  ['npm run lint', 'npm run lint evil.js', 'npm run lint -- evil.js'],
  ['npm run', 'npm run lint evil.js', 'npm run -- lint evil'],
  ['npm test', "npm test '--silent if-present'", 'npm test --silent=/tmp/x'],
  ['git push', 'git push x/../../../tmp/evil main', 'git push evil/repo main', 'git push --tags=/x'],
  ['git', 'git push x/../../y', 'git -p log', 'git -u status', 'git a=b status', 'git -n log'],
  ['git log', 'git log --format=%GG', 'git log --since=../x'],
  [
    'pytest',
    'pytest @evil',
    'pytest -q @evil',
    'pytest -k area @evil',
    'pytest evil.py',
    'pytest folder',
    'pytest -qx evil.py',
    'pytest test/../evil.py',
    'pytest @a.test',
  ],
  ['deno test', 'deno test evil.ts', 'deno test folder/evil.ts', 'deno test ../x'],
  ['go test', 'go test ..', 'go test ./..', 'go test a/..', 'go test ./../...'],
  ['go vet', 'go vet ..'],
  ['go build', 'go build ./..'],
  [
    'sed',
    "sed 's/a=b/id/e' p",
    "sed '1e id #=' p",
    "sed 'w /tmp/x=' p",
    "sed 's=a=b=w /tmp/x' p",
    "sed -n 'e id;#=' 1p",
  ],
  [
    'tar',
    'tar cf /tmp/x src',
    'tar cf ../x src',
    'tar --create --file=/tmp/x src',
    'tar --create --file=../x src',
    'tar x=Cf / a.tar',
  ],
  ['eslint', 'eslint --cache=/tmp/x .', 'eslint --cache=../x .'],
  ['vitest', 'vitest init browser', 'vitest --coverage=/x'],
  ['npx vitest', 'npx vitest init browser'],
  ['man', 'man ./x', 'man /tmp/x.1'],
];

const stillAllowed: Cases = [
  ['npm run', 'npm run lint', 'npm run test:unit -- --silent', 'npm run test test/x.test.ts'],
  ['npm run lint', 'npm run lint', 'npm run lint --silent'],
  ['git push', 'git push origin main', 'git push -u origin feature/x', 'git push --dry-run'],
  ['git --no-pager log', 'git --no-pager log --oneline'],
  ['pytest', 'pytest test_a.py', 'pytest unit/a_test.py', 'pytest tests/unit -k area'],
  ['deno test', 'deno test src', 'deno test src/x_test.ts', 'deno test --filter area'],
  ['go test', 'go test ./...', 'go test ./pkg/... -run Area'],
  ['sed', "sed 's/a=b/c/' p", 'sed -n 1p README.md'],
  ['vitest', 'vitest run src', "vitest -t 'adds (x)'"],
];

const notMissed: Cases = [
  [
    'rm',
    "env -S'rm x'",
    'env -Srm x',
    "env -S 'r\\_m'",
    "bash -c '$(printf r)m x'",
    "bash -c 'r${y}m x'",
    "sh -c '/bin/r? x'",
    "sh -c '/bin/[r]m x'",
    "bash -c '{r,}m x'",
    "eval 'r${y}m x'",
    'sh -c \'eval "$(echo cm0geA==|base64 -d)"\'',
    'node -e \'require("child_process").execSync("r"+"m x")\'',
    'node --import=data:text/javascript,import%28%27x%27%29',
    'python3 -c \'import os; os.system("r"+"m x")\'',
    "perl -e 'exec chr 114 . chr 109'",
    'awk \'BEGIN{system("r" "m x")}\'',
    "ruby -e 'exec 114.chr+109.chr'",
    "php -r 'system(chr(114).chr(109));'",
    "deno eval 'x'",
    "ssh host 'r*'",
    "git -c alias.p='!r${x}m y' p",
    "git submodule foreach 'r${x}m y'",
    "git rebase -x 'r${z}m y' HEAD~1",
    "tar -cf x --checkpoint-action='exec=r${x}m y' .",
    "rsync -e 'r${x}m' a b:c",
    "watch 'r?? x'",
    'su -c"rm x"',
    'script -qc"rm x" /dev/null',
    "find . -name x -exec sh -c 'r${0}m x' ';'",
    "make --eval='x:;r$(y)m z' x",
  ],
  [
    'git push',
    'git -c include.path=x p',
    'git --config-env=alias.p=X p',
    'git -C dir -c alias.x=!y x',
    'git send-pack x',
    'git http-push x',
    "env -S'git push'",
    "env -S'git\\_push'",
    'env "-Sgit push"',
    'xargs -a f git',
    'git p',
    'git pus',
  ],
  ['curl', 'npx curl@1 x', "sh -c 'cu${x}rl y'"],
  ['curl -X POST', 'curl -XPOST x', 'curl -sXPOST x', 'curl -X post x'],
  [
    'npm publish',
    'npm publ',
    'npm pub',
    'npx npm@10 publish',
    'npx -y npm@latest publish',
    'pnpm dlx npm@9 publish',
    'corepack npm@10 publish',
    'npm PUBLISH',
  ],
  ['npm install', 'npm i x', 'npm ins x', 'npm add x', 'npm isntall x'],
  ['npm run deploy', 'npm run-script deploy', 'npm rum deploy', 'npm urn deploy'],
  ['npm exec', 'npm x y'],
  ['rm -rf', 'rm -Rf x', 'rm -fR x', 'rm -R -f x'],
  ['rm -rf /', 'rm -rf //', 'rm -rf /.', 'rm -rf /../'],
  ['cat .env', 'cat ./.env', 'cat .//.env', 'cat x/../.env', 'cat /srv/p/.env', 'cat .ENV'],
  ['git push --force', 'git push --force-with-lease', 'git push origin +main'],
  ['python', 'python3 x', 'python3.11 x', '/usr/bin/python3 x', 'env python3 x'],
  ['pip install', 'pip3 install x', 'python3 -mpip install x'],
];

const leftAlone: Cases = [
  [
    'git push',
    'git pull',
    'git switch -c feature/x',
    "git log --format='%h %s'",
    "git commit -m 'fix (a) $5'",
    "grep -rn 'a$' src",
    "rg 'x\\(' src",
    "find . -name '*.ts'",
    "sed -n 's/a$/b/p' f",
    'npx vitest run',
    'python script.py',
    'node x.js',
    'bash script.sh',
    'go test ./...',
  ],
  ['rm', 'cat farm', 'find . -perm 644', 'npm run format', 'node --test'],
  ['npm publish', 'npm run build', 'npm ci', 'npm pack'],
];

const flat = (cases: Cases) =>
  cases.flatMap(([rule, ...commands]) => commands.map((command) => ({ rule, command })));

describe('a rule that allows', () => {
  it.each(flat(notAllowed))('"$rule" asks about: $command', async ({ rule, command }) => {
    expect(await fate(command, [allow(rule)])).toBe('ask');
  });

  it.each(flat(stillAllowed))('"$rule" runs: $command', async ({ rule, command }) => {
    expect(await fate(command, [allow(rule)])).toBe('allow');
  });

  it('asks where the call names another folder or variables, unless the rule does', async () => {
    expect(await fate('npm test', [allow('npm test')], { folder: 'evil' })).toBe('ask');
    expect(await fate('npm test', [allow('npm test')], { cwd: '/evil' })).toBe('ask');
    expect(await fate('npm test', [allow('npm test')], { env: { NODE_OPTIONS: '-r ./evil' } })).toBe('ask');
    expect(await fate('npm test', [allow('npm test')], { folder: '.', timeoutMs: 5 })).toBe('allow');
    const input = { command: { runs: ['npm test'] }, folder: { matches: 'packages/*' } };
    const named = [{ tool: 'shell', input, permission: 'allow' }] as const;
    expect(await fate('npm test', named, { folder: 'packages/a' })).toBe('allow');
    expect(await fate('npm test', named, { folder: 'evil' })).toBe('ask');
  });
});

describe('a rule that forbids', () => {
  it.each(flat(notMissed))('"$rule" does not let through: $command', async ({ rule, command }) => {
    expect(await fate(command, [everything, deny(rule)])).not.toBe('allow');
  });

  it.each(flat(leftAlone))('"$rule" leaves alone: $command', async ({ rule, command }) => {
    expect(await fate(command, [everything, deny(rule)])).toBe('allow');
  });

  it('holds in another folder too', async () => {
    expect(await fate('git push', [everything, deny('git push')], { folder: 'sub' })).toBe('deny');
  });

  it('judges the longest command in no time', async () => {
    const from = performance.now();
    expect(await fate('git '.repeat(24_999), [everything, deny('git push')])).toBe('ask');
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});
