#!/usr/bin/env node
import { createReadStream, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import { isatty } from 'node:tty';
import type { CliIo } from './start/io.ts';
import { openTerminal } from './start/open-terminal.ts';
import { reportThrown, runCommandLine } from './program.ts';
import { isReaderGone, readerGoneExitCode } from './start/reader-gone.ts';

const io: CliIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  readFile: (file) => createReadStream(file),
  isTerminal: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  env: process.env,
  now: () => Date.now(),
  folder: process.cwd(),
  home: process.platform === 'win32' ? homedir() : (process.env['HOME'] ?? accountHome()),
  accountHome: accountHome() ?? '',
  terminal:
    process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb'
      ? openTerminal(process.stdin, process.stdout)
      : undefined,
  command: readCommand(process.argv[1] ?? ''),
  version: readVersion(),
};

let [isReaderLost, isUnwritable] = [false, false];
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    // A reader may stop before the end, as `head` does. That is its right, and there is nothing to report.
    if (isReaderGone(error)) {
      isReaderLost = true;
      if (process.exitCode === 0) process.exitCode = readerGoneExitCode;
      return;
    }
    // Of standard error there is no place left where it could be said; of standard output once is enough.
    if (output === process.stderr || isUnwritable) return;
    isUnwritable = true;
    process.exitCode = 1;
    void reportUnwritable(error);
  });
}
process.on('uncaughtException', (thrown: unknown) => {
  void reportThrown(thrown, io).then((code) => process.exit(code));
});

const exitCode = await runCommandLine(process.argv.slice(2), io);
process.exitCode ??= exitCode === 0 && isReaderLost ? readerGoneExitCode : exitCode;

async function reportUnwritable(error: NodeJS.ErrnoException): Promise<void> {
  const { createFailure } = await import('../errors/failure.ts');
  const { RerailError } = await import('../errors/rerail-error.ts');
  const message = `Cannot write to standard output: ${error.code ?? error.message}`;
  const failure = createFailure('IO_ERROR', { message, hint: 'Check the disk that it goes to' });
  process.exitCode = await reportThrown(RerailError.from(failure, { cause: error }), io);
}

/** None where the user is in no list, as in many containers. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Installed, it is called by its name; in a checkout, by its file. */
function readCommand(script: string): string {
  if (path.basename(script) === 'rerail')
    return process.env['npm_command'] === 'exec' ? 'npx rerail' : 'rerail';
  const file = path.relative('', script);
  return file.includes(' ') ? `node "${file}"` : `node ${file}`;
}

/** Beside `dist` and beside `src` alike. */
function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version; // Our own file: npm does not publish one without it.
}
