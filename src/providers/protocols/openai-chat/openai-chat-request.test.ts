import { describe, expect, it } from 'vitest';
import type { Message } from '../../../model/message.ts';
import type { ModelRequest } from '../../../model/request.ts';
import type { WireTarget } from '../../protocol.ts';
import { openaiChat } from './openai-chat.ts';

const hello: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } } as const;

function bodyOf(request: Partial<ModelRequest>, dialect: WireTarget['dialect'] = {}) {
  const target = { provider: 'openai', model: 'gpt-5.2', dialect };
  return openaiChat.request({ messages: hello, ...request }, target).body;
}

function messagesOf(messages: readonly Message[], dialect: WireTarget['dialect'] = {}) {
  return bodyOf({ messages }, dialect)['messages'];
}

describe('openaiChat.request()', () => {
  it('asks for a stream with its usage, and for nothing that was not wanted', () => {
    expect(openaiChat.request({ messages: hello }, { provider: 'x', model: 'm', dialect: {} })).toEqual({
      path: '/chat/completions',
      body: {
        model: 'm',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    });
  });

  it('leaves tool_choice and parallel_tool_calls out where there are no tools, for servers refuse them', () => {
    const body = bodyOf({ tools: [], toolChoice: 'auto', parallelToolCalls: true });
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls'])
      expect(body).not.toHaveProperty(field);
  });

  it.each<[string, Partial<ModelRequest>, WireTarget['dialect'], object]>([
    ['maxOutputTokens', { maxOutputTokens: 9 }, {}, { max_tokens: 9 }],
    [
      'maxOutputTokens for OpenAI',
      { maxOutputTokens: 9 },
      { maxTokensField: 'max_completion_tokens' },
      { max_completion_tokens: 9 },
    ],
    ['temperature 0', { temperature: 0 }, {}, { temperature: 0 }],
    ['topP and topK', { topP: 0.5, topK: 7 }, {}, { top_p: 0.5, top_k: 7 }],
    [
      'penalties',
      { frequencyPenalty: 1, presencePenalty: -1 },
      {},
      { frequency_penalty: 1, presence_penalty: -1 },
    ],
    ['stopSequences', { stopSequences: ['a', 'b'] }, {}, { stop: ['a', 'b'] }],
    ['seed', { seed: 0 }, {}, { seed: 0 }],
    ['seed for Mistral', { seed: 3 }, { seedField: 'random_seed' }, { random_seed: 3 }],
    [
      'tools',
      { tools: [{ ...weather, description: 'Tells it', strict: true }] },
      {},
      { tools: [{ type: 'function', function: { ...weather, description: 'Tells it', strict: true } }] },
    ],
    [
      'a tool without description',
      { tools: [weather] },
      {},
      { tools: [{ type: 'function', function: weather }] },
    ],
    ['toolChoice', { tools: [weather], toolChoice: 'required' }, {}, { tool_choice: 'required' }],
    [
      'a named tool',
      { tools: [weather], toolChoice: { name: 'weather' } },
      {},
      { tool_choice: { type: 'function', function: { name: 'weather' } } },
    ],
    ['parallelToolCalls', { tools: [weather], parallelToolCalls: false }, {}, { parallel_tool_calls: false }],
    [
      'output',
      { output: { name: 'answer', schema: { type: 'object' }, strict: true } },
      {},
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    ['reasoning', { reasoning: { effort: 'low' } }, {}, { reasoning_effort: 'low' }],
    [
      'reasoning for OpenRouter',
      { reasoning: { effort: 'high' } },
      { reasoningField: 'reasoning' },
      { reasoning: { effort: 'high' } },
    ],
    [
      'a reasoning budget for OpenRouter, which takes one of the two',
      { reasoning: { effort: 'high', budgetTokens: 100 } },
      { reasoningField: 'reasoning' },
      { reasoning: { max_tokens: 100 } },
    ],
    [
      'reasoning for OpenRouter without measure',
      { reasoning: {} },
      { reasoningField: 'reasoning' },
      { reasoning: { enabled: true } },
    ],
    [
      'reasoning for DeepSeek',
      { reasoning: { effort: 'none' } },
      { reasoningField: 'thinking' },
      { thinking: { type: 'disabled' } },
    ],
    [
      'reasoning for Qwen',
      { reasoning: { effort: 'low', budgetTokens: 50 } },
      { reasoningField: 'enable_thinking' },
      { enable_thinking: true, thinking_budget: 50 },
    ],
    [
      'reasoning for vLLM',
      { reasoning: { effort: 'none' } },
      { reasoningField: 'chat_template_kwargs' },
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    ['cacheKey', { cacheKey: 'k' }, { promptCacheKey: true }, { prompt_cache_key: 'k' }],
    [
      'providerOptions, which win',
      { temperature: 1, providerOptions: { openai: { temperature: 0.2, service_tier: 'flex' } } },
      {},
      { temperature: 0.2, service_tier: 'flex' },
    ],
    ['a whole answer', {}, { stream: false }, { stream: false }],
    [
      'a continuation for vLLM',
      { continueFrom: 'He' },
      { continuation: 'continue_final_message' },
      {
        continue_final_message: true,
        add_generation_prompt: false,
        messages: [...hello, { role: 'assistant', content: 'He' }],
      },
    ],
    [
      'a continuation for Mistral',
      { continueFrom: 'He' },
      { continuation: 'prefix' },
      {
        messages: [...hello, { role: 'assistant', content: 'He', prefix: true }],
      },
    ],
    [
      'a plain continuation',
      { continueFrom: 'He' },
      { continuation: 'plain' },
      {
        messages: [...hello, { role: 'assistant', content: 'He' }],
      },
    ],
  ])('maps %s', (...[, request, dialect, expected]) => {
    expect(bodyOf(request, dialect)).toMatchObject(expected);
  });

  it.each<[string, Partial<ModelRequest>, WireTarget['dialect'], string]>([
    ['stream_options where the dialect has none', {}, { streamOptions: false }, 'stream_options'],
    ['stream_options without a stream', {}, { stream: false }, 'stream_options'],
    ['the cache key where the dialect has none', { cacheKey: 'k' }, {}, 'prompt_cache_key'],
    ['options of another provider', { providerOptions: { groq: { foo: 1 } } }, {}, 'foo'],
    [
      "vLLM's fields from other dialects",
      { continueFrom: 'x' },
      { continuation: 'plain' },
      'continue_final_message',
    ],
  ])('leaves out %s', (...[, request, dialect, field]) => {
    expect(bodyOf(request, dialect)).not.toHaveProperty(field);
  });
});

describe('the messages of openaiChat.request()', () => {
  it('says in words that a tool failed, for the protocol cannot mark it', () => {
    const content = [
      { type: 'tool-result', callId: 'c', name: 'f', content: 'no disk', isError: true },
    ] as const;
    expect(messagesOf([{ role: 'tool', content }])).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'The tool failed: no disk' },
    ]);
  });

  it('sends images of tools after the last of the results, so that no call stays unanswered in between', () => {
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'base64', data: 'QQ==' },
    } as const;
    const messages = messagesOf([
      { role: 'tool', content: [{ type: 'tool-result', callId: 'a', name: 'shot', content: [image] }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'b', name: 'f', content: 'two' }] },
      { role: 'user', content: 'And?' },
    ]);
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'The result is in the images that follow.' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Images from the tool "shot" (call a):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,QQ==' } },
        ],
      },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('sends arguments back byte for byte, and {} where there was no text', () => {
    const call = (callId: string, argumentsText: string) =>
      ({ type: 'tool-call', callId, name: 'f', argumentsText }) as const;
    expect(messagesOf([{ role: 'assistant', content: [call('c', '{ "a" :1'), call('d', '')] }])).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'f', arguments: '{ "a" :1' } },
          { id: 'd', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
    ]);
  });

  it('does not send reasoning back, nor a turn that was nothing else', () => {
    const reasoning = { type: 'reasoning', text: 'hm' } as const;
    const messages = messagesOf([
      { role: 'assistant', content: [reasoning] },
      { role: 'assistant', content: [reasoning, { type: 'text', text: 'A' }, { type: 'text', text: 'B' }] },
    ]);
    expect(messages).toEqual([{ role: 'assistant', content: 'AB' }]);
  });

  it('sends reasoning back where the dialect wants it, but not what another protocol signed', () => {
    const signature = { protocol: 'anthropic', value: 's' };
    const messages = messagesOf(
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'reasoning', text: 'secret', signature },
            { type: 'tool-call', callId: 'c', name: 'f', argumentsText: '{}' },
          ],
        },
      ],
      { reasoningBack: 'reasoning_content' },
    );
    expect(messages).toMatchObject([{ role: 'assistant', content: null, reasoning_content: 'hm' }]);
  });

  it.each<[string, Message, WireTarget['dialect'], unknown]>([
    ['system text', { role: 'system', content: 'Be kind' }, {}, { role: 'system', content: 'Be kind' }],
    [
      'system text for a developer role',
      { role: 'system', content: 'Be kind' },
      { systemRole: 'developer' },
      { role: 'developer', content: 'Be kind' },
    ],
    [
      'several texts',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b', cache: true },
        ],
      },
      {},
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    [
      'several texts for a server that takes only strings',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { textParts: false },
      { role: 'user', content: 'a\n\nb' },
    ],
    [
      'a cache mark',
      { role: 'system', content: [{ type: 'text', text: 'a', cache: true }] },
      { cacheControl: true },
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
    ],
    [
      'a cache mark on a result',
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c', name: 'f', content: 'r', cache: true }] },
      { cacheControl: true },
      {
        role: 'tool',
        tool_call_id: 'c',
        content: [{ type: 'text', text: 'r', cache_control: { type: 'ephemeral' } }],
      },
    ],
    [
      'an image by its address',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'https://x.example/a.png' } },
        ],
      },
      {},
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
        ],
      },
    ],
    [
      'a file',
      {
        role: 'user',
        content: [{ type: 'file', mediaType: 'application/pdf', source: { type: 'base64', data: 'QQ==' } }],
      },
      {},
      {
        role: 'user',
        content: [
          {
            type: 'file',
            file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,QQ==' },
          },
        ],
      },
    ],
    [
      'a result in several texts',
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            callId: 'c',
            name: 'f',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        ],
      },
      {},
      { role: 'tool', tool_call_id: 'c', content: 'a\nb' },
    ],
  ])('maps %s', (...[, message, dialect, expected]) => {
    expect(messagesOf([message], dialect)).toEqual([expected]);
  });
});
