import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callModel, defineModel } from 'rerail/model';
import type { Model, ModelPart, ModelResponse, StreamPart } from 'rerail/model';
import { RerailError, createAgent, createFailure, defineModel as sameInRoot, tool } from 'rerail';
import { modelConformance, simulatedClock } from 'rerail/testing';
import type { Scenario } from 'rerail/testing';
import { describe, expect, it } from 'vitest';
import { acme } from '../../examples/own-model.ts';

/** What the server of Acme does in each scenario: lines, and whether it then closes. */
const call = (id: string, wanted: string) => ({
  call: { id, tool: 'lookup_order', input: `{"id":"${wanted}"}` },
});
const tokens = { tokens: { in: 3, out: 5 } };
const played: Readonly<Record<Scenario, { readonly lines: readonly object[]; readonly staysOpen?: true }>> = {
  text: { lines: [{ text: 'Hello ' }, { text: 'to you' }, tokens, { end: 'stop' }] },
  'tool-call': { lines: [call('a', '17'), { end: 'tool-calls' }, tokens] },
  'parallel-tool-calls': { lines: [call('a', '17'), call('b', '18'), { end: 'tool-calls' }] },
  empty: { lines: [{ end: 'stop' }] },
  length: { lines: [{ text: 'Hello' }, { end: 'length' }] },
  'missing-terminal': { lines: [{ text: 'Hello ' }, { text: 'to' }] },
  'server-error': { lines: [] },
  silent: { lines: [], staysOpen: true },
  slow: { lines: [{ text: 'Hello ' }], staysOpen: true },
};

