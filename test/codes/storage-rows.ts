import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAgent } from '../../src/index.ts';
import type { Agent, RunOutcome } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import type { CaseGiven } from '../kill/case-program.ts';
import { startLife } from '../kill/life.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Row, Stage } from './row.ts';

// What can be wrong with the file of a store, with real files and another process.

const runId = 'r1';
const fileOf = ({ folder }: Stage): string => path.join(folder, 'runs.db');

/** An agent with the store, as a process has it that was just started. */
async function agentOn(stage: Stage): Promise<Agent> {
  const store = sqlite(fileOf(stage), { sync: 'normal', busyTimeoutMs: 1 });
  stage.onEnd(() => store.close().catch(() => undefined)); // A row has broken it: that it says so again is no news.
  return createAgent({ model: await stage.model(), store });
}

/** A whole store with one run in it, and nobody who has it open. */
async function fill(stage: Stage): Promise<string> {
  const store = sqlite(fileOf(stage), { sync: 'normal' });
  await createAgent({ model: await stage.model(), store }).run('Hello', { runId });
  await store.close();
  return fileOf(stage);
}

/** A run on a file that something has happened to. */
async function runOn(stage: Stage, happen: (file: string) => unknown): Promise<RunOutcome> {
  await happen(fileOf(stage));
  return (await agentOn(stage)).run('Hello again');
}

/** The same on a store that was whole. */
async function runOnChanged(stage: Stage, happen: (file: string) => unknown): Promise<RunOutcome> {
  await fill(stage);
  return runOn(stage, happen);
}

function overwrite(file: string, offset: number, value: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = value;
  writeFileSync(file, bytes);
}

// A file system of its own for one process, and for those that it starts.
const mountHere = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"';

/** A run in another process, on a disk that one of its tools fills. */
async function runOnFullDisk(stage: Stage): Promise<RunOutcome> {
  const program = await bundleProgram('test/kill/case-program.ts');
  stage.onEnd(() => program.remove());
  const disk = path.join(stage.folder, 'disk');
  mkdirSync(disk);
  const given: CaseGiven = {
    database: path.join(disk, 'runs.db'),
    ledger: path.join(stage.folder, 'ledger.jsonl'),
    deeds: [{ type: 'run', runs: { [runId]: [['fill'], ['pay']] } }],
  };
  const life = startLife(program.file, given, { prefix: ['unshare', '-rm', 'sh', '-c', mountHere, disk] });
  stage.onEnd(async () => {
    life.kill();
    await life.ended;
  });
  const { outcome } = await life.until(({ kind }) => kind === 'outcome');
  return outcome as RunOutcome; // As the program has printed it.
}

function change(file: string, sql: string): void {
  const database = loadDriver()(file);
  database.prepare(sql).all();
  database.close();
}

const locking = `
  const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? require('@photostructure/sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  console.log('locked');
  setInterval(() => database, 1000);
`;

/** Another process that writes and does not come to an end. */
async function lock(stage: Stage, file: string): Promise<void> {
  const child = spawn(process.execPath, ['--no-warnings', '-e', locking, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stage.onEnd(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
}

export const storageRows = {
  STORAGE_NOT_FOUND: {
    origin: 'storage',
    throws: async (stage) => (await agentOn(stage)).resume('no-such-run'),
  },
  STORAGE_CORRUPT: {
    origin: 'storage',
    ends: (stage) => runOn(stage, (file) => writeFileSync(file, 'These are notes. '.repeat(500))),
  },
  STORAGE_LOCKED: { origin: 'storage', ends: (stage) => runOnChanged(stage, (file) => lock(stage, file)) },
  STORAGE_FULL: { origin: 'storage', ends: runOnFullDisk },
  STORAGE_IO: { origin: 'storage', ends: (stage) => runOn(stage, (file) => mkdirSync(file)) },
  // A format that only a later SQLite may write: also the superuser of the machine has it for reading only.
  STORAGE_READ_ONLY: {
    origin: 'storage',
    ends: (stage) => runOnChanged(stage, (file) => overwrite(file, 18, 3)),
  },
  STORAGE_LOST: { origin: 'storage', ends: (stage) => runOnChanged(stage, (file) => rmSync(file)) },
  STORAGE_DIVERGED: {
    origin: 'storage',
    throws: async (stage) => {
      change(await fill(stage), 'DELETE FROM events');
      await (await agentOn(stage)).resume(runId);
    },
  },
  // Where the header has the version of the schema.
  STORAGE_NEWER_SCHEMA: {
    origin: 'storage',
    ends: (stage) => runOnChanged(stage, (file) => overwrite(file, 63, 99)),
  },
} as const satisfies Readonly<Record<string, Row>>;
