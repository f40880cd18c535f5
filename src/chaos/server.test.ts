import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, eventsOf, until } from '../../test/chaos/bare-client.ts';
import { question } from '../../test/chaos/bodies.ts';
import { ConfigError } from '../errors/rerail-error.ts';
import type { ChaosModel } from './answering.ts';
import type { ChaosServerOptions } from './options.ts';
import { createSchedule } from './schedule.ts';
import type { FaultSchedule, RequestInfo } from './schedule.ts';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';

const servers: ChaosServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: ChaosServerOptions = {}): Promise<ChaosServer> {
  const server = await startChaosServer(options);
  servers.push(server);
  return server;
}

function post(server: ChaosServer, headers: Readonly<Record<string, string>> = {}) {
  const { path, body } = question('openai-chat', { isStream: false, hasTools: false });
  return ask(server.url + path, { body, headers }).done;
}

describe('startChaosServer() refuses', () => {
  it.each<[string, ChaosServerOptions, RegExp]>([
    ['a host that others can reach', { host: '0.0.0.0' }, /other machines can reach it/],
    ['a name of the network', { host: 'example.com' }, /allowRemote|other machines/],
    ['a port that is none', { port: 70_000 }, /port of the chaos server must be a whole number/],
    ['a rate over 1', { faults: { rate: 30 } }, /from 0 to 1, got 30/],
    ['an unknown fault', { faults: { script: ['overloded' as 'overloaded'] } }, /did you mean overloaded/],
    ['an unknown parameter', { faults: { rate: 1, kinds: [{ name: 'bom', size: 3 }] } }, /it takes none/],
    ['an empty list of kinds', { faults: { rate: 1, kinds: [] } }, /empty/],
    ['a script that is none', { faults: { script: 'x' } as unknown as FaultSchedule }, /must be a list/],
    [
      'a bare list of faults',
      { faults: ['quota'] as unknown as FaultSchedule },
      /given as { script: \[…\] }/,
    ],
    ['a bare fault', { faults: 'quota' as unknown as FaultSchedule }, /given as { script: \[…\] }/],
    ['a certificate of no kind', { tls: 'bad' as 'valid' }, /option tls .* must be true, "expired"/],
    ['a certificate that is none', { tls: { key: 'x', cert: 'y' } }, /option tls .* as PEM/],
    ['a model that is a text', { model: 'Hello.' as unknown as ChaosModel }, /option model .* { script/],
    ['a script of turns that is none', { model: { script: 'x' as unknown as [] } }, /option model/],
    [
      'an address of another machine',
      { host: '203.0.113.9', allowRemote: true },
      /this machine does not have that address/,
    ],
  ])('%s', async (_what, options, message) => {
    const error: unknown = await startChaosServer(options).catch((thrown: unknown) => thrown);
    expect(ConfigError.isInstance(error)).toBe(true);
    expect((error as Error).message).toMatch(message);
  });

  it('a port that is taken', async () => {
    const { port } = await start();
    await expect(startChaosServer({ port })).rejects.toThrow(`127.0.0.1:${port}: the port is taken`);
  });
});

describe('baseURL()', () => {
  it('names the protocols it knows where it is asked for another', async () => {
    const server = await start();
    expect(() => server.baseURL('openai' as 'openai-chat')).toThrow('has no base URL for "openai"');
  });
});

describe('close()', () => {
  it('ends connections that hang, at once, and records it', async () => {
    const server = await start();
    const { path, body } = question('anthropic');
    const names = ['header-hang', 'silence-mid-stream', 'endless-keepalive'];
    const hanging = names.map((name) =>
      ask(server.url + path, { body, headers: { 'x-rerail-fault': name } }),
    );
    const idle = connect(server.port, '127.0.0.1');
    const idleClosed = new Promise((resolve) => {
      idle.once('close', resolve).on('error', () => undefined);
    });
    await until(() => server.counters().faultsDelivered === 3 && server.counters().openConnections === 4);
    await server.close();
    await Promise.all([...hanging.map(({ done }) => done), idleClosed]);
    await until(() => server.counters().inFlight === 0);
    expect(server.requests.map(({ ended }) => ended)).toEqual(names.map(() => 'server-closed'));
    await server.close();
  });
});

describe('a schedule', () => {
  const faultsOf = (server: ChaosServer) =>
    server.requests.map(({ faultDelivered }) => faultDelivered ?? '-');

  async function postMany(server: ChaosServer, count: number): Promise<readonly string[]> {
    const bodies: string[] = [];
    for (let sent = 0; sent < count; sent += 1) bodies.push((await post(server)).bytes.toString());
    return bodies;
  }

  it('gives the same faults and the same bytes for the same seed and requests', async () => {
    const faults: FaultSchedule = { rate: 0.5 };
    const [one, same, other] = [
      await start({ seed: 7, faults }),
      await start({ seed: 7, faults }),
      await start({ seed: 8, faults }),
    ];
    const [first, second] = [await postMany(one, 30), await postMany(same, 30)];
    await postMany(other, 30);
    expect(second).toEqual(first);
    expect(faultsOf(same)).toEqual(faultsOf(one));
    expect(faultsOf(other)).not.toEqual(faultsOf(one));
    const delivered = one.counters().faultsDelivered;
    expect(delivered).toBeGreaterThan(5);
    expect(delivered).toBeLessThan(25);
    one.reset();
    expect(await postMany(one, 30)).toEqual(first);
  });

  it('shows faults and good answers among the first requests, with every seed', () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const schedule = createSchedule({ rate: 0.3 }, seed);
      const drawn = Array.from({ length: 100 }, () =>
        schedule.next({} as RequestInfo) === undefined ? '.' : 'X',
      ).join('');
      expect({ seed, drawn: drawn.slice(0, 3) }).toEqual({
        seed,
        drawn: expect.stringContaining('X') as string,
      });
      expect({ seed, isLong: drawn.includes('XXX') }).toEqual({ seed, isLong: false });
      expect(drawn.replaceAll('.', '')).toHaveLength(30);
    }
  });

  it.each([0, 0.05, 0.5, 0.95, 1])('gives the share %d of all requests a fault', (rate) => {
    const schedule = createSchedule({ rate }, 5);
    const drawn = Array.from({ length: 4000 }, () => schedule.next({} as RequestInfo) !== undefined);
    expect(Math.abs(drawn.filter(Boolean).length / 4000 - rate)).toBeLessThan(0.02);
  });

  it('follows a script to its end, and then all is well', async () => {
    const server = await start({ faults: { script: ['overloaded', null, { name: 'status', status: 418 }] } });
    await postMany(server, 4);
    expect(faultsOf(server)).toEqual(['overloaded', '-', 'status', '-']);
  });

  it('begins its script anew where it is told to', async () => {
    const server = await start({ faults: { script: ['overloaded', null], repeat: true } });
    await postMany(server, 4);
    expect(faultsOf(server)).toEqual(['overloaded', '-', 'overloaded', '-']);
  });

  it('asks a function, and a header wins over it without taking its turn', async () => {
    const server = await start({
      faults: ({ sequence, protocol, model }) =>
        sequence === 2 && protocol === 'openai-chat' && model === 'chaos-large' ? 'quota' : undefined,
    });
    await post(server);
    await post(server, { 'x-rerail-fault': 'auth' });
    await post(server);
    expect(faultsOf(server)).toEqual(['-', 'auth', '-']);
  });

  it('is replaced while the server runs', async () => {
    const server = await start({ faults: { script: ['overloaded'], repeat: true } });
    await post(server);
    server.setFaults({ script: ['auth'] });
    await postMany(server, 2);
    expect(faultsOf(server)).toEqual(['overloaded', 'auth', '-']);
  });
});

