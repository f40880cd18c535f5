// A Restate server for measuring: its program comes from npm, its data lies in a folder for temporary files.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = path.resolve('test/engines/restate');

/** Loads the SDK, which is installed beside the server on demand. */
export function loadSdk() {
  install();
  const require = createRequire(path.join(folder, 'package.json'));
  return /** @type {unknown} */ (require('@restatedev/restate-sdk'));
}

/** Starts a server on ports of the loopback that nobody has. */
export async function startServer() {
  install();
  const require = createRequire(path.join(folder, 'package.json'));
  const { platform, arch } = process;
  const program = require.resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`);
  const data = mkdtempSync(path.join(tmpdir(), 'rerail-bench-restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(program, ['--no-logo'], {
    stdio: 'ignore',
    env: {
      RESTATE_BASE_DIR: data,
      RESTATE_NODE_NAME: 'bench',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  });
  const [ingressUrl, adminUrl] = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`];
  await isUp([`${ingressUrl}/restate/health`, `${adminUrl}/health`]);
  return {
    ingressUrl,
    adminUrl,
    stop: () => {
      child.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** A port that nobody has now. */
export async function freePort() {
  const server = createServer();
  await /** @type {Promise<void>} */ (new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve())));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('No port is free');
  return address.port;
}

function install() {
  if (existsSync(path.join(folder, 'node_modules', '@restatedev'))) return;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`Restate cannot be installed into ${folder}`);
}

/** @param {readonly string[]} urls */
async function isUp(urls) {
  for (let tries = 0; tries < 1200; tries += 1) {
    const answers = await Promise.all(
      urls.map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    if (answers.every(Boolean)) return;
    await sleep(50);
  }
  throw new Error('The Restate server does not answer');
}
