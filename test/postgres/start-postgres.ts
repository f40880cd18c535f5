import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { hashText } from '../../src/base/hash.ts';
import { findPostgres, isOurs } from './find-postgres.ts';

/** A server of our own on a loopback port. */
export interface Postgres {
  readonly port: number;
  /** Of the one who may do everything. */
  readonly address: string;
  readonly addressOf: (given: AddressParts) => string;
  /** A database of its own, and its address. */
  readonly createDatabase: () => Promise<string>;
  /** Runs a statement as the one who may do everything, in the named database. */
  readonly ask: (address: string, sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** SIGKILL to the server; its children end when they notice. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Another server that follows this one over a port of its choice; this one stands still while it is copied. */
  readonly startStandby: (primaryPort: number) => Promise<Postgres>;
}

export type Row = Readonly<Record<string, unknown>>;

export interface AddressParts {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly port?: number;
}

export interface PostgresOptions {
  /** Waits for the disk at every commit, as in production; `false` unless told, for nobody cuts the power here. */
  readonly fsync?: boolean;
  readonly maxConnections?: number;
}

const password = 'correct-horse-battery-staple';
const maxStartMs = 60_000;

/** Makes a fresh server and starts it. Throws, with what the server said, where it cannot be started. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const programs = findPostgres();
  const folder = makeFolder();
  copyFolder(path.join(findTemplate(programs), 'data'), path.join(folder, 'data'));
  return serve({ programs, folder, port: await freePort(), options, child: undefined, said: '' });
}

async function serve(server: Server): Promise<Postgres> {
  const { folder, port } = server;
  const addressOf: Postgres['addressOf'] = (given) =>
    `postgres://${given.user ?? 'postgres'}:${given.password ?? password}@127.0.0.1:${given.port ?? port}/${given.database ?? 'postgres'}`;
  const address = addressOf({});
  const end = (): void => void server.child?.kill('SIGQUIT');
  process.on('exit', end);
  const start = (): Promise<void> => startServer(server, address);
  await start();
  return {
    port,
    address,
    addressOf,
    createDatabase: async () => {
      const name = `test_${process.pid}_${(databases += 1)}`;
      await askOnce(address, `CREATE DATABASE ${name}`, []);
      return addressOf({ database: name });
    },
    ask: (where, sql, values = []) => askOnce(where, sql, values),
    kill: () => stopServer(server, 'SIGKILL'),
    start,
    startStandby: async (primaryPort) => {
      await stopServer(server, 'SIGINT');
      const copy: Server = { ...server, folder: makeFolder(), port: await freePort(), child: undefined };
      copyData(server, copy, primaryPort);
      await start();
      return serve(copy);
    },
    stop: async () => {
      process.off('exit', end);
      await stopServer(server, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let databases = 0;

interface Server {
  readonly programs: string;
  readonly folder: string;
  readonly port: number;
  readonly options: PostgresOptions;
  child: ChildProcess | undefined;
  said: string;
}

/** The server refuses to be root; then it is nobody, who has the folder. */
const nobody = 65_534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** An empty server, made once for all tests of this machine: it takes a second each time. */
function findTemplate(programs: string): string {
  const owner = process.getuid?.() ?? 0;
  const name = `rerail-pg-template-${owner}-${hashText(`${programs} ${password}`).slice(0, 8)}`;
  const template = path.join(os.tmpdir(), name);
  if (isOurs(template)) return template;
  const fresh = makeFolder();
  initialize(programs, fresh);
  try {
    renameSync(fresh, template);
    return template;
  } catch {
    // Another test was quicker; then its own is as good, and nobody else's is.
    if (!isOurs(template)) return fresh;
    rmSync(fresh, { recursive: true, force: true });
    return template;
  }
}

function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-pg-'));
  const data = path.join(folder, 'data');
  chmodSync(folder, 0o755);
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(path.join(folder, 'password'), password, { mode: 0o644 });
  if (identity.uid !== undefined) chownSync(data, identity.uid, identity.gid);
  return folder;
}

function copyData(from: Server, to: Server, primaryPort: number): void {
  const target = path.join(to.folder, 'data');
  copyFolder(path.join(from.folder, 'data'), target);
  const follow = `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres password=${password}'\n`;
  appendFileSync(path.join(target, 'postgresql.auto.conf'), follow);
  const signal = path.join(target, 'standby.signal');
  writeFileSync(signal, '');
  if (identity.uid !== undefined) chownSync(signal, identity.uid, identity.gid);
}

function copyFolder(source: string, target: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', `${source}/.`, target], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The data could not be copied: ${stderr}`);
}

function initialize(programs: string, folder: string): void {
  const named = {
    pgdata: path.join(folder, 'data'),
    username: 'postgres',
    auth: 'scram-sha-256',
    pwfile: path.join(folder, 'password'),
    encoding: 'UTF8',
    locale: 'C',
  };
  const { status, stdout, stderr, error } = spawnSync(
    path.join(programs, 'initdb'),
    ['--no-sync', ...Object.entries(named).map(([name, value]) => `--${name}=${value}`)],
    { ...identity, cwd: folder, encoding: 'utf8', env: environment(folder) },
  );
  if (status !== 0) throw new Error(`initdb failed: ${String(error ?? '')} ${stdout}\n${stderr}`);
}

function environment(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C', TZ: 'UTC' };
}

async function startServer(server: Server, address: string): Promise<void> {
  const deadlineMs = Date.now() + maxStartMs;
  // Bounded by the deadline: after SIGKILL the old children keep the memory for a moment, and a new server refuses.
  while (Date.now() < deadlineMs) {
    const child = launch(server);
    if (await isReady(address, child, deadlineMs)) {
      server.child = child;
      return;
    }
    child.kill('SIGKILL');
    await sleep(50);
  }
  throw new Error(`Postgres did not start: ${server.said.slice(-4000)}`);
}

function launch(server: Server): ChildProcess {
  const { programs, folder, port, options } = server;
  const { fsync = false, maxConnections = 120 } = options;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
    max_connections: maxConnections,
    // Of which a test wants to see the end.
    superuser_reserved_connections: 1,
    deadlock_timeout: '100ms',
    shared_buffers: '32MB',
    log_min_messages: 'fatal',
    wal_retrieve_retry_interval: '100ms',
  };
  const child = spawn(
    path.join(programs, 'postgres'),
    [
      '-D',
      path.join(folder, 'data'),
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ],
    { ...identity, cwd: folder, env: environment(folder), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr?.on(
    'data',
    (chunk: Buffer) => (server.said = `${server.said}${chunk.toString()}`.slice(-20_000)),
  );
  child.on('error', (error) => (server.said += String(error)));
  return child;
}

async function isReady(address: string, child: ChildProcess, deadlineMs: number): Promise<boolean> {
  while (Date.now() < deadlineMs && child.exitCode === null && child.signalCode === null) {
    try {
      await askOnce(address, 'SELECT 1', []);
      return true;
    } catch {
      // Not yet; the caller says what it said where it never is.
      await sleep(20);
    }
  }
  return false;
}

async function stopServer(server: Server, signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void> {
  const { child } = server;
  server.child = undefined;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function askOnce(address: string, sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 5000 });
  // A server that is killed meanwhile is told by the query; nobody else needs to hear of it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('There is no free port');
  return address.port;
}
