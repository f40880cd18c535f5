import { describe, expect, it } from 'vitest';
import { defined } from '../../base/defined.ts';
import { fakeModel, finishPart, promptOf, textParts } from '../../../test/ai-sdk/fake-model.ts';
import type { FakeModel } from '../../../test/ai-sdk/fake-model.ts';
import type { AttemptOptions, ModelResponse } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { aiSdk } from './ai-sdk.ts';
import type { AiSdkOptions } from './ai-sdk.ts';
import { specificationVersions } from './language-model.ts';

const request: ModelRequest = { messages: [{ role: 'user', content: 'Hi' }] };

function call(
  fake: FakeModel,
  { onPart, signal, timeouts, clock, ...options }: AiSdkOptions & AttemptOptions = {},
): Promise<ModelResponse> {
  return aiSdk(fake, options).call(request, defined({ onPart, signal, timeouts, clock }));
}

describe('aiSdk(), when something goes wrong', () => {
  it.each([
    ['length', 'v2', finishPart('v2', 'length'), 'OUTPUT_TRUNCATED', false],
    ['length', 'v3', finishPart('v3', 'length', 'max_tokens'), 'OUTPUT_TRUNCATED', false],
    ['content-filter', 'v2', finishPart('v2', 'content-filter'), 'CONTENT_FILTERED', false],
    ['a refusal', 'v4', finishPart('v4', 'content-filter', 'refusal'), 'CONTENT_FILTERED', false],
    ['error', 'v2', finishPart('v2', 'error'), 'STREAM_INTERRUPTED', true],
    [
      'a call that could not be written',
      'v3',
      finishPart('v3', 'error', 'MALFORMED_FUNCTION_CALL'),
      'TOOL_CALL_INVALID',
      true,
    ],
  ])('fails when the answer ends with %s (%s)', async (...[, version, finish, code, retryable]) => {
    const response = await call(fakeModel({ version, parts: [...textParts('Hel'), finish] }));
    expect(response).toMatchObject({
      type: 'failure',
      failure: { code, retryable },
      partial: { text: 'Hel' },
    });
  });

  it('takes no word of a package for more than a word', async () => {
    const parts = [{ type: 'constructor' }, ...textParts('Hello'), finishPart('v3', 'toString', 'x')];
    expect(await call(fakeModel({ parts }))).toMatchObject({
      type: 'success',
      result: { text: 'Hello', finish: { reason: 'other', raw: 'x' } },
    });
  });

  it('tells a refusal from a filter', async () => {
    const parts = [...textParts('No.'), finishPart('v4', 'content-filter', 'refusal')];
    expect(await call(fakeModel({ version: 'v4', parts }))).toMatchObject({
      failure: { context: { refused: true } },
    });
  });

  it('fails when there is no answer', async () => {
    expect(await call(fakeModel({ parts: [finishPart('v3')] }))).toMatchObject({
      failure: { code: 'EMPTY_RESPONSE' },
    });
  });

  it('fails when arguments are no JSON', async () => {
    const broken = { type: 'tool-call', toolCallId: '1', toolName: 'search', input: '{"a":' };
    expect(await call(fakeModel({ parts: [broken, finishPart('v3', 'tool-calls')] }))).toMatchObject({
      failure: { code: 'TOOL_CALL_INVALID', context: { tool: 'search' } },
    });
  });

  it('has no half-written call in what is left of a broken answer, though the package hands it out', async () => {
    const parts = [
      ...textParts('Let me look.'),
      { type: 'tool-input-start', id: '1', toolName: 'search' },
      { type: 'tool-input-delta', id: '1', delta: '{"query":"ra' },
      { type: 'tool-input-end', id: '1' },
      { type: 'tool-call', toolCallId: '1', toolName: 'search', input: '{"query":"ra' },
      finishPart('v2', 'unknown'),
    ];
    expect(await call(fakeModel({ version: 'v2', parts }))).toMatchObject({
      type: 'failure',
      failure: { code: 'STREAM_INTERRUPTED' },
      partial: { text: 'Let me look.', toolCalls: [], usage: { outputTokens: 5 } },
    });
  });

  it('fails when a call was begun and never handed over', async () => {
    const parts = [{ type: 'tool-input-start', id: '1', toolName: 'search' }, finishPart('v3', 'tool-calls')];
    expect(await call(fakeModel({ parts }))).toMatchObject({ failure: { code: 'STREAM_INTERRUPTED' } });
  });

  it.each([
    ['v2', { type: 'unsupported-setting', setting: 'topK' }],
    ['v4', { type: 'unsupported', feature: 'topK' }],
  ])(
    'fails when the model drops what was asked for, unless that is allowed (%s)',
    async (version, warning) => {
      const start = { type: 'stream-start', warnings: [warning] };
      const parts = [start, ...textParts('Hello'), finishPart(version === 'v2' ? 'v2' : 'v4')];
      const strict = fakeModel({ version, parts });
      expect(await call(strict)).toMatchObject({
        type: 'failure',
        failure: { code: 'INVALID_REQUEST', retryable: false, context: { dropped: ['topK'] } },
      });
      expect(strict.cancelled()).toBe(1);
      expect(await call(fakeModel({ version, parts }), { allowWarnings: true })).toMatchObject({
        type: 'success',
      });
    },
  );

  it('fails when the model sends a file, unless that is allowed', async () => {
    const parts = [
      ...textParts('See'),
      { type: 'file', mediaType: 'image/png', data: 'x' },
      finishPart('v3'),
    ];
    expect(await call(fakeModel({ parts }))).toMatchObject({
      failure: { code: 'INVALID_RESPONSE', retryable: false },
    });
    expect(await call(fakeModel({ parts }), { allowWarnings: true })).toMatchObject({ type: 'success' });
  });

  it('refuses a request that cannot be said, and sends nothing', async () => {
    const fake = fakeModel();
    const model = aiSdk(fake, { capabilities: { reasoningBudget: true } });
    for (const reasoning of [{ budgetTokens: 5 }, { effort: 'low' } as const]) {
      expect(await model.call({ ...request, reasoning })).toMatchObject({
        type: 'failure',
        failure: { code: 'CONFIG_ERROR', sideEffect: 'none' },
        partial: { content: [] },
      });
    }
    expect(fake.calls).toHaveLength(0);
  });

  it('keeps what had arrived when time is over', async () => {
    const clock = simulatedClock();
    const fake = fakeModel({ parts: [...textParts('Hel'), 'hang'] });
    const response = await clock.runUntil(call(fake, { clock, timeouts: { idleMs: 100 } }));
    expect(response).toMatchObject({ failure: { code: 'TIMEOUT' }, partial: { text: 'Hel' } });
  });

  it('tells nothing more after it has ended, however late a listener is', async () => {
    const clock = simulatedClock();
    const heard: string[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const parts = [...textParts('a', '0').slice(0, 2), ...textParts('b', '1'), finishPart('v3')];
    const onPart = (part: StreamPart): Promise<void> | undefined => {
      heard.push(part.type);
      return heard.length === 2 ? held : undefined;
    };
    await clock.runUntil(call(fakeModel({ parts }), { clock, onPart, timeouts: { totalMs: 100 } }));
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['text-delta', 'text-finished']);
  });
});

