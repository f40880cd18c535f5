import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startChaosServer } from '../../src/chaos/server.ts';
import type { ChaosServer } from '../../src/chaos/server.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine, Result } from './command-line.ts';

// Survival row U05 on the real command line: a wrong address, model or key ends in a line that says what to type.

let program: CommandLine;
let folder: string;
let chaos: ChaosServer;
/** Like most servers it knows its own paths only; the chaos server itself answers below every path. */
let gate: Server;
let chatGate: Server;

beforeAll(async () => {
  program = await buildCommandLine();
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-base-url-test-'));
  await mkdir(path.join(folder, 'project'));
  chaos = await startChaosServer();
  gate = await startGate((at) => at.startsWith('/v1/'));
  chatGate = await startGate((at) => at === '/v1/chat/completions');
}, 60_000);

beforeEach(() => {
  chaos.setFaults(undefined);
  chaos.reset();
});

afterAll(async () => {
  gate.close();
  chatGate.close();
  await chaos.close();
  await program.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Hands on to the chaos server what it knows; `/page` is a page for people, `/silent` says nothing, the rest is not there. */
async function startGate(isKnown: (pathname: string) => boolean): Promise<Server> {
  const server = createServer((incoming, response) => {
    const { url = '/', method, headers } = incoming;
    if (url.startsWith('/page')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
      return;
    }
    if (url.startsWith('/silent')) {
      response.writeHead(404).end();
      return;
    }
    if (!isKnown(url.split('?', 1)[0] ?? '')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
      return;
    }
    const handedOn = sendRequest(`${chaos.url}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(handedOn);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** `{gate}` and `{chat}` stand for their addresses, which are known only when they listen. */
function filled(text: string): string {
  return text.replaceAll('{gate}', originOf(gate)).replaceAll('{chat}', originOf(chatGate));
}

type Env = Readonly<Record<string, string>>;

/** Nothing of whoever runs the tests: neither keys nor settings. */
function rerail(argv: readonly string[], env: Env = {}): Promise<Result> {
  const own = { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', NODE_NO_WARNINGS: '1' };
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program.main, ...argv.map(filled)],
      {
        cwd: path.join(folder, 'project'),
        env: { ...own, RERAIL_RETRY: 'none', ...given },
        timeout: 40_000,
        killSignal: 'SIGKILL',
      },
      (_error, out, err) => resolve({ exitCode: child.exitCode, out, err }),
    );
    child.stdin?.end();
  });
}

const families = {
  openai: {
    model: 'openai:gpt-5.4',
    key: 'OPENAI_API_KEY',
    variable: 'OPENAI_BASE_URL',
    path: '/v1/responses',
  },
  anthropic: {
    model: 'anthropic:claude-sonnet-5',
    key: 'ANTHROPIC_API_KEY',
    variable: 'ANTHROPIC_BASE_URL',
    path: '/v1/messages',
  },
  vllm: {
    model: 'vllm:qwen3',
    key: 'VLLM_API_KEY',
    variable: 'RERAIL_BASE_URL',
    path: '/v1/chat/completions',
  },
} as const;
type Family = keyof typeof families;

function ask(family: Family, more: readonly string[], env: Env = {}): Promise<Result> {
  const { model, key } = families[family];
  return rerail(['run', 'hi', '--model', model, ...more], { [key]: 'test-key', ...env });
}

/** What the program wrote to a person, on one line. */
const said = ({ err }: Result): string => err.replaceAll(/\s+/g, ' ');

describe('an address that cannot be one is refused before anything is sent', { timeout: 60_000 }, () => {
  it.each([
    { url: 'ftp://127.0.0.1/v1', says: 'begins with "ftp://", which no provider speaks: write "https://"' },
    { url: '127.0.0.1:9/v1', says: 'in front: write it as in "http://127.0.0.1:9/v1"' },
    { url: '{gate}/v1/v1', says: 'has its version twice at the end: write "{gate}/v1"' },
    { url: '{gate}/v1/messages', says: 'which Rerail adds itself: write "{gate}/v1"' },
    { url: 'http://u:p@127.0.0.1/v1', says: 'remove them and set the key in the environment' },
    {
      url: 'http://host.example/v1',
      says: 'would send the key unencrypted over the public network: write "https://"',
    },
  ])('$url', async ({ url, says }) => {
    const result = await ask('anthropic', ['--base-url', url]);
    expect(result).toMatchObject({ exitCode: 2, out: '' });
    expect(said(result)).toContain('--base-url');
    expect(said(result)).toContain(filled(says));
    expect(said(result)).toContain('(CONFIG_ERROR)');
    expect(chaos.requests).toEqual([]);
  });

  it('and so is one without a model, for it does not say whose key goes there', async () => {
    const keys = { ANTHROPIC_API_KEY: 'one', OPENAI_API_KEY: 'two' };
    const several = await rerail(['run', 'hi', '--base-url', '{gate}'], keys);
    expect(several.exitCode).toBe(2);
    expect(said(several)).toContain(
      'ANTHROPIC_API_KEY and OPENAI_API_KEY are set. Name the model, as in --model',
    );
    expect((await rerail(['run', 'hi', '--base-url', '{gate}'])).exitCode).toBe(2);
    expect(chaos.requests).toEqual([]);
  });
});

describe('a wrong address says what was asked, what is likely and what to type', { timeout: 60_000 }, () => {
  it.each([
    {
      what: 'OpenAI, no version',
      family: 'openai' as const,
      url: '{gate}/api',
      exitCode: 14,
      says: [
        '{gate}/api/responses is not there (status 404)',
        'version is probably missing: type --base-url "{gate}/api/v1".',
        'type --base-url "{gate}/v1".',
      ],
    },
    {
      what: 'OpenAI, a wrong path before the version',
      family: 'openai' as const,
      url: '{gate}/wrong/v1',
      exitCode: 14,
      says: [
        '{gate}/wrong/v1/responses is not there',
        'The path "/wrong/v1" is probably wrong: type --base-url "{gate}/v1".',
      ],
    },
    {
      what: 'Anthropic, a wrong path',
      family: 'anthropic' as const,
      url: '{gate}/wrong/',
      exitCode: 14,
      says: ['{gate}/wrong/v1/messages is not there', 'type --base-url "{gate}/v1".'],
    },
    {
      what: 'a server that is OpenAI-compatible, no version',
      family: 'vllm' as const,
      url: '{gate}/api',
      exitCode: 14,
      says: ['{gate}/api/chat/completions is not there', 'type --base-url "{gate}/api/v1".'],
    },
    {
      what: 'OpenAI, a server with Chat Completions only',
      family: 'openai' as const,
      url: '{chat}',
      exitCode: 14,
      says: ['{chat}/v1/responses is not there', 'type --model vllm:gpt-5.4'],
    },
    {
      what: 'OpenAI, a server that gives no reason',
      family: 'openai' as const,
      url: '{gate}/silent/v1',
      exitCode: 14,
      says: ['{gate}/silent/v1/responses is not there', 'type --base-url "{gate}/v1".', '(MODEL_NOT_FOUND)'],
    },
    {
      what: 'OpenAI, a page for people',
      family: 'openai' as const,
      url: '{gate}/page',
      exitCode: 16,
      says: [
        'A web page answered instead of the API',
        'Asked was {gate}/page/responses, by --base-url.',
        '(INVALID_RESPONSE)',
      ],
    },
    {
      what: 'Anthropic, a page for people',
      family: 'anthropic' as const,
      url: '{gate}/page',
      exitCode: 16,
      says: ['Asked was {gate}/page/v1/messages, by --base-url.', 'type --base-url "{gate}/v1".'],
    },
    {
      what: 'OpenAI, no server listens',
      family: 'openai' as const,
      url: 'http://127.0.0.1:9',
      exitCode: 13,
      says: [
        'Nothing listens on 127.0.0.1:9',
        'Asked was http://127.0.0.1:9/v1/responses, by --base-url.',
        '(NETWORK_ERROR)',
      ],
    },
    {
      what: 'Anthropic, a host that is not there',
      family: 'anthropic' as const,
      url: 'https://nobody.invalid',
      exitCode: 13,
      says: [
        'The host "nobody.invalid" could not be looked up',
        'Asked was https://nobody.invalid/v1/messages',
      ],
    },
  ])('$what', async ({ family, url, exitCode, says }) => {
    const result = await ask(family, ['--base-url', url]);
    expect(result).toMatchObject({ exitCode, out: '' });
    for (const words of says) expect(said(result)).toContain(filled(words));
  });

  it('and where it stands, if that was no flag', async () => {
    const result = await ask('openai', [], { OPENAI_BASE_URL: '{gate}/wrong/v1' });
    expect(result.exitCode).toBe(14);
    expect(said(result)).toContain(filled('set OPENAI_BASE_URL to "{gate}/v1".'));
  });
});

describe("a wrong model or key at an address of one's own", { timeout: 60_000 }, () => {
  it.each([
    { model: 'openai:gpt-5.44', key: 'OPENAI_API_KEY', near: '"gpt-5.4"' },
    { model: 'anthropic:claude-sonet-5', key: 'ANTHROPIC_API_KEY', near: '"claude-sonnet-5"' },
  ])('$model: the nearest names are offered, and the run can go on', async ({ model, key, near }) => {
    chaos.setFaults({ script: ['model-not-found'] });
    const result = await rerail(['run', 'hi', '--model', model, '--base-url', '{gate}'], {
      [key]: 'test-key',
    });
    expect(result).toMatchObject({ exitCode: 14, out: '' });
    expect(said(result)).toMatch(new RegExp(`Did you mean .*${near}`));
    expect(said(result)).toContain('(MODEL_NOT_FOUND)');
    expect(said(result)).not.toContain('is not there');
    expect(said(result)).toContain('resume with:');
  });

  it.each([{ family: 'openai' as const }, { family: 'anthropic' as const }])(
    '$family, a wrong key: who was sent it, and which variable to look at',
    async ({ family }) => {
      chaos.setFaults({ script: ['auth'] });
      const result = await ask(family, ['--base-url', '{gate}']);
      expect(result).toMatchObject({ exitCode: 10, out: '' });
      expect(said(result)).toContain(`Check ${families[family].key}`);
      expect(said(result)).toContain(filled('The key was sent to {gate}, by --base-url'));
      expect(said(result)).toContain('(AUTHENTICATION_ERROR)');
      expect(said(result)).not.toContain('test-key');
    },
  );

  it('resumes after a wrong address with the right one', async () => {
    const failed = await ask('openai', ['--base-url', '{gate}/wrong/v1', '--run-id', 'mended']);
    expect(failed.exitCode).toBe(14);
    const argv = ['resume', 'mended', '--model', 'openai:gpt-5.4', '--base-url', '{gate}/v1'];
    const { exitCode, out } = await rerail(argv, { OPENAI_API_KEY: 'test-key' });
    expect({ exitCode, isAnswered: out.length > 0 }).toEqual({ exitCode: 0, isAnswered: true });
  });
});

describe('a right address is taken', { timeout: 60_000 }, () => {
  const urls = ['{gate}', '{gate}/', '{gate}/v1', '{gate}/v1/'];
  const rows = (Object.keys(families) as Family[]).flatMap((family) => urls.map((url) => ({ family, url })));

  it.each(rows)('$family at $url', async ({ family, url }) => {
    const { exitCode, out, err } = await ask(family, ['--base-url', url]);
    expect({ exitCode, isAnswered: out.length > 0 }).toEqual({ exitCode: 0, isAnswered: true });
    expect(err).toContain(filled(`Model: ${families[family].model} at ${url} (--base-url), because`));
    expect(chaos.requests.map((request) => request.path)).toEqual([families[family].path]);
  });

  it.each(rows.filter(({ url }) => !url.endsWith('/')))(
    '$family at $url, from the environment',
    async ({ family, url }) => {
      const { exitCode, err } = await ask(family, [], { [families[family].variable]: url });
      expect(exitCode).toBe(0);
      expect(err).toContain(filled(`at ${url}`));
      expect(err).toContain(`(${families[family].variable})`);
      expect(chaos.requests.map((request) => request.path)).toEqual([families[family].path]);
    },
  );
});

describe('a file of the workspace', { timeout: 60_000 }, () => {
  it('has a say on the address only when it is trusted, and less of one than a flag', async () => {
    const file = path.join(folder, 'project', 'rerail.config.json');
    await writeFile(file, filled('{\n  "model": "openai:gpt-5.4",\n  "baseURL": "{gate}/v1"\n}\n'));
    try {
      const env = { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
      const before = await rerail(['config', '--json'], env);
      expect(before.out).toContain('who is sent your keys');
      expect(originOfBaseURL(before)).toEqual(['http://127.0.0.1:9/v1', 'environment OPENAI_BASE_URL']);
      expect((await rerail(['trust', '--yes'])).exitCode).toBe(0);
      expect(originOfBaseURL(await rerail(['config', '--json'], env))).toEqual([
        filled('{gate}/v1'),
        'rerail.config.json:3',
      ]);
      const { exitCode } = await rerail(['run', 'hi'], env);
      expect({ exitCode, count: chaos.requests.length }).toEqual({ exitCode: 0, count: 1 });
      const typed = await rerail(['config', '--json', '--base-url', '{chat}'], env);
      expect(originOfBaseURL(typed)).toEqual([filled('{chat}'), 'flag --base-url']);
      const other = await rerail(['config', '--json', '--model', 'anthropic:claude-sonnet-5'], {
        ANTHROPIC_API_KEY: 'test-key',
      });
      expect(originOfBaseURL(other)).toEqual(["the provider's own", 'default']);
      expect(other.out).toContain('it is set beside a model of openai');
    } finally {
      await rm(file);
    }
  });

  function originOfBaseURL({ out }: Result): readonly (string | undefined)[] {
    const { settings } = JSON.parse(out) as {
      readonly settings: readonly { readonly path: string; readonly value: string; readonly from: string }[];
    };
    const found = settings.find((setting) => setting.path === 'baseURL');
    return [found?.value, found?.from];
  }
});

describe('rerail doctor', { timeout: 60_000 }, () => {
  it('says where the model is asked', async () => {
    const { out } = await rerail(['doctor', '--model', 'openai:gpt-5.4', '--base-url', '{gate}'], {
      OPENAI_API_KEY: 'test-key',
    });
    expect(out.replaceAll(/\s+/g, ' ')).toContain(filled('openai:gpt-5.4 is asked at {gate}, by --base-url'));
  });

  it.each([
    { url: '{gate}/wrong/v1', exitCode: 14, says: 'set OPENAI_BASE_URL to "{gate}/v1"' },
    { url: '{gate}/v1', exitCode: 0, says: 'openai at {gate}/v1 (OPENAI_BASE_URL) answers in' },
  ])(
    'asks at $url, and tells a key that was taken from a path that is not there',
    async ({ url, exitCode, says }) => {
      chaos.setFaults({ script: ['model-not-found'] });
      const result = await rerail(['doctor', '--online'], {
        OPENAI_API_KEY: 'test-key',
        OPENAI_BASE_URL: url,
      });
      expect(result.exitCode).toBe(exitCode);
      expect(result.out.replaceAll(/\s+/g, ' ')).toContain(filled(says));
    },
  );
});
