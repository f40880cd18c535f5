import { describe, expect, it } from 'vitest';
import type { Message, ModelResult, ToolResultPart } from '../../src/model/index.ts';
import { ask, conversation, providers, useAimock, weatherTool } from './aimock.ts';
import type { Called } from './aimock.ts';
import type { ProviderName } from './provider-models.ts';

// A second opinion on our wire protocols: aimock is a mock server of other people, who read the same documentation. What it
// writes we must read, and what we write it must read.

const text = 'Grüße aus Köln 🥊, “twelve” lines:\n\n- 東京\n- data: [DONE]\n';
const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  input_tokens: 11,
  output_tokens: 7,
  promptTokenCount: 11,
  candidatesTokenCount: 7,
};

/** In pieces, or as one piece of JSON: two decoders of ours, two encoders of theirs. */
const framings = [
  ['streamed', {}],
  ['in one piece', { stream: false }],
  ['streamed over fetch', { fetch: globalThis.fetch }],
] as const;

const { mock, call, seen } = useAimock();

function resultOf({ outcome }: Called): ModelResult {
  if (outcome.type === 'failure') throw new Error(outcome.failure.message);
  return outcome.result;
}

describe.each(providers)('%s', (provider) => {
  describe.each(framings)('%s', (framing, options) => {
    it('reads the text byte for byte, with its usage, in one request', async () => {
      mock.onMessage('Hello', { content: text, usage });
      const called = await call(provider, ask('Hello'), options);
      expect(resultOf(called)).toMatchObject({
        text,
        finish: { reason: 'stop' },
        usage: { inputTokens: 11, outputTokens: 7 },
        toolCalls: [],
      });
      expect(called.shown).toBe(text);
      expect(called.seen).toBe(1);
      expect(called.outcome.report.ledger).toMatchObject({ requests: 1, inputTokens: 11, outputTokens: 7 });
    });

    it('reads parallel tool calls after text, each with its own id and arguments', async () => {
      const cities = ['Zürich', 'Rom', '東京 "\\" 🏔'];
      const toolCalls = cities.map((city) => ({ name: 'get_weather', arguments: JSON.stringify({ city }) }));
      mock.onMessage('Weather', { content: 'Let me look.', toolCalls });
      const called = await call(provider, { ...ask('Weather'), tools: [weatherTool] }, options);
      const result = resultOf(called);
      expect(result.text).toBe('Let me look.');
      expect(result.toolCalls.map((one) => [one.name, JSON.parse(one.argumentsText) as unknown])).toEqual(
        cities.map((city) => ['get_weather', { city }]),
      );
      expect(new Set(result.toolCalls.map(({ callId }) => callId)).size).toBe(3);
      expect(called.seen).toBe(called.outcome.report.ledger.requests);
    });

    it('reads a call without arguments, and keeps the id that the server gave', async () => {
      mock.onMessage('Go', { toolCalls: [{ name: 'get_weather', arguments: '{}', id: 'call_abc123' }] });
      const { toolCalls } = resultOf(await call(provider, { ...ask('Go'), tools: [weatherTool] }, options));
      expect(toolCalls).toMatchObject([{ name: 'get_weather', argumentsText: '{}', callId: 'call_abc123' }]);
    });

    it('keeps the order of calls and text that take turns', async () => {
      mock.onMessage('Turns', {
        blocks: [
          { type: 'toolCall', name: 'get_weather', arguments: '{"city":"Rom"}' },
          { type: 'text', text: 'and now ' },
          { type: 'toolCall', name: 'get_weather', arguments: '{"city":"Oslo"}' },
          { type: 'text', text: 'done' },
        ],
      });
      const called = await call(provider, { ...ask('Turns'), tools: [weatherTool] }, options);
      const result = resultOf(called);
      expect(result.text).toBe('and now done');
      expect(result.toolCalls.map(({ argumentsText }) => argumentsText)).toEqual([
        '{"city":"Rom"}',
        '{"city":"Oslo"}',
      ]);
      // A whole answer of Chat Completions has one place for text and one for calls: their order is lost before us.
      const isOrderLost = framing === 'in one piece' && ['openai-chat', 'ollama'].includes(provider);
      expect(result.content.map(({ type }) => type)).toEqual(
        isOrderLost ? ['text', 'tool-call', 'tool-call'] : ['tool-call', 'text', 'tool-call', 'text'],
      );
      expect(result.finish).toMatchObject(callFinish[provider]);
    });

    it('keeps reasoning apart from the answer', async () => {
      mock.onMessage('Why', { content: 'Because.', reasoning: 'Hm, 🤔 let me see …' });
      const called = await call(provider, ask('Why'), options);
      const { content } = resultOf(called);
      expect(content.map((part) => [part.type, 'text' in part && part.text])).toEqual([
        ['reasoning', 'Hm, 🤔 let me see …'],
        ['text', 'Because.'],
      ]);
      expect(called.shown).toBe('Because.');
    });

    it.each([
      ['length', 'OUTPUT_TRUNCATED'],
      ['content_filter', filterCodes[provider]],
    ])('never takes an answer that ended by %s for a whole one', async (finishReason, code) => {
      mock.onMessage('Cut', { content: 'The answer is', finishReason });
      const { outcome, seen: requests } = await call(provider, ask('Cut'), {
        ...options,
        policy: { retry: 'none' },
      });
      expect(outcome.type === 'failure' ? outcome.failure.code : outcome.result.finish).toEqual(code);
      expect(requests).toBe(1);
    });

    it('never takes an empty answer for one', async () => {
      mock.onMessage('Nothing', { content: '' });
      const { outcome, seen: requests } = await call(provider, ask('Nothing'), options);
      expect(outcome.type === 'failure' && outcome.failure.code).toBe('EMPTY_RESPONSE');
      expect(requests).toBe(outcome.report.ledger.requests);
    });
  });

  it('sends what the other side understands: instructions, question, tools, limits', async () => {
    mock.onMessage('Hello', { content: 'Hi' });
    const request = { ...ask('Hello'), tools: [weatherTool], maxOutputTokens: 100, temperature: 0.5 };
    await call(provider, request);
    const body = mock.getLastRequest()?.body;
    expect(body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      temperature: 0.5,
      [provider === 'openai-chat' ? 'max_completion_tokens' : 'max_tokens']: 100,
      tools: [{ type: 'function', function: { name: 'get_weather', description: 'The weather of a city' } }],
    });
    expect(mock.getLastRequest()?.path).toBe(paths[provider]);
  });

  it('sends the results of tools back, and the next turn ends the conversation', async () => {
    mock.on(
      { userMessage: 'Weather', hasToolResult: false },
      {
        content: 'Let me look.',
        reasoning: 'Two cities.',
        toolCalls: ['Rom', 'Oslo'].map((city) => ({ name: 'get_weather', arguments: { city } })),
      },
    );
    mock.on({ userMessage: 'Weather', toolResultContains: 'snow' }, { content: 'Sun and snow.' });
    const first = resultOf(await call(provider, { ...ask('Weather'), tools: [weatherTool] }));
    const results = first.toolCalls.map(({ callId, name }, index): ToolResultPart => ({
      type: 'tool-result',
      callId,
      name,
      content: index === 0 ? 'sun' : 'snow',
    }));
    const messages: readonly Message[] = [
      ...conversation('Weather'),
      { role: 'assistant', content: first.content },
      { role: 'tool', content: results },
    ];
    const second = await call(provider, { messages, tools: [weatherTool] });
    expect(resultOf(second).text).toBe('Sun and snow.');
    expect(second.seen).toBe(1);
    expect(readTurn(mock.getLastRequest()?.body)).toEqual([
      'get_weather {"city":"Rom"} -> sun',
      'get_weather {"city":"Oslo"} -> snow',
    ]);
  });

  it('asks for structured output and reads it', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    mock.onMessage('Number', { content: { n: 7 } });
    const called = await call(provider, { ...ask('Number'), output: { name: 'number', schema } });
    expect(JSON.parse(resultOf(called).text)).toEqual({ n: 7 });
    expect(called.seen).toBe(1);
  });

  it('sends calls that run at once once each', async () => {
    mock.onMessage('Hello', { content: text }, { chaos: { latencyMs: 20 } });
    const calls = await Promise.all(Array.from({ length: 10 }, () => call(provider, ask('Hello'))));
    expect(calls.map((called) => resultOf(called).text)).toEqual(Array(10).fill(text));
    expect(seen()).toBe(10);
  });
});

