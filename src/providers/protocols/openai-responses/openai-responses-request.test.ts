import { describe, expect, it } from 'vitest';
import type { Message } from '../../../model/message.ts';
import type { ModelRequest } from '../../../model/request.ts';
import type { WireTarget } from '../../protocol.ts';
import { openaiResponses } from './openai-responses.ts';

const hello: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const helloItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } } as const;
const encrypted = ['reasoning.encrypted_content'];

function bodyOf(request: Partial<ModelRequest>, dialect: WireTarget['dialect'] = {}) {
  const target = { provider: 'openai', model: 'gpt-5.2', dialect };
  return openaiResponses.request({ messages: hello, ...request }, target).body;
}

describe('openaiResponses.request()', () => {
  it('asks for a stream, lets nothing be stored, and asks for nothing that was not wanted', () => {
    expect(openaiResponses.request({ messages: hello }, { provider: 'x', model: 'm', dialect: {} })).toEqual({
      path: '/responses',
      body: { model: 'm', input: [helloItem], stream: true, store: false },
    });
  });

  it('leaves tool_choice and parallel_tool_calls out where there are no tools', () => {
    const body = bodyOf({ tools: [], toolChoice: 'auto', parallelToolCalls: true });
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls'])
      expect(body).not.toHaveProperty(field);
  });

  it('says of a tool that it is not strict, for here silence would mean that it is', () => {
    expect(bodyOf({ tools: [weather] })).toMatchObject({
      tools: [{ type: 'function', ...weather, strict: false }],
    });
  });

  it.each<[string, Partial<ModelRequest>, WireTarget['dialect'], object]>([
    ['maxOutputTokens', { maxOutputTokens: 9 }, {}, { max_output_tokens: 9 }],
    ['temperature and topP', { temperature: 0, topP: 0.5 }, {}, { temperature: 0, top_p: 0.5 }],
    ['cacheKey', { cacheKey: 'k' }, {}, { prompt_cache_key: 'k' }],
    [
      'tools',
      { tools: [{ ...weather, description: 'd', strict: true }] },
      {},
      { tools: [{ type: 'function', ...weather, description: 'd', strict: true }] },
    ],
    ['toolChoice', { tools: [weather], toolChoice: 'none' }, {}, { tool_choice: 'none' }],
    [
      'a named tool',
      { tools: [weather], toolChoice: { name: 'weather' } },
      {},
      { tool_choice: { type: 'function', name: 'weather' } },
    ],
    ['parallelToolCalls', { tools: [weather], parallelToolCalls: false }, {}, { parallel_tool_calls: false }],
    [
      'output',
      { output: { name: 'answer', schema: { type: 'object' }, strict: true } },
      {},
      { text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } } },
    ],
    [
      'output beside a setting of the provider',
      {
        output: { name: 'a', schema: {} },
        providerOptions: { openai: { text: { verbosity: 'low' }, service_tier: 'flex' } },
      },
      {},
      {
        text: { format: { type: 'json_schema', name: 'a', schema: {} }, verbosity: 'low' },
        service_tier: 'flex',
      },
    ],
    [
      'providerOptions, which win',
      { temperature: 1, providerOptions: { openai: { temperature: 0 } } },
      {},
      { temperature: 0 },
    ],
    [
      'reasoning',
      { reasoning: { effort: 'high' } },
      {},
      { reasoning: { effort: 'high', summary: 'auto' }, include: encrypted },
    ],
    ['a model that reasons unasked', {}, { reasoning: true }, { include: encrypted }],
    ['a whole answer', {}, { stream: false }, { stream: false, store: false }],
  ])('maps %s', (...[, request, dialect, expected]) => {
    expect(bodyOf(request, dialect)).toMatchObject(expected);
  });

  it.each<[Partial<ModelRequest>, WireTarget['dialect'], object]>([
    [{ reasoning: { effort: 'none' } }, {}, { effort: 'none' }],
    [{ reasoning: { effort: 'low' } }, { reasoningSummary: false }, { effort: 'low' }],
  ])('asks for no summary with %j and %j', (request, dialect, reasoning) => {
    expect(bodyOf(request, dialect)['reasoning']).toEqual(reasoning);
  });
});

describe('the input of openaiResponses.request()', () => {
  const inputOf = (messages: readonly Message[], dialect: WireTarget['dialect'] = {}) =>
    bodyOf({ messages }, dialect)['input'];

  it('sends reasoning back byte for byte, before what it led to', () => {
    const signature = { protocol: 'openai-responses', value: 'gAAAA==', id: 'rs_1' };
    const messages: readonly Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '**Plan**', signature },
          { type: 'reasoning', text: '', signature: { ...signature, id: 'rs_2' } },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool-call', callId: 'c', name: 'f', argumentsText: '{ "a": 1}' },
          { type: 'tool-call', callId: 'd', name: 'f', argumentsText: '' },
        ],
      },
    ];
    expect(inputOf(messages)).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: '**Plan**' }],
        encrypted_content: 'gAAAA==',
      },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAAA==' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{ "a": 1}' },
      { type: 'function_call', call_id: 'd', name: 'f', arguments: '{}' },
    ]);
  });

  it('does not send back what another protocol signed, or nobody', () => {
    const content = [
      { type: 'reasoning', text: 'a', signature: { protocol: 'anthropic', value: 'v' } },
      { type: 'reasoning', text: 'b' },
      { type: 'text', text: '' },
    ] as const;
    expect(inputOf([{ role: 'assistant', content }])).toEqual([]);
  });

  it('takes the words of the system at the beginning as instructions, and later ones where they stand', () => {
    const messages: readonly Message[] = [
      { role: 'system', content: 'Be kind' },
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      ...hello,
      { role: 'system', content: 'Be short' },
    ];
    const later = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be short' }] };
    expect(bodyOf({ messages })).toMatchObject({
      instructions: 'Be kind\n\na\n\nb',
      input: [helloItem, later],
    });
    const body = bodyOf({ messages }, { instructions: false, systemRole: 'system' });
    expect(body).not.toHaveProperty('instructions');
    expect(body['input']).toHaveLength(4);
    expect(body['input']).toMatchObject([
      { role: 'system' },
      { role: 'system' },
      helloItem,
      { role: 'system' },
    ]);
  });

  it('maps images and files', () => {
    const content = [
      { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'QQ==' } },
      { type: 'file', mediaType: 'application/pdf', source: { type: 'base64', data: 'QQ==' }, name: 'a.pdf' },
      { type: 'file', mediaType: 'application/pdf', source: { type: 'url', url: 'https://x.example/a.pdf' } },
    ] as const;
    expect(inputOf([{ role: 'user', content }])).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,QQ==', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' },
          { type: 'input_file', file_url: 'https://x.example/a.pdf' },
        ],
      },
    ]);
  });

  it('maps the results of tools, their failures and their images', () => {
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'url', url: 'https://x.example/a.png' },
    } as const;
    const content = [
      { type: 'tool-result', callId: 'a', name: 'f', content: 'no', isError: true },
      { type: 'tool-result', callId: 'b', name: 'f', content: [{ type: 'text', text: 'See' }, image] },
    ] as const;
    expect(inputOf([{ role: 'tool', content }])).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'The tool failed: no' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'auto' },
        ],
      },
    ]);
  });
});
