import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callModel, createAgent } from '../../src/index.ts';
import type { RunEvent } from '../../src/index.ts';
import type { Model } from '../../src/model/model.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import { createGates } from '../../src/model/index.ts';
import { openai } from '../../src/providers/openai/index.ts';
import { providerModel, testKey } from '../model/provider-models.ts';
import { startWire, wholeOf, wires } from './wire-server.ts';
import type { WireName } from './wire-server.ts';

const once = { policy: { retry: { maxAttempts: 1 } } } as const;
const ask = { messages: [{ role: 'user', content: 'Hi' }] } as const;

interface Scene {
  readonly model: Model;
  readonly received: () => number;
  readonly connections: () => number;
}

interface Closing {
  /** How often a connection that has carried an answer is lost when the next request comes. */
  readonly losses: number;
  readonly how: 'reset' | 'end' | 'part of an answer';
}

/** A server that keeps connections, and loses them when they are used again. */
async function startClosing(wire: WireName, { losses, how }: Closing): Promise<Scene> {
  const used = new Set<Socket>();
  let [received, connections, lost] = [0, 0, 0];
  const server = createServer((request, response) => {
    received += 1;
    const { socket } = request;
    if (used.has(socket) && lost < losses) {
      lost += 1;
      if (how === 'reset') socket.resetAndDestroy();
      else if (how === 'end') socket.destroy();
      else socket.end('HTTP/1.1 200 OK\r\ncontent-ty');
      return;
    }
    used.add(socket);
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(wholeOf(wire, { text: 'Hello' }));
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createNodeTransport({ environment: {} });
  onTestFinished(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const model = providerModel(wire, { baseURL: `http://127.0.0.1:${port}/v1`, transport });
  return { model, received: () => received, connections: () => connections };
}

describe.each(wires)('a kept connection that the server has closed on %s', (wire) => {
  it.each(['reset', 'end'] as const)('by %s costs no attempt, and is told', async (how) => {
    const { model, received, connections } = await startClosing(wire, { losses: 1, how });
    await callModel(model, ask, once);
    const outcome = await callModel(model, ask, once);
    expect(outcome).toMatchObject({
      type: 'success',
      result: { text: 'Hello', notes: [{ type: 'reconnected' }] },
      report: { attempts: [{ attempt: 1 }], ledger: { requests: 2 } },
    });
    expect(received()).toBe(3);
    expect(connections()).toBe(2);
  });
});

describe('a kept connection that the server has closed', () => {
  it('is told as an event of the run', async () => {
    const { model } = await startClosing('openai-chat', { losses: 1, how: 'reset' });
    const agent = createAgent({ name: 'greeter', model, policy: once.policy });
    const events: RunEvent[] = [];
    await agent.run('Hi.');
    const outcome = await agent.run('Hi.', { onEvent: (event) => void events.push(event) });
    expect(outcome).toMatchObject({ type: 'completed', recoveries: [] });
    expect(events.filter(({ type }) => type === 'request-noted')).toMatchObject([
      { turn: 1, attempt: 1, note: { type: 'reconnected' } },
    ]);
  });

  it('is replaced by a new one and never by another that was kept', async () => {
    const { model, received } = await startClosing('openai-chat', { losses: 50, how: 'reset' });
    await Promise.all(Array.from({ length: 20 }, () => callModel(model, ask, once)));
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => callModel(model, ask, once)));
    expect(outcomes.map(({ type }) => type)).toEqual(outcomes.map(() => 'success'));
    expect(received(), 'each request at most twice').toBeLessThanOrEqual(60);
  });

  it('is a failure where part of an answer had come', async () => {
    const { model, received } = await startClosing('openai-chat', { losses: 1, how: 'part of an answer' });
    await callModel(model, ask, once);
    expect(await callModel(model, ask, once)).toMatchObject({ type: 'failure' });
    expect(received()).toBe(2);
  });
});

describe('a new connection that the server closes', () => {
  it('is a failed attempt, and is not sent again', async () => {
    let received = 0;
    const server = createServer((request) => {
      received += 1;
      request.socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const model = providerModel('openai-chat', { baseURL: `http://127.0.0.1:${port}/v1` });
    expect(await callModel(model, ask, once)).toMatchObject({
      type: 'failure',
      failure: { code: 'NETWORK_ERROR' },
    });
    expect(received).toBe(1);
  });
});

it('counts both of its requests to the breaker of its model where neither was answered', async () => {
  const { server } = await startWire('openai-chat', [{ text: 'Hello' }]);
  let toSick = 0;
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['x-sick'] === undefined) return;
    toSick += 1;
    request.socket.resetAndDestroy();
  });
  const { port } = server.address() as AddressInfo;
  const options = { apiKey: testKey, api: 'chat', baseURL: `http://127.0.0.1:${port}/v1` } as const;
  const models = [
    openai('gpt-4o', { ...options, headers: { 'x-sick': '1' } }),
    openai('gpt-4o-mini', options),
  ];
  const gates = createGates();
  for (let call = 0; call < 14; call += 1) {
    expect(await callModel(models, ask, { gates, ...once })).toMatchObject({ type: 'success' });
  }
  // Ten, and at most one that the last attempt brings with it; each attempt took a kept connection and then a new one.
  expect(toSick).toBeLessThanOrEqual(11);
});
