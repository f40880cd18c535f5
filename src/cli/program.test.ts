import { afterEach, describe, expect, it, vi } from 'vitest';
import { RerailError } from '../errors/rerail-error.ts';
import type { CliIo } from './start/io.ts';
import { runCommandLine } from './program.ts';

interface World extends Partial<Omit<CliIo, 'stdin' | 'stdout' | 'stderr' | 'readFile'>> {
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly files?: Readonly<Record<string, string>>;
  readonly fileError?: Error;
  readonly writeError?: Error;
}

const terminal = { stdin: true, stdout: true, stderr: true };
const pipe = { stdin: false, stdout: false, stderr: false };

/** Runs a command line in a world without a process, and returns what it did to it. */
async function run(argv: readonly string[], world: World = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const { stdin = '', files = {}, fileError, writeError, ...rest } = world;
  const io: CliIo = {
    stdout: {
      write: (text) => {
        if (writeError !== undefined) throw writeError;
        out.push(text);
      },
    },
    stderr: { write: (text) => err.push(text) },
    stdin: () => toChunks(stdin),
    readFile: async function* read(path) {
      if (fileError !== undefined) throw fileError;
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' });
      yield* toChunks(text);
    },
    isTerminal: pipe,
    columns: undefined,
    env: {},
    now: () => Date.parse('2026-01-31T03:00:00Z'),
    folder: '/somewhere',
    home: '/home/someone',
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
    ...rest,
  };
  const exitCode = await runCommandLine(argv, io);
  return { exitCode, out: out.join(''), err: err.join('') };
}

async function* toChunks(input: string | Uint8Array | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (typeof input === 'string') yield Buffer.from(input);
  else if (input instanceof Uint8Array) yield input;
  else yield* input;
}

/** The first words of each line of the report, by label. */
function rowsOf(text: string): Readonly<Record<string, string>> {
  const rows = [...text.matchAll(/^(\w[\w ]{2,9}?) {2,}(.+)$/gm)];
  return Object.fromEntries(rows.map(([, label = '', value = '']) => [label, value]));
}

describe('a wrong command line', () => {
  const refused: [says: string, argv: readonly string[], world?: World][] = [
    ['Unknown command "clasify". Did you mean classify?', ['clasify']],
    ['Unknown command "zzz". Type: rerail --help', ['zzz']],
    ['Unknown command "zzz". Type: rerail --help', ['help', 'zzz']],
    ['Unknown option "--verison". Did you mean --version?', ['--verison']],
    ['Unknown option "--sttus". Did you mean --status?', ['classify', '--sttus', '1']],
    ['Option "--json" takes no value. Type', ['classify', '--json=1']],
    ['Unknown option "--key". Type', ['classify', '--key=hunter2hunter2']],
    ['Option "--status <code>" needs a value. Type', ['classify', '--status']],
    ['--body needs a value, but --json follows it. Type', ['classify', '--body', '--json']],
    ['Too many arguments', ['classify', 'a', 'b']],
    ['Too many arguments', ['tour', 'a']],
    ['Too many arguments for "serve": it takes none.', ['chaos', 'serve', 'a']],
    ['Did you mean --tls? Type: rerail chaos serve --help', ['chaos', 'serve', '--tsl']],
    ['Option "--tls" takes no value. Type: rerail chaos serve --help', ['chaos', 'serve', '--tls=1']],
    ['Unknown option "--x". Type: rerail chaos --help', ['chaos', '--x']],
    ['--status must be a number from 100 to 999, got "99". Type', ['classify', '--status', '99']],
    ['got "1000". Type', ['classify', '--status', '1000']],
    ['got "4e2". Type', ['classify', '--status', '4e2']],
    ['got "<U+001B>[31m429". Type', ['classify', '--status', '\u001b[31m429']],
    ['--header must be one line', ['classify', '--header', 'retry-after 20']],
    ['--header must be one line', ['classify', '--header', 'retry-after:']],
    ['--header must be one line', ['classify', '--header', ': 20']],
    ['--header must be one line', ['classify', '--header', 'a: b\nc: d']],
    ['--now must be a date as in ISO 8601, got "noon". Type', ['classify', '--now', 'noon']],
    ['--now must be a date', ['classify', '--now', '2026-02-30T99:00']],
    ['Two inputs were given', ['classify', 'a.txt', '--file', 'b.txt']],
    [
      'The body comes from two places',
      ['classify', '--body', 'x', 'a.txt'],
      { files: { 'a.txt': '{"a":1}' } },
    ],
    ['The message comes from two places', ['classify', '--message', 'x', '-'], { stdin: 'socket hang up' }],
    ['Standard input is empty', ['classify'], { stdin: ' \n' }],
    ['Standard input is empty', ['classify', '-'], { isTerminal: terminal }],
    ['The file is empty', ['classify', 'a.txt'], { files: { 'a.txt': '' } }],
    ['There is nothing to classify. Type: curl', ['classify'], { isTerminal: terminal }],
    ['There is nothing to classify. Type: curl', ['classify', '--model', 'x'], { isTerminal: terminal }],
    ['There is nothing to classify', ['classify', '--body', ' ']],
    ['Cannot read "none.txt": there is no such file. Give', ['classify', 'none.txt']],
    ['Cannot read "a b": there is no such file. Give', ['classify', 'a\nb']],
    ['it is a directory. Give', ['classify', 'dir'], { fileError: errnoError('EISDIR') }],
    ['you may not read it. Give', ['classify', 'shadow'], { fileError: errnoError('EACCES') }],
    ['Cannot read "odd": EIO. Give', ['classify', 'odd'], { fileError: errnoError('EIO') }],
  ];

  it.each(refused)('is answered by one line: %s', async (says, argv, world) => {
    const { exitCode, out, err } = await run(argv, world);
    expect(err).toContain(says);
    expect(err).toMatch(/^rerail: .+ \(CONFIG_ERROR\)\n$/);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).not.toContain('hunter2');
  });

  it('is answered by what to type here, where the program has another name', async () => {
    const { err } = await run(['chaos', '--x'], { command: 'npx rerail' });
    expect(err).toContain('Type: npx rerail chaos --help');
  });
});

