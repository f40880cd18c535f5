import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { ModelResponse } from '../../src/model/model.ts';
import type { StreamPart } from '../../src/model/stream-part.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { SendOptions, Transport, TransportRequest } from '../../src/providers/http/transport.ts';
import { chunk, chunkedStream, eventStream, head, startRawServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { wordModel, wordRequest, words } from './word-protocol.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serverOf(...[serve, options]: Parameters<typeof startRawServer>): Promise<RawServer> {
  const server = await startRawServer(serve, options);
  cleanups.push(server.close);
  return server;
}

function nodeTransport(): Transport {
  const transport = createNodeTransport({ environment: {} });
  cleanups.push(transport.close);
  return transport;
}

interface Script {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks?: readonly string[];
  /** Never comes to its end. */
  readonly hangs?: 'connect' | 'headers' | 'body';
}

interface Scripted extends Transport {
  readonly sent: TransportRequest[];
  readonly isDiscarded: () => boolean;
}

/** A transport that plays a script and does not hear the signal: a call must end all the same. */
function scripted({ status = 200, headers = eventStream, chunks = [], hangs }: Script): Scripted {
  const sent: TransportRequest[] = [];
  let isDiscarded = false;
  const forever = new Promise<never>(() => undefined);
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const text of chunks) yield Buffer.from(text);
    if (hangs === 'body') await forever;
  }
  const send = async (
    request: TransportRequest,
    { onConnected }: SendOptions,
  ): ReturnType<Transport['send']> => {
    sent.push(request);
    if (hangs === 'connect') await forever;
    onConnected();
    if (hangs === 'headers') await forever;
    const discard = (): void => {
      isDiscarded = true;
    };
    return { status, headers, body: body(), discard };
  };
  return { send, sent, isDiscarded: () => isDiscarded };
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const phases = [
  { phase: 'connect', sideEffect: 'none' },
  { phase: 'headers', sideEffect: 'possible' },
  { phase: 'body', sideEffect: 'possible' },
] as const;

describe('an attempt that is aborted', () => {
  it('sends nothing when the signal was aborted before', async () => {
    const transport = scripted({});
    const model = wordModel({ baseURL: 'http://x.test', transport });
    const response = await model.call(wordRequest, { signal: AbortSignal.abort(new Error('not today')) });
    expect(response).toMatchObject({
      failure: {
        code: 'CANCELLED',
        retryable: false,
        phase: 'connect',
        sideEffect: 'none',
        causes: [{ message: 'not today' }],
      },
    });
    expect(transport.sent).toEqual([]);
  });

  it.each(phases)(
    'ends at once in phase $phase, even if the transport is deaf',
    async ({ phase, sideEffect }) => {
      const controller = new AbortController();
      const transport = scripted({ hangs: phase, chunks: [words('Hel')] });
      const call = wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest, {
        signal: controller.signal,
      });
      await turns(3);
      controller.abort();
      expect(await call).toMatchObject({
        failure: { code: 'CANCELLED', phase, sideEffect },
        partial: { text: phase === 'body' ? 'Hel' : '' },
      });
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    },
  );

  it.each(phases)('closes its connection in phase $phase', async ({ phase }) => {
    const server = await serverOf(
      (socket) => {
        if (phase === 'body') socket.write(`${head(200, chunkedStream)}${chunk(words('Hel')).toString()}`);
        controller.abort();
      },
      phase === 'connect' ? { onConnection: () => controller.abort() } : {},
    );
    const controller = new AbortController();
    const scheme = phase === 'connect' ? 'https' : 'http';
    const model = wordModel({ baseURL: `${scheme}://127.0.0.1:${server.port}`, transport: nodeTransport() });
    const response = await model.call(wordRequest, { signal: controller.signal });
    expect(response).toMatchObject({ failure: { code: 'CANCELLED' } });
    await expect.poll(server.openConnections, { timeout: 20_000 }).toBe(0);
  });

  it('is a success when the end of the answer had come', async () => {
    const controller = new AbortController();
    const transport = scripted({ chunks: [words('Hello', '[DONE]')], hangs: 'body' });
    const response = await wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest, {
      signal: controller.signal,
      onPart: ({ type }) => {
        if (type === 'finished') queueMicrotask(() => controller.abort());
      },
    });
    expect(response).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });

  it('leaves no listener on a signal that a hundred calls have shared', async () => {
    const server = await serverOf((socket, { count }) => {
      const body = words('Hello', '[DONE]');
      if (count % 3 === 0) socket.destroy();
      else
        socket.write(
          head(count % 3 === 1 ? 200 : 500, { ...eventStream, 'content-length': body.length }) + body,
        );
    });
    const { signal } = new AbortController();
    const model = wordModel({ baseURL: server.url, transport: nodeTransport() });
    const calls = Array.from({ length: 100 }, () => model.call(wordRequest, { signal }));
    const types = (await Promise.all(calls)).map(({ type }) => type);
    expect(new Set(types)).toEqual(new Set(['success', 'failure']));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leaves no timer behind, whatever the end', async () => {
    let open = 0;
    const clock: Clock = {
      wallMs: () => 0,
      monotonicMs: () => 0,
      after: () => {
        open += 1;
        let isOpen = true;
        return () => {
          if (isOpen) open -= 1;
          isOpen = false;
        };
      },
    };
    const scripts: readonly Script[] = [
      { chunks: [words('Hello', '[DONE]')] },
      { chunks: [words('Hello')] },
      { chunks: [words('?')] },
      { status: 500 },
    ];
    for (const script of scripts) {
      await wordModel({ baseURL: 'http://x.test', transport: scripted(script) }).call(wordRequest, { clock });
    }
    expect(open).toBe(0);
  });
});

