import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probeSandbox } from '../../src/tools/sandbox/probe-sandbox.ts';
import type { CommandResult, Sandbox } from '../../src/tools/sandbox/sandbox.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';

const landlock = Number(spawnSync('perl', ['-e', 'print syscall(444, 0, 0, 1)']).stdout?.toString() ?? 0);

describe.runIf(process.platform === 'linux' && landlock >= 4)('restricted', () => {
  let root: string;
  let sandbox: Sandbox;

  beforeEach(async () => {
    const workspace = await openWorkspace(mkdtempSync(path.join(os.tmpdir(), 'rerail-restricted-')));
    ({ root } = workspace);
    sandbox = await probeSandbox(workspace, { atMost: 'restricted' });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (command: string): Promise<CommandResult> =>
    sandbox.run({ command, timeoutMs: 30_000, signal: new AbortController().signal });

  it('says why there is nothing stronger only where something stronger was tried', () => {
    expect(sandbox).toMatchObject({ level: 'restricted', reasons: [] });
  });

  it('the folder for temporary files goes with the command, whatever lies in it', async () => {
    const { stdout, stderr } = await run(
      'echo $TMPDIR; mkdir -p $TMPDIR/a/b && touch $TMPDIR/a/b/c $TMPDIR/.hidden && ln -s / $TMPDIR/root && chmod 000 $TMPDIR/a/b $TMPDIR/a',
    );
    expect(stderr.text).toBe('');
    const folder = stdout.text.trim();
    expect(path.basename(folder)).toMatch(/^rerail-command-/);
    expect(readdirSync(path.dirname(folder))).not.toContain(path.basename(folder));
  });

  it('the folder goes too where it holds more names than fit on a line', async () => {
    const { stdout, stderr } = await run(
      `echo $TMPDIR; L=$(printf 'a%.0s' $(seq 230)); for i in $(seq 9000); do : > $TMPDIR/$L$i; done`,
    );
    expect(stderr.text).toBe('');
    expect(existsSync(stdout.text.trim())).toBe(false);
  });

  it('everyday work goes on: programs, pipes, temporary files, threads, links and modes', async () => {
    const work = [
      'set -e',
      'mkdir -p src && echo text > src/a && ln -s a src/b && cp -a src copy && chmod +x src/a && mv copy moved',
      't=$(mktemp) && echo tmp > $t && cat $t src/b moved/b | sort | uniq -c | wc -l',
      `node -e 'new (require("worker_threads").Worker)("require(\\"fs\\").writeFileSync(\\"thread\\", \\"1\\")", {eval: true})'`,
      'cat thread; git init -q . 2>/dev/null; git status --short',
    ];
    const { stdout, stderr, exitCode } = await run(work.join('\n'));
    expect({ exitCode, stderr: stderr.text }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.text).toBe('2\n1?? moved/\n?? src/\n?? thread\n');
  });
});
