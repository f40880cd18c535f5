import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/system.ts';
import type { Transport, TransportRequest } from '../../providers/http/transport.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { checkKeys, checkLocal, findKeys, findLocalServers, reachProviders } from './doctor-providers.ts';

const secret = 'sk-ant-api03-veryverysecretvalue';

describe('findKeys() finds what is wrong with a key, and shows none', () => {
  it.each([
    { what: 'a line break', env: { ANTHROPIC_API_KEY: `${secret}\n` }, says: /ends in a line break/ },
    { what: 'quotes', env: { ANTHROPIC_API_KEY: `"${secret}"` }, says: /has quotes around it/ },
    { what: 'the key of another', env: { OPENAI_API_KEY: secret }, says: /begins with "sk-ant-"/ },
    { what: 'a placeholder', env: { GROQ_API_KEY: 'your-api-key' }, says: /is a placeholder/ },
    { what: 'no address', env: { AZURE_OPENAI_API_KEY: 'abc123' }, says: /azure has no address/ },
  ])('$what', ({ env, says }) => {
    const checks = checkKeys(findKeys(env));
    expect(checks).toHaveLength(1);
    expect(checks[0]).toMatchObject({ status: 'failure', failure: { code: 'PROVIDER_NOT_CONFIGURED' } });
    expect(checks[0]?.text).toMatch(says);
    expect(JSON.stringify(checks)).not.toContain('veryverysecret');
  });

  it('and names those that are set, besides the wrong one', () => {
    const checks = checkKeys(
      findKeys({ ANTHROPIC_API_KEY: secret, GOOGLE_API_KEY: 'AIzaX', XAI_API_KEY: 'a b' }),
    );
    expect(checks.map(({ status }) => status)).toEqual(['ok', 'failure']);
    expect(checks[0]?.text).toBe('ANTHROPIC_API_KEY, GOOGLE_API_KEY set');
    expect(JSON.stringify(checks)).not.toContain('veryverysecret');
  });

  it('or that none is set; an empty one is none', () => {
    const [check] = checkKeys(findKeys({ OPENAI_API_KEY: ' ' }));
    expect(check).toMatchObject({ status: 'ok', text: 'None is set.' });
  });
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly date?: string;
}

function answering({ status, body, date }: Answer, seen: TransportRequest[] = []): Transport {
  return {
    send: (request, { onConnected }) => {
      seen.push(request);
      onConnected();
      const headers = { 'content-type': 'application/json', ...(date === undefined ? {} : { date }) };
      return Promise.resolve({ status, headers, body: once(body), discard: () => undefined });
    },
  };
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

const noModel = {
  status: 404,
  body: '{"error":{"message":"The model does not exist","code":"model_not_found"}}',
};
const env = { ANTHROPIC_API_KEY: secret, OPENAI_API_KEY: 'sk-proj-abc' };
const asked = (transport: Transport): Parameters<typeof reachProviders>[1] => ({
  env,
  clock: systemClock,
  signal: new AbortController().signal,
  transport,
});

describe('reachProviders()', () => {
  it.each([
    { what: 'a key that is refused', status: 401, code: 'AUTHENTICATION_ERROR', is: 'failure' },
    { what: 'an account without money', status: 402, code: 'QUOTA_EXCEEDED', is: 'failure' },
  ])('finds $what', async ({ status, code, is }) => {
    const { checks } = await reachProviders(findKeys(env), asked(answering({ status, body: '{}' })));
    expect(checks.map((check) => check.status)).toEqual([is, is]);
    expect(checks[0]?.failure?.code).toBe(code);
    expect(JSON.stringify(checks)).not.toContain('veryverysecret');
  });

  it('warns of a provider that is busy', async () => {
    const { checks } = await reachProviders(findKeys(env), asked(answering({ status: 529, body: '{}' })));
    expect(checks.map((check) => check.status)).toEqual(['warning', 'warning']);
  });

  it('takes "no such model" for a yes, asks each once, and at its own host only', async () => {
    const seen: TransportRequest[] = [];
    const { checks } = await reachProviders(findKeys(env), asked(answering(noModel, seen)));
    expect(checks.map((check) => check.status)).toEqual(['ok', 'ok']);
    expect(checks[0]?.text).toMatch(/^anthropic answers in \d+ ms, and took the key$/);
    expect(seen.map(({ url }) => new URL(url).host).toSorted()).toEqual([
      'api.anthropic.com',
      'api.openai.com',
    ]);
  });

  it('gives up on a silent one after three seconds', async () => {
    const clock = simulatedClock();
    const silent: Transport = { send: () => new Promise(() => undefined) };
    const reaching = reachProviders(findKeys(env), { ...asked(silent), clock });
    const { checks } = await clock.runUntil(reaching, { maxMs: 10_000 });
    expect(checks.map(({ failure }) => failure?.code)).toEqual(['TIMEOUT', 'TIMEOUT']);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(3000);
  });

  it('notes what time it is there', async () => {
    const date = 'Sun, 15 Nov 2026 12:00:00 GMT';
    const { times } = await reachProviders(findKeys(env), asked(answering({ ...noModel, date })));
    expect(times).toHaveLength(2);
    expect(times[0]).toMatchObject({ provider: 'anthropic', serverMs: Date.UTC(2026, 10, 15, 12) });
  });

  it('sends no key where it does not know the host, or where the key cannot be one', async () => {
    const seen: TransportRequest[] = [];
    const odd = {
      AZURE_OPENAI_API_KEY: 'abc123',
      AZURE_OPENAI_ENDPOINT: 'https://evil.example/azure.com',
      OLLAMA_API_KEY: 'abc123',
      GROQ_API_KEY: secret,
    };
    const options = { ...asked(answering(noModel, seen)), env: odd };
    const { checks } = await reachProviders(findKeys(odd), options);
    expect(seen).toEqual([]);
    expect(checks).toMatchObject([
      { status: 'warning', text: expect.stringMatching(/^azure: not asked/) as string },
    ]);
  });

  it.each([
    { what: 'a variable', own: {}, set: { OPENAI_BASE_URL: 'https://a.example/v1' }, host: 'a.example' },
    {
      what: 'a setting',
      own: { addresses: new Map([['openai', { url: 'https://b.example/v1', from: 'flag --base-url' }]]) },
      set: { OPENAI_BASE_URL: 'https://a.example/v1' },
      host: 'b.example',
    },
  ])('asks where $what says, and takes a path that is not there for no yes', async ({ own, set, host }) => {
    const seen: TransportRequest[] = [];
    const elsewhere = { OPENAI_API_KEY: 'sk-proj-abc', ...set };
    const options = { ...asked(answering({ status: 404, body: '' }, seen)), env: elsewhere, ...own };
    const { checks } = await reachProviders(findKeys(elsewhere), options);
    expect(seen.map(({ url }) => new URL(url).host)).toEqual([host]);
    expect(checks).toMatchObject([{ status: 'failure', failure: { code: 'MODEL_NOT_FOUND' } }]);
    expect(checks[0]?.failure?.hint).toContain(`https://${host}/v1/responses is not there`);
  });

  it('ends when it is interrupted', async () => {
    const silent: Transport = { send: () => new Promise(() => undefined) };
    const controller = new AbortController();
    const reaching = reachProviders(findKeys(env), { ...asked(silent), signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(reaching).rejects.toThrow('enough');
  });
});

describe('findLocalServers()', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  async function serve(body: string): Promise<number> {
    const server = createServer((_request, response) => response.end(body));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  it('finds every server that speaks the protocol, and no other', async () => {
    const ports = [
      { provider: 'vllm', port: await serve('{"data":[{"id":"qwen3"}]}') },
      { provider: 'lmstudio', port: await serve('<html>hello</html>') },
      { provider: 'ollama', port: await serve('{"data":[{"id":"llama4"}]}') },
    ];
    const found = await findLocalServers(ports);
    expect(found.map(({ provider, model }) => `${provider}:${model}`)).toEqual([
      'vllm:qwen3',
      'ollama:llama4',
    ]);
    expect(checkLocal(found).text).toBe(
      `vllm:qwen3 at 127.0.0.1:${ports[0]?.port}, ollama:llama4 at 127.0.0.1:${ports[2]?.port}`,
    );
  });

  it('says where it looked in vain', () => {
    expect(checkLocal([])).toMatchObject({ status: 'ok', text: 'No server on port 11434, 1234, 8080, 8000' });
  });
});
