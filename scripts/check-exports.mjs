// Fails when the packed package could not be imported or typed by its users, as publint and attw see it.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from './run.mjs';

const timeoutMs = 120_000;
const folder = await mkdtemp(path.join(tmpdir(), 'rerail-pack-'));
try {
  process.exitCode = await checkTarball();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** @returns {Promise<number>} the first exit code that is not 0, else 0 */
async function checkTarball() {
  const packing = await run(['npm', 'pack', '--pack-destination', folder], { timeoutMs });
  if (packing.exitCode !== 0) return report(packing);

  const [name] = await readdir(folder);
  const tarball = path.join(folder, name ?? '');
  const linting = await run(['npx', '--no-install', 'publint', 'run', tarball, '--strict'], { timeoutMs });
  if (linting.exitCode !== 0) return report(linting);

  const typing = await run(['npx', '--no-install', 'attw', tarball, '--profile', 'esm-only'], { timeoutMs });
  return report(typing);
}

/** @param {{ readonly exitCode: number, readonly output: string }} result */
function report({ exitCode, output }) {
  if (exitCode !== 0) process.stderr.write(output);
  return exitCode;
}
