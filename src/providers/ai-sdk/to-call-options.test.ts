import { describe, expect, it } from 'vitest';
import { fakeModel } from '../../../test/ai-sdk/fake-model.ts';
import type { Message } from '../../model/message.ts';
import type { ModelRequest } from '../../model/request.ts';
import { checkLanguageModel, specificationVersions } from './language-model.ts';
import type { SpecificationVersion } from './language-model.ts';
import { toCallOptions } from './to-call-options.ts';

interface Target {
  readonly version?: SpecificationVersion;
  readonly provider?: string;
}

function map(request: ModelRequest, target: Target = {}): Readonly<Record<string, unknown>> {
  const mapped = toCallOptions(request, checkLanguageModel(fakeModel(target)));
  if (mapped.type === 'refused') throw new Error(mapped.problems.join('; '));
  return mapped.callOptions;
}

function problemsOf(request: ModelRequest, target: Target): readonly string[] {
  const mapped = toCallOptions(request, checkLanguageModel(fakeModel(target)));
  return mapped.type === 'refused' ? mapped.problems : [];
}

const messages: readonly Message[] = [{ role: 'user', content: 'Hi' }];
const image = { type: 'image', mediaType: 'image/png' } as const;
const bytes = { ...image, source: { type: 'base64', data: 'AAAA' } } as const;
const linked = { ...image, source: { type: 'url', url: 'https://a.example/b.png' } } as const;

describe('toCallOptions(), where something cannot be said', () => {
  it.each([
    ['parallelToolCalls', { parallelToolCalls: false }, { provider: 'mistral.chat' }],
    ['reasoning.effort', { reasoning: { effort: 'low' } }, { version: 'v2', provider: 'mistral.chat' }],
    ['reasoning.effort', { reasoning: { effort: 'low' } }, { version: 'v3', provider: 'anthropic.messages' }],
    [
      'reasoning.budgetTokens',
      { reasoning: { budgetTokens: 9 } },
      { version: 'v4', provider: 'openai.responses' },
    ],
  ] as const)('refuses "%s" instead of dropping it', (field, fields, target) => {
    expect(problemsOf({ messages, ...fields }, target)).toEqual([expect.stringContaining(`"${field}"`)]);
  });

  it('refuses a picture by its URL in a tool result of the second specification', () => {
    const tool: Message = {
      role: 'tool',
      content: [{ type: 'tool-result', callId: '1', name: 'a', content: [linked] }],
    };
    expect(problemsOf({ messages: [tool] }, { version: 'v2' })).toHaveLength(1);
    expect(problemsOf({ messages: [tool] }, { version: 'v3' })).toEqual([]);
  });

  it('refuses a URL that is none', () => {
    const broken = { ...image, source: { type: 'url', url: 'b.png' } } as const;
    expect(problemsOf({ messages: [{ role: 'user', content: [broken] }] }, {})).toEqual([
      '"b.png" is no URL',
    ]);
  });
});