async function serve(scenario: Scenario) {
  let requests = 0;
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      open.add(response);
      const { lines, staysOpen } = played[scenario];
      if (scenario === 'server-error') return void response.writeHead(500).end('{"error":"it broke"}');
      for (const line of lines) response.write(`${JSON.stringify(line)}\n`);
      return staysOpen === true ? undefined : void response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close: async () => {
      for (const response of open) response.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the model of the guide', () => {
  it('stands in docs/models.md word for word', () => {
    const pieces = [
      ...readFileSync('docs/models.md', 'utf8').matchAll(
        /<!-- part of: examples\/own-model\.ts -->\s+```ts\n([\s\S]*?)```/g,
      ),
    ].map(([, text = '']) => text);
    expect(pieces).toHaveLength(1);
    expect(readFileSync('examples/own-model.ts', 'utf8')).toContain(pieces[0]);
    expect(pieces[0]?.trim().split('\n').length).toBeLessThanOrEqual(30);
    expect(pieces[0]).toMatch(/defineModel\(\{[\s\S]*async \*stream\(/);
  });

  const cases = modelConformance({
    createModel: async (scenario) => {
      const { url, ...server } = await serve(scenario);
      return { ...server, model: acme(url, 'acme-1') };
    },
  });

  it('is held to every case that there is', () => {
    expect(cases.length).toBeGreaterThanOrEqual(38);
  });

  it.each(cases.map(({ name, run }) => [name, run] as const))('%s', (_, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});

const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
const finished: ModelPart = { type: 'finished', finish: 'stop' };
const text = (value: string): ModelPart => ({ type: 'text-delta', text: value });

type Stream = Parameters<typeof defineModel>[0]['stream'];

const make = (stream: Stream, more: object = {}): Model =>
  defineModel({ provider: 'acme', model: 'a', stream, capabilities: { tools: true }, ...more });

/** Yields what a program without types may yield. */
const yields = (...parts: readonly unknown[]): Model =>
  make(async function* () {
    await Promise.resolve();
    yield* parts as readonly ModelPart[];
  });

const never = new Promise<never>(() => undefined);

function failureOf(response: ModelResponse) {
  if (response.type === 'success')
    throw new Error(`Expected a failure, got ${JSON.stringify(response.result)}`);
  return response.failure;
}

function resultOf(response: ModelResponse) {
  if (response.type === 'failure') throw new Error(`${response.failure.code}: ${response.failure.message}`);
  return response.result;
}

describe('defineModel', () => {
  it('is the same from both entries', () => {
    expect(sameInRoot).toBe(defineModel);
  });

  const misuse: readonly (readonly [string, object, RegExp])[] = [
    ['no stream', { provider: 'a', model: 'b' }, /needs "stream"/],
    ['no provider', { model: 'b', stream: () => [] }, /needs "provider"/],
    ['no model', { provider: 'a', stream: () => [] }, /needs "model"/],
    [
      'a misspelt option',
      { provider: 'a', model: 'b', stream: () => [], qoutaKey: 'x' },
      /did you mean "quotaKey"/,
    ],
    [
      'a stream that is none',
      { provider: 'a', model: 'b', stream: 'x' },
      /"stream" of defineModel\(\) must be a function/,
    ],
  ];
  it.each(misuse)('refuses %s when it is made', (_, definition, message) => {
    expect(() => defineModel(definition as Parameters<typeof defineModel>[0])).toThrow(message);
  });

  it('takes plain text only, unless its capabilities say more', async () => {
    const model = defineModel({ provider: 'a', model: 'b', stream: () => [text('x'), finished] });
    const tools = [{ name: 't', description: 'd', parameters: { type: 'object' } }];
    expect(failureOf(await model.call({ ...request, tools }))).toMatchObject({ code: 'CONFIG_ERROR' });
    expect(resultOf(await model.call(request)).text).toBe('x');
  });

  const broken: readonly (readonly [string, readonly unknown[], object])[] = [
    [
      'no end',
      [text('Hel')],
      {
        code: 'STREAM_INTERRUPTED',
        retryable: true,
        hint: expect.stringContaining('type: "finished"') as string,
      },
    ],
    [
      'arguments under another name',
      [
        { type: 'tool-call-started', callId: 'x', name: 'pay' },
        { type: 'tool-call-delta', callId: 'x', argumentsText: '{"cents":5}' },
        { type: 'tool-call-finished', callId: 'x' },
        finished,
      ],
      { code: 'INVALID_RESPONSE', message: expect.stringContaining('but "argumentsText"') as string },
    ],
    [
      'text under another name',
      [{ type: 'text-delta', delta: 'Hello' }, finished],
      { code: 'INVALID_RESPONSE', message: expect.stringContaining('but "delta"') as string },
    ],
    ['nothing at all', [], { code: 'STREAM_INTERRUPTED' }],
    ['an end and nothing before it', [finished], { code: 'EMPTY_RESPONSE' }],
    ['blank text', [text(' \n'), finished], { code: 'EMPTY_RESPONSE' }],
    ['an end by length', [text('Hel'), { type: 'finished', finish: 'length' }], { code: 'OUTPUT_TRUNCATED' }],
    [
      'an unknown reason',
      [text('x'), { type: 'finished', finish: 'max_tokens' }],
      { code: 'INVALID_RESPONSE', retryable: false },
    ],
    ['an end without reason', [text('x'), { type: 'finished' }], { code: 'INVALID_RESPONSE' }],
    ['text after the end', [text('x'), finished, text('late')], { code: 'INVALID_RESPONSE' }],
    [
      'a call after the end',
      [text('x'), finished, { type: 'tool-call', name: 'pay', arguments: {} }],
      { code: 'INVALID_RESPONSE' },
    ],
    ['a bare text', ['Hello', finished], { code: 'INVALID_RESPONSE', retryable: false }],
    ['nothing', [undefined, finished], { code: 'INVALID_RESPONSE' }],
    ['a type that there is not', [{ type: 'delta', text: 'x' }, finished], { code: 'INVALID_RESPONSE' }],
    ['a number as text', [{ type: 'text-delta', text: 3 }, finished], { code: 'INVALID_RESPONSE' }],
    [
      'a getter that throws',
      [
        {
          get type(): string {
            throw new Error('no');
          },
        },
      ],
      { code: 'INVALID_RESPONSE' },
    ],
    ['a call without name', [{ type: 'tool-call', arguments: {} }, finished], { code: 'INVALID_RESPONSE' }],
    [
      'a call that is no JSON',
      [{ type: 'tool-call', name: 'pay', arguments: '{"cents":' }, finished],
      { code: 'TOOL_CALL_INVALID' },
    ],
    [
      'arguments that are a list',
      [{ type: 'tool-call', name: 'pay', arguments: '[1]' }, finished],
      { code: 'TOOL_CALL_INVALID' },
    ],
    [
      'a delta of no call',
      [{ type: 'tool-call-delta', callId: 'x', text: '{}' }, finished],
      { code: 'INVALID_RESPONSE' },
    ],
    [
      'a call cut off',
      [{ type: 'tool-call-started', callId: 'x', name: 'pay' }],
      { code: 'STREAM_INTERRUPTED' },
    ],
    [
      'a call cut off by length',
      [
        { type: 'tool-call-started', callId: 'x', name: 'pay' },
        { type: 'finished', finish: 'length' },
      ],
      { code: 'OUTPUT_TRUNCATED' },
    ],
    [
      'calls announced and not sent',
      [text('x'), { type: 'finished', finish: 'tool-calls' }],
      { code: 'TOOL_CALL_INVALID' },
    ],
  ];
  it('keeps its time also where the stream never waits for anything outside', async () => {
    const model = make(async function* () {
      for (let count = 0; count < 1_000_000; count += 1) yield text('');
      await never;
    });
    const timeouts = { progressMs: 200 };
    expect(failureOf(await model.call(request, { timeouts }))).toMatchObject({ code: 'TIMEOUT' });
  });

  it.each(broken)('gives a typed failure for %s', async (_, parts, expected) => {
    expect(failureOf(await yields(...parts).call(request))).toMatchObject({
      provider: { provider: 'acme', model: 'a' },
      ...expected,
    });
  });

  const thrown: readonly (readonly [string, unknown, object])[] = [
    ['a status', Object.assign(new Error('busy'), { status: 503 }), { retryable: true }],
    [
      'a rate limit',
      Object.assign(new Error('slow down'), { status: 429, headers: new Headers({ 'retry-after': '7' }) }),
      { code: 'RATE_LIMITED', retryAfterMs: 7000 },
    ],
    [
      'a wrong key',
      Object.assign(new Error('bad key'), { status: 401 }),
      { code: 'AUTHENTICATION_ERROR', retryable: false },
    ],
    [
      'a reset',
      Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      }),
      { retryable: true },
    ],
    [
      'a failure of its own',
      RerailError.from(createFailure('OVERLOADED', { message: 'full', origin: 'model' })),
      { code: 'OVERLOADED', message: 'full' },
    ],
    ['a defect', new TypeError('x is not a function'), {}],
    ['nothing', undefined, { code: 'UNKNOWN' }],
    [
      'an object that throws when read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no');
          },
        },
      ),
      {},
    ],
  ];
  it.each(thrown)('classifies %s that is thrown', async (_, error, expected) => {
    const late = make(async function* () {
      yield await Promise.resolve(text('Hel'));
      throw error;
    });
    const atOnce = make(() => {
      throw error;
    });
    const rejecting = make(() => Promise.reject(error));
    for (const model of [late, atOnce, rejecting]) {
      const failure = failureOf(await model.call(request));
      expect(failure).toMatchObject(expected);
      expect(JSON.parse(JSON.stringify(failure))).toEqual(failure);
    }
    expect(await late.call(request)).toMatchObject({ partial: { text: 'Hel' } });
  });

  it.each([
    ['an array', () => [text('x'), finished]],
    [
      'a promise of a generator',
      async () => {
        await Promise.resolve();
        return (async function* () {
          yield await Promise.resolve(text('x'));
          yield finished;
        })();
      },
    ],
    [
      'a web stream',
      () =>
        new Response().body ??
        new ReadableStream<ModelPart>({
          start: (controller) => {
            controller.enqueue(text('x'));
            controller.enqueue(finished);
            controller.close();
          },
        }),
    ],
  ] as readonly (readonly [string, Stream])[])('reads %s', async (_, stream) => {
    expect(resultOf(await make(stream).call(request)).text).toBe('x');
  });

  it.each([
    ['undefined', undefined],
    ['a text', 'abc'.length],
    ['an object', {}],
  ])('gives a failure where stream returns %s', async (_, returned) => {
    const model = make((() => returned) as unknown as Stream);
    expect(failureOf(await model.call(request))).toMatchObject({
      code: 'INVALID_RESPONSE',
      retryable: false,
    });
  });

  it('assembles calls that overlap, gives each an id of its own and closes what the end closes', async () => {
    const parts: StreamPart[] = [];
    const model = yields(
      { type: 'tool-call-started', callId: 'x', name: 'one' },
      { type: 'tool-call-started', callId: 'y', name: 'two' },
      { type: 'tool-call-delta', callId: 'x', text: '{"a":' },
      { type: 'tool-call-delta', callId: 'y', text: '{}' },
      { type: 'tool-call-delta', callId: 'x', text: '1}' },
      { type: 'tool-call-finished', callId: 'x' },
      { type: 'tool-call', callId: 'x', name: 'three', arguments: { b: [2] } },
      { type: 'tool-call', name: 'four', arguments: '' },
      finished,
    );
    const result = resultOf(await model.call(request, { onPart: (part) => void parts.push(part) }));
    expect(result.toolCalls.map(({ name, argumentsText }) => [name, argumentsText])).toEqual([
      ['one', '{"a":1}'],
      ['two', '{}'],
      ['three', '{"b":[2]}'],
      ['four', ''],
    ]);
    expect(new Set(result.toolCalls.map(({ callId }) => callId)).size).toBe(4);
    expect(result.finish).toEqual({ reason: 'tool-calls', raw: 'stop' });
    expect(parts.at(-1)).toEqual({ type: 'finished', finish: result.finish });
  });

  it.each([
    ['absent', undefined, {}],
    [
      'odd',
      { inputTokens: -1, outputTokens: Number.NaN, reasoningTokens: '3', cacheReadTokens: 1.5, total: 9 },
      {},
    ],
    ['no object', 7, {}],
    ['partly known', { inputTokens: 3, outputTokens: null }, { inputTokens: 3 }],
  ])('leaves out usage that is %s', async (_, usage, expected) => {
    const result = resultOf(await yields(text('x'), { type: 'usage', usage }, finished).call(request));
    expect(result.usage).toEqual(expected);
  });

  it('takes counts that come after the end, and tells the end last', async () => {
    const parts: StreamPart[] = [];
    const model = yields(
      text('x'),
      finished,
      { type: 'text-delta', text: null },
      { type: 'usage', usage: { outputTokens: 2 } },
    );
    const result = resultOf(await model.call(request, { onPart: (part) => void parts.push(part) }));
    expect(result.usage).toEqual({ outputTokens: 2 });
    expect(parts.at(-1)?.type).toBe('finished');
  });

  it('holds a whole answer although the stream never closes, and stops it', async () => {
    const clock = simulatedClock();
    let stopped: AbortSignal | undefined;
    const model = make(async function* (_, { signal }) {
      stopped = signal;
      yield text('x');
      yield finished;
      await never;
    });
    expect(resultOf(await clock.runUntil(model.call(request, { clock }))).text).toBe('x');
    expect(stopped?.aborted).toBe(true);
  });

  const deaf: readonly (readonly [string, object, Stream])[] = [
    [
      'headersMs',
      { headersMs: 100 },
      async function* () {
        yield text('x');
        await never;
      },
    ],
    [
      'firstTokenMs',
      { firstTokenMs: 100 },
      async function* () {
        await never;
        yield text('x');
      },
    ],
    [
      'idleMs',
      { idleMs: 100 },
      async function* () {
        yield text('x');
        await never;
      },
    ],
    [
      'totalMs',
      { totalMs: 100 },
      async function* () {
        await never;
        yield text('x');
      },
    ],
    [
      'totalMs, while it cleans up',
      { totalMs: 100 },
      async function* () {
        try {
          yield text('x');
          await never;
        } finally {
          await never;
        }
      },
    ],
    ['totalMs, while it opens', { totalMs: 100 }, () => never],
  ];
  it.each(deaf.slice(1))('ends by %s although the stream ignores its signal', async (_, timeouts, stream) => {
    const clock = simulatedClock();
    const failure = failureOf(await clock.runUntil(make(stream).call(request, { clock, timeouts })));
    expect(failure).toMatchObject({ code: 'TIMEOUT', retryable: true });
  });

  it.each(deaf)('ends at once when cancelled, with a stream that ignores it (%s)', async (_, __, stream) => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const calling = make(stream).call(request, { clock, signal: controller.signal });
    await clock.advance(1);
    controller.abort();
    expect(failureOf(await calling)).toMatchObject({ code: 'CANCELLED' });
  });

  it('calls what the stream throws because it was cancelled CANCELLED', async () => {
    const controller = new AbortController();
    const model = make(async function* (_, { signal }) {
      yield text('x');
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('socket closed'))),
      );
    });
    const onPart = (): void => controller.abort();
    expect(failureOf(await model.call(request, { signal: controller.signal, onPart })).code).toBe(
      'CANCELLED',
    );
  });

  it('bounds an answer that never ends', async () => {
    const piece = 'x'.repeat(4 * 1024 * 1024);
    const model = make(function* () {
      for (;;) yield text(piece);
    });
    const failure = failureOf(await model.call(request));
    expect(failure).toMatchObject({ code: 'INVALID_RESPONSE', retryable: false });
    expect(failure.message).toMatch(/too large/);
  });

  it('runs an agent with a tool, retried by one owner only', async () => {
    let calls = 0;
    const model = make(function* ({ messages }) {
      calls += 1;
      if (calls === 1) throw Object.assign(new Error('busy'), { status: 503 });
      const isAnswered = messages.some(({ role }) => role === 'tool');
      if (!isAnswered) yield { type: 'tool-call', name: 'add', arguments: { a: 2, b: 3 } };
      else yield text('It is 5.');
      yield finished;
    });
    const add = tool({
      name: 'add',
      description: 'Adds.',
      input: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      effect: 'read',
      execute: (input) => {
        const { a, b } = input as { a: number; b: number };
        return a + b;
      },
    });
    const clock = simulatedClock();
    const agent = createAgent({ name: 'sums', model, tools: [add], clock });
    const outcome = await clock.runUntil(agent.run('What is 2 + 3?'));
    expect(outcome).toMatchObject({ type: 'completed', text: 'It is 5.' });
    expect(calls).toBe(3);
  });

  it('is a link of a chain', async () => {
    const down = make(() => {
      throw Object.assign(new Error('no credit'), { status: 402 });
    });
    const outcome = await callModel([down, yields(text('x'), finished)], request);
    expect(outcome).toMatchObject({ type: 'success', result: { text: 'x' } });
  });
});