describe('a script of turns', () => {
  it('gives the same turn again until it has arrived whole', async () => {
    const script = ['First.', { text: 'Second.' }];
    const server = await start({ model: { script }, faults: { script: ['overloaded', 'close-mid-stream'] } });
    const texts: string[] = [];
    for (let sent = 0; sent < 5; sent += 1) texts.push((await post(server)).bytes.toString());
    expect(texts[2]).toContain('First.');
    expect(texts[3]).toContain('Second.');
    expect(texts[4]).not.toMatch(/First|Second/);
  });
});

describe('the built-in mind', () => {
  it.each(['openai-chat', 'anthropic'] as const)(
    'calls a tool, and answers from its result, on %s',
    async (protocol) => {
      const server = await start();
      const { path, body } = question(protocol, { isStream: false });
      const first = JSON.parse((await ask(server.url + path, { body }).done).bytes.toString()) as Answer;
      const call = first.choices?.[0]?.message.tool_calls?.[0];
      const block = first.content?.find(({ type }) => type === 'tool_use');
      const messages =
        protocol === 'openai-chat'
          ? [first.choices?.[0]?.message, { role: 'tool', tool_call_id: call?.id, content: '17 degrees' }]
          : [
              { role: 'assistant', content: first.content },
              {
                role: 'user',
                content: [{ type: 'tool_result', tool_use_id: block?.id, content: '17 degrees' }],
              },
            ];
      expect(call?.function.name ?? block?.name).toBe('weather');
      const asked = body as { readonly messages: readonly unknown[] };
      const next = { ...body, messages: [...asked.messages, ...messages] };
      const second = await ask(server.url + path, { body: next }).done;
      expect(second.status).toBe(200);
      expect(second.bytes.toString()).toContain('17 degrees');
    },
  );
});