describe('anthropic', () => {
  it('keeps signatures and redacted thinking, which must go back', async () => {
    const reasoning = { reasoning: 'Hm.', reasoningSignature: 'c2ln', redactedThinking: ['cmVk'] };
    mock.onMessage('Why', { content: 'Because.', ...reasoning });
    const { content } = resultOf(await call('anthropic', ask('Why')));
    expect(content).toEqual([
      { type: 'reasoning', text: '', isRedacted: true, signature: { protocol: 'anthropic', value: 'cmVk' } },
      { type: 'reasoning', text: 'Hm.', signature: { protocol: 'anthropic', value: 'c2ln' } },
      { type: 'text', text: 'Because.' },
    ]);
  });
});

/**
 * A filter is told by the provider's own word. Aimock puts a failed status into Responses where OpenAI documents
 * `incomplete` with a reason, and hands the word to Anthropic as it is, which does not have it.
 */
const filterCodes: Readonly<Record<ProviderName, unknown>> = {
  'openai-chat': 'CONTENT_FILTERED',
  'openai-responses': 'SERVER_ERROR',
  anthropic: 'CONTENT_FILTERED',
  gemini: 'CONTENT_FILTERED',
  ollama: 'CONTENT_FILTERED',
};

/** Google documents no reason of its own for calls and ends them by STOP; aimock has made one up. They are read all the same. */
const callFinish: Readonly<Record<ProviderName, object>> = {
  'openai-chat': { reason: 'tool-calls' },
  'openai-responses': { reason: 'tool-calls' },
  anthropic: { reason: 'tool-calls' },
  gemini: { reason: 'other', raw: 'FUNCTION_CALL' },
  ollama: { reason: 'tool-calls' },
};

const paths: Readonly<Record<ProviderName, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  ollama: '/v1/chat/completions',
};

/** The calls and their results as the other side understood them, joined by its own ids. */
function readTurn(body: unknown): readonly string[] {
  const { messages } = body as { readonly messages: readonly OtherMessage[] }; // A journal of chats holds them all.
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  return messages.flatMap(({ role, content, tool_call_id: id }) => {
    if (role !== 'tool') return [];
    const made = calls.find((one) => one.id === id);
    return [`${made?.function.name} ${made?.function.arguments} -> ${plainResult(content)}`];
  });
}

interface OtherMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** Gemini wants a result to be an object; ours is the text in one field. */
function plainResult(content: unknown): string {
  const given = String(content);
  return given.startsWith('{') ? (JSON.parse(given) as { readonly result: string }).result : given;
}
