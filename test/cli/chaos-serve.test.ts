import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callModel } from '../../src/index.ts';
import type { Model } from '../../src/index.ts';
import { anthropic, embedAll, gemini, groq, openai, openaiEmbedding } from '../../src/providers/index.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// `rerail chaos serve` as a process of its own, and programs that do what it prints.

let program: CommandLine;

beforeAll(async () => {
  program = await buildCommandLine();
}, 60_000);
afterAll(() => program.remove());

interface Served {
  readonly child: ChildProcess;
  readonly text: () => string;
  /** The variables that it says to export. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

async function serve(...flags: readonly string[]): Promise<Served> {
  const child = spawn(process.execPath, [program.main, 'chaos', 'serve', '--port', '0', ...flags], {
    cwd: program.folder,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  while (!text.includes('Ctrl-C')) await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) });
  const pairs = [...text.matchAll(/(\w+_(?:URL|KEY))=(\S+)/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  return {
    child,
    text: () => text,
    environment: Object.fromEntries(pairs) as Record<string, string>, // Texts, by the pattern.
    stop: async () => {
      child.kill('SIGINT');
      await once(child, 'exit', { signal: AbortSignal.timeout(20_000) });
    },
  };
}

const question = { messages: [{ role: 'user', content: 'What is 2 + 2?' }] } as const;

describe('the variables that "rerail chaos serve" prints', () => {
  it.each<readonly [string, (environment: Served['environment']) => Model]>([
    ['openai()', (environment) => openai('gpt-5.2', { environment })],
    ['openai() by its older API', (environment) => openai('gpt-4o', { environment, api: 'chat' })],
    ['anthropic()', (environment) => anthropic('claude-sonnet-5', { environment })],
    ['gemini()', (environment) => gemini('gemini-2.5-flash', { environment })],
  ])('send %s there', async (_name, make) => {
    const served = await serve();
    try {
      const outcome = await callModel(make(served.environment), question);
      expect(outcome).toMatchObject({ type: 'success' });
    } finally {
      await served.stop();
    }
  });

  it('send embeddings there', async () => {
    const { environment, ...served } = await serve();
    try {
      const embedded = await embedAll(openaiEmbedding('m', { environment }), ['a', 'b']);
      expect(embedded).toMatchObject({ type: 'success' });
    } finally {
      await served.stop();
    }
  });
});

describe('the variable with an address', () => {
  const key = {
    OPENAI_API_KEY: 'sk-none',
    ANTHROPIC_API_KEY: 'none',
    GEMINI_API_KEY: 'none',
    GROQ_API_KEY: 'none',
  };

  it.each<readonly [string, (environment: Readonly<Record<string, string>>) => Model, string, RegExp]>([
    [
      'no scheme',
      (environment) => openai('m', { environment }),
      'OPENAI_BASE_URL=llm.example/v1',
      /no "https:/,
    ],
    [
      'another scheme',
      (environment) => openai('m', { environment }),
      'OPENAI_BASE_URL=ftp://a',
      /begins with "ftp/,
    ],
    [
      'a query',
      (environment) => anthropic('m', { environment }),
      'ANTHROPIC_BASE_URL=https://a/?k=1',
      /has a "\?"/,
    ],
    [
      'plain http far away',
      (environment) => gemini('m', { environment }),
      'GOOGLE_GEMINI_BASE_URL=http://a.example',
      /unencrypted/,
    ],
    [
      'no address at all',
      (environment) => groq('m', { environment }),
      'GROQ_BASE_URL=nonsense',
      /no "https:/,
    ],
  ])('that has %s is refused by its name', (...[, make, setting, says]) => {
    const [variable = '', ...value] = setting.split('=');
    const environment = { ...key, [variable]: value.join('=') };
    expect(() => make(environment)).toThrow(new RegExp(`^The address in ${variable} of .*${says.source}`));
  });

  it('gives way to the option, and is absent where it is empty', async () => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = (url) => {
      urls.push(url instanceof Request ? url.url : url.toString());
      return Promise.reject(new TypeError('offline'));
    };
    const far = { ...key, OPENAI_BASE_URL: 'https://gateway.example/v1' };
    const policy = { policy: { retry: 'none' } } as const;
    await callModel(
      openai('m', { environment: far, baseURL: 'https://own.example/v1', fetch }),
      question,
      policy,
    );
    await callModel(openai('m', { environment: far, fetch }), question, policy);
    await callModel(openai('m', { environment: { ...key, OPENAI_BASE_URL: ' ' }, fetch }), question, policy);
    expect(urls).toEqual([
      'https://own.example/v1/responses',
      'https://gateway.example/v1/responses',
      'https://api.openai.com/v1/responses',
    ]);
  });
});
