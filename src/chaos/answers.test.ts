import { afterEach, describe, expect, it } from 'vitest';
import { ask, eventsOf } from '../../test/chaos/bare-client.ts';
import { question } from '../../test/chaos/bodies.ts';
import { createAssembly } from '../model/assembly.ts';
import type { Assembled } from '../model/assembly.ts';
import { createSseParser } from '../providers/http/sse.ts';
import { anthropicMessages } from '../providers/protocols/anthropic/anthropic.ts';
import { gemini } from '../providers/protocols/gemini/gemini.ts';
import { openaiChat } from '../providers/protocols/openai-chat/openai-chat.ts';
import { openaiResponses } from '../providers/protocols/openai-responses/openai-responses.ts';
import type { DecodeResult, WireProtocol } from '../providers/protocol.ts';
import type { ChaosModel, ChaosTurn } from './answering.ts';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';
import { chaosProtocols } from './wire/wire-answer.ts';
import type { ChaosProtocol } from './wire/wire-answer.ts';

const servers: ChaosServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(model?: ChaosModel): Promise<ChaosServer> {
  const server = await startChaosServer(model === undefined ? {} : { model });
  servers.push(server);
  return server;
}

/** The body of a good answer to a small question. */
async function answerOf(protocol: ChaosProtocol, isStream: boolean, model?: ChaosModel) {
  const server = await start(model);
  const { path, body } = question(protocol, { isStream });
  const seen = await ask(server.url + path, { body }).done;
  expect(seen).toMatchObject({ status: 200, isWhole: true });
  return { seen, text: seen.bytes.toString() };
}

const turn: ChaosTurn = {
  text: 'Let me look that up. 🛤️ Grüße!',
  toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
  usage: { inputTokens: 31, outputTokens: 17 },
};

describe('a good answer on the wire', () => {
  it('is the events of OpenAI chat, with the roles, the usage that was asked for and [DONE]', async () => {
    const { text, seen } = await answerOf('openai-chat', true, () => turn);
    const events = eventsOf(text).map(({ data }) => data);
    expect(seen.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(seen.headers['x-request-id']).toMatch(/^req_\w{24}$/);
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((data) => JSON.parse(data) as Chunk);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null });
    const content = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(content).toBe(turn.text);
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'weather' } });
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"city":"Oslo"}');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 31, completion_tokens: 17 } });
  });

  it('is the events of Anthropic, in their order', async () => {
    const { text, seen } = await answerOf('anthropic', true, () => ({ ...turn, reasoning: 'Hm. It rains.' }));
    const events = eventsOf(text);
    const types = events.map(({ name }) => name);
    expect(seen.headers['request-id']).toMatch(/^req_/);
    expect(types.filter((name, index) => name !== types[index - 1])).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.every(({ name, data }) => (JSON.parse(data) as Typed).type === name)).toBe(true);
  });

  it('is the events of OpenAI Responses, numbered from 0 and without [DONE]', async () => {
    const { text } = await answerOf('openai-responses', true, () => turn);
    const events = eventsOf(text).map(({ data }) => JSON.parse(data) as Typed & { sequence_number: number });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');
    expect(types).toContain('response.function_call_arguments.done');
    expect(text).not.toContain('[DONE]');
  });

  it('is the events of Gemini, whose last has the reason for the end', async () => {
    const { text } = await answerOf('gemini', true, () => turn);
    const events = eventsOf(text).map(({ data }) => JSON.parse(data) as GeminiChunk);
    const reasons = events.map(({ candidates }) => candidates[0]?.finishReason);
    expect(reasons.slice(0, -1).every((reason) => reason === undefined)).toBe(true);
    expect(reasons.at(-1)).toBe('STOP');
    expect(events.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 31, candidatesTokenCount: 17 });
  });

  it('is one JSON list where Gemini is asked to stream without alt=sse', async () => {
    const server = await start(() => turn);
    const { body } = question('gemini');
    const url = `${server.url}/v1beta/models/chaos-large:streamGenerateContent`;
    const seen = await ask(url, { body }).done;
    expect(JSON.parse(seen.bytes.toString())).toHaveLength(seen.chunks.length);
  });

  it.each(chaosProtocols)('is one piece of JSON on %s where no stream is asked for', async (protocol) => {
    const { seen, text } = await answerOf(protocol, false, () => turn);
    expect(seen.headers['content-type']).toBe('application/json');
    expect(seen.headers['content-length']).toBe(String(seen.bytes.length));
    expect(text).toContain('Grüße');
  });
});

interface Typed {
  readonly type: string;
}

interface Chunk {
  readonly id: string;
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
}

interface GeminiChunk {
  readonly candidates: readonly { readonly finishReason?: string }[];
  readonly usageMetadata: unknown;
}

const decoders: Readonly<Record<ChaosProtocol, WireProtocol>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic: anthropicMessages,
  gemini,
};

/** What the package's own decoder makes of a body. The encoders here know nothing of it: two opinions must agree. */
function decode(protocol: ChaosProtocol, text: string, isStream: boolean): Assembled {
  const assembly = createAssembly();
  const push = (result: DecodeResult): void => {
    expect(result.type === 'problem' ? result.problem : undefined).toBeUndefined();
    for (const part of result.parts) assembly.push(part);
  };
  if (!isStream) push(decoders[protocol].whole(JSON.parse(text)));
  else {
    const decoder = decoders[protocol].stream();
    const parser = createSseParser({ onEvent: (name, data) => push(decoder.event({ name, data })) });
    parser.push(Buffer.from(text));
    parser.end();
    push(decoder.end());
  }
  return assembly.read();
}

const both = chaosProtocols.flatMap((protocol) => [true, false].map((isStream) => ({ protocol, isStream })));

describe('a good answer, read by the decoders of this package', () => {
  it.each(both)('has its text, call, end and usage on $protocol (stream: $isStream)', async (given) => {
    const { protocol, isStream } = given;
    const { text } = await answerOf(protocol, isStream, () => turn);
    const read = decode(protocol, text, isStream);
    expect(read.content).toMatchObject([
      { type: 'text', text: turn.text },
      { type: 'tool-call', name: 'weather', argumentsText: '{"city":"Oslo"}' },
    ]);
    expect(read.finish?.reason).toBe('tool-calls');
    expect(read.usage).toMatchObject({ inputTokens: 31, outputTokens: 17 });
    expect(read.servedBy).toBe('chaos-large');
  });

  it.each(both)('has its reasoning on $protocol (stream: $isStream)', async ({ protocol, isStream }) => {
    const model = (): ChaosTurn => ({ reasoning: 'First this, then that.', text: 'Done.' });
    const { text } = await answerOf(protocol, isStream, model);
    const { content } = decode(protocol, text, isStream);
    expect(content[0]).toMatchObject({ type: 'reasoning', text: 'First this, then that.' });
  });

  it.each(both)(
    'says that it was cut off on $protocol (stream: $isStream)',
    async ({ protocol, isStream }) => {
      const { text } = await answerOf(protocol, isStream, () => ({ text: 'Once upon', finish: 'length' }));
      expect(decode(protocol, text, isStream).finish?.reason).toBe('length');
    },
  );

  it.each(both)(
    'says that it was filtered on $protocol (stream: $isStream)',
    async ({ protocol, isStream }) => {
      const { text } = await answerOf(protocol, isStream, () => ({ text: 'Once', finish: 'filtered' }));
      expect(decode(protocol, text, isStream).finish?.reason).toMatch(/filtered|refused/);
    },
  );
});
