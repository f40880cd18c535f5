import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Model, ModelResponse } from '../../src/model/model.ts';
import { createFetchTransport } from '../../src/providers/http/fetch-transport.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { Transport } from '../../src/providers/http/transport.ts';
import { chunk, chunkedStream, eventStream, head, startRawServer } from './raw-server.ts';
import type { RawServer, Serve } from './raw-server.ts';
import { wordModel, wordRequest, words } from './word-protocol.ts';

// What a server does to the connection around an answer: what came before it counts, and the next call is not hurt.

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serverOf(serve: Serve): Promise<RawServer> {
  const server = await startRawServer(serve);
  cleanups.push(server.close);
  return server;
}

function nodeTransport(): Transport {
  // Idle connections stay, so that whoever closes one has a reason.
  const transport = createNodeTransport({ environment: {}, freeSocketTimeoutMs: 600_000 });
  cleanups.push(transport.close);
  return transport;
}

const joined = (...pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
const answer = (text: string): string => {
  const body = words(text, '[DONE]');
  return `${head(200, { ...eventStream, 'content-length': body.length })}${body}`;
};
const packed = (bytes: Buffer): Buffer =>
  joined(head(200, { ...eventStream, 'content-encoding': 'gzip', 'content-length': bytes.length }), bytes);
const crlf = words('Hello', '[DONE]').replaceAll('\n', '\r\n');

const summary = (response: ModelResponse): string =>
  response.type === 'success' ? response.result.text : response.failure.code;

/** The first request gets the fault, all others a good answer. */
async function faultyOnce(fault: (socket: Socket) => void): Promise<{
  readonly model: Model;
  readonly server: RawServer;
}> {
  const server = await serverOf((socket, { count }) => {
    if (count === 1) fault(socket);
    else socket.write(answer(`answer ${count}`));
  });
  return { model: wordModel({ baseURL: server.url, transport: nodeTransport() }), server };
}

const write =
  (...pieces: readonly (string | Buffer)[]) =>
  (socket: Socket): void =>
    void socket.write(joined(...pieces));

describe('an answer that is whole', () => {
  it.each([
    ['garbage behind its length', write(answer('Hello'), 'garbage, and more of it')],
    ['another answer behind it', write(answer('Hello'), answer('stale'))],
    [
      'garbage behind its last chunk',
      write(head(200, chunkedStream), chunk(words('Hello', '[DONE]')), chunk(''), 'XX\r\n'),
    ],
    [
      'a broken chunk behind its closing event',
      write(head(200, chunkedStream), chunk(words('Hello', '[DONE]')), 'zz\r\n'),
    ],
    ['no last chunk', write(head(200, chunkedStream), chunk(words('Hello', '[DONE]')))],
    [
      'trailers',
      write(head(200, chunkedStream), chunk(words('Hello', '[DONE]')), '0\r\nx-checksum: 1\r\n\r\n'),
    ],
    ['interim answers before it', write(head(100), head(103, { link: 'x' }), answer('Hello'))],
    [
      'bytes in a header that are no text',
      write(Buffer.from(answer('Hello').replace('\r\n', '\r\nx: \u{E4}\u{FF}\r\n'), 'latin1')),
    ],
    [
      'gzip, CR LF and a chunk for each byte',
      (socket: Socket) => {
        socket.write(head(200, { ...chunkedStream, 'content-encoding': 'GZIP' }));
        for (const byte of gzipSync(crlf)) socket.write(chunk(Buffer.of(byte)));
        socket.write(chunk(''));
      },
    ],
  ])('is one with %s, and the next call gets its own', async (_name, fault) => {
    const { model, server } = await faultyOnce(fault);
    expect(summary(await model.call(wordRequest))).toBe('Hello');
    expect(summary(await model.call(wordRequest))).toBe('answer 2');
    expect(summary(await model.call(wordRequest))).toBe('answer 3');
    expect(server.requests).toHaveLength(3);
  });

  it('is one over HTTP/1.0, which says its end by closing', async () => {
    const { model } = await faultyOnce((socket) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${words('Hello', '[DONE]')}`),
    );
    expect(summary(await model.call(wordRequest))).toBe('Hello');
    expect(summary(await model.call(wordRequest))).toBe('answer 2');
  });
});

describe('an answer that is none', () => {
  it.each([
    [
      'length and chunks at once',
      'INVALID_RESPONSE',
      write(head(200, { ...chunkedStream, 'content-length': 5 }), chunk('data: x\n\n')),
    ],
    [
      'a length that is negative',
      'INVALID_RESPONSE',
      write(head(200, { ...eventStream, 'content-length': '-5' }), 'data: x\n\n'),
    ],
    [
      'a length beyond all numbers',
      'INVALID_RESPONSE',
      write(head(200, { 'content-length': '9'.repeat(30) })),
    ],
    ['a NUL in a header', 'INVALID_RESPONSE', write('HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n')],
    ['the status 99', 'INVALID_RESPONSE', write('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n')],
    ['the status 9999', 'INVALID_RESPONSE', write('HTTP/1.1 9999 Odd\r\ncontent-length: 0\r\n\r\n')],
    [
      'gzip that is cut, with CR LF',
      'STREAM_INTERRUPTED',
      write(packed(gzipSync(crlf.replace('[DONE]', 'more')).subarray(0, -6))),
    ],
    ['gzip in name only', 'INVALID_RESPONSE', write(packed(Buffer.from(crlf)))],
    [
      'only names of events',
      'STREAM_INTERRUPTED',
      write(head(200, { ...eventStream, 'content-length': 20 }), 'event: a\n\nevent: b\n\n'),
    ],
    [
      'lines of JSON',
      'INVALID_RESPONSE',
      write(head(200, { 'content-type': 'application/x-ndjson', 'content-length': 4 }), '{}\n\n'),
    ],
  ])('is typed with %s, and the next call is not hurt', async (_name, code, fault) => {
    const { model, server } = await faultyOnce(fault);
    expect(summary(await model.call(wordRequest, { timeouts: { idleMs: 20_000 } }))).toBe(code);
    expect(summary(await model.call(wordRequest))).toBe('answer 2');
    expect(server.requests).toHaveLength(2);
  });

  it('says the status that it had', async () => {
    const { model } = await faultyOnce(write('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'));
    expect(await model.call(wordRequest)).toMatchObject({
      failure: { message: expect.stringContaining('status 99') as unknown },
    });
  });
});

describe('a connection that waits for its next call', () => {
  it.each([
    ['a late answer', (socket: Socket) => socket.write(answer('stale'))],
    ['half an answer', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n')],
    ['the end of the server', (socket: Socket) => socket.end()],
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('is given up after %s, and nothing of it reaches a later call', async (_name, surprise) => {
    const sockets: Socket[] = [];
    const server = await serverOf((socket, { count }) => {
      sockets.push(socket);
      socket.write(answer(`answer ${count}`));
    });
    const model = wordModel({ baseURL: server.url, transport: nodeTransport() });
    expect(summary(await model.call(wordRequest))).toBe('answer 1');
    const [socket] = sockets;
    surprise(socket as Socket);
    await expect.poll(server.openConnections, { timeout: 20_000 }).toBe(0);
    expect(summary(await model.call(wordRequest))).toBe('answer 2');
    expect(server.connections()).toBe(2);
  });
});

describe.each([
  { kind: 'node', make: nodeTransport },
  { kind: 'fetch', make: () => createFetchTransport(fetch) },
])('a body that is not what its header says, over $kind', ({ make }) => {
  const send = async (contentType: string | undefined, body: string): Promise<ModelResponse> => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const server = await serverOf(
      write(head(200, { ...headers, 'content-length': Buffer.byteLength(body) }), body),
    );
    return wordModel({ baseURL: server.url, transport: make(), maxEventBytes: 10_000 }).call(wordRequest);
  };
  const eventTypes = [
    'text/event-stream',
    'TEXT/Event-Stream; charset="UTF-8"',
    undefined,
    'application/json',
  ];

  it.each(eventTypes)('is read as events, whether it says %s', async (contentType) => {
    expect(summary(await send(contentType, words('Hello', '[DONE]')))).toBe('Hello');
    expect(summary(await send(contentType, `\u{FEFF}: hi\n\n${words('Hello', '[DONE]')}`))).toBe('Hello');
  });

  it.each(['text/event-stream', undefined, 'application/problem+json'])(
    'is read as JSON, whether it says %s',
    async (contentType) => {
      expect(summary(await send(contentType, '["Hello"]'))).toBe('Hello');
      expect(summary(await send(contentType, '["Hel'))).toBe('INVALID_RESPONSE');
    },
  );

  it('is bounded as one event where it is JSON, and where it is deep', async () => {
    expect(await send('application/json', `["${'x'.repeat(20_000)}"]`)).toMatchObject({
      failure: { code: 'INVALID_RESPONSE', retryable: true, context: { maxBytes: 10_000 } },
    });
    expect(await send('application/json', '['.repeat(2000))).toMatchObject({
      failure: { code: 'INVALID_RESPONSE', message: expect.stringContaining('levels deep') as unknown },
    });
  });
});
