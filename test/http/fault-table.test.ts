import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ModelResponse } from '../../src/model/model.ts';
import type { Timeouts } from '../../src/model/timeouts.ts';
import { createFetchTransport } from '../../src/providers/http/fetch-transport.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { Transport } from '../../src/providers/http/transport.ts';
import { chunk, chunkedStream, eventStream, head, startRawServer } from './raw-server.ts';
import type { RawServer, Serve } from './raw-server.ts';
import { wordModel, wordRequest, words } from './word-protocol.ts';

// A proxy of whoever runs the tests must not stand between them.
const nodeTransport = createNodeTransport({ environment: {} });
const transports: readonly { readonly kind: 'node' | 'fetch'; readonly transport: Transport }[] = [
  { kind: 'node', transport: nodeTransport },
  { kind: 'fetch', transport: createFetchTransport(fetch) },
];

/** Long enough for a machine under load; a row shortens the one it waits for. */
const patient: Timeouts = {
  connectMs: 50_000,
  headersMs: 50_000,
  idleMs: 50_000,
  progressMs: 50_000,
  totalMs: 50_000,
};

const servers: RawServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => nodeTransport.close());

async function serverOf(...[serve, options]: Parameters<typeof startRawServer>): Promise<RawServer> {
  const server = await startRawServer(serve, options);
  servers.push(server);
  return server;
}

const anyText: unknown = expect.any(String);
const aNumber: unknown = expect.any(Number);
const containing = (text: string): unknown => expect.stringContaining(text);

interface Outcome {
  readonly code: unknown;
  readonly [field: string]: unknown;
}

interface Row {
  readonly name: string;
  readonly serve: Serve;
  readonly expected: Outcome;
  /** Where `fetch` shows less, or shows it differently. */
  readonly byFetch?: Outcome;
  readonly timeouts?: Partial<Timeouts>;
  readonly text?: string;
}

const lost = { code: 'NETWORK_ERROR', phase: 'headers', sideEffect: 'possible', retryable: true } as const;
const cut = { code: 'STREAM_INTERRUPTED', phase: 'body', sideEffect: 'possible', retryable: true } as const;
const unreadable = { code: 'INVALID_RESPONSE', sideEffect: 'possible' } as const;
const whole = words('Hel', 'lo', '[DONE]');
const json = { 'content-type': 'application/json' } as const;

function reply(bytes: string | Buffer): Serve {
  return (socket) => socket.end(bytes);
}

function stay(...bytes: readonly (string | Buffer)[]): Serve {
  return (socket) => {
    for (const piece of bytes) socket.write(piece);
  };
}

/** Breaks the connection when what was written has surely arrived. */
function breakAfter(bytes: string | Buffer, how: (socket: Socket) => void): Serve {
  return (socket) => socket.write(bytes, () => setTimeout(() => how(socket), 50));
}

