import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { rolldown } from 'rolldown';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Claimed, Store } from '../../src/model/store/store.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';

const cache = path.resolve(import.meta.dirname, '../../node_modules/.cache');
let program = '';
let folder = '';
let file = '';
let children: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  const built = mkdtempSync(path.join(cache, 'rerail-sqlite-test-'));
  program = path.join(built, 'child.mjs');
  const input = path.join(import.meta.dirname, 'sqlite-child.ts');
  const bundle = await rolldown({ input, platform: 'node', external: [/^node:/] });
  await bundle.write({ file: program, format: 'esm' });
}, 60_000);

afterAll(() => rmSync(path.dirname(program), { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-sqlite-'));
  file = path.join(folder, 'runs.db');
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: unknown[];
  /** Resolves with the next line that has not been read. */
  readonly next: () => Promise<unknown>;
  readonly exited: Promise<void>;
}

function start(...argv: readonly string[]): Child {
  const child = spawn(process.execPath, [program, ...argv], { env: { ...process.env, NODE_OPTIONS: '' } });
  children.push(child);
  const lines: unknown[] = [];
  let seen = 0;
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const next = async (): Promise<unknown> => {
    for (let count = 0; count < 2000 && lines.length <= seen; count += 1) await sleep(10);
    seen += 1;
    return lines[seen - 1];
  };
  return { process: child, lines, next, exited };
}

const rescuer = { id: 'rescuer', leaseMs: 30_000 };

async function claimSoon(store: Store, runId: string): Promise<Claimed> {
  for (let count = 0; ; count += 1) {
    const claimed = await store.runs.claim(runId, rescuer);
    if (claimed.type === 'claimed' || count > 500) return claimed;
    await sleep(20);
  }
}

describe('a process that', () => {
  it('is killed gives up its runs at once, though its lease is long', async () => {
    const child = start('hold', file, '3600000');
    expect(await child.next()).toBe('ready');
    const store = sqlite(file);
    expect(await store.runs.claim('held', rescuer)).toMatchObject({ type: 'held' });
    child.process.kill('SIGKILL');
    await child.exited;
    expect(await store.runs.waiting({ agents: ['agent'], ownerId: 'rescuer', limit: 5 })).toMatchObject([
      { why: 'interrupted', row: { runId: 'held' } },
    ]);
    expect(await store.runs.claim('held', rescuer)).toMatchObject({ type: 'claimed', wasAbandoned: true });
    await store.close();
  });

  it('is stopped keeps its lease as long as it lasts, and is refused when it goes on', async () => {
    const child = start('hold', file, '400');
    expect(await child.next()).toBe('ready');
    child.process.kill('SIGSTOP');
    const store = sqlite(file);
    expect(await claimSoon(store, 'held')).toMatchObject({ type: 'claimed', wasAbandoned: true });
    child.process.kill('SIGCONT');
    child.process.stdin.write('write\n');
    expect(await child.next()).toMatchObject({ code: 'STORAGE_LOCKED', leaseLost: true, runId: 'held' });
    expect(await store.runs.events('held')).toHaveLength(1);
    await store.close();
  });

  it('is killed anywhere has lost nothing that was acknowledged', async () => {
    const random = seededRandom(5);
    for (let round = 0; round < 10; round += 1) {
      const runId = `run-${round}`;
      const child = start('write', file, runId);
      expect(await child.next()).toBe(1);
      await sleep(random() * 60);
      child.process.kill('SIGKILL');
      await child.exited;
      const store = sqlite(file);
      const events = await store.runs.events(runId);
      const acknowledged = Number(child.lines.at(-1));
      expect([acknowledged, acknowledged + 1]).toContain(events.length);
      expect(await store.runs.claim(runId, rescuer)).toMatchObject({ type: 'claimed' });
      await store.close();
    }
    expect((await sqlite(file).check()).problems).toEqual([]);
  });

  it('is killed in a migration leaves the old schema, with its copy', async () => {
    const first = sqlite(file);
    await first.open();
    await first.close();
    for (const statements of [0, 1, 2, 3]) {
      const child = start('migrate', file, String(statements));
      await child.exited;
      const database = loadDriver()(file);
      expect({ ...(database.prepare('PRAGMA user_version').get() as object) }).toEqual({ user_version: 1 });
      expect(database.prepare(`SELECT name FROM sqlite_master WHERE name LIKE 'extra%'`).all()).toEqual([]);
      database.close();
    }
    const backup = loadDriver()(`${file}.v1.bak`, { readOnly: true });
    expect({ ...(backup.prepare('PRAGMA user_version').get() as object) }).toEqual({ user_version: 1 });
    backup.close();
  });
});

describe('several processes', () => {
  it('write to one file at once, and all of it is there', async () => {
    const sharing = [1, 2, 3].map(() => start('share', file, '60'));
    await Promise.all(sharing.map(({ exited }) => exited));
    expect(sharing.map(({ process: child }) => child.exitCode)).toEqual([0, 0, 0]);
    const store = sqlite(file);
    expect(await store.check()).toEqual({ runs: 3, events: 180, blobs: 0, problems: [] });
    await store.close();
  });

  it('wait for a lock only so long, and say who has it', async () => {
    const store = sqlite(file, { busyTimeoutMs: 100 });
    await store.open();
    const other = loadDriver()(file);
    other.exec('BEGIN IMMEDIATE');
    const begun = store.runs.create({ runId: 'run-1', agent: 'agent', events: [] }, rescuer);
    await expect(begun).rejects.toMatchObject({ code: 'STORAGE_LOCKED', failure: { retryable: true } });
    other.exec('ROLLBACK');
    other.close();
    const again = store.runs.create({ runId: 'run-1', agent: 'agent', events: [] }, rescuer);
    await expect(again).resolves.toMatchObject({ type: 'created' });
    await store.close();
  });
});

// A file system of its own needs rights that not every machine gives.
const canMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', os.tmpdir()]).status === 0;

describe.runIf(canMount)('a small disk', () => {
  /** Each command in a process of its own, on a file system of its own. */
  const onDisk = (script: string): readonly unknown[] => {
    const env = { ...process.env, NODE_OPTIONS: '', NODE: process.execPath, PROGRAM: program, DISK: folder };
    const whole = `set -e; mount -t tmpfs -o size=2m tmpfs "$DISK"; FILE="$DISK/runs.db"; ${script}`;
    const done = spawnSync('unshare', ['-m', 'sh', '-c', whole], { env });
    expect(done.stderr.toString()).toBe('');
    return done.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  };

  it('that is full at any write refuses it, loses nothing, and goes on when there is space', () => {
    const rounds = 12;
    const lines = onDisk(`"$NODE" "$PROGRAM" fill "$FILE" ${rounds}`);
    expect(lines.at(-1)).toEqual([]);
    const reports = lines.slice(0, -1) as readonly { failure: unknown; acknowledged: number; kept: number }[];
    expect(reports).toHaveLength(rounds);
    for (const { failure, acknowledged, kept } of reports) {
      expect(failure).toMatchObject({ code: 'STORAGE_FULL' });
      expect(kept).toBe(acknowledged);
    }
  });

  it('that is read-only is told as such', () => {
    const lines = onDisk(`
      "$NODE" "$PROGRAM" share "$FILE" 3
      mount -o remount,ro "$DISK"
      "$NODE" "$PROGRAM" claim "$FILE" run-1
    `);
    expect(lines).toMatchObject([{ code: 'STORAGE_READ_ONLY' }]);
  });
});
