import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { callModel, createAgent } from '../../src/index.ts';
import { openaiEmbedding } from '../../src/providers/openai/index.ts';
import { plainTool } from '../agent/scene.ts';
import { beginStream, framesOf, startWire, wholeOf, wires } from './wire-server.ts';
import type { WireName } from './wire-server.ts';

const once = { policy: { retry: { maxAttempts: 1 } } } as const;
const ask = { messages: [{ role: 'user', content: 'Hi' }] } as const;
/** Longer than a finished answer is waited for, and shorter than any timeout. */
const patienceMs = 8000;

async function timed<Value>(promise: Promise<Value>): Promise<readonly [Value, number]> {
  const startMs = performance.now();
  const value = await promise;
  return [value, performance.now() - startMs];
}

describe('a server that never closes its stream', () => {
  /** What follows the finish reason, if anything, while the connection stays open. */
  const silences: readonly (readonly [string, (wire: WireName) => string])[] = [
    ['after the finish reason', (wire) => framesOf(wire, { text: 'Hello' }).finish],
    [
      'after its last event',
      (wire) => wholeOf(wire, { text: 'Hello' }).slice(framesOf(wire, { text: 'Hello' }).content.length),
    ],
  ];
  it.each(silences)('%s gives the finished answer on every wire', async (_when, rest) => {
    await Promise.all(
      wires.map(async (wire) => {
        const { model } = await startWire(wire, [
          (_request, response) =>
            beginStream(response, framesOf(wire, { text: 'Hello' }).content + rest(wire)),
        ]);
        const [outcome, tookMs] = await timed(callModel(model, ask, once));
        expect(outcome).toMatchObject({ type: 'success', result: { text: 'Hello' } });
        expect(tookMs).toBeLessThan(patienceMs);
      }),
    );
  });

  it('but sends keep-alives for ever gives the finished answer', async () => {
    const keepAlives = [': ping\n\n', 'data:\n\n', 'data: {"choices":[]}\n\n'];
    await Promise.all(
      keepAlives.map(async (keepAlive) => {
        const { model } = await startWire('openai-chat', [
          (_request, response) => {
            const { content, finish } = framesOf('openai-chat', { text: 'Hello' });
            beginStream(response, content + finish);
            const timer = setInterval(() => response.write(keepAlive), 100);
            response.on('close', () => clearInterval(timer));
          },
        ]);
        const [outcome, tookMs] = await timed(callModel(model, ask, once));
        expect(outcome).toMatchObject({ type: 'success', result: { text: 'Hello' } });
        expect(tookMs).toBeLessThan(patienceMs);
      }),
    );
  });

  it('is waited for while counts follow the finish reason', async () => {
    const { model } = await startWire('openai-chat', [
      (_request, response) => {
        const { content, finish } = framesOf('openai-chat', { text: 'Hello' });
        beginStream(response, content + finish);
        setTimeout(
          () => response.write('data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n'),
          300,
        );
      },
    ]);
    expect(await callModel(model, ask, once)).toMatchObject({
      type: 'success',
      result: { usage: { inputTokens: 7, outputTokens: 3 } },
    });
  });

  it('and goes on after a finish reason is read to its end', async () => {
    const { model } = await startWire('gemini', [
      (_request, response) => {
        const say = (text: string): string =>
          `data: {"candidates":[{"content":{"parts":[{"text":"${text}"}]},"finishReason":"STOP"}]}\n\n`;
        beginStream(response, say('One ') + say('two '));
        setTimeout(() => response.end(say('three')), 2500);
      },
    ]);
    expect(await callModel(model, ask, once)).toMatchObject({
      type: 'success',
      result: { text: 'One two three' },
    });
  });

  it.each([
    [
      'gemini',
      (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] }),
    ],
    ['openai-chat', (text: string) => ({ choices: [{ delta: { content: text }, finish_reason: 'stop' }] })],
  ] as const)('and gives a reason with its first piece is waited for longer: %s', async (wire, chunk) => {
    const say = (text: string): string => `data: ${JSON.stringify(chunk(text))}\n\n`;
    const early = await startWire(wire, [
      (_request, response) => {
        beginStream(response, say('One '));
        setTimeout(() => response.end(say('two')), 2800);
      },
    ]);
    const only = await startWire(wire, [(_request, response) => beginStream(response, say('Hello'))]);
    const [whole, [outcome, tookMs]] = await Promise.all([
      callModel(early.model, ask, once),
      timed(callModel(only.model, ask, once)),
    ]);
    expect(whole).toMatchObject({ type: 'success', result: { text: 'One two' } });
    expect(outcome).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(tookMs).toBeLessThan(patienceMs);
  });

  it.each(['openai-chat', 'gemini'] as const)(
    'but loses its connection after the finish reason gives the finished answer on %s',
    async (wire) => {
      const { content, finish } = framesOf(wire, { text: 'Hello' });
      const scene = await startWire(wire, [
        ({ socket }, response) => {
          beginStream(response, content + finish);
          setTimeout(() => socket.resetAndDestroy(), 100);
        },
      ]);
      const outcome = await callModel(scene.model, ask, once);
      expect(outcome).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    },
  );

  it('before a finish reason is a failure', async () => {
    await Promise.all(
      wires.map(async (wire) => {
        const { content } = framesOf(wire, { text: 'Hello' });
        const cut = await startWire(wire, [
          (_request, response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.end(content);
          },
        ]);
        const silent = await startWire(wire, [(_request, response) => beginStream(response, content)]);
        const policy = { ...once.policy, timeouts: { idleMs: 300 } };
        expect(await callModel(cut.model, ask, once)).toMatchObject({
          type: 'failure',
          failure: { code: 'STREAM_INTERRUPTED' },
        });
        expect(await callModel(silent.model, ask, { policy })).toMatchObject({
          type: 'failure',
          failure: { code: 'TIMEOUT' },
        });
      }),
    );
  });

  it('without [DONE] but closed gives the whole answer on Chat', async () => {
    const { model } = await startWire('openai-chat', [
      (_request, response) => {
        const { content, finish } = framesOf('openai-chat', { text: 'Hello' });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(content + finish);
      },
    ]);
    expect(await callModel(model, ask, once)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });
});

