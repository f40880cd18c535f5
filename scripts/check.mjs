// The one gate: runs every check in order and stops at the first that fails, with that check's own output.
import { run } from './run.mjs';

/** @typedef {{ readonly name: string, readonly command: readonly string[] }} Step */

const timeoutMs = 300_000;
// The tests use real sockets and processes; on a loaded machine they take their time.
const testTimeoutMs = 1_200_000;

/** @type {readonly Step[]} */
const steps = [
  { name: 'format', command: ['npm', 'run', '--silent', 'format'] },
  // First of all that reads types: scripts and benchmarks import what was built.
  { name: 'build', command: ['npm', 'run', '--silent', 'build'] },
  { name: 'lint', command: ['npm', 'run', '--silent', 'lint'] },
  { name: 'types', command: ['npm', 'run', '--silent', 'types'] },
  { name: 'unused code', command: ['npm', 'run', '--silent', 'unused'] },
  { name: 'package exports', command: ['node', 'scripts/check-exports.mjs'] },
  { name: 'package contents', command: ['node', 'scripts/check-contents.mjs'] },
  { name: 'lockfile', command: ['node', 'scripts/check-lockfile.mjs'] },
  { name: 'docs', command: ['npm', 'run', '--silent', 'docs:check'] },
];

process.exitCode = await check();

/** @returns {Promise<number>} the exit code */
async function check() {
  for (const step of steps) {
    const exitCode = await perform(step);
    if (exitCode !== 0) return exitCode;
  }
  // For whoever runs them besides.
  if (process.argv.includes('--without-tests')) return 0;
  // Last and unfiltered, so that the gate ends with the test runner's own summary.
  console.log('… tests, tidy among them');
  const tests = await run(['npm', 'run', 'test:all', '--silent'], { timeoutMs: testTimeoutMs, show: true });
  return tests.exitCode;
}

/** @param {Step} step */
async function perform({ name, command }) {
  const startedMs = performance.now();
  const { exitCode, output } = await run(command, { timeoutMs });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(5);
  console.log(`${exitCode === 0 ? '✓' : '✗'} ${name.padEnd(18)}${seconds} s`);
  if (exitCode !== 0) console.error(`\n${output.trimEnd()}\n\n"${name}" failed: ${command.join(' ')}`);
  return exitCode;
}
