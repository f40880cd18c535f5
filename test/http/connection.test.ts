import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createFetchTransport } from '../../src/providers/http/fetch-transport.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { NodeTransport, NodeTransportOptions } from '../../src/providers/http/node-transport.ts';
import { createCertificate } from './certificate.ts';
import type { TestCertificate } from './certificate.ts';
import { chunk, chunkedStream, eventStream, head, startRawServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { wordModel, wordRequest, words } from './word-protocol.ts';

const year = 365 * 24 * 3600 * 1000;
const ago = (years: number): Date => new Date(Date.now() - years * year);
const certificates = {
  good: createCertificate({ names: ['localhost'], notBefore: ago(1), notAfter: ago(-1) }),
  expired: createCertificate({ names: ['localhost'], notBefore: ago(2), notAfter: ago(1) }),
  otherName: createCertificate({ names: ['elsewhere.example'], notBefore: ago(1), notAfter: ago(-1) }),
} as const;

const whole = words('Hel', 'lo', '[DONE]');
const answer = head(200, { ...eventStream, 'content-length': whole.length }) + whole;
const bypass = createFetchTransport(fetch);

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serverOf(...[serve, options]: Parameters<typeof startRawServer>): Promise<RawServer> {
  const server = await startRawServer(serve, options);
  cleanups.push(server.close);
  return server;
}

function transportOf(options: NodeTransportOptions = {}): NodeTransport {
  const transport = createNodeTransport({ environment: {}, ...options });
  cleanups.push(transport.close);
  return transport;
}

function trusting({ cert }: TestCertificate): NodeTransport {
  return transportOf({ tls: { ca: cert } });
}

const closedPort = async (): Promise<number> => {
  const server = await startRawServer(() => undefined);
  await server.close();
  return server.port;
};

describe('a connection that does not stand', () => {
  it.each([
    { kind: 'node', makeTransport: () => transportOf() },
    { kind: 'fetch', makeTransport: () => bypass },
  ])('is told as refused over $kind', async ({ makeTransport }) => {
    const model = wordModel({
      baseURL: `http://127.0.0.1:${await closedPort()}`,
      transport: makeTransport(),
    });
    expect(await model.call(wordRequest)).toMatchObject({
      failure: {
        code: 'NETWORK_ERROR',
        phase: 'connect',
        sideEffect: 'none',
        retryable: true,
        causes: expect.arrayContaining([expect.objectContaining({ code: 'ECONNREFUSED' })]) as unknown,
      },
    });
  });

  it.each([
    { kind: 'node', makeTransport: () => transportOf() },
    { kind: 'fetch', makeTransport: () => bypass },
  ])('names the host that nobody knows over $kind', async ({ makeTransport }) => {
    const model = wordModel({ baseURL: 'http://no-such-host.invalid/v1', transport: makeTransport() });
    const response = await model.call(wordRequest);
    expect(response).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none' },
    });
    expect(response).toMatchObject({
      failure: { hint: expect.stringContaining('no-such-host.invalid') as unknown },
    });
  });

  it('is given up when the server accepts nobody', async () => {
    const port = await startDeafServer();
    const model = wordModel({ baseURL: `http://127.0.0.1:${port}`, transport: transportOf() });
    expect(await model.call(wordRequest, { timeouts: { connectMs: 200 } })).toMatchObject({
      failure: { code: 'TIMEOUT', phase: 'connect', sideEffect: 'none', context: { timeout: 'connect' } },
    });
  });

  it('is given up when the handshake gets no answer', async () => {
    const server = await serverOf(() => undefined, { onConnection: () => undefined });
    const model = wordModel({ baseURL: `https://127.0.0.1:${server.port}`, transport: transportOf() });
    expect(await model.call(wordRequest, { timeouts: { connectMs: 200 } })).toMatchObject({
      failure: { code: 'TIMEOUT', phase: 'connect', sideEffect: 'none', context: { timeout: 'connect' } },
    });
  });

  it.each([
    { kind: 'node', makeTransport: () => transportOf() },
    { kind: 'fetch', makeTransport: () => bypass },
  ])('is told as lost when the handshake is cut over $kind', async ({ makeTransport }) => {
    const server = await serverOf(() => undefined, {
      onConnection: (socket) => socket.once('data', () => socket.destroy()),
    });
    const model = wordModel({ baseURL: `https://localhost:${server.port}`, transport: makeTransport() });
    expect(await model.call(wordRequest)).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none', retryable: true },
    });
  });

  it.each([
    {
      name: 'self-signed',
      certificate: certificates.good,
      make: () => transportOf(),
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    },
    {
      name: 'self-signed, over fetch',
      certificate: certificates.good,
      make: () => bypass,
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    },
    {
      name: 'expired',
      certificate: certificates.expired,
      make: () => trusting(certificates.expired),
      code: 'CERT_HAS_EXPIRED',
    },
    {
      name: 'for another name',
      certificate: certificates.otherName,
      make: () => trusting(certificates.otherName),
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    },
  ])('is never tried again with a certificate that is $name', async ({ certificate, make, code }) => {
    const server = await serverOf((socket) => socket.end(answer), { certificate });
    const model = wordModel({ baseURL: `https://localhost:${server.port}`, transport: make() });
    const response = await model.call(wordRequest);
    expect(response).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none', retryable: false },
    });
    expect(JSON.stringify(response)).toContain(code);
    expect(JSON.stringify(response)).not.toMatch(/rejectUnauthorized|NODE_TLS_REJECT/);
    expect(server.requests).toEqual([]);
  });
});

