import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundle } from '../scripts/bundle.mjs';
import { RerailError } from '../src/errors/rerail-error.ts';

// The real program over real pipes. It lies inside the project, so that its dependency is found, and beside a copy of
// the manifest, as in the published package.
const root = path.resolve(import.meta.dirname, '..');
const manifest = { exports: {}, bin: { rerail: 'dist/cli/main.js' } };
let folder = '';
let main = '';

// A busy machine starts processes slowly.
vi.setConfig({ testTimeout: 30_000 });

beforeAll(async () => {
  const cache = path.join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(path.join(cache, 'rerail-cli-test-'));
  main = path.join(folder, 'dist', 'cli', 'main.js');
  await bundle(manifest, { folder: path.join(folder, 'dist') });
  await copyFile(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  await writeFile(path.join(folder, 'response.txt'), response);
}, 60_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const body = '{"error":{"message":"Slow down, please.","type":"requests","code":"rate_limit_exceeded"}}';
const response = `HTTP/1.1 100 Continue\r\n\r\nHTTP/2 429 \r\ncontent-type: application/json\r\nretry-after: 20\r\n\r\n${body}`;

describe('a wrong command line', () => {
  it.concurrent.each([
    ['an unknown command', ['clasify'], 'Did you mean classify?'],
    ['an unknown option', ['classify', '--sttus', '1'], 'Did you mean --status?'],
    ['a missing value', ['classify', '--status'], 'needs a value'],
    ['a status that is none', ['classify', '--status', 'abc'], 'from 100 to 999'],
    ['a header without a colon', ['classify', '--header', 'retry-after'], '--header must be'],
    ['a date that is none', ['classify', '--now', 'noon'], 'ISO 8601'],
    ['two sources', ['classify', 'response.txt', '--body', 'x'], 'two places at once'],
    ['empty input', ['classify'], 'Standard input is empty'],
    ['a missing file', ['classify', 'none.txt'], 'there is no such file'],
    ['a directory', ['classify', 'dist'], 'it is a directory'],
  ])('ends %s with one line and exit code 2', async (_name, argv, says) => {
    const { exitCode, out, err } = await run(argv);
    expect(err).toContain(says);
    expect(err).toMatch(/^rerail: .+ \(CONFIG_ERROR\)\n$/);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  });

  it.concurrent('is empty input where standard input is closed', async () => {
    const { exitCode, err } = await runShell('exec "$NODE" "$MAIN" classify <&-');
    expect(err).toMatch(/^rerail: Standard input is empty.+\n$/);
    expect(exitCode).toBe(2);
  });
});

describe('a broken world', () => {
  it.concurrent('gives one line with INTERNAL for a defect of our own', async () => {
    // Only for what we write: Node's own loader uses it too.
    const defect =
      'data:text/javascript,const s=JSON.stringify;JSON.stringify=(...g)=>{const t=s(...g);if(typeof t==="string"&&t.includes("classifiedBy"))throw new TypeError("broken");return t}';
    const { exitCode, out, err } = await run(['classify', '--json', '--status', '429'], {
      nodeOptions: ['--import', defect],
    });
    expect(err).toMatch(/^rerail: TypeError: broken\. .*docs\/cli\.md.* \(INTERNAL\)\n$/);
    expect({ exitCode, out }).toEqual({ exitCode: 70, out: '' });
  });

  it.concurrent('ends quietly when nobody reads on', async () => {
    const { exitCode, err } = await run(['tour'], { isReaderGone: true });
    expect({ exitCode, err }).toEqual({ exitCode: 141, err: '' });
  });

  it.concurrent('ends in time with an endless input', async () => {
    const { exitCode, out, err } = await runShell('yes | "$NODE" "$MAIN" classify --json');
    expect(err).toBe('rerail: Only the first 1 MB of standard input was read; the rest was left out.\n');
    expect(JSON.parse(out)).toMatchObject({ failure: { failure: { code: 'UNKNOWN' } } });
    expect(exitCode).toBe(0);
  });

  it.concurrent('does not wait for a pipe that stays open, where the flags hold the text', async () => {
    const { exitCode, out } = await run(['classify', '--body', body], { isStdinOpen: true });
    expect(out).toMatch(/^RATE_LIMITED\n/);
    expect(exitCode).toBe(0);
  });
});

describe('rerail classify', () => {
  it.concurrent('says the same for a pipe, a file and flags', async () => {
    const flags = ['--status', '429', '--header', 'retry-after: 20', '--body', body];
    const results = await Promise.all([
      run(['classify'], { stdin: response }),
      run(['classify', 'response.txt']),
      run(['classify', ...flags]),
    ]);
    expect(new Set(results.map(({ out }) => out)).size).toBe(1);
    expect(results[0].out).toMatch(/^RATE_LIMITED\n/);
    expect(results[0].out).toContain('20 s (20000 ms), read from the header retry-after');
    expect(results.map(({ err, exitCode }) => err + exitCode)).toEqual(['0', '0', '0']);
  });

  it.concurrent('prints JSON that comes back as the same error', async () => {
    const { out, exitCode } = await run(['classify', '--json', '--exit-code'], { stdin: response });
    const report = JSON.parse(out) as { readonly failure: unknown; readonly exitCode: number };
    const error = RerailError.fromJSON(report.failure);
    expect(error).toMatchObject({ name: 'ModelError', code: 'RATE_LIMITED', retryable: true });
    expect(JSON.parse(JSON.stringify(error))).toEqual(report.failure);
    expect(exitCode).toBe(report.exitCode);
  });

  it.concurrent('never prints a secret, whatever it was given', async () => {
    const secret = ['sk', 'proj', 'Zx81kQ0vB7mW4nT2rY9cL5dH3jF6gS1a'].join('-');
    const headers = `authorization: Bearer ${secret}\r\nx-api-key: ${secret}\r\nx-request-id: ${secret}\r\nretry-after: ${secret}`;
    const stdin = `HTTP/1.1 401 Unauthorized\r\n${headers}\r\n\r\n{"error":{"message":"Incorrect API key provided: ${secret}."}}`;
    const results = await Promise.all([
      run(['classify'], { stdin }),
      run(['classify', '--json'], { stdin }),
      run(['classify', '--message', `Headers.append: "Bearer ${secret}" is an invalid header value.`]),
      run(['classify', '--header', `x-api-key ${secret}`]),
      run(['classify', `--api-key=${secret}`]),
      run([secret]),
      run(['classify', `${secret}.txt`]),
    ]);
    for (const { out, err } of results) {
      expect(out + err).not.toBe('');
      expect(out + err).not.toContain('Zx81kQ0v');
    }
  });
});

describe('rerail tour', () => {
  it.concurrent('needs no key, no network and no terminal', async () => {
    const { exitCode, out, err } = await run(['tour']);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toContain('QUOTA_EXCEEDED');
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(out).not.toContain('\u001b');
  });

  it.concurrent('ends with commands that work as they stand', async () => {
    const lines = (await run(['tour'])).out.trimEnd().split('\n').slice(-3);
    const results = await Promise.all(
      lines.map((line) => runShell(line.replace(/curl .*\|/, 'cat response.txt |'))),
    );
    expect(results.map(({ exitCode, err }) => err + String(exitCode))).toEqual(['0', '0', '0']);
  });

  it.concurrent('shows recoveries in gold where colour is forced', async () => {
    const { out } = await run(['tour'], { env: { FORCE_COLOR: '1' } });
    expect(out).toContain('\u001b[38;5;178mRetry in 40 s, as asked.\u001b[0m');
    expect(out).toContain('\u001b[31mQUOTA_EXCEEDED\u001b[0m');
  });
});

describe('rerail --version', () => {
  it.concurrent('prints the version of the manifest', async () => {
    const { out } = await run(['--version']);
    expect(out).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });
});

interface Options {
  readonly stdin?: string;
  readonly isStdinOpen?: boolean;
  readonly isReaderGone?: boolean;
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Result {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process that hangs is ended, and its exit code is then null. */
const timeoutMs = 15_000;

function run(argv: readonly string[], options: Options = {}): Promise<Result> {
  const { nodeOptions = [], ...rest } = options;
  return collect([process.execPath, ...nodeOptions, main, ...argv], rest);
}

function runShell(script: string): Promise<Result> {
  return collect(['sh', '-c', script], { env: { NODE: process.execPath, MAIN: main } });
}

function collect([file = '', ...argv]: readonly string[], options: Options): Promise<Result> {
  // Whoever runs the tests may have set how they like their colours.
  const unset = { FORCE_COLOR: undefined, NO_COLOR: undefined, NODE_OPTIONS: undefined };
  const env = { ...process.env, ...unset, ...options.env };
  return new Promise((resolve, reject) => {
    const child = spawn(file, argv, { cwd: folder, env, timeout: timeoutMs, killSignal: 'SIGKILL' });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('error', reject);
    child.on('close', (exitCode) => {
      child.stdin.destroy();
      resolve({ exitCode, out, err });
    });
    // A program that does not read its input closes the pipe, and that is its right.
    child.stdin.on('error', () => undefined);
    if (options.isReaderGone === true) child.stdout.destroy();
    if (options.isStdinOpen !== true) child.stdin.end(options.stdin ?? '');
  });
}
