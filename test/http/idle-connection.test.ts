import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { NodeTransportOptions } from '../../src/providers/http/node-transport.ts';
import { eventStream } from './raw-server.ts';
import { wordModel, wordRequest, words } from './word-protocol.ts';

const whole = words('Hel', 'lo', '[DONE]');

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

interface Served {
  readonly model: Model;
  readonly server: Server;
  /** Every connection that was ever made, in order. */
  readonly sockets: readonly Socket[];
  readonly requests: () => number;
}

async function serve(options: NodeTransportOptions, headers: Record<string, string> = {}): Promise<Served> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(200, { ...eventStream, ...headers });
    response.end(whole);
  });
  server.on('connection', (socket) => sockets.push(socket));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { readonly port: number }).port));
  });
  const transport = createNodeTransport({ environment: {}, ...options });
  cleanups.push(() => void server.close(), transport.close);
  const model = wordModel({ baseURL: `http://127.0.0.1:${port}`, transport });
  return { model, server, sockets, requests: () => requests };
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

async function callAtOnce(model: Model, count: number): Promise<readonly string[]> {
  const responses = await Promise.all(Array.from({ length: count }, () => model.call(wordRequest)));
  return responses.map(({ type }) => type);
}

describe('an idle connection', () => {
  it('is not used again after the server has closed it', async () => {
    const { model, sockets } = await serve({});
    await model.call(wordRequest);
    sockets[0]?.end();
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(sockets).toHaveLength(2);
  });

  it('that is reset is a failure of nobody', async () => {
    const { model, sockets } = await serve({});
    await model.call(wordRequest);
    sockets[0]?.resetAndDestroy();
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    // Until it has come across.
    for (let count = 0; count < 10; count += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
  });

  it('closes by itself when nobody wants it', async () => {
    const { model, server } = await serve({ freeSocketTimeoutMs: 30 });
    await model.call(wordRequest);
    await vi.waitFor(async () => expect(await openConnections(server)).toBe(0));
  });

  it('is one of no more than are to be kept', async () => {
    const { model, server, sockets } = await serve({ maxFreeSockets: 2 });
    expect(new Set(await callAtOnce(model, 5))).toEqual(new Set(['success']));
    expect(sockets).toHaveLength(5);
    await vi.waitFor(async () => expect(await openConnections(server)).toBe(2));
    await callAtOnce(model, 2);
    expect(sockets).toHaveLength(5);
  });

  it('goes to the request that waits for one, where there may be no more', async () => {
    const { model, sockets, requests } = await serve({ maxSockets: 2 });
    expect(new Set(await callAtOnce(model, 9))).toEqual(new Set(['success']));
    expect(requests()).toBe(9);
    expect(sockets).toHaveLength(2);
    await callAtOnce(model, 2);
    expect(sockets).toHaveLength(2);
  });

  it('is not lost to the bound when a call is cancelled before it has sent anything', async () => {
    const { model, requests } = await serve({ maxSockets: 1 });
    await model.call(wordRequest);
    for (let count = 0; count < 3; count += 1) {
      const controller = new AbortController();
      const cancelled = model.call(wordRequest, { signal: controller.signal });
      controller.abort();
      expect(await cancelled).toMatchObject({ failure: { code: 'CANCELLED' } });
      expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
    }
    expect(requests()).toBe(4);
  });

  it('is closed in time where the server announces to close it sooner', async () => {
    const { model, server } = await serve({ freeSocketTimeoutMs: 600_000 }, { 'keep-alive': 'timeout=1' });
    await model.call(wordRequest);
    await vi.waitFor(async () => expect(await openConnections(server)).toBe(0), { timeout: 5000 });
  });
});