interface Answer {
  readonly choices?: readonly {
    readonly message: {
      readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
    };
  }[];
  readonly content?: readonly { readonly type: string; readonly id?: string; readonly name?: string }[];
}

type Exchange = [what: string, path: string, body: unknown, answer: RegExp];
type Listing = [who: string, path: string, headers: Readonly<Record<string, string>>, answer: RegExp];

describe('a request that a provider would refuse', () => {
  const user = { role: 'user', content: 'hi' };
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  it.each<Exchange>([
    ['not JSON', '/v1/messages', undefined, /JSON/],
    ['no model', '/v1/chat/completions', { messages: [user] }, /model/],
    ['no messages', '/v1/chat/completions', { model: 'm', messages: [] }, /at least one message/],
    ['no max_tokens at Anthropic', '/v1/messages', { model: 'm', messages: [user] }, /max_tokens/],
    [
      'a call without its result',
      '/v1/chat/completions',
      { model: 'm', messages: [user, { role: 'assistant', tool_calls: [call] }, user] },
      /has no result/,
    ],
    [
      'a result without its call',
      '/v1/responses',
      { model: 'm', input: [user, { type: 'function_call_output', call_id: 'c9', output: 'x' }] },
      /no open call/,
    ],
  ])('%s', async (...[, path, body, message]) => {
    const server = await start();
    const seen = await ask(server.url + path, body === undefined ? { method: 'POST' } : { body }).done;
    expect(seen.status).toBe(400);
    expect(seen.bytes.toString()).toMatch(message);
  });

  it('whatever a function of the caller throws at, and lives on', async () => {
    const server = await start({
      model: () => {
        throw new Error('no idea');
      },
      faults: ({ sequence }) => {
        if (sequence === 2) throw new Error('no plan');
        return undefined;
      },
    });
    const [first, second] = [await post(server), await post(server)];
    expect([first.status, second.status]).toEqual([400, 400]);
    expect(first.bytes.toString()).toContain('no idea');
    expect(second.bytes.toString()).toContain('no plan');
  });

  it.each(['//', '/%E0%A4%A', '/v1/models/%zz:generateContent', '/?', '/v1beta/models/a%2Fb:embedContent'])(
    'an odd address such as %s, without falling over',
    async (path) => {
      const server = await start();
      for (const fault of ['', 'redirect']) {
        const headers: Record<string, string> = fault === '' ? {} : { 'x-rerail-fault': fault };
        const seen = await ask(server.url + path, { body: {}, headers }).done;
        expect(seen.status).toBeGreaterThan(199);
      }
    },
  );

  it('an address that nobody knows', async () => {
    const server = await start();
    const seen = await ask(`${server.url}/v1/nothing`, { body: {} }).done;
    expect(seen.status).toBe(404);
    expect(seen.bytes.toString()).toContain('Unknown request URL: /v1/nothing');
  });
});

describe('the record of a request', () => {
  it('knows that credentials came and not what they are', async () => {
    const server = await start();
    await post(server, { authorization: 'Bearer sk-canary-1', 'x-api-key': 'canary-2', cookie: 'canary-3' });
    const { body } = question('gemini');
    await ask(`${server.url}/v1beta/models/g:generateContent?key=canary-4`, { body }).done;
    await post(server);
    expect(server.requests.map(({ hasCredentials }) => hasCredentials)).toEqual([true, true, false]);
    expect(JSON.stringify(server.requests)).not.toContain('canary');
    expect(server.requests[0]?.headers['authorization']).toBe('[present]');
  });

  it('has times that only grow, and how it ended', async () => {
    const server = await start();
    await post(server);
    await post(server, { 'x-rerail-fault': 'reset-before-headers' });
    const [first, second] = server.requests;
    expect(first).toMatchObject({ sequence: 1, ended: 'finished', status: 200, protocol: 'openai-chat' });
    expect(first?.bytesSent).toBeGreaterThan(100);
    expect(first?.body).toMatchObject({ model: 'chaos-large' });
    expect(second).toMatchObject({ sequence: 2, ended: 'reset-by-us', bytesSent: 0 });
    expect(second?.atMs).toBeGreaterThanOrEqual(first?.atMs ?? Infinity);
  });

  it('is one of the latest only, and all are counted', async () => {
    const server = await start({ maxRecords: 2 });
    for (let sent = 0; sent < 5; sent += 1) await post(server);
    expect(server.requests.map(({ sequence }) => sequence)).toEqual([4, 5]);
    expect(server.counters()).toMatchObject({
      requests: 5,
      requestsByProtocol: { 'openai-chat': 5 },
      statuses: { 200: 5 },
      inFlight: 0,
      maxInFlight: 1,
    });
  });

  it('counts what is under way at once', async () => {
    const server = await start();
    const { path, body } = question('gemini');
    const headers = { 'x-rerail-fault': 'header-hang' };
    const asked = Array.from({ length: 5 }, () => ask(server.url + path, { body, headers }));
    await until(() => server.counters().inFlight === 5);
    for (const { leave } of asked) leave();
    await until(() => server.counters().inFlight === 0);
    expect(server.counters().maxInFlight).toBe(5);
  });
});