describe('a defect of our own', () => {
  const writeError = new TypeError('broken');

  it('ends with one line, the code and exit code 70', async () => {
    const { exitCode, err } = await run(['tour'], { writeError });
    expect(exitCode).toBe(70);
    expect(err).toBe(
      'rerail: TypeError: broken. This is a defect in rerail. docs/cli.md says how to report it, under "If rerail itself fails" (INTERNAL)\n',
    );
  });

  it('shows its stack only where RERAIL_DEBUG=1 asks for it', async () => {
    const { err } = await run(['tour'], { writeError, env: { RERAIL_DEBUG: '1' } });
    expect(err).toContain('\n  at ');
  });

  it('is not taken for an unreadable file', async () => {
    const { exitCode } = await run(['classify', 'x'], { fileError: writeError });
    expect(exitCode).toBe(70);
  });
});

describe('rerail classify', () => {
  const response =
    'HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\n\r\n{"error":{"message":"slow down"}}';

  it('reads no more than 1 MB of an endless source, says so, and closes it', async () => {
    let pieces = 0;
    let isClosed = false;
    async function* endless(): AsyncIterable<Uint8Array> {
      try {
        for (;;) {
          pieces += 1;
          yield Buffer.from('connection reset by peer\n'.repeat(4000));
        }
      } finally {
        isClosed = true;
      }
    }
    const { exitCode, err } = await run(['classify'], { stdin: endless() });
    expect({ exitCode, isClosed, pieces }).toEqual({ exitCode: 0, isClosed: true, pieces: 11 });
    expect(err).toBe('rerail: Only the first 1 MB of standard input was read; the rest was left out.\n');
  });

  it('bears bytes that are no text', async () => {
    const stdin = Uint8Array.from({ length: 4096 }, (_, index) => (index * 167) % 256);
    const { exitCode, out } = await run(['classify'], { stdin });
    expect(exitCode).toBe(0);
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('reads UTF-16 as PowerShell writes it', async () => {
    const stdin = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(response, 'utf16le')]);
    expect((await run(['classify'], { stdin })).out).toContain('RATE_LIMITED');
  });

  it('says the same for a pipe, a file and flags', async () => {
    const flags = [
      '--status',
      '429',
      '--header',
      'Retry-After: 20',
      '--body',
      '{"error":{"message":"slow down"}}',
    ];
    const outputs = await Promise.all([
      run(['classify'], { stdin: response }),
      run(['classify', '-'], { stdin: response }),
      run(['classify', 'a.txt'], { files: { 'a.txt': response } }),
      run(['classify', '--file', 'a.txt'], { files: { 'a.txt': response } }),
      run(['classify', ...flags]),
    ]);
    expect(new Set(outputs.map(({ out }) => out)).size).toBe(1);
    expect(rowsOf(outputs[0].out)).toMatchObject({
      retry: 'yes, the same request may succeed later',
      wait: '20 s (20000 ms), read from the header retry-after',
      answer: 'HTTP 429 to your own client',
      'exit code': '12',
      provider: 'status 429',
    });
  });

  it('shows why, the hint, the provider and a wait that cannot be believed', async () => {
    const argv = ['classify', '--provider', 'openai', '--model', 'gpt-5.2', '--status', '401'];
    const { out } = await run([...argv, '--header', 'retry-after: soon', '--header', 'x-request-id: req_1']);
    expect(rowsOf(out)).toMatchObject({
      why: 'the status is 401 (classified by status)',
      severity: 'critical',
      retry: 'no, the same request would fail again',
      wait: 'ignored (implausible value): the header retry-after is "soon"',
      hint: 'Check OPENAI_API_KEY: is it set, complete, and still valid?',
      provider: 'openai, model gpt-5.2, status 401, request req_1',
    });
  });

  it('measures an HTTP date against --now, else against the clock', async () => {
    const argv = ['classify', '--status', '503', '--header', 'retry-after: Sat, 31 Jan 2026 03:01:00 GMT'];
    expect(rowsOf((await run(argv)).out)['wait']).toContain('(60000 ms)');
    const inHalf = await run([...argv, '--now', '2026-01-31T03:00:30Z']);
    expect(rowsOf(inHalf.out)['wait']).toContain('(30000 ms)');
  });

  it('does not wait for standard input where the flags hold the text', async () => {
    async function* never(): AsyncIterable<Uint8Array> {
      await new Promise(() => undefined);
      yield new Uint8Array();
    }
    const { out } = await run(['classify', '--message', 'socket hang up'], { stdin: never() });
    expect(out).toMatch(/^NETWORK_ERROR\n/);
  });

  it('takes a body from standard input beside a status from a flag', async () => {
    const stdin = '{"error":{"code":"insufficient_quota"}}';
    expect((await run(['classify', '--status', '429'], { stdin })).out).toMatch(/^QUOTA_EXCEEDED\n/);
  });

  it('is content with a status where standard input is empty', async () => {
    expect((await run(['classify', '--status', '529'], { stdin: '' })).exitCode).toBe(0);
  });

  it('ends with the exit code of the failure where --exit-code asks for it', async () => {
    expect((await run(['classify', '--status', '401'])).exitCode).toBe(0);
    expect((await run(['classify', '--status', '401', '--exit-code'])).exitCode).toBe(10);
  });

  it('prints one JSON object with stable keys that reads back as the same failure', async () => {
    const { out } = await run(['classify', '--json'], { stdin: response });
    expect(out.indexOf('\n')).toBe(out.length - 1);
    const report = JSON.parse(out) as Readonly<Record<string, unknown>>;
    expect(Object.keys(report)).toEqual(['failure', 'severity', 'httpStatus', 'exitCode', 'messages']);
    expect(Object.keys(report['messages'] as object)).toEqual(['person', 'model', 'developer']);
    const error = RerailError.fromJSON(report['failure']);
    expect(error.failure).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 20_000 });
    expect(JSON.parse(JSON.stringify(error))).toEqual(report['failure']);
  });

  it('never lets a payload steer the terminal', async () => {
    const stdin = JSON.stringify({ error: { message: 'a\u001b]52;c;eA==\u0007\u202eb\u009b2Jc\nHINT: no' } });
    const [text, json] = await Promise.all([
      run(['classify', '--status', '500'], { stdin }),
      run(['classify', '--status', '500', '--json'], { stdin }),
    ]);
    expect(text.out).toContain('<U+001B>]52;c;eA==<U+0007><U+202E>b<U+009B>2Jc HINT: no');
    expect(text.out + json.out).not.toMatch(/[^\n\u0020-\u007e]/);
  });
});

