import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoFaults } from '../../src/cli/demo/demo-faults.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine, Result } from './command-line.ts';

let program: CommandLine;
let temporary: string;
let shown: Result & { readonly tookMs: number };

/** Stops with Ctrl-C as soon as this was shown. */
function start(
  argv: readonly string[],
  { stopAfter }: { readonly stopAfter?: string } = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.main, ...argv], {
      cwd: temporary,
      env: { PATH: process.env['PATH'], HOME: temporary, TMPDIR: temporary },
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    let [out, err] = ['', ''];
    let isStopped = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (stopAfter === undefined || isStopped || !out.includes(stopAfter)) return;
      isStopped = true;
      child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, out, err }));
    child.stdin.end();
  });
}

beforeAll(async () => {
  program = await buildCommandLine();
  temporary = await mkdtemp(path.join(tmpdir(), 'rerail-demo-test-'));
  const startedAtMs = performance.now();
  const result = await start(['demo']);
  shown = { ...result, tookMs: performance.now() - startedAtMs };
}, 120_000);

afterAll(async () => {
  await program.remove();
  await rm(temporary, { recursive: true, force: true });
});

describe('rerail demo', { timeout: 60_000 }, () => {
  it('ends with 130 at Ctrl-C and leaves nothing behind', async () => {
    const before = await readdir(temporary);
    const { exitCode, out } = await start(['demo'], { stopAfter: 'turn 2' });
    expect(exitCode).toBe(130);
    expect(out).toContain('cancelled');
    expect(await readdir(temporary)).toEqual(before);
  });

  it.each(['x', '-1', '1.5', '99999999999'])('refuses --seed=%s', async (seed) => {
    const { exitCode, err } = await start(['demo', `--seed=${seed}`]);
    expect(exitCode).toBe(2);
    expect(err).toContain('--seed must be a whole number');
  });

  it('repairs the project and ends with 0 in plain lines, without a terminal', () => {
    expect({ exitCode: shown.exitCode, err: shown.err }).toEqual({ exitCode: 0, err: '' });
    expect(shown.out).toMatch(/^ {2}tests +1 of 6 fail$/m);
    expect(shown.out).toMatch(/^ {2}tests +before: 1 of 6 fail; after: 6 of 6 pass$/m);
    expect(shown.out).not.toContain('\u001b');
  });

  it('names the level of the sandbox in its own words', () => {
    expect(shown.out).toMatch(
      /^ {2}sandbox +(?:Contained|Restricted|Not contained|Containment switched off)\b/m,
    );
  });

  it('shows what was overcome, and what it would have been without', () => {
    const overcome = [...shown.out.matchAll(/^ {2}turn \d: (\w+)(?:, \d times)?, overcome by (.+)$/gm)];
    const codes = overcome.map(([, code]) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'OVERLOADED',
        'TOOL_CALL_INVALID',
        'RATE_LIMITED',
        'QUOTA_EXCEEDED',
        'STREAM_INTERRUPTED',
      ]),
    );
    expect(shown.out.match(/^ {6}without: .+$/gm)).toHaveLength(overcome.length);
    expect(shown.out).not.toContain('the run dies here');
  });

  it('really changed the file, in the folder that it names', async () => {
    const root = /^ {2}project +(\S+),/m.exec(shown.out)?.[1] ?? '';
    expect(await readFile(path.join(root, 'src/shipping.js'), 'utf8')).toContain(
      'goodsCents >= freeFromCents',
    );
  });

  it('kills a process in the middle of a payment, and the next one does not pay again', () => {
    const [, part = ''] = shown.out.split('the process is killed in the middle of it');
    const processes = [...part.matchAll(/^ {2}process +(\d+) (begins|resumes)/gm)].map(([, pid, does]) => [
      Number(pid),
      does,
    ]);
    expect(processes.map(([, does]) => does)).toEqual(['begins', 'resumes']);
    const [first, second] = processes.map(([pid]) => pid);
    expect(first).not.toBe(second);
    expect(part).toMatch(new RegExp(`^ {2}killed +process ${first} by kill -9`, 'm'));
    const labels = [...part.matchAll(/^ {2}(tool|bank|failure|recovery|result|answer) +(\S+)/gm)];
    expect(labels.map(([, label, word]) => `${label} ${word}`)).toEqual([
      'tool pay',
      'bank the',
      'failure UNKNOWN_OUTCOME',
      'recovery verify:',
      'bank says:',
      'result Paid.',
      'answer “Invoice',
    ]);
    expect(part).toContain('1 transfer at the bank, 1 answer');
  });

  it('ends with 130 at Ctrl-C during the payment, and leaves no process behind', async () => {
    const { exitCode, out } = await start(['demo'], { stopAfter: 'begins the run "payment"' });
    expect(exitCode).toBe(130);
    const pid = Number(/process +(\d+) begins/.exec(out)?.[1]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('shows the run of the payment afterwards', async () => {
    const line = /^ {2}\S.* (show payment --store \S+)$/m.exec(shown.out)?.[1]?.split(' ') ?? [];
    const { exitCode, out } = await start(line);
    expect({ exitCode, hasCode: out.includes('UNKNOWN_OUTCOME') }).toEqual({ exitCode: 0, hasCode: true });
  });

  it.each(['show', 'why'])('suggests %s for the run that it has kept, and that works', async (name) => {
    const line = new RegExp(String.raw`^ {2}\S.* (${name} demo --store (\S+))$`, 'm').exec(shown.out);
    expect(existsSync(line?.[2] ?? '')).toBe(true);
    const { exitCode, out } = await start(line?.[1]?.split(' ') ?? []);
    expect(exitCode).toBe(0);
    expect(out).toContain('OVERLOADED');
  });

  it('takes less than half a minute', () => {
    expect(shown.tookMs).toBeLessThan(30_000);
  });
});

describe('demoFaults()', () => {
  it('draws the same troubles for the same seed, and others for others', () => {
    expect(demoFaults(7)).toEqual(demoFaults(7));
    const orders = new Set([...Array(20).keys()].map((seed) => JSON.stringify(demoFaults(seed))));
    expect(orders.size).toBeGreaterThan(10);
  });
});