describe('an attempt', () => {
  it('refuses timeouts that make no sense as data, and sends nothing', async () => {
    const transport = scripted({});
    const model = wordModel({ baseURL: 'http://x.test', transport });
    expect(await model.call(wordRequest, { timeouts: { idleMs: Number.NaN } })).toMatchObject({
      failure: { code: 'CONFIG_ERROR', retryable: false },
    });
    expect(transport.sent).toEqual([]);
  });

  it('ends when a deaf transport takes too long', async () => {
    const model = wordModel({ baseURL: 'http://x.test', transport: scripted({ hangs: 'headers' }) });
    expect(await model.call(wordRequest, { timeouts: { totalMs: 20 } })).toMatchObject({
      failure: { code: 'TIMEOUT', phase: 'headers', context: { timeout: 'total', timeoutMs: 20 } },
    });
  });

  it('is over with the closing event, and does not wait for the end of the body', async () => {
    const transport = scripted({ chunks: [words('Hello', '[DONE]')], hangs: 'body' });
    expect(await wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest)).toMatchObject({
      type: 'success',
    });
    expect(transport.isDiscarded()).toBe(true);
  });

  it('lets go of a body that goes on after its closing event', async () => {
    let isClosed = false;
    const server = await serverOf((socket) => {
      socket.write(`${head(200, chunkedStream)}${chunk(words('Hello', '[DONE]')).toString()}`);
      const timer = setInterval(() => socket.write(chunk(': more\n\n')), 20);
      socket.once('close', () => {
        clearInterval(timer);
        isClosed = true;
      });
    });
    const model = wordModel({ baseURL: server.url, transport: nodeTransport() });
    expect(await model.call(wordRequest)).toMatchObject({ type: 'success' });
    await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true);
  });

  it('reads an answer in one piece', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const transport = scripted({ headers, chunks: ['\u{FEFF}"Hel', 'lo"'] });
    const parts: StreamPart[] = [];
    const response = await wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest, {
      onPart: (part) => void parts.push(part),
    });
    expect(response).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(parts.map(({ type }) => type)).toEqual(['text-delta', 'finished']);
  });

  it('bounds a body of a transport that does not', async () => {
    const transport = scripted({ chunks: Array.from({ length: 10 }, () => words('x'.repeat(100))) });
    const model = wordModel({ baseURL: 'http://x.test', transport, maxBodyBytes: 500 });
    expect(await model.call(wordRequest)).toMatchObject({
      failure: { code: 'INVALID_RESPONSE', retryable: true, phase: 'body', context: { maxBytes: 500 } },
    });
  });

  it('keeps the beginning of an answer with a bad status, and no more', async () => {
    const page = `{"error":{"message":"model overloaded ${'x'.repeat(1000)}"}}`.repeat(1000);
    const transport = scripted({ status: 503, headers: {}, chunks: [page], hangs: 'body' });
    const response = await wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest);
    expect(response).toMatchObject({ failure: { retryable: true, provider: { statusCode: 503 } } });
    expect(JSON.stringify(response).length).toBeLessThan(10_000);
  });

  it('shows no key that an answer repeats', async () => {
    const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
    const page = scripted({
      headers: { 'content-type': 'text/html' },
      chunks: [`<p>Authorization: Bearer ${key}</p>`],
    });
    const event = scripted({ chunks: [words(`?{"api_key":"${key}"}`)] });
    for (const transport of [page, event]) {
      const response = await wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest);
      expect(response).toMatchObject({ failure: { code: 'INVALID_RESPONSE' } });
      expect(JSON.stringify(response)).not.toContain(key);
    }
  });

  it('says so when the request is no JSON', async () => {
    const request = { ...wordRequest, messages: [{ role: 'user', content: [{ type: 'text', text: 1n }] }] };
    const transport = scripted({});
    const model = wordModel({ baseURL: 'http://x.test', transport });
    expect(await model.call(request as unknown as typeof wordRequest)).toMatchObject({
      failure: { code: 'INVALID_REQUEST', phase: 'connect', sideEffect: 'none', retryable: false },
    });
    expect(transport.sent).toEqual([]);
  });

  it('says so when a key cannot be a header', async () => {
    const model = wordModel({
      baseURL: 'http://127.0.0.1:1',
      headers: { 'x-api-key': 'abc\ndef' },
      transport: nodeTransport(),
    });
    const response = await model.call(wordRequest);
    expect(response).toMatchObject({
      failure: { code: 'INVALID_REQUEST', phase: 'connect', sideEffect: 'none' },
    });
    expect(JSON.stringify(response)).not.toContain('abc');
  });
});