describe('toCallOptions()', () => {
  it.each(specificationVersions)('says the plain settings of a request in the words of %s', (version) => {
    const request: ModelRequest = {
      messages,
      tools: [{ name: 'search', description: 'Searches', parameters: { type: 'object' }, strict: true }],
      toolChoice: { name: 'search' },
      output: { name: 'answer', schema: { type: 'object' } },
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      stopSequences: ['END'],
      seed: 7,
      providerOptions: { openai: { serviceTier: 'flex' } },
    };
    expect(map(request, { version })).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [
        {
          type: 'function',
          name: 'search',
          description: 'Searches',
          inputSchema: { type: 'object' },
          ...(version === 'v2' ? {} : { strict: true }),
        },
      ],
      toolChoice: { type: 'tool', toolName: 'search' },
      responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer' },
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      stopSequences: ['END'],
      seed: 7,
      providerOptions: { openai: { serviceTier: 'flex' } },
    });
  });

  it.each(['auto', 'required', 'none'] as const)('says the choice "%s" of tools', (toolChoice) => {
    const tools = [{ name: 'a', parameters: {} }];
    expect(map({ messages, tools, toolChoice })['toolChoice']).toEqual({ type: toolChoice });
  });

  it('has no choice of tools where there are none', () => {
    expect(map({ messages, tools: [], toolChoice: 'none' })).not.toHaveProperty('toolChoice');
  });

  it.each([
    ['v4', 'mistral.chat', { effort: 'low' }, { reasoning: 'low' }],
    [
      'v3',
      'openai.responses',
      { effort: 'low' },
      { providerOptions: { openai: { reasoningEffort: 'low' } } },
    ],
    [
      'v2',
      'anthropic.messages',
      { budgetTokens: 2000 },
      { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } } },
    ],
    [
      'v4',
      'anthropic.messages',
      { budgetTokens: 0 },
      { providerOptions: { anthropic: { thinking: { type: 'disabled' } } } },
    ],
    [
      'v3',
      'google.generative-ai',
      { budgetTokens: 500 },
      { providerOptions: { google: { thinkingConfig: { thinkingBudget: 500 } } } },
    ],
  ] as const)('says how much to think to %s of %s', (...[version, provider, reasoning, expected]) => {
    expect(map({ messages, reasoning }, { version, provider })).toEqual({
      prompt: expect.anything() as unknown,
      ...expected,
    });
  });

  it('lets the options of the caller win over its own', () => {
    const request: ModelRequest = {
      messages,
      parallelToolCalls: true,
      providerOptions: { openai: { parallelToolCalls: false, user: 'u' } },
    };
    expect(map(request, { provider: 'openai.chat' })['providerOptions']).toEqual({
      openai: { parallelToolCalls: false, user: 'u' },
    });
  });

  it.each([
    ['v2', bytes, 'AAAA'],
    ['v3', bytes, 'AAAA'],
    ['v4', bytes, { type: 'data', data: 'AAAA' }],
    ['v2', linked, new URL(linked.source.url)],
    ['v3', linked, new URL(linked.source.url)],
    ['v4', linked, { type: 'url', url: new URL(linked.source.url) }],
  ] as const)('hands a picture to %s as that version wants it', (version, part, data) => {
    const { prompt } = map({ messages: [{ role: 'user', content: [part] }] }, { version });
    expect(prompt).toEqual([{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] }]);
  });

  it('names a file', () => {
    const file = { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', source: bytes.source } as const;
    expect(map({ messages: [{ role: 'user', content: [file] }] })['prompt']).toMatchObject([
      { content: [{ type: 'file', filename: 'a.pdf', mediaType: 'application/pdf' }] },
    ]);
  });

  it.each([
    ['v2', [bytes], [{ type: 'media', data: 'AAAA', mediaType: 'image/png' }]],
    ['v3', [bytes], [{ type: 'image-data', data: 'AAAA', mediaType: 'image/png' }]],
    ['v3', [linked], [{ type: 'image-url', url: linked.source.url }]],
    ['v4', [bytes], [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }]],
    [
      'v4',
      [{ type: 'text', text: 'See' }, linked],
      [
        { type: 'text', text: 'See' },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL(linked.source.url) } },
      ],
    ],
  ] as const)('hands a picture from a tool to %s', (version, content, value) => {
    const tool: Message = {
      role: 'tool',
      content: [{ type: 'tool-result', callId: '1', name: 'look', content }],
    };
    expect(map({ messages: [tool] }, { version })['prompt']).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'look', output: { type: 'content', value } },
        ],
      },
    ]);
  });

  it('tells a failed tool from one that gave something back', () => {
    const result = { type: 'tool-result', callId: '1', name: 'a', content: 'x' } as const;
    const { prompt } = map({ messages: [{ role: 'tool', content: [result, { ...result, isError: true }] }] });
    expect(prompt).toMatchObject([
      { content: [{ output: { type: 'text', value: 'x' } }, { output: { type: 'error-text', value: 'x' } }] },
    ]);
  });

  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    ['{"a":', { invalid_arguments: '{"a":' }],
  ])('sends the arguments %j of a past call back as an object', (argumentsText, input) => {
    const call = { type: 'tool-call', callId: '1', name: 'a', argumentsText } as const;
    expect(map({ messages: [{ role: 'assistant', content: [call] }] })['prompt']).toEqual([
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input }] },
    ]);
  });

  it('sends thoughts back to whom they came from, as they came, and to nobody else', () => {
    const metadata = { fake: { signature: 'ErUBCkYIBxgC+é\u0000', nested: [1, null] } };
    const signed = (protocol: string): Message => ({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm', signature: { protocol, value: JSON.stringify(metadata) } },
        { type: 'text', text: 'Hello', signature: { protocol, value: JSON.stringify(metadata) } },
      ],
    });
    expect(map({ messages: [signed('ai-sdk:fake.chat')] })['prompt']).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm', providerOptions: metadata },
          { type: 'text', text: 'Hello', providerOptions: metadata },
        ],
      },
    ]);
    expect(map({ messages: [signed('anthropic')] })['prompt']).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    ]);
  });

  it('ignores a signature that is no JSON', () => {
    const signature = { protocol: 'ai-sdk:fake.chat', value: 'not JSON' };
    const { prompt } = map({
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a', signature }] }],
    });
    expect(prompt).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }]);
  });

  it('marks what should be cached where the package takes a mark', () => {
    const request: ModelRequest = {
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Long', cache: true },
            { type: 'text', text: ' short' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'Hi', cache: true }] },
      ],
    };
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(map(request, { provider: 'anthropic.messages' })['prompt']).toEqual([
      { role: 'system', content: 'Long', providerOptions },
      { role: 'system', content: ' short' },
      { role: 'user', content: [{ type: 'text', text: 'Hi', providerOptions }] },
    ]);
    expect(map(request, { provider: 'openai.chat' })['prompt']).not.toContain('providerOptions');
  });

  it('joins the parts of a system message where nothing stands between them', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ] as const;
    expect(map({ messages: [{ role: 'system', content }] })['prompt']).toEqual([
      { role: 'system', content: 'ab' },
    ]);
  });

  it('puts a text to continue at the end', () => {
    expect(map({ messages, continueFrom: 'Once upon' })['prompt']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Once upon' }] },
    ]);
  });
});