describe.each(wires)('bytes that are not UTF-8 on %s', (wire) => {
  const bad: readonly (readonly [string, readonly number[]])[] = [
    ['a lone continuation byte', [0x80]],
    ['a cut sequence', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['Latin-1', [0xe9, 0x74, 0xe9]],
    ['a surrogate half', [0xed, 0xa0, 0x80]],
    ['a byte that UTF-8 never has', [0xff]],
  ];
  const spoil = (text: string, bytes: readonly number[]): Buffer => {
    const [before = '', after = ''] = text.split('Hello', 2);
    return Buffer.concat([Buffer.from(`${before}Hel`), Buffer.from(bytes), Buffer.from(`lo${after}`)]);
  };
  it.each(bad)('%s is a typed failure, and the next attempt counts', async (_kind, bytes) => {
    const { model } = await startWire(wire, [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(spoil(wholeOf(wire, { text: 'Hello' }), bytes));
      },
      { text: 'Hello' },
    ]);
    expect(await callModel(model, ask, once)).toMatchObject({
      type: 'failure',
      failure: { code: 'INVALID_RESPONSE', retryable: true },
    });
    expect(await callModel(model, ask)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });

  it('passes what the server encoded, cut anywhere, a replacement character of its own included', async () => {
    const text = 'Grüße, 日本 🚂 \u{FFFD}!';
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(wholeOf(wire, { text }))]);
    const { model } = await startWire(wire, [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const byte of bytes) response.write(Buffer.from([byte]));
        response.end();
      },
    ]);
    expect(await callModel(model, ask, once)).toMatchObject({ type: 'success', result: { text } });
  });
});