function refused(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Serve {
  return stay(head(status, { ...headers, 'content-length': Buffer.byteLength(body) }) + body);
}

// The connection stays open: `fetch` takes its end for a loss while bytes wait to be unpacked.
const packed = (data: Buffer, encoding: string): Serve =>
  stay(
    Buffer.concat([
      Buffer.from(head(200, { ...eventStream, 'content-encoding': encoding, 'content-length': data.length })),
      data,
    ]),
  );

const rows: readonly Row[] = [
  { name: 'RST before headers', serve: (socket) => socket.resetAndDestroy(), expected: lost },
  { name: 'FIN before headers', serve: (socket) => socket.end(), expected: lost },
  {
    name: 'headers never come',
    serve: () => undefined,
    timeouts: { headersMs: 150 },
    expected: {
      code: 'TIMEOUT',
      phase: 'headers',
      sideEffect: 'possible',
      context: { timeout: 'headers', timeoutMs: 150 },
    },
  },
  {
    name: 'headers, then silence',
    serve: stay(head(200, chunkedStream), chunk(words('Hel'))),
    timeouts: { idleMs: 150 },
    text: 'Hel',
    expected: { code: 'TIMEOUT', phase: 'body', context: { timeout: 'idle', timeoutMs: 150 } },
  },
  {
    name: 'bytes that never make an event',
    serve: (socket) => {
      socket.write(head(200, eventStream));
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    },
    timeouts: { idleMs: 200 },
    expected: { code: 'TIMEOUT', phase: 'body', context: { timeout: 'idle' } },
  },
  {
    name: 'keep-alives without end',
    serve: (socket) => {
      socket.write(head(200, eventStream));
      const timer = setInterval(() => socket.write(': still here\n\nevent: ping\ndata: {}\n\n'), 20);
      socket.once('close', () => clearInterval(timer));
    },
    timeouts: { progressMs: 300 },
    expected: { code: 'TIMEOUT', phase: 'body', context: { timeout: 'progress' } },
  },
  {
    name: 'words without end',
    serve: (socket) => {
      socket.write(head(200, eventStream));
      const timer = setInterval(() => socket.write(words('x')), 20);
      socket.once('close', () => clearInterval(timer));
    },
    timeouts: { totalMs: 300 },
    expected: { code: 'TIMEOUT', phase: 'body', context: { timeout: 'total' } },
  },
  {
    name: 'RST mid-body',
    serve: breakAfter(`${head(200, chunkedStream)}${chunk(words('Hel')).toString()}`, (socket) =>
      socket.resetAndDestroy(),
    ),
    text: 'Hel',
    expected: cut,
  },
  {
    name: 'FIN mid-body, chunked',
    serve: breakAfter(`${head(200, chunkedStream)}${chunk(words('Hel')).toString()}`, (socket) =>
      socket.end(),
    ),
    text: 'Hel',
    expected: cut,
  },
  {
    name: 'FIN short of content-length',
    serve: breakAfter(`${head(200, { ...eventStream, 'content-length': 500 })}${words('Hel')}`, (socket) =>
      socket.end(),
    ),
    text: 'Hel',
    expected: cut,
  },
  {
    name: 'FIN with neither length nor chunking',
    serve: breakAfter(`${head(200, eventStream)}${words('Hel')}`, (socket) => socket.end()),
    text: 'Hel',
    expected: cut,
  },
  {
    name: 'an end in the middle of an event',
    serve: reply(`${head(200, { ...eventStream, connection: 'close' })}${words('Hel')}data: lo`),
    text: 'Hel',
    expected: { ...cut, context: { droppedBytes: 8 } },
  },
  {
    name: 'a bad chunk size',
    serve: stay(head(200, chunkedStream), 'zz\r\nhello\r\n'),
    expected: unreadable,
  },
  { name: 'gzip that is cut', serve: packed(gzipSync(whole).subarray(0, -12), 'gzip'), expected: cut },
  {
    name: 'gzip that is garbage',
    serve: packed(Buffer.from('this is not gzip at all'), 'gzip'),
    expected: unreadable,
  },
  {
    name: 'a gzip bomb of one event',
    serve: packed(gzipSync(Buffer.alloc(50 * 1024 * 1024, 'x')), 'gzip'),
    expected: { ...unreadable, retryable: true, context: { maxBytes: aNumber } },
  },
  {
    name: 'a gzip bomb of many small events',
    serve: packed(gzipSync('data: x\n\n'.repeat(6_000_000)), 'gzip'),
    expected: { ...unreadable, retryable: true, context: { maxBytes: aNumber } },
  },
  {
    name: 'a chain of encodings',
    serve: packed(gzipSync(gzipSync(whole)), 'gzip, gzip'),
    expected: { ...unreadable, retryable: false },
  },
  {
    name: 'an unknown encoding',
    serve: packed(Buffer.from(whole), 'zap'),
    expected: { ...unreadable, retryable: false },
  },
  {
    name: 'an event without end',
    serve: stay(head(200, eventStream), Buffer.alloc(9 * 1024 * 1024, 'x')),
    expected: { ...unreadable, retryable: true, context: { maxBytes: 8 * 1024 * 1024 } },
  },
  {
    name: '204',
    serve: stay(head(204)),
    expected: { code: 'INVALID_RESPONSE', provider: { statusCode: 204 } },
  },
  {
    name: '304',
    serve: stay(head(304)),
    expected: { code: 'INVALID_RESPONSE', provider: { statusCode: 304 } },
  },
  {
    name: '418',
    serve: refused(418),
    expected: { code: anyText, retryable: false, provider: { statusCode: 418 } },
  },
  {
    name: '599',
    serve: refused(599),
    expected: { code: 'TIMEOUT', retryable: true, provider: { statusCode: 599 } },
  },
  { name: '999', serve: refused(999), expected: { code: anyText, provider: { statusCode: 999 } } },
  {
    name: '101',
    serve: stay(head(101, { upgrade: 'websocket', connection: 'upgrade' })),
    expected: { ...unreadable, retryable: false, provider: { statusCode: 101 } },
    byFetch: lost,
  },
  {
    name: '101 without an upgrade',
    serve: stay(head(101)),
    timeouts: { headersMs: 500 },
    expected: unreadable,
    // Node 20 and 22 wait for more; later ones take it for the loss of the connection.
    byFetch: { code: expect.stringMatching(/^(?:TIMEOUT|NETWORK_ERROR)$/) as unknown, phase: 'headers' },
  },
  {
    name: 'a storm of 100 Continue',
    serve: stay(head(100).repeat(1000)),
    expected: unreadable,
    byFetch: lost,
  },
  {
    name: 'garbage instead of HTTP',
    serve: reply('%PDF-1.4 this is not for you\r\n\r\n'),
    expected: unreadable,
  },
  {
    name: 'a header of 100 KB',
    serve: reply(head(200, { 'x-large': 'x'.repeat(100_000) })),
    expected: unreadable,
  },
  {
    name: 'a page with status 200',
    serve: refused(
      200,
      { 'content-type': 'text/html' },
      '<html><body>Please log in to the hotel Wi-Fi</body></html>',
    ),
    expected: {
      ...unreadable,
      retryable: true,
      context: { contentType: 'text/html', body: containing('Please log in') },
      hint: containing('base URL'),
    },
  },
  {
    name: 'JSON that is cut',
    serve: reply(`${head(200, { ...json, connection: 'close' })}{"text": "Hel`),
    expected: { ...unreadable, phase: 'parse', context: { body: '{"text": "Hel' } },
  },
  {
    name: '429 with a wait',
    serve: refused(
      429,
      { ...json, 'retry-after': '7' },
      '{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}',
    ),
    expected: { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 7000, provider: { statusCode: 429 } },
  },
  {
    name: '500 whose body never ends',
    serve: stay(head(500, { 'content-length': 500 }), 'oh no'),
    timeouts: { idleMs: 150 },
    expected: { code: 'SERVER_ERROR', provider: { statusCode: 500 } },
  },
  {
    name: '503 whose body is cut',
    serve: breakAfter(`${head(503, { 'content-length': 500 })}busy`, (socket) => socket.resetAndDestroy()),
    expected: { code: anyText, provider: { statusCode: 503 } },
  },
  {
    name: 'an error inside a stream that began well',
    serve: reply(
      `${head(200, { ...eventStream, connection: 'close' })}${words('Hel', '!{"error":{"type":"overloaded_error","message":"Overloaded"}}')}`,
    ),
    text: 'Hel',
    expected: { code: 'OVERLOADED', retryable: true },
  },
  {
    name: 'an event that means nothing',
    serve: reply(`${head(200, { ...eventStream, connection: 'close' })}${words('Hel', '?what')}`),
    text: 'Hel',
    expected: { ...unreadable, phase: 'parse', context: { body: '?what' } },
  },
  {
    name: 'a redirect that does not keep the POST',
    serve: refused(302, { location: '/v2/words' }),
    expected: { ...unreadable, retryable: false, hint: containing('/v2/words') },
  },
  {
    name: 'a redirect to another origin',
    serve: refused(307, { location: 'https://elsewhere.example/words' }),
    expected: {
      ...unreadable,
      retryable: false,
      message: containing('https://elsewhere.example'),
    },
  },
  {
    name: 'redirects in a circle',
    serve: refused(308, { location: '/words' }),
    expected: { ...unreadable, retryable: false, message: containing('after 3 others') },
  },
];

async function callWith(
  transport: Transport,
  { serve, timeouts }: Row,
): Promise<{ readonly response: ModelResponse; readonly server: RawServer }> {
  const server = await serverOf(serve);
  const model = wordModel({ baseURL: server.url, transport });
  const response = await model.call(wordRequest, { timeouts: { ...patient, ...timeouts } });
  return { response, server };
}

describe.each(transports)('a call over $kind', ({ kind, transport }) => {
  it.each(rows)('survives $name', async (row) => {
    const { response } = await callWith(transport, row);
    const expected = kind === 'fetch' ? (row.byFetch ?? row.expected) : row.expected;
    expect(response).toMatchObject({
      type: 'failure',
      failure: { ...expected, origin: 'model' },
      partial: { text: row.text ?? anyText },
    });
  });

  it.each(rows.filter(({ name }) => !name.includes('circle')))('sends one request for $name', async (row) => {
    const { server } = await callWith(transport, row);
    expect(server.requests).toHaveLength(1);
  });
});
