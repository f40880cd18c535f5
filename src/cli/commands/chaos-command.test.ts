import { describe, expect, it } from 'vitest';
import { ask } from '../../../test/chaos/bare-client.ts';
import { question } from '../../../test/chaos/bodies.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { runChaosFaults, serveChaos } from './chaos-command.ts';
import { chaosFaultsSpec, chaosServeSpec } from '../specs/chaos-spec.ts';
import type { CliIo } from '../start/io.ts';
import { parseCommandLine } from '../start/parse-command-line.ts';

interface World {
  readonly files?: Readonly<Record<string, string>>;
  /** What somebody does while the server runs. */
  readonly meanwhile?: (url: string) => Promise<unknown>;
}

/** Runs a command line until its server is interrupted. */
async function run(argv: readonly string[], { files = {}, meanwhile }: World = {}) {
  const out: string[] = [];
  let exitCode: number | undefined;
  const io: CliIo = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: () => undefined },
    stdin: () => chunks(''),
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' });
      return chunks(text);
    },
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    env: {},
    now: () => 0,
    folder: '/somewhere',
    home: '/home/someone',
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
  };
  const interrupted = async (): Promise<void> => {
    await meanwhile?.(/https?:\/\/127\.0\.0\.1:\d+/.exec(out.join(''))?.[0] ?? '');
  };
  const perform = async (): Promise<void> => {
    const asked = parseCommandLine(['chaos', ...argv], [chaosServeSpec, chaosFaultsSpec]);
    if (asked.type !== 'command') throw new Error(`Not a command: ${asked.type}`);
    const { given, spec } = asked;
    exitCode =
      spec === chaosServeSpec
        ? await serveChaos(given.flags, io, interrupted)
        : await runChaosFaults(given, io);
  };
  const error: unknown = await perform().catch((thrown: unknown) => thrown);
  return { out: out.join(''), exitCode, error };
}

async function* chunks(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

const post = (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const { path, body } = question('openai-chat');
  return ask(url + path, { body, headers }).done;
};

describe('rerail chaos serve refuses', () => {
  const files = { 'bad.json': '[oops', 'text.json': '"x"', 'fault.json': '["overloded"]' };
  it.each<[string, readonly string[]]>([
    ['--port must be a whole number from 0 to 65535, got "x"', ['--port', 'x']],
    ['--seed must be a whole number', ['--seed', '-1']],
    ['--rate must be from 0 to 1, got "30"', ['--rate', '30']],
    ['--host "0.0.0.0" can be reached by other machines', ['--host', '0.0.0.0']],
    ['--host "127.evil.example" can be reached', ['--host', '127.evil.example']],
    ['There is no fault "overloded"; did you mean overloaded?', ['--faults', 'overloded']],
    ['There is no fault "overloded"', ['--script', 'fault.json']],
    ['"bad.json" is not JSON', ['--script', 'bad.json']],
    ['must hold a list of faults', ['--script', 'text.json']],
    ['Cannot read "none.json": there is no such file', ['--script', 'none.json']],
    ['--rate and --faults cannot be given with it', ['--script', 'fault.json', '--rate', '1']],
  ])('%s', async (message, argv) => {
    const { error } = await run(['serve', ...argv], { files });
    expect(RerailError.isInstance(error) && error.code).toBe('CONFIG_ERROR');
    expect((error as Error).message).toContain(message);
  });

  it('a script that cannot be read, and speaks of scripts', async () => {
    const { error } = await run(['serve', '--script', 'none.json']);
    expect(RerailError.isInstance(error) && error.failure.hint).toBe(
      'Give a JSON file such as: ["overloaded", null]',
    );
  });

  it.each(['serve', 'faults'])('a word too many for %s', async (command) => {
    const { error, out } = await run([command, 'extra']);
    expect((error as Error).message).toContain('Too many arguments');
    expect(out).toBe('');
  });
});

describe('rerail chaos serve', () => {
  it('says where it listens, what each request came to, and a summary', async () => {
    const { out, exitCode } = await run(['serve', '--faults', 'overloaded', '--rate', '1'], {
      meanwhile: async (url) => {
        await post(url);
        await post(url, { 'x-rerail-fault': 'reset-mid-stream' });
      },
    });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/OpenAI +http:\/\/127\.0\.0\.1:\d+\/v1\n/);
    expect(out).toMatch(/export ANTHROPIC_BASE_URL=http/);
    expect(out).toMatch(/#1 openai-chat chaos-large stream 503 \d+ bytes finished fault overloaded\n/);
    expect(out).toMatch(/#2 .* reset-by-us fault reset-mid-stream\n/);
    expect(out).toContain('2 requests, at most 1 at once; 2 of 2 faults delivered.');
  });

  it('prints JSON lines, and follows a script from a file', async () => {
    const files = { 'faults.json': '[{"name":"status","status":418}, null]' };
    const { out } = await run(['serve', '--script', 'faults.json', '--json'], {
      files,
      meanwhile: async (url) => {
        await post(url);
        await post(url);
      },
    });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ type }) => type)).toEqual(['listening', 'request', 'request', 'summary']);
    expect(lines[1]).toMatchObject({ status: 418, faultDelivered: 'status' });
    expect(lines[2]).toMatchObject({ status: 200 });
    expect(lines[3]).toMatchObject({ requests: 2, faultsDelivered: 1 });
  });

  it('serves https', async () => {
    const { out } = await run(['serve', '--tls', '--seed', '3', '--port', '0', '--host', '127.0.0.1']);
    expect(out).toMatch(/listens on https:/);
    expect(out).toMatch(/curl -sk https:\S+\/__chaos\/certificate > chaos\.pem/);
  });

  it('gives its certificate to programs', async () => {
    const { out } = await run(['serve', '--tls', '--json']);
    expect(JSON.parse(out.split('\n', 1)[0] ?? '')).toMatchObject({
      certificate: expect.stringContaining('BEGIN CERTIFICATE') as string,
    });
  });

  it('does not call a refusal a good answer', async () => {
    const { out } = await run(['serve'], {
      meanwhile: (url) => ask(`${url}/v1/chat/completions`, { body: {} }).done,
    });
    expect(out).toMatch(/#1 openai-chat - whole 400 \d+ bytes finished refused: no provider would take/);
    expect(out).toContain('\n1 request, at most 1 at once');
  });

  it('shows nothing that a terminal would obey', async () => {
    const { out } = await run(['serve'], {
      meanwhile: (url) => ask(`${url}/v1/chat/completions`, { body: { model: '\u001b[2J\u202eevil' } }).done,
    });
    expect(out).not.toContain('\u001b');
    expect(out).not.toContain('\u202e');
  });
});

describe('rerail chaos', () => {
  it('refuses a command that it does not know', async () => {
    expect(((await run(['sevre'])).error as Error).message).toBe('Unknown command "sevre"');
  });
});

describe('rerail chaos faults', () => {
  it('lists every fault with one line', async () => {
    const { out } = await run(['faults']);
    expect(out).toMatch(/^rate-limit +Too many requests/m);
    expect(out).toMatch(/^tls-handshake-cut +Breaks/m);
    const json = JSON.parse((await run(['faults', '--json'])).out) as { faults: Record<string, unknown> };
    expect(json.faults['rate-limit']).toMatchObject({ group: 'refusal' });
  });
});