describe('control over HTTP', () => {
  it('tells and takes the same as the handle', async () => {
    const server = await start();
    const url = `${server.url}/__chaos`;
    const told = async (path: string, body?: unknown) => {
      const seen = await ask(`${url}/${path}`, body === undefined ? {} : { body }).done;
      return { status: seen.status, body: JSON.parse(seen.bytes.toString()) as unknown };
    };
    expect(await told('faults', { script: ['overloaded'] })).toMatchObject({ status: 200 });
    expect((await post(server)).status).toBe(503);
    expect((await told('counters')).body).toEqual({
      ...server.counters(),
      connections: expect.any(Number) as number,
      openConnections: expect.any(Number) as number,
    });
    expect((await told('requests')).body).toMatchObject([{ faultDelivered: 'overloaded' }]);
    expect(await told('faults', { script: ['overloded'] })).toMatchObject({ status: 400 });
    expect(await told('reset', {})).toMatchObject({ status: 200 });
    expect(server.counters().requests).toBe(0);
    expect((await post(server)).status).toBe(503);
    expect(await told('nothing')).toMatchObject({ status: 404 });
  });

  it('is not for web pages', async () => {
    const server = await start();
    const headers = { origin: 'http://evil.invalid' };
    const seen = await ask(`${server.url}/__chaos/reset`, { body: {}, headers }).done;
    expect(seen.status).toBe(403);
  });
});

describe('what is not an answer', () => {
  it.each<Exchange>([
    ['OpenAI embeddings', '/v1/embeddings', { model: 'e', input: ['a', 'b'] }, /"object":"embedding"/],
    [
      'Gemini embeddings',
      '/v1beta/models/e:embedContent',
      { content: { parts: [{ text: 'a' }] } },
      /"values":/,
    ],
    [
      'Gemini embeddings in a batch',
      '/v1beta/models/e:batchEmbedContents',
      { requests: [{ content: { parts: [{ text: 'a' }] } }] },
      /"embeddings":\[\{"values"/,
    ],
    ['Ollama embeddings', '/api/embed', { model: 'e', input: 'a' }, /"embeddings":\[\[/],
    ['tokens of Anthropic', '/v1/messages/count_tokens', { model: 'm', messages: [] }, /"input_tokens":\d/],
  ])('%s', async (...[, path, body, pattern]) => {
    const server = await start();
    const [one, again] = [
      await ask(server.url + path, { body }).done,
      await ask(server.url + path, { body }).done,
    ];
    expect(one.status).toBe(200);
    expect(one.bytes.toString()).toMatch(pattern);
    expect(again.bytes.equals(one.bytes)).toBe(true);
    const broken = await ask(server.url + path, { body, headers: { 'x-rerail-fault': 'rate-limit' } }).done;
    expect(broken.status).toBe(429);
  });

  it.each<Listing>([
    ['OpenAI', '/v1/models', {}, /"object":"list"/],
    ['Anthropic', '/v1/models', { 'x-api-key': 'k' }, /"type":"model"/],
    ['Gemini', '/v1beta/models', {}, /"name":"models\/chaos-large"/],
    ['Ollama', '/api/tags', {}, /"models":/],
  ])('the list of models of %s is left in peace by a schedule', async (...[, path, headers, pattern]) => {
    const server = await start({ faults: { rate: 1 } });
    const seen = await ask(server.url + path, { headers }).done;
    expect(seen.status).toBe(200);
    expect(seen.bytes.toString()).toMatch(pattern);
  });
});

describe('pace', () => {
  it('is one event of so many characters at a time', async () => {
    const server = await start({ model: () => 'abcdef', chunkCharacters: 2, latencyMs: 1, chunkDelayMs: 1 });
    const { path, body } = question('gemini');
    const seen = await ask(server.url + path, { body }).done;
    expect(eventsOf(seen.bytes.toString())).toHaveLength(3);
  });
});
