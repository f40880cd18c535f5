import { describe, expect, it } from 'vitest';
import type { Message, ToolCallPart, UserPart } from '../../../model/message.ts';
import type { ModelRequest } from '../../../model/request.ts';
import { anthropicMessages } from './anthropic.ts';

const target = { provider: 'anthropic', model: 'claude-sonnet-5', dialect: {} };
const hello: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const ephemeral = { cache_control: { type: 'ephemeral' } };

function bodyOf(request: Partial<ModelRequest>, dialect: Readonly<Record<string, boolean>> = {}) {
  return anthropicMessages.request({ messages: hello, ...request }, { ...target, dialect }).body;
}

const messagesOf = (...messages: readonly Message[]) => bodyOf({ messages })['messages'];
const call = (callId: string, argumentsText = '{}'): ToolCallPart => ({
  type: 'tool-call',
  callId,
  name: 'search',
  argumentsText,
});
const calls = (...parts: readonly ToolCallPart[]): Message => ({ role: 'assistant', content: parts });
const result = (callId: string, content = 'found'): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, name: 'search', content }],
});
const user = (...content: readonly UserPart[]): Message => ({ role: 'user', content });
const tools = [{ name: 'search', description: 'Finds', parameters: { type: 'object' } }];

describe('anthropicMessages.request(): what would be refused or untrue', () => {
  it.each([
    ['cut JSON', '{"q":'],
    ['a list', '[1]'],
    ['a word', 'null'],
    ['JSON too deep to write', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('arguments that are %s are sent as the text they were, never as {}', (_name, argumentsText) => {
    expect(messagesOf(calls(call('a', argumentsText)))).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'search', input: { invalid_arguments: argumentsText } }],
      },
    ]);
  });

  it('sends no thoughts but its own', () => {
    const messages = messagesOf(...hello, {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'unsigned' },
        { type: 'reasoning', text: 'foreign', signature: { protocol: 'gemini', value: 's' } },
        { type: 'text', text: 'Hi', signature: { protocol: 'gemini', value: 's' } },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it('leaves out empty messages and joins their neighbours', () => {
    const foreign: Message = { role: 'assistant', content: [{ type: 'reasoning', text: 'foreign' }] };
    expect(messagesOf(...hello, foreign, user({ type: 'text', text: ' ' }), ...hello)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'text', text: 'Hello' },
        ],
      },
    ]);
  });

  it('names the calls of other providers so that Anthropic takes them, each by a name of its own', () => {
    const messages = messagesOf(
      calls(call('functions.search:0'), call('call_0')),
      result('functions.search:0', 'one'),
      result('call_0', 'two'),
      calls(call('call_0')),
      result('call_0', 'three'),
      result('', 'nobody asked'),
    ) as readonly { readonly content: readonly Record<string, unknown>[] }[];
    const ids = messages.map(({ content }) => content.map((block) => block['id'] ?? block['tool_use_id']));
    expect(ids).toEqual([
      ['functions_2esearch_3a0', 'call_0'],
      ['functions_2esearch_3a0', 'call_0'],
      ['call_0_2'],
      ['call_0_2', 'call'],
    ]);
  });

  it('gives an error without a word something to say', () => {
    const part = { type: 'tool-result', callId: 'a', name: 'search', content: '', isError: true } as const;
    expect(messagesOf({ role: 'tool', content: [part] })).toMatchObject([
      { content: [{ content: 'The tool failed and said nothing about it.', is_error: true }] },
    ]);
  });

  it('keeps the last four of many cache marks', () => {
    const messages = Array.from({ length: 6 }, (_, index): UserPart => ({
      type: 'text',
      text: `part ${index}`,
      cache: true,
    }));
    const [message] = messagesOf(user(...messages)) as readonly { readonly content: readonly object[] }[];
    expect(message?.content.map((block) => 'cache_control' in block)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});

describe('anthropicMessages.request()', () => {
  it('asks for a stream of messages', () => {
    expect(anthropicMessages.request({ messages: hello }, target)).toEqual({
      path: '/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      body: {
        model: 'claude-sonnet-5',
        max_tokens: 8192,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
        stream: true,
      },
    });
    expect(bodyOf({}, { stream: false })['stream']).toBe(false);
  });

  it.each<[string, Partial<ModelRequest>, object]>([
    ['maxOutputTokens', { maxOutputTokens: 100 }, { max_tokens: 100 }],
    ['temperature', { temperature: 0 }, { temperature: 0 }],
    ['topP', { topP: 0.5 }, { top_p: 0.5 }],
    ['topK', { topK: 3 }, { top_k: 3 }],
    ['stopSequences', { stopSequences: ['END'] }, { stop_sequences: ['END'] }],
    [
      'tools',
      { tools },
      { tools: [{ name: 'search', description: 'Finds', input_schema: { type: 'object' } }] },
    ],
    [
      'a strict tool',
      { tools: [{ name: 'a', parameters: {}, strict: true }] },
      { tools: [{ name: 'a', input_schema: {}, strict: true }] },
    ],
    ['toolChoice auto', { tools, toolChoice: 'auto' }, { tool_choice: { type: 'auto' } }],
    ['toolChoice required', { tools, toolChoice: 'required' }, { tool_choice: { type: 'any' } }],
    [
      'toolChoice none',
      { tools, toolChoice: 'none', parallelToolCalls: false },
      { tool_choice: { type: 'none' } },
    ],
    [
      'a named tool',
      { tools, toolChoice: { name: 'search' } },
      { tool_choice: { type: 'tool', name: 'search' } },
    ],
    [
      'parallelToolCalls',
      { tools, parallelToolCalls: false },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'parallelToolCalls with a choice',
      { tools, toolChoice: 'required', parallelToolCalls: false },
      { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    [
      'output',
      { output: { name: 'answer', schema: { type: 'object' } } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    [
      'a budget',
      { reasoning: { budgetTokens: 2000 } },
      { max_tokens: 10_192, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      'an effort',
      { reasoning: { effort: 'medium' } },
      { max_tokens: 16_384, thinking: { budget_tokens: 8192 } },
    ],
    [
      'an effort under a limit',
      { reasoning: { effort: 'high' }, maxOutputTokens: 4000 },
      { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      'an effort under a limit that is too small, which Anthropic then names',
      { reasoning: { effort: 'high' }, maxOutputTokens: 100 },
      { max_tokens: 100, thinking: { budget_tokens: 1024 } },
    ],
    [
      'providerOptions',
      {
        temperature: 1,
        providerOptions: { anthropic: { temperature: 0, service_tier: 'auto' }, openai: { x: 1 } },
      },
      { temperature: 0, service_tier: 'auto' },
    ],
    [
      'providerOptions inside output_config',
      {
        output: { name: 'a', schema: {} },
        providerOptions: { anthropic: { output_config: { effort: 'max' } } },
      },
      { output_config: { effort: 'max', format: { type: 'json_schema', schema: {} } } },
    ],
  ])('maps %s', (_name, request, expected) => {
    expect(bodyOf(request)).toMatchObject(expected);
  });

  it.each<[string, Partial<ModelRequest>, object]>([
    ['no wish', {}, { max_tokens: 16_384 }],
    ['none', { reasoning: { effort: 'none' } }, { max_tokens: 8192, thinking: { type: 'disabled' } }],
    [
      'minimal',
      { reasoning: { effort: 'minimal' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ],
    ['high', { reasoning: { effort: 'high' } }, { max_tokens: 24_576, output_config: { effort: 'high' } }],
    [
      'a budget beside an effort',
      { reasoning: { effort: 'low', budgetTokens: 3000 } },
      { thinking: { type: 'enabled', budget_tokens: 3000 }, output_config: { effort: 'low' } },
    ],
    [
      'an effort beside a schema',
      { reasoning: { effort: 'low' }, output: { name: 'a', schema: {} } },
      { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } },
    ],
  ])('speaks of effort where the dialect does: %s', (_name, request, expected) => {
    expect(bodyOf(request, { effort: true })).toMatchObject(expected);
  });

  it('leaves thinking alone where a model takes an effort only', () => {
    const body = bodyOf({ reasoning: { effort: 'low' } }, { effort: true, adaptive: false });
    expect(body).toMatchObject({ output_config: { effort: 'low' } });
    expect(body).not.toHaveProperty('thinking');
  });

  it.each<[string, Partial<ModelRequest>, readonly string[]]>([
    ['no effort', { reasoning: { effort: 'none' } }, ['thinking', 'output_config']],
    ['a choice without tools', { toolChoice: 'none', tools: [] }, ['tool_choice', 'tools']],
    ['one call at a time without tools', { parallelToolCalls: false }, ['tool_choice']],
    ['a key for a cache that needs none', { cacheKey: 'k' }, ['cacheKey', 'cache_key']],
  ])('sends nothing for %s', (_name, request, absent) => {
    for (const name of absent) expect(bodyOf(request)).not.toHaveProperty(name);
  });

  it.each<[string, readonly Message[], unknown]>([
    ['one text', [{ role: 'system', content: 'Be kind' }], 'Be kind'],
    ['nothing', [{ role: 'system', content: '' }], undefined],
    [
      'several texts',
      [
        { role: 'system', content: 'Be kind' },
        { role: 'system', content: 'Be brief' },
      ],
      [
        { type: 'text', text: 'Be kind' },
        { type: 'text', text: 'Be brief' },
      ],
    ],
    [
      'a marked text',
      [{ role: 'system', content: [{ type: 'text', text: 'Be kind', cache: true }] }],
      [{ type: 'text', text: 'Be kind', ...ephemeral }],
    ],
  ])('takes the system out of the history: %s', (_name, system, expected) => {
    expect(bodyOf({ messages: [...system, ...hello] })['system']).toEqual(expected);
  });

  const image = { mediaType: 'image/png', source: { type: 'base64', data: 'AA==' } } as const;
  const url = { type: 'url', url: 'https://example.com/a' } as const;
  it.each<[string, UserPart, object]>([
    ['a marked text', { type: 'text', text: 'a', cache: true }, { type: 'text', text: 'a', ...ephemeral }],
    [
      'an image',
      { type: 'image', ...image },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    ],
    [
      'an image elsewhere',
      { type: 'image', mediaType: 'image/png', source: url },
      { type: 'image', source: url },
    ],
    [
      'a marked document',
      { type: 'file', ...image, mediaType: 'application/pdf', name: 'a.pdf', cache: true },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
        title: 'a.pdf',
        ...ephemeral,
      },
    ],
    [
      'a document elsewhere',
      { type: 'file', mediaType: 'application/pdf', source: url },
      { type: 'document', source: url },
    ],
    [
      'a text file',
      {
        type: 'file',
        mediaType: 'text/csv',
        source: { type: 'base64', data: Buffer.from('ä;b').toString('base64') },
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä;b' } },
    ],
  ])('maps %s', (_name, part, block) => {
    expect(messagesOf(user(part))).toEqual([{ role: 'user', content: [block] }]);
  });

  it('joins what one side said, the results of tools first', () => {
    const messages = messagesOf(
      ...hello,
      { role: 'assistant', content: 'Let me look' },
      calls(call('a', '{"q":1}'), call('b', '')),
      user({ type: 'text', text: 'Hurry' }),
      result('a'),
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            callId: 'b',
            name: 'search',
            content: [
              { type: 'text', text: 'see', cache: true },
              { type: 'image', ...image },
            ],
            isError: true,
          },
        ],
      },
    );
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look' },
          { type: 'tool_use', id: 'a', name: 'search', input: { q: 1 } },
          { type: 'tool_use', id: 'b', name: 'search', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'found' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [
              { type: 'text', text: 'see' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            ],
            is_error: true,
            ...ephemeral,
          },
          { type: 'text', text: 'Hurry' },
        ],
      },
    ]);
  });

  it.each([
    ['a text', 'Once upon', [{ type: 'text', text: 'Once upon' }]],
    ['a text that ends in white space, which Anthropic refuses', 'Once \n', [{ type: 'text', text: 'Once' }]],
  ])('continues %s', (_name, continueFrom, content) => {
    expect(bodyOf({ continueFrom })['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content },
    ]);
  });

  it('continues nothing where nothing was said', () => {
    expect(bodyOf({ continueFrom: ' ' })['messages']).toHaveLength(1);
  });
});
