import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { bundle } from '../../scripts/bundle.mjs';

// The real program as a process of its own. It lies inside the project, so that its dependencies are found.

const root = path.resolve(import.meta.dirname, '../..');

/** The built program, in a folder that is also its working directory. */
export interface CommandLine {
  readonly folder: string;
  readonly main: string;
  readonly run: (argv: readonly string[], options?: Options) => Promise<Result>;
  readonly remove: () => Promise<void>;
}

export interface Options {
  readonly stdin?: string;
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another copy of the program. */
  readonly main?: string;
}

export interface Result {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

export async function buildCommandLine(): Promise<CommandLine> {
  const cache = path.join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'rerail-store-cli-test-'));
  const main = path.join(folder, 'dist', 'cli', 'main.js');
  // The package itself too: a configuration may import it.
  const exports = { '.': { default: './dist/index.js' } };
  await bundle({ exports, bin: { rerail: 'dist/cli/main.js' } }, { folder: path.join(folder, 'dist') });
  await copyFile(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  return {
    folder,
    main,
    run: (argv, options = {}) => start([options.main ?? main, ...argv], { cwd: folder, ...options }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A process that hangs is ended, and its exit code is then null. */
const timeoutMs = 30_000;

type StartOptions = Options & { readonly cwd: string };

function start(argv: readonly string[], options: StartOptions): Promise<Result> {
  const { cwd, stdin = '', nodeOptions = [] } = options;
  // Whoever runs the tests may have set how they like their colours. Node calls its own SQLite an experiment.
  const env = {
    ...process.env,
    FORCE_COLOR: undefined,
    NO_COLOR: undefined,
    NODE_OPTIONS: undefined,
    NODE_NO_WARNINGS: '1',
    ...options.env,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeOptions, ...argv], {
      cwd,
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, out, err }));
    // A program that does not read its input closes the pipe, and that is its right.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
  });
}
