import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { createContained } from '../../src/tools/sandbox/contained.ts';
import { createSandbox } from '../../src/tools/sandbox/create-sandbox.ts';
import { probeSandbox } from '../../src/tools/sandbox/probe-sandbox.ts';
import { whoRuns } from '../../src/tools/sandbox/run-as.ts';
import type { CommandResult, Sandbox, SandboxedCommand } from '../../src/tools/sandbox/sandbox.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import { findBwrap } from './find-bwrap.ts';

// That it can be had at all is asked for in escape.test.ts.
const bwrap = findBwrap();
const bwrapPath = bwrap ?? '';

describe.runIf(bwrap !== undefined)('contained', () => {
  let root: string;
  let sandbox: Sandbox;

  beforeEach(async () => {
    const workspace = await openWorkspace(mkdtempSync(path.join(os.tmpdir(), 'rerail-contained-')), {
      sandbox: { min: 'contained' },
    });
    ({ root } = workspace);
    sandbox = await probeSandbox(workspace, { bwrapPath });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (command: string, more: Partial<SandboxedCommand> = {}): Promise<CommandResult> =>
    sandbox.run({ command, timeoutMs: 30_000, signal: new AbortController().signal, ...more });

  /** Four processes that each write a file of their own, over and over. */
  const tree = [
    `beat() { i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i > beat-$1; sleep 0.05; done; }`,
    `trap '' TERM HUP`,
    'beat background &',
    `setsid sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i > beat-session; sleep 0.05; done' &`,
    `(setsid sh -c '(i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i > beat-daemon; sleep 0.05; done) >/dev/null 2>&1 &' &)`,
  ].join('\n');

  const beats = (): readonly string[] =>
    readdirSync(root)
      .filter((name) => name.startsWith('beat-'))
      .map((name) => name + readFileSync(path.join(root, name), 'utf8'));

  it.each([
    { what: 'timeout', rest: 'beat deaf', count: 4, timeoutMs: 700, end: { ended: 'timeout' } },
    { what: 'its own end', rest: 'sleep 0.5; exit 3', count: 3, timeoutMs: 30_000, end: { exitCode: 3 } },
  ])('of a tree of processes none outlives $what', async ({ rest, count, timeoutMs, end }) => {
    const result = await run(`${tree}\n${rest}`, { timeoutMs });
    expect(result).toMatchObject({ ...end, survivorsPossible: false, level: 'contained' });
    const before = beats();
    expect(before).toHaveLength(count);
    await sleep(300);
    expect(beats()).toEqual(before);
  });

  it('a command that listens is asked before it is ended', async () => {
    const polite = `trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.05; done`;
    const result = await run(polite, { timeoutMs: 700 });
    expect(result).toMatchObject({ ended: 'timeout', exitCode: 7 });
    expect(result.stdout.text).toBe('begun\nbye\n');
  });

  it('the environment of nobody but the command is there, and no secret in it', async () => {
    process.env['RERAIL_TEST_SECRET'] = 'canary-of-the-parent';
    const { stdout } = await run(`cat /proc/[0-9]*/environ | tr '\\0' '\\n'`);
    delete process.env['RERAIL_TEST_SECRET'];
    const names = new Set(stdout.text.split('\n').map((line) => line.split('=')[0]));
    expect(names).toContain('PATH');
    expect(
      [...names].filter(
        (name) => !/^(PATH|HOME|TMPDIR|LANG|TERM|NO_COLOR|PAGER|PWD|OLDPWD|GIT_\w+|)$/.test(name ?? ''),
      ),
    ).toEqual([]);
    expect(stdout.text).not.toContain('canary-of-the-parent');
  });

  it('memory cannot be filled through files: what is not the workspace is bounded or read-only', async () => {
    const { stdout } = await run(
      'for f in / /dev /etc /usr /proc/sys; do (: > $f/x) 2>/dev/null && echo "wrote $f"; done; df -k /tmp /dev/shm | tail -n 2 | awk \'{print $2}\'',
    );
    expect(stdout.text).toBe(`${512 * 1024}\n${64 * 1024}\n`);
  });

  it('what a command makes in a protected place is moved aside and named, and nothing else is touched', async () => {
    const { stderr } = await run(`echo mine > kept; mkdir "it's"; echo evil > "it's/.envrc"; echo said >&2`);
    const [folder = ''] = readdirSync(root).filter((name) => name.startsWith('set-aside-'));
    expect(stderr.text).toBe(
      `said\n[rerail] Protected and not there before, so moved to ${folder}/ when the command had ended: it's/.envrc\n`,
    );
    expect(readdirSync(root).toSorted()).toEqual(["it's", 'kept', folder].toSorted());
    expect(readdirSync(path.join(root, "it's"))).toEqual([]);
    expect(readFileSync(path.join(root, folder, '0-.envrc.set-aside'), 'utf8')).toBe('evil\n');
  });

  it.each([
    {
      what: 'whose modes say that nobody may move it',
      made: 'mkdir -p a/.git/hooks; chmod 000 a/.git; chmod 000 a',
    },
    {
      what: 'with the longest name that there is',
      made: `mkdir a; : > "a/.npmrc$(printf '%0248d' 0 | tr 0 .)"`,
    },
  ])('something protected $what is set aside all the same', async ({ made }) => {
    const { stderr } = await run(made);
    expect(stderr.text).toMatch(/^\[rerail\] Protected and not there before, so moved to .*: a\/\.\S+\n$/);
    expect(readdirSync(path.join(root, 'a'))).toEqual([]);
  });

  it('as many protected places as can be made are all set aside, so that they hide no other from the next command', async () => {
    mkdirSync(path.join(root, '.git/hooks'), { recursive: true });
    const decoys = `n=.bashrc; for i in $(seq 60); do n="$n "; m="$n"; for j in $(seq 10); do m="$m."; : > "$m"; done; done`;
    await run(decoys);
    const { stderr } = await run('echo evil > .git/hooks/pre-commit');
    expect(stderr.text).toContain('Read-only file system');
    expect(readdirSync(root).filter((name) => name.startsWith('.bashrc'))).toEqual([]);
    expect(readdirSync(path.join(root, '.git/hooks'))).toEqual([]);
  });

  it('where not everything protected can be held, no command runs', async () => {
    for (let number = 0; number < 501; number += 1)
      mkdirSync(path.join(root, String(number), '.git'), { recursive: true });
    await expect(run('echo evil > ran')).rejects.toThrow(
      /^The command could not be started: .* more than 200000 names or 500 protected places/,
    );
    expect(existsSync(path.join(root, 'ran'))).toBe(false);
    const again = await probeSandbox(await openWorkspace(root), { bwrapPath });
    expect(again.reasons).toEqual([expect.stringMatching(/^contained: .*500 protected places/)]);
  });

  it('what is hidden behind more names than are held is found and set aside all the same', async () => {
    // In memory where there is some: so many files take minutes on a busy disk.
    const memory = existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
    const workspace = await openWorkspace(mkdtempSync(path.join(memory, 'rerail-flood-')));
    try {
      const flooded = await probeSandbox(workspace, { bwrapPath });
      const flood = `mkdir -p flood deep/er && perl -e 'for (0..200000) { open(F, ">", "flood/$_") }'`;
      const command = { timeoutMs: 120_000, signal: new AbortController().signal };
      const { stderr } = await flooded.run({ ...command, command: `${flood}; echo evil > deep/er/.envrc` });
      expect(stderr.text).toMatch(/Protected and not there before, so moved to .*: deep\/er\/\.envrc\n/);
      expect(readdirSync(path.join(workspace.root, 'deep/er'))).toEqual([]);
      const again = flooded.run({ ...command, command: 'echo evil > ran' });
      await expect(again).rejects.toThrow(/more than 200000 names/);
    } finally {
      rmSync(workspace.root, { recursive: true, force: true });
    }
  }, 240_000);

  it('names that are too long for one command are set aside all the same', async () => {
    const long = `L=$(printf 'a%.0s' $(seq 200)); for i in $(seq 80); do d=$L$i/$L/$L/$L; mkdir -p $d; : > $d/.npmrc; done`;
    const { stderr } = await run(`${long}; mkdir .git`);
    expect(stderr.text).toMatch(
      /^\[rerail\] Protected and not there before, so moved to .*: \.git, .* and 61 more\n$/,
    );
    expect(existsSync(path.join(root, '.git'))).toBe(false);
  });

  it('git runs nothing that a hostile repository names', async () => {
    plantRepository(root);
    const commands = [
      'git status',
      'git diff',
      'git log -p',
      'git -P show',
      'git stash list',
      'git branch -a',
    ];
    const { stdout, stderr, exitCode } = await run(commands.join(' && '));
    expect({ exitCode, stderr: stderr.text }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.text).toContain('modified:   file');
    expect(stdout.text).toContain('+changed');
    expect(existsSync(path.join(root, 'ran'))).toBe(false);
  });

  it('the plain git would have run it', () => {
    plantRepository(root);
    execFileSync('git', ['status'], {
      cwd: root,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '', HOME: root },
    });
    expect(readFileSync(path.join(root, 'ran'), 'utf8')).toContain('fsmonitor');
  });

  it('an older bubblewrap that cannot forbid namespaces is helped by the filter', async () => {
    const workspace = await openWorkspace(root);
    const bubblewrap = { path: bwrapPath, canDisableNamespaces: false };
    const launcher = createContained(workspace, {
      bubblewrap,
      runAs: await whoRuns(root),
      clock: systemClock,
    });
    if (typeof launcher === 'string') throw new Error(launcher);
    const older = createSandbox(launcher, { root, clock: systemClock, reasons: [] });
    const { stdout } = await older.run({
      command: 'unshare -U true || echo refused; unshare -Ur true || echo refused; sh -c "echo works"',
      timeoutMs: 30_000,
      signal: new AbortController().signal,
    });
    expect(stdout.text).toBe('refused\nrefused\nworks\n');
  });

  it('everyday work goes on: programs, pipes, temporary files, threads, links and modes', async () => {
    const work = [
      'set -e',
      'mkdir -p src && echo text > src/a && ln -s a src/b && cp -a src copy && chmod +x src/a && mv copy moved',
      't=$(mktemp) && echo tmp > $t && cat $t src/b moved/b | sort | uniq -c | wc -l',
      `node -e 'new (require("worker_threads").Worker)("require(\\"fs\\").writeFileSync(\\"thread\\", \\"1\\")", {eval: true})'`,
      `node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => require("net").connect(s.address().port).on("connect", () => { console.log("loopback"); process.exit() }))'`,
      'cat thread',
    ];
    const { stdout, stderr, exitCode } = await run(work.join('\n'));
    expect({ exitCode, stderr: stderr.text, stdout: stdout.text }).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: '2\nloopback\n1',
    });
    expect(statSync(path.join(root, 'src/a')).uid).toBe(statSync(root).uid);
  });
});

/** A repository whose settings name a program for everything that git would start by itself. */
function plantRepository(root: string): void {
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', words, {
      cwd: root,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '', HOME: root },
    });
  const spy = path.join(root, 'spy.sh');
  writeFileSync(spy, `#!/bin/sh\necho "$@" fsmonitor >> ${root}/ran\n`);
  chmodSync(spy, 0o755);
  git('init', '-q', '-b', 'main');
  writeFileSync(path.join(root, 'file'), 'text\n');
  git('add', 'file');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'one');
  writeFileSync(path.join(root, 'file'), 'changed\n');
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'core.sshCommand',
    'core.editor',
    'diff.external',
    'core.askPass',
  ]) {
    git('config', key, spy);
  }
  mkdirSync(path.join(root, 'hooks'));
  git('config', 'core.hooksPath', path.join(root, 'hooks'));
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'post-checkout', 'reference-transaction']) {
    writeFileSync(path.join(root, 'hooks', hook), readFileSync(spy), { mode: 0o755 });
  }
  rmSync(path.join(root, 'ran'), { force: true });
}
