import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { installRestate } from './install.ts';

/** A Restate server of a test: its own folder, its own ports of the loopback. */
export interface RestateServer {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** As a power cut does. */
  readonly kill: () => Promise<void>;
  /** On the same folder and the same ports. */
  readonly startAgain: () => Promise<void>;
  /** Rows of Restate's own tables. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly stop: () => Promise<void>;
}

const maxStartMs = 60_000;

/** Starts a server. It takes about a second. */
export async function startRestate(): Promise<RestateServer> {
  const { server } = installRestate();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-restate-'));
  const [ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort()]);
  const urls = { ingressUrl: `http://127.0.0.1:${ingress}`, adminUrl: `http://127.0.0.1:${admin}` };
  const env = {
    PATH: process.env['PATH'] ?? '',
    RESTATE_BASE_DIR: folder,
    RESTATE_NODE_NAME: 'rerail',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_DEFAULT_NUM_PARTITIONS: '2',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128 MiB',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
    RESTATE_LOG_FILTER: 'warn',
  };
  const start = (): ChildProcess =>
    spawn(server, ['--no-logo'], {
      env,
      stdio: process.env['RERAIL_RESTATE_LOG'] === '1' ? 'inherit' : 'ignore',
    });
  let child = start();
  await isUp(child, urls);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  };
  return {
    ...urls,
    kill,
    startAgain: async () => {
      child = start();
      await isUp(child, urls);
    },
    query: (sql) => query(urls.adminUrl, sql),
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port of the loopback that nobody has now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('No port of the loopback is free');
  return address.port;
}

async function isUp(
  child: ChildProcess,
  { ingressUrl, adminUrl }: Pick<RestateServer, 'ingressUrl' | 'adminUrl'>,
): Promise<void> {
  const untilMs = Date.now() + maxStartMs;
  while (Date.now() < untilMs) {
    if (child.exitCode !== null) throw new Error(`The Restate server ended at once with ${child.exitCode}`);
    const answers = await Promise.all(
      [`${adminUrl}/health`, `${ingressUrl}/restate/health`].map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    if (answers.every(Boolean) && (await hasTables(adminUrl))) return;
    await setTimeout(50);
  }
  throw new Error(`The Restate server was not up after ${maxStartMs} ms`);
}

/** A server says that it is healthy before it knows where its tables are. */
function hasTables(adminUrl: string): Promise<boolean> {
  return query(adminUrl, 'SELECT key FROM state LIMIT 1').then(
    () => true,
    () => false,
  );
}

async function query(adminUrl: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const response = await fetch(`${adminUrl}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: sql }),
  });
  const body = (await response.json()) as { readonly rows?: readonly Record<string, unknown>[] };
  if (body.rows === undefined) throw new Error(`Restate refused the query: ${JSON.stringify(body)}`);
  return body.rows;
}
