import { spawn } from 'node:child_process';

/**
 * Runs a command of this repository to its end. Never rejects because the command failed: its exit code says so.
 *
 * @param {readonly string[]} command the program and its arguments; none of them comes from outside
 * @param {{ readonly timeoutMs: number, readonly show?: boolean }} options `show` passes the output through
 * @returns {Promise<{ readonly exitCode: number, readonly stdout: string, readonly output: string }>}
 */
export async function run(command, { timeoutMs, show = false }) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    // On Windows npm is a batch file, which only a shell can start.
    shell: process.platform === 'win32',
    timeout: timeoutMs,
  });
  /** @type {Buffer[]} */
  const stdout = [];
  /** @type {Buffer[]} */
  const output = [];
  child.stdout?.on('data', (/** @type {Buffer} */ chunk) => {
    stdout.push(chunk);
    output.push(chunk);
  });
  child.stderr?.on('data', (/** @type {Buffer} */ chunk) => output.push(chunk));

  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal !== null) output.push(Buffer.from(`\n${command.join(' ')} was ended by ${signal}\n`));
      resolve({
        exitCode: code ?? 1,
        stdout: Buffer.concat(stdout).toString(),
        output: Buffer.concat(output).toString(),
      });
    });
  });
}