describe('the note about standard input', () => {
  afterEach(() => vi.useRealTimers());

  it('informs a person, and only a person, that it is being read', async () => {
    vi.useFakeTimers();
    const slow = (): AsyncIterable<Uint8Array> => later(5000, '{"error":{}}');
    const person = run(['classify'], { stdin: slow(), isTerminal: { ...pipe, stderr: true } });
    const script = run(['classify'], { stdin: slow() });
    await vi.advanceTimersByTimeAsync(6000);
    expect((await person).err).toBe('rerail: Reading standard input; Ctrl-D ends it.\n');
    expect((await script).err).toBe('');
  });
});

describe('help and version', () => {
  it('shows the commands where nothing is typed', async () => {
    const { exitCode, out } = await run([]);
    expect(exitCode).toBe(0);
    expect(out).toContain('classify');
    expect(out).toContain('tour');
    expect(out).toBe((await run(['--help'])).out);
  });

  it('shows every option and examples that work', async () => {
    const { exitCode, out } = await run(['classify', '--help']);
    expect(exitCode).toBe(0);
    const examples = [...out.matchAll(/^ {2}(?:curl .*\| )?rerail (classify.*)$/gm)].map(
      ([, line]) => line ?? '',
    );
    expect(examples).toHaveLength(6);
    const world = { stdin: 'HTTP/2 401\n\n', files: { 'response.txt': 'HTTP/2 401\n\n' } };
    for (const example of examples) {
      const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? '',
      );
      expect((await run(argv, world)).err).toBe('');
    }
  });

  it('fits 80 columns', async () => {
    const outputs = await Promise.all([run(['--help']), run(['classify', '--help'])]);
    const lines = outputs.flatMap(({ out }) => out.split('\n'));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it.each([['chaos'], ['chaos', '--help'], ['help', 'chaos']])(
    'shows the commands of a word that is none by itself: %s %s',
    async (...argv) => {
      const { exitCode, out } = await run(argv.filter((word) => word !== undefined));
      expect(exitCode).toBe(0);
      expect(out).toContain('Usage: rerail chaos <command>');
      expect(out).toContain('chaos serve');
      expect(out).not.toContain('classify');
    },
  );

  it('prints the version', async () => {
    expect(await run(['--version'])).toEqual({ exitCode: 0, out: '1.2.3\n', err: '' });
  });
});

function errnoError(code: string): Error {
  return Object.assign(new Error(`${code}: refused`), { code });
}

async function* later(delayMs: number, text: string): AsyncIterable<Uint8Array> {
  await new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
  yield Buffer.from(text);
}
