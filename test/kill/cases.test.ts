import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunRow, StoreCheck } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import type { CaseGiven, Deed } from './case-program.ts';
import { readLedger } from './ledger.ts';
import { startLife } from './life.ts';
import type { Life, LifeOptions, Said } from './life.ts';
import { bundleProgram } from './program.ts';
import type { Program } from './program.ts';

// What a process does to its runs when it is stopped, ended, poisoned or robbed of its disk. Real processes and real files.

let program: Program;
let folder = '';
let database = '';
let ledger = '';
let lives: Life[] = [];

beforeAll(async () => {
  program = await bundleProgram('test/kill/case-program.ts');
});
afterAll(() => program.remove());
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-kill-'));
  database = path.join(folder, 'runs.db');
  ledger = path.join(folder, 'ledger.jsonl');
});
afterEach(async () => {
  for (const life of lives) life.kill();
  await Promise.all(lives.map(({ ended }) => ended));
  lives = [];
  rmSync(folder, { recursive: true, force: true });
});

interface LiveOptions extends LifeOptions {
  readonly leaseMs?: number;
  readonly database?: string;
}

function live(deeds: readonly Deed[], { leaseMs, database: other, ...options }: LiveOptions = {}): Life {
  const given: CaseGiven = {
    database: other ?? database,
    ledger,
    deeds,
    ...(leaseMs === undefined ? {} : { leaseMs }),
  };
  const life = startLife(program.file, given, options);
  lives.push(life);
  return life;
}

/** From here on the tool `hold` goes on, wherever it is called. */
function letGoOn(): void {
  writeFileSync(`${ledger}.go`, '');
}

const reached =
  (name: string) =>
  (said: Said): boolean =>
    said.kind === 'reached' && said['name'] === name;
const ofRun =
  (kind: string, runId: string) =>
  (said: Said): boolean =>
    said.kind === kind && said['runId'] === runId;
const over = ({ kind }: Said): boolean => kind === 'over';

/** How often a tool has taken effect. */
function effectsOf(tool: string): number {
  return readLedger(ledger).filter((line) => line.kind === 'effect' && line.tool === tool).length;
}

async function look(
  runId: string,
): Promise<{ readonly row: RunRow | undefined; readonly checked: StoreCheck }> {
  const store = sqlite(database);
  try {
    return { row: await store.runs.find(runId), checked: await store.check() };
  } finally {
    await store.close();
  }
}

const completed = { type: 'completed', text: expect.stringMatching(/^Done/) as string };

describe('a second process on the same database', () => {
  it('is refused a run that another one carries, and both get on with their own', async () => {
    const first = live([{ type: 'run', runs: { r1: [['hold'], ['pay']] } }]);
    await first.until(reached('hold'));
    const second = live([
      { type: 'resume', runId: 'r1' },
      { type: 'run', runs: { r2: [['pay'], ['note']] } },
    ]);
    expect(await second.until(ofRun('refused', 'r1'))).toMatchObject({
      failure: { code: 'STORAGE_LOCKED', origin: 'storage', context: { runId: 'r1' } },
    });
    expect(await second.until(ofRun('outcome', 'r2'))).toMatchObject({ outcome: completed });
    letGoOn();
    expect(await first.until(ofRun('outcome', 'r1'))).toMatchObject({ outcome: completed });
    await Promise.all([first.until(over), second.until(over)]);
    expect(effectsOf('pay')).toBe(2);
    expect((await look('r1')).checked.problems).toEqual([]);
  });
});

describe('a process that is stopped for longer than its lease', () => {
  it('finds its run completed by another one when it goes on, and adds nothing to it', async () => {
    const first = live([{ type: 'run', runs: { r1: [['hold'], ['pay'], ['note']] } }], { leaseMs: 1000 });
    await first.until(reached('hold'));
    first.kill('SIGSTOP');
    letGoOn();
    const second = live([{ type: 'work', until: 'signal' }], { leaseMs: 1000 });
    const finished = await second.until(ofRun('run-finished', 'r1'));
    expect(finished).toMatchObject({ outcome: completed });
    const before = (await look('r1')).row;
    first.kill('SIGCONT');
    expect(await first.until(ofRun('outcome', 'r1'))).toMatchObject({
      outcome: { type: 'suspended', reason: 'storage', failure: { code: 'STORAGE_LOCKED' } },
    });
    await first.until(over);
    const { row, checked } = await look('r1');
    expect(row).toEqual(before);
    expect(checked.problems).toEqual([]);
    expect([effectsOf('pay'), effectsOf('note')]).toEqual([1, 1]);
  });
});

describe('SIGTERM to a worker', () => {
  it('ends it with 143, and the run goes on elsewhere without a crash that nobody had', async () => {
    const first = live([{ type: 'run', runs: { r1: [['hold'], ['pay']] } }]);
    await first.until(reached('hold'));
    first.kill();
    await first.ended;
    const second = live([{ type: 'work', until: 'signal' }]);
    await second.until(reached('hold'));
    second.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ exitCode: 143, signal: null });
    expect(second.said.at(-1)).toMatchObject({ kind: 'stopped', reason: 'SIGTERM', left: ['r1'] });
    // The one crash is the SIGKILL above.
    expect((await look('r1')).row).toMatchObject({ status: 'running', crashes: 1 });
    letGoOn();
    const third = live([{ type: 'work', until: 'idle' }]);
    expect(await third.until(ofRun('run-finished', 'r1'))).toMatchObject({ outcome: completed });
    await third.until(over);
    expect((await look('r1')).row).toMatchObject({ status: 'completed', crashes: 1 });
    expect(effectsOf('pay')).toBe(1);
  });
});