describe('aiSdk()', () => {
  it.each(specificationVersions)('gives the whole answer of a model of %s', async (version) => {
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1', modelId: 'fake-1-0506' },
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-end', id: '0', providerMetadata: { fake: { signature: 'sig' } } },
      ...textParts('Hello'),
      { type: 'tool-input-start', id: 'c1', toolName: 'search' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"q":' },
      { type: 'tool-input-delta', id: 'c1', delta: '1}' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"q":1}' },
      finishPart(version, 'tool-calls', 'tool_calls'),
    ];
    const fake = fakeModel({ version, parts });
    const price = { inputUsd: 1, outputUsd: 2, asOf: '2026-01-01' };
    const heard: StreamPart[] = [];
    const response = await call(fake, { price, onPart: (part) => void heard.push(part) });
    expect(response).toEqual({
      type: 'success',
      result: {
        content: [
          {
            type: 'reasoning',
            text: 'Hm',
            signature: { protocol: 'ai-sdk:fake.chat', value: '{"fake":{"signature":"sig"}}' },
          },
          { type: 'text', text: 'Hello' },
          { type: 'tool-call', callId: 'c1', name: 'search', argumentsText: '{"q":1}' },
        ],
        text: 'Hello',
        toolCalls: [{ type: 'tool-call', callId: 'c1', name: 'search', argumentsText: '{"q":1}' }],
        finish: { reason: 'tool-calls', raw: version === 'v2' ? 'tool-calls' : 'tool_calls' },
        usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cacheReadTokens: 4 },
        costUsd: 20 / 1_000_000,
        responseId: 'r1',
        servedBy: 'fake-1-0506',
      },
    });
    expect(fake.calls).toHaveLength(1);
    expect(heard.at(-1)?.type).toBe('finished');
  });

  it('gives thoughts back as they came in the next call', async () => {
    const metadata = { anthropic: { signature: 'EqoB\u2028+/=', n: [1, 2] } };
    const parts = [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: metadata },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { redactedData: 'xyz' } } },
      { type: 'reasoning-end', id: '1' },
      ...textParts('Hello', '2'),
      finishPart('v3'),
    ];
    const fake = fakeModel({ provider: 'anthropic.messages', parts });
    const model = aiSdk(fake);
    const response = await model.call(request);
    if (response.type !== 'success') throw new Error(response.failure.message);
    await model.call({
      messages: [
        ...request.messages,
        { role: 'assistant', content: response.result.content },
        ...request.messages,
      ],
    });
    expect(promptOf(fake.calls[1])[1]?.['content']).toEqual([
      { type: 'reasoning', text: 'Hm', providerOptions: metadata },
      { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'xyz' } } },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it('gives thoughts without a signature back too, for some providers want them', async () => {
    const parts = [
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      ...textParts('Hello'),
      { type: 'reasoning-end', id: '0' },
      finishPart('v3'),
    ];
    const fake = fakeModel({ parts });
    const response = await aiSdk(fake).call(request);
    if (response.type !== 'success') throw new Error(response.failure.message);
    expect(response.result.content.map((part) => part.type)).toEqual(['reasoning', 'text']);
    await aiSdk(fake).call({
      messages: [{ role: 'assistant', content: response.result.content }, ...request.messages],
    });
    expect(promptOf(fake.calls[1])[0]?.['content']).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it.each([
    ['in one piece', [], '{"a":1}'],
    ['shorter than it ends up', [''], '{}'],
    ['in other words than it ends up', ['{"a": 1}'], '{"a":1}'],
  ])('takes a call that was streamed %s', async (_, deltas, input) => {
    const parts = [
      ...(deltas.length === 0 ? [] : [{ type: 'tool-input-start', id: '1', toolName: 'a' }]),
      ...deltas.map((delta) => ({ type: 'tool-input-delta', id: '1', delta })),
      {
        type: 'tool-call',
        toolCallId: '1',
        toolName: 'a',
        input,
        providerMetadata: { google: { thoughtSignature: 's' } },
      },
      finishPart('v3', 'tool-calls'),
    ];
    const response = await call(fakeModel({ parts }));
    expect(response).toMatchObject({
      type: 'success',
      result: {
        toolCalls: [
          { callId: '1', argumentsText: input, signature: { value: '{"google":{"thoughtSignature":"s"}}' } },
        ],
      },
    });
  });

  it('holds back arguments that are streamed as bare text', async () => {
    const parts = [
      { type: 'tool-input-start', id: '1', toolName: 'patch', inputEncoding: 'text' },
      { type: 'tool-input-delta', id: '1', delta: '*** Begin' },
      { type: 'tool-call', toolCallId: '1', toolName: 'patch', input: '{"text":"*** Begin"}' },
      finishPart('v4', 'tool-calls'),
    ];
    const heard: string[] = [];
    const onPart = (part: StreamPart): void => {
      if (part.type === 'tool-call-delta') heard.push(part.text);
    };
    expect(await call(fakeModel({ version: 'v4', parts }), { onPart })).toMatchObject({
      type: 'success',
      result: { toolCalls: [{ argumentsText: '{"text":"*** Begin"}' }] },
    });
    expect(heard).toEqual(['{"text":"*** Begin"}']);
  });

  it('keeps texts apart that overlap, and loses none of their words', async () => {
    const parts = [
      { type: 'text-start', id: 'a' },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'a', delta: '1' },
      { type: 'text-delta', id: 'b', delta: '2' },
      { type: 'text-delta', id: 'a', delta: '3' },
      { type: 'text-end', id: 'a' },
      { type: 'text-end', id: 'b' },
      finishPart('v3'),
    ];
    expect(await call(fakeModel({ parts }))).toMatchObject({ type: 'success', result: { text: '123' } });
  });

  it('asks for the answer in one piece where it is told to', async () => {
    const fake = fakeModel({
      generated: {
        content: [{ type: 'text', text: 'Hello' }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
        warnings: [],
        response: { id: 'r1' },
      },
    });
    expect(await call(fake, { stream: false })).toMatchObject({
      type: 'success',
      result: { text: 'Hello', responseId: 'r1', usage: { inputTokens: 1, outputTokens: 2 } },
    });
  });

  it('describes itself by what its package takes', () => {
    expect(aiSdk(fakeModel({ version: 'v2' }))).toMatchObject({
      provider: 'fake',
      name: 'fake-1',
      quotaKey: 'ai-sdk fake',
      capabilities: { reasoningEffort: false, parallelToolCalls: false, caching: 'none' },
    });
    expect(
      aiSdk(fakeModel({ provider: 'anthropic.messages' }), { capabilities: { images: false } }),
    ).toMatchObject({
      provider: 'anthropic',
      capabilities: { reasoningBudget: true, parallelToolCalls: true, caching: 'marked', images: false },
    });
    expect(aiSdk(fakeModel({ version: 'v4' }), { quotaKey: 'mine' })).toMatchObject({
      quotaKey: 'mine',
      capabilities: { reasoningEffort: true },
    });
  });
});