describe('a connection that stands', () => {
  it("is trusted with a root certificate of one's own", async () => {
    const server = await serverOf((socket) => socket.write(answer), { certificate: certificates.good });
    const model = wordModel({
      baseURL: `https://localhost:${server.port}`,
      transport: trusting(certificates.good),
    });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
    expect(server.connections()).toBe(1);
  });

  it('is used again at once, for as many calls as there are', async () => {
    const server = await serverOf((socket) => socket.write(answer));
    const model = wordModel({ baseURL: server.url, transport: transportOf() });
    for (let count = 0; count < 20; count += 1) await model.call(wordRequest);
    expect(server.requests).toHaveLength(20);
    expect(server.connections()).toBe(1);
  });

  it('is not used again when it has been idle for longer than servers wait', async () => {
    const server = await serverOf((socket) => socket.write(answer));
    const model = wordModel({ baseURL: server.url, transport: transportOf({ freeSocketTimeoutMs: 20 }) });
    await model.call(wordRequest);
    // The process is busy, so that no timer can have closed it.
    const endMs = performance.now() + 60;
    while (performance.now() < endMs);
    await model.call(wordRequest);
    expect(server.connections()).toBe(2);
  });

  it('is not used again when the server says that it closes it', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { ...eventStream, connection: 'close' });
      response.end(whole);
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { readonly port: number }).port));
    });
    cleanups.push(() => void server.close());
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const model = wordModel({ baseURL: `http://127.0.0.1:${port}`, transport: transportOf() });
    for (let count = 0; count < 3; count += 1) expect((await model.call(wordRequest)).type).toBe('success');
    expect(connections).toBe(3);
  });

  it('is replaced once when it is lost while it is used again, and a failure when the new one is lost too', async () => {
    const server = await serverOf((socket, { count }) => {
      if (count === 1) socket.write(answer);
      else socket.resetAndDestroy();
    });
    const model = wordModel({ baseURL: server.url, transport: transportOf() });
    await model.call(wordRequest);
    expect(await model.call(wordRequest)).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'headers', sideEffect: 'possible' },
      partial: { notes: [{ type: 'reconnected' }] },
    });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    { encoding: 'gzip', bytes: gzipSync(whole) },
    { encoding: 'deflate', bytes: deflateSync(whole) },
    { encoding: 'br', bytes: brotliCompressSync(whole) },
  ])('brings a body that is packed with $encoding, byte by byte', async ({ encoding, bytes }) => {
    const server = await serverOf((socket) => {
      socket.write(head(200, { ...chunkedStream, 'content-encoding': encoding }));
      for (const byte of bytes) socket.write(chunk(Buffer.of(byte)));
      socket.write(chunk(''));
    });
    const model = wordModel({ baseURL: server.url, transport: transportOf() });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });

  it('brings a text of long characters unchanged when every byte comes alone', async () => {
    const text = 'Zug 🚂 für €5';
    const server = await serverOf((socket) => {
      socket.setNoDelay(true);
      socket.write(head(200, chunkedStream));
      for (const byte of Buffer.from(words(text, '[DONE]'))) socket.write(chunk(Buffer.of(byte)));
      socket.write(chunk(''));
    });
    const model = wordModel({ baseURL: server.url, transport: transportOf() });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text } });
  });

  it.each([
    { kind: 'node', makeTransport: () => transportOf() },
    { kind: 'fetch', makeTransport: () => bypass },
  ])('follows a redirect that stays at home and keeps the POST over $kind', async ({ makeTransport }) => {
    const server = await serverOf((socket, { line }) => {
      socket.write(
        line.includes('/new') ? answer : head(308, { location: '/new/words', 'content-length': 0 }),
      );
    });
    const model = wordModel({ baseURL: server.url, transport: makeTransport() });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(server.requests.map(({ line }) => line)).toEqual([
      'POST /words HTTP/1.1',
      'POST /new/words HTTP/1.1',
    ]);
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
  });

  it('never shows the key to another origin', async () => {
    const thief = await serverOf((socket) => socket.write(answer));
    const server = await serverOf((socket) =>
      socket.write(head(307, { location: `${thief.url}/words`, 'content-length': 0 })),
    );
    const model = wordModel({ baseURL: server.url, transport: transportOf() });
    expect(await model.call(wordRequest)).toMatchObject({
      failure: { code: 'INVALID_RESPONSE', retryable: false },
    });
    expect(thief.connections()).toBe(0);
  });
});