describe('bytes that are not UTF-8 in one piece of JSON', () => {
  it('are a typed failure of a model that does not stream', async () => {
    const { model } = await startWire(
      'openai-chat',
      [
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          const json = '{"choices":[{"message":{"content":"Hel\u0001lo"},"finish_reason":"stop"}]}';
          response.end(Buffer.from(json.replace('\u0001', '\u00ff'), 'latin1'));
        },
      ],
      { stream: false },
    );
    expect(await callModel(model, ask, once)).toMatchObject({
      type: 'failure',
      failure: { code: 'INVALID_RESPONSE', retryable: true },
    });
  });

  it('are a typed failure of embeddings', async () => {
    const { server } = await startWire('openai-chat', [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(Buffer.from('{"model":"\u00ff","data":[{"index":0,"embedding":[1]}]}', 'latin1'));
      },
    ]);
    const { port } = server.address() as { readonly port: number };
    const model = openaiEmbedding('text-embedding-3-small', {
      apiKey: 'test-key-0123456789',
      baseURL: `http://127.0.0.1:${port}/v1`,
    });
    expect(await model.embed(['a'])).toMatchObject({
      type: 'failure',
      failure: { code: 'INVALID_RESPONSE' },
    });
  });
});

describe('a tool call after the answer has said that it is over', () => {
  const chatChunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const chatCall = { tool_calls: [{ index: 0, id: 'c', function: { name: 'pay', arguments: '{}' } }] };
  const anthropic = framesOf('anthropic', { text: 'Hello' });
  const anthropicCall = framesOf('anthropic', { calls: [{ id: 'c', name: 'pay' }] })
    .content.split('\n\n')
    .slice(1)
    .join('\n\n')
    .replaceAll('"index":0', '"index":7');
  const gemini = framesOf('gemini', { text: 'Hello' });
  const done = 'data: [DONE]\n\n';
  const said = chatChunk({ content: 'Hello' }, 'stop');
  const oldCall = chatChunk({ function_call: { name: 'pay', arguments: '{}' } });
  const lateCalls: readonly (readonly [string, WireName, readonly string[]])[] = [
    [
      'Chat, before [DONE]',
      'openai-chat',
      [chatChunk({ content: 'Hello' }), chatChunk({}, 'stop'), chatChunk(chatCall), done],
    ],
    ['Chat, with a second reason', 'openai-chat', [said, chatChunk(chatCall, 'tool_calls'), done]],
    ['Chat, in the old form', 'openai-chat', [said, oldCall, done]],
    [
      'Chat, after length',
      'openai-chat',
      [chatChunk({ content: 'Hello' }, 'length'), chatChunk(chatCall), done],
    ],
    [
      'Anthropic, before message_stop',
      'anthropic',
      [anthropic.content, anthropic.finish, anthropicCall, anthropic.close],
    ],
    [
      'Gemini',
      'gemini',
      [gemini.content, gemini.finish, framesOf('gemini', { calls: [{ name: 'pay' }] }).content],
    ],
  ];
  it.each(lateCalls)('is not run: %s', async (_kind, wire, stream) => {
    const ran: unknown[] = [];
    const pay = plainTool({ name: 'pay', execute: (input) => void ran.push(input) });
    const { model, requests } = await startWire(wire, [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(stream.join(''));
      },
      { text: 'Again.' },
    ]);
    const agent = createAgent({ name: 'payer', model, tools: [pay] });
    expect(await agent.run('Pay.')).toMatchObject({ type: 'completed', text: 'Again.' });
    expect(ran).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  it('is not run: Responses, where nothing counts after response.completed', async () => {
    const ran: unknown[] = [];
    const pay = plainTool({ name: 'pay', execute: (input) => void ran.push(input) });
    const call = framesOf('openai-responses', { calls: [{ id: 'c', name: 'pay' }] });
    const { model } = await startWire('openai-responses', [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(wholeOf('openai-responses', { text: 'Hello' }) + call.content + call.finish);
      },
    ]);
    const agent = createAgent({ name: 'payer', model, tools: [pay] });
    expect(await agent.run('Pay.')).toMatchObject({ type: 'completed', text: 'Hello' });
    expect(ran).toEqual([]);
  });

  it('runs where the reason announces calls', async () => {
    const ran: unknown[] = [];
    const pay = plainTool({ name: 'pay', execute: (input) => void ran.push(input) });
    const { model } = await startWire('openai-chat', [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${chatChunk(chatCall, 'stop')}data: [DONE]\n\n`);
      },
      { text: 'Done.' },
    ]);
    const agent = createAgent({ name: 'payer', model, tools: [pay] });
    expect(await agent.run('Pay.')).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(ran).toHaveLength(1);
  });
});