describe('a run that kills its process', () => {
  it.each(['die', 'abort'])(
    'by "%s" is parked after the second time, and the others complete',
    async (deed) => {
      const first = live([{ type: 'run', runs: { poison: [[deed]], r1: [['hold'], ['pay'], ['note']] } }]);
      await first.ended;
      letGoOn();
      // The second one has the other run done before it dies.
      const second = live([
        { type: 'resume', runId: 'r1' },
        { type: 'work', until: 'idle' },
      ]);
      await second.ended;
      expect([first, second].map(({ said }) => said.some(over))).toEqual([false, false]);
      expect([first, second].map(({ said }) => said.filter(reached(deed)).length)).toEqual([1, 1]);
      const third = live([
        { type: 'work', until: 'idle' },
        { type: 'run', runs: { r2: [['look'], ['pay']] } },
      ]);
      await third.until(over);
      expect(third.said.some(reached(deed))).toBe(false);
      const { row, checked } = await look('poison');
      expect(row).toMatchObject({ status: 'parked', crashes: 2 });
      const others = await Promise.all(['r1', 'r2'].map(async (runId) => (await look(runId)).row?.status));
      expect(others).toEqual(['completed', 'completed']);
      expect(checked.problems).toEqual([]);
      expect(effectsOf('pay')).toBe(2);
    },
  );
});

describe('a database that is deleted under a run', () => {
  it('fails the run as lost before anything more is done, and is not made anew', async () => {
    const first = live([{ type: 'run', runs: { r1: [['hold'], ['pay']] } }]);
    await first.until(reached('hold'));
    rmSync(database);
    letGoOn();
    expect(await first.until(ofRun('outcome', 'r1'))).toMatchObject({
      outcome: { type: 'failed', failure: { code: 'STORAGE_LOST' } },
    });
    await first.until(over);
    expect(existsSync(database)).toBe(false);
    expect(effectsOf('pay')).toBe(0);
  });
});

// A file system of its own, and a bound on the size of files, need rights and tools that not every machine has.
const mountHere = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"';
const canMount =
  spawnSync('unshare', ['-rm', 'sh', '-c', mountHere, os.tmpdir(), 'true'], { stdio: 'ignore' }).status === 0;
const canLimit = spawnSync('prlimit', ['--fsize=1000:', 'true'], { stdio: 'ignore' }).status === 0;

describe('a disk that is full in the middle of a run', () => {
  it('can be had on this machine, or this is said', () => {
    const missing =
      'NOT TESTED: a full disk. This machine lets us neither mount a small one nor bound the size of files.';
    if (!canMount && !canLimit) process.stderr.write(`\n${missing}\n`);
    expect(canMount || canLimit || process.platform !== 'linux' || process.getuid?.() !== 0).toBe(true);
  });

  it.runIf(canMount)(
    'suspends it before anything more is done, and it goes on when there is space',
    async () => {
      const disk = path.join(folder, 'disk');
      mkdirSync(disk);
      const prefix = ['unshare', '-rm', 'sh', '-c', mountHere, disk];
      const runs = { r1: [['look'], ['fill'], ['pay'], ['note']] };
      const deeds: readonly Deed[] = [
        { type: 'run', runs },
        { type: 'empty' },
        { type: 'resume', runId: 'r1' },
      ];
      const life = live(deeds, { prefix, database: path.join(disk, 'runs.db') });
      await life.until(over);
      expect(life.said.filter(({ kind }) => kind === 'outcome' || kind === 'refused')).toMatchObject([
        { outcome: { type: 'suspended', reason: 'storage', failure: { code: 'STORAGE_FULL' } } },
        { outcome: completed },
      ]);
      expect([effectsOf('pay'), effectsOf('note')]).toEqual([1, 1]);
    },
  );

  it.runIf(canLimit)('as a bound on the size of files has it, suspends it just the same', async () => {
    const runs = { r1: [...Array.from({ length: 20 }, () => ['bulk']), ['pay'], ['note']] };
    const life = live([{ type: 'run', runs }, { type: 'wait-to-go-on' }, { type: 'resume', runId: 'r1' }], {
      prefix: ['prlimit', '--fsize=300000:'],
    });
    const { outcome } = await life.until(ofRun('outcome', 'r1'));
    expect(outcome).toMatchObject({ type: 'suspended', reason: 'storage', failure: { origin: 'storage' } });
    expect(effectsOf('pay')).toBe(0);
    expect(spawnSync('prlimit', ['--pid', String(life.pid), '--fsize=unlimited:']).status).toBe(0);
    letGoOn();
    await life.until(over);
    expect(life.said.filter(ofRun('outcome', 'r1')).at(-1)).toMatchObject({ outcome: completed });
    expect([effectsOf('pay'), effectsOf('note')]).toEqual([1, 1]);
    expect((await look('r1')).checked.problems).toEqual([]);
  });
});