describe('credentials', () => {
  it('are asked for before every attempt and sent with it', async () => {
    const transport = scripted({ chunks: [words('Hello', '[DONE]')] });
    let count = 0;
    const authorize = (): Record<string, string> => {
      count += 1;
      return { Authorization: `Bearer token-${count}` };
    };
    const model = wordModel({ baseURL: 'http://x.test', transport, authorize });
    await model.call(wordRequest);
    await model.call(wordRequest);
    expect(transport.sent.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it('that cannot be had end the attempt before anything is sent', async () => {
    const transport = scripted({});
    const authorize = (): Promise<never> => Promise.reject(new Error('The token file is gone'));
    const model = wordModel({ baseURL: 'http://x.test', transport, authorize });
    expect(await model.call(wordRequest)).toMatchObject({
      failure: {
        code: 'AUTHENTICATION_ERROR',
        phase: 'connect',
        sideEffect: 'none',
        message: expect.stringContaining('token file') as unknown,
      },
    });
    expect(transport.sent).toEqual([]);
  });

  it('that never come are given up', async () => {
    const authorize = (): Promise<never> => new Promise(() => undefined);
    const model = wordModel({ baseURL: 'http://x.test', transport: scripted({}), authorize });
    expect(await model.call(wordRequest, { timeouts: { connectMs: 20 } })).toMatchObject({
      failure: { code: 'TIMEOUT', phase: 'connect' },
    });
  });
});

describe('a listener', () => {
  const call = (onPart: (part: StreamPart) => void | Promise<void>): Promise<ModelResponse> => {
    const transport = scripted({ chunks: [words('a', 'b', 'c', '[DONE]')] });
    return wordModel({ baseURL: 'http://x.test', transport }).call(wordRequest, {
      onPart,
      timeouts: { idleMs: 30 },
    });
  };

  it.each([
    {
      name: 'throws',
      onPart: () => {
        throw new Error('my bug');
      },
    },
    { name: 'rejects', onPart: () => Promise.reject(new Error('my bug')) },
    {
      name: 'rejects with a promise of its own making',
      // A promise of a library: it has a `then`, and is none of the platform's.
      onPart: () =>
        ({
          // oxlint-disable-next-line unicorn/no-thenable -- that is what this case is about
          then: (_onDone: unknown, onFailed: (error: Error) => void) => onFailed(new Error('my bug')),
        }) as unknown as Promise<void>,
    },
  ])('that $name ends the call as a defect, which is never tried again', async ({ onPart }) => {
    expect(await call(onPart)).toMatchObject({
      failure: { code: 'INTERNAL', retryable: false, causes: [{ message: 'my bug' }] },
      partial: { text: 'a' },
    });
  });

  it('hears one part after the other, and is waited for', async () => {
    const heard: string[] = [];
    let busy = 0;
    const response = await call(async (part) => {
      busy += 1;
      expect(busy).toBe(1);
      await turns(2);
      busy -= 1;
      heard.push(part.type === 'text-delta' ? part.text : part.type);
    });
    expect(response).toMatchObject({ type: 'success', result: { text: 'abc' } });
    expect(heard).toEqual(['a', 'b', 'c', 'finished']);
  });

  it('that takes its time does not make the provider late', async () => {
    const slow = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));
    expect(await call(slow)).toMatchObject({ type: 'success' });
  });
});