describe('a proxy', () => {
  it('gets plain requests in full form, with its own credentials', async () => {
    const proxy = await serverOf((socket) => socket.write(answer));
    const transport = transportOf({
      environment: { HTTP_PROXY: `http://me:s3cret%21@127.0.0.1:${proxy.port}` },
    });
    const model = wordModel({ baseURL: 'http://provider.example/v1', transport });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
    expect(proxy.requests[0]).toMatchObject({
      line: 'POST http://provider.example/v1/words HTTP/1.1',
      headers: { host: 'provider.example', 'proxy-authorization': `Basic ${btoa('me:s3cret!')}` },
    });
  });

  it('carries a tunnel for what is encrypted, and never sees the key', async () => {
    const server = await serverOf((socket) => socket.write(answer), { certificate: certificates.good });
    const proxy = await serverOf((socket) => tunnel(socket, server.port));
    const transport = transportOf({
      environment: { https_proxy: `me:pass@127.0.0.1:${proxy.port}` },
      tls: { ca: certificates.good.cert },
    });
    const model = wordModel({ baseURL: `https://localhost:${server.port}/v1`, transport });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
    expect(proxy.requests).toHaveLength(1);
    expect(proxy.requests[0]?.line).toBe(`CONNECT localhost:${server.port} HTTP/1.1`);
    expect(proxy.requests[0]?.headers).toMatchObject({ 'proxy-authorization': `Basic ${btoa('me:pass')}` });
    expect(proxy.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests).toHaveLength(2);
  });

  it.each(['http', 'https'])('that is dead is named without its password, for %s', async (scheme) => {
    const port = await closedPort();
    const address = `http://me:s3cret-word@127.0.0.1:${port}`;
    const transport = transportOf({ environment: { HTTP_PROXY: address, HTTPS_PROXY: address } });
    const response = await wordModel({ baseURL: `${scheme}://provider.example/v1`, transport }).call(
      wordRequest,
    );
    expect(response).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none', retryable: true },
    });
    expect(JSON.stringify(response)).toContain(`127.0.0.1:${port}`);
    expect(JSON.stringify(response)).toContain('ECONNREFUSED');
    expect(JSON.stringify(response)).not.toContain('s3cret-word');
  });

  it.each(['http', 'https'])('that wants credentials is not asked again, for %s', async (scheme) => {
    const proxy = await serverOf((socket) => socket.write(head(407, { 'content-length': 0 })));
    const environment = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const transport = transportOf({ environment });
    const response = await wordModel({ baseURL: `${scheme}://provider.example/v1`, transport }).call(
      wordRequest,
    );
    expect(response).toMatchObject({
      failure: { code: 'NETWORK_ERROR', phase: 'connect', retryable: false, provider: { statusCode: 407 } },
    });
    expect(JSON.stringify(response)).toContain(`127.0.0.1:${proxy.port}`);
  });

  it('that never opens the tunnel is given up, and the connection with it', async () => {
    let closed = false;
    const proxy = await serverOf((socket) =>
      socket.once('close', () => {
        closed = true;
      }),
    );
    const transport = transportOf({ environment: { HTTPS_PROXY: proxy.url } });
    const model = wordModel({ baseURL: 'https://provider.example/v1', transport });
    expect(await model.call(wordRequest, { timeouts: { connectMs: 200 } })).toMatchObject({
      failure: { code: 'TIMEOUT', phase: 'connect' },
    });
    await expect.poll(() => closed, { timeout: 20_000 }).toBe(true);
  });

  it('that is no address is a mistake of the configuration, and its value is not shown', async () => {
    const transport = transportOf({ environment: { HTTPS_PROXY: 'socks5://me:s3cret-word@host:1' } });
    const response = await wordModel({ baseURL: 'https://provider.example/v1', transport }).call(wordRequest);
    expect(response).toMatchObject({ failure: { code: 'CONFIG_ERROR', retryable: false } });
    expect(JSON.stringify(response)).not.toContain('s3cret-word');
  });

  it('is passed by for hosts in NO_PROXY', async () => {
    const server = await serverOf((socket) => socket.write(answer));
    const transport = transportOf({
      environment: { HTTP_PROXY: `http://127.0.0.1:${await closedPort()}`, no_proxy: 'localhost, 127.0.0.1' },
    });
    expect(await wordModel({ baseURL: server.url, transport }).call(wordRequest)).toMatchObject({
      type: 'success',
    });
  });
});

function tunnel(socket: Socket, port: number): void {
  socket.removeAllListeners('data');
  const target = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
}

/** A server whose event loop stands still and whose queue of connections is full. */
async function startDeafServer(): Promise<number> {
  const source = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    });`;
  const worker = new Worker(source, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  cleanups.push(async () => {
    for (const filler of fillers) filler.destroy();
    await worker.terminate();
  });
  await Promise.race(fillers.map((filler) => new Promise((resolve) => filler.once('connect', resolve))));
  return port;
}
