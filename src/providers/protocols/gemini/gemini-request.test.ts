import { describe, expect, it } from 'vitest';
import type { Message, Signature, ToolCallPart, UserPart } from '../../../model/message.ts';
import type { ModelRequest } from '../../../model/request.ts';
import { gemini } from './gemini.ts';

const target = { provider: 'gemini', model: 'gemini-2.5-pro', dialect: {} };
const hello: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const helloContent = { role: 'user', parts: [{ text: 'Hello' }] };

interface Asked {
  readonly model?: string;
  readonly dialect?: Readonly<Record<string, boolean>>;
}

function bodyOf(request: Partial<ModelRequest>, asked: Asked = {}) {
  return gemini.request({ messages: hello, ...request }, { ...target, ...asked }).body;
}

const contentsOf = (messages: readonly Message[], asked: Asked = {}) =>
  bodyOf({ messages }, asked)['contents'];
const call = (callId: string, argumentsText = '{}', signature?: Signature): ToolCallPart => ({
  type: 'tool-call',
  callId,
  name: 'search',
  argumentsText,
  ...(signature && { signature }),
});
const calls = (...content: readonly ToolCallPart[]): Message => ({ role: 'assistant', content });
const result = (callId: string, content = 'found', isError = false): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, name: 'search', content, isError }],
});
const tools = [{ name: 'search', description: 'Finds', parameters: { type: 'object' } }];
const signature: Signature = { protocol: 'gemini', value: 'own' };
const foreign: Signature = { protocol: 'anthropic', value: 'foreign' };

describe('gemini.request(): what would be refused or untrue', () => {
  it.each([
    ['cut JSON', '{"q":'],
    ['a list', '[1]'],
    ['JSON too deep to write', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('arguments that are %s are sent as the text they were, never as {}', (_name, argumentsText) => {
    expect(contentsOf([calls(call('a', argumentsText))])).toEqual([
      {
        role: 'model',
        parts: [{ functionCall: { id: 'a', name: 'search', args: { invalid_arguments: argumentsText } } }],
      },
    ]);
  });

  it('sends no signature but its own, and no thoughts without one', () => {
    const contents = contentsOf([
      ...hello,
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'unsigned' },
          { type: 'reasoning', text: 'foreign', signature: foreign },
          { type: 'text', text: 'Hi', signature: foreign },
          { type: 'text', text: '', signature },
          { type: 'text', text: '' },
          call('a', '', foreign),
        ],
      },
    ]);
    expect(contents).toEqual([
      helloContent,
      {
        role: 'model',
        parts: [
          { text: 'Hi' },
          { text: '', thoughtSignature: 'own' },
          { functionCall: { id: 'a', name: 'search', args: {} } },
        ],
      },
    ]);
  });

  it('lets the calls of another model pass where a newer one asks for a signature', () => {
    const messages = [
      calls(call('a', '{}', foreign), call('b')),
      result('a'),
      calls(call('c'), call('d', '{}', signature)),
    ];
    const skip = 'skip_thought_signature_validator';
    const signaturesOf = (asked: Asked) =>
      (contentsOf(messages, asked) as readonly { readonly parts: readonly Record<string, unknown>[] }[]).map(
        ({ parts }) => parts.map((part) => part['thoughtSignature']),
      );
    expect(signaturesOf({ model: 'gemini-3-pro' })).toEqual([
      [skip, undefined],
      [undefined],
      [undefined, 'own'],
    ]);
    expect(signaturesOf({})).toEqual([[undefined, undefined], [undefined], [undefined, 'own']]);
  });

  it.each<[string, readonly Message[]]>([
    ['nothing but foreign thoughts', [{ role: 'assistant', content: [{ type: 'reasoning', text: 'a' }] }]],
    ['an empty text', [{ role: 'user', content: '' }]],
    ['no results', [{ role: 'tool', content: [] }]],
  ])('leaves out a content of %s', (_name, messages) => {
    expect(contentsOf([...messages, { role: 'assistant', content: 'Hi' }])).toEqual([
      { role: 'model', parts: [{ text: 'Hi' }] },
    ]);
  });
});

describe('gemini.request()', () => {
  it('asks for a stream of answers', () => {
    expect(gemini.request({ messages: hello }, target)).toEqual({
      path: '/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      body: { contents: [helloContent] },
    });
  });

  it.each<[string, Asked, string]>([
    ['models/gemini-3-pro', {}, '/models/gemini-3-pro:streamGenerateContent?alt=sse'],
    ['tunedModels/mine', {}, '/tunedModels/mine:streamGenerateContent?alt=sse'],
    ['gemini-2.5-pro', { dialect: { stream: false } }, '/models/gemini-2.5-pro:generateContent'],
    [
      'a b?c#d\ud800é',
      { dialect: { stream: false } },
      '/models/a%20b%3fc%23d%ef%bf%bd%c3%a9:generateContent',
    ],
  ])('asks the model %s at its path', (model, asked, path) => {
    expect(gemini.request({ messages: hello }, { ...target, model, ...asked }).path).toBe(path);
  });

  it.each<[string, Partial<ModelRequest>, object]>([
    ['maxOutputTokens', { maxOutputTokens: 100 }, { maxOutputTokens: 100 }],
    ['temperature', { temperature: 0 }, { temperature: 0 }],
    ['topP', { topP: 0.5 }, { topP: 0.5 }],
    ['topK', { topK: 3 }, { topK: 3 }],
    ['stopSequences', { stopSequences: ['END'] }, { stopSequences: ['END'] }],
    ['seed', { seed: 7 }, { seed: 7 }],
    ['frequencyPenalty', { frequencyPenalty: 1 }, { frequencyPenalty: 1 }],
    ['presencePenalty', { presencePenalty: 1 }, { presencePenalty: 1 }],
    [
      'output',
      { output: { name: 'answer', schema: { type: 'object' } } },
      { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    ],
    [
      'a budget, which wins over an effort',
      { reasoning: { budgetTokens: 2000, effort: 'high' } },
      { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
    ],
    [
      'a budget of nothing',
      { reasoning: { budgetTokens: 0 } },
      { thinkingConfig: { includeThoughts: false, thinkingBudget: 0 } },
    ],
    [
      'no effort',
      { reasoning: { effort: 'none' } },
      { thinkingConfig: { includeThoughts: false, thinkingBudget: 0 } },
    ],
    [
      'an effort',
      { reasoning: { effort: 'high' } },
      { thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } },
    ],
    [
      'providerOptions, setting by setting',
      { temperature: 1, topK: 3, providerOptions: { gemini: { generationConfig: { temperature: 0 } } } },
      { temperature: 0, topK: 3 },
    ],
  ])('maps %s', (_name, request, generationConfig) => {
    expect(bodyOf(request)['generationConfig']).toEqual(generationConfig);
  });

  type Wish = NonNullable<ModelRequest['reasoning']>;
  it.each<[string, readonly [Asked, Wish], object]>([
    [
      'a newer model',
      [{ model: 'gemini-3-flash' }, { effort: 'low' }],
      { includeThoughts: true, thinkingLevel: 'low' },
    ],
    [
      'a newer model that may not think',
      [{ model: 'models/gemini-3.5-flash' }, { effort: 'none' }],
      { includeThoughts: false, thinkingLevel: 'minimal' },
    ],
    [
      'a newer model with a budget',
      [{ model: 'gemini-4' }, { budgetTokens: 9 }],
      { includeThoughts: true, thinkingBudget: 9 },
    ],
    [
      'a dialect that says so',
      [{ dialect: { thinkingLevel: true } }, { effort: 'high' }],
      { includeThoughts: true, thinkingLevel: 'high' },
    ],
    [
      'a dialect that denies it',
      [{ model: 'gemini-3-x', dialect: { thinkingLevel: false } }, { effort: 'low' }],
      { includeThoughts: true, thinkingBudget: 2048 },
    ],
  ])('speaks of levels or budgets: %s', (_name, [asked, reasoning], thinkingConfig) => {
    expect(bodyOf({ reasoning }, asked)['generationConfig']).toEqual({ thinkingConfig });
  });

  it.each<[string, Partial<ModelRequest>, object]>([
    [
      'tools',
      { tools },
      {
        tools: [
          {
            functionDeclarations: [
              { name: 'search', description: 'Finds', parametersJsonSchema: { type: 'object' } },
            ],
          },
        ],
      },
    ],
    [
      'toolChoice auto',
      { tools, toolChoice: 'auto' },
      { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
    ],
    [
      'toolChoice required',
      { tools, toolChoice: 'required' },
      { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    ],
    [
      'toolChoice none',
      { tools, toolChoice: 'none' },
      { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    ],
    [
      'a named tool',
      { tools, toolChoice: { name: 'search' } },
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['search'] } } },
    ],
    [
      'the system',
      { messages: [{ role: 'system', content: 'Be kind' }, { role: 'system', content: '' }, ...hello] },
      { systemInstruction: { parts: [{ text: 'Be kind' }] }, contents: [helloContent] },
    ],
    [
      'continueFrom',
      { continueFrom: 'Once ' },
      { contents: [helloContent, { role: 'model', parts: [{ text: 'Once ' }] }] },
    ],
    [
      'providerOptions',
      { providerOptions: { gemini: { safetySettings: [] }, openai: { x: 1 } } },
      { safetySettings: [], contents: [helloContent] },
    ],
  ])('maps %s', (_name, request, expected) => {
    expect(bodyOf(request)).toMatchObject(expected);
  });

  it('sends nothing for what was not asked', () => {
    expect(Object.keys(bodyOf({ tools: [], cacheKey: 'k' }))).toEqual(['contents']);
  });

  const base64 = { type: 'base64', data: 'AA==' } as const;
  const url = { type: 'url', url: 'https://example.com/a' } as const;
  it.each<[string, UserPart, object]>([
    ['a text', { type: 'text', text: 'a', cache: true }, { text: 'a' }],
    [
      'an image',
      { type: 'image', mediaType: 'image/png', source: base64 },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    ],
    [
      'a file elsewhere',
      { type: 'file', mediaType: 'application/pdf', source: url, name: 'a.pdf' },
      { fileData: { mimeType: 'application/pdf', fileUri: url.url } },
    ],
  ])('maps %s', (_name, part, expected) => {
    expect(contentsOf([{ role: 'user', content: [part] }])).toEqual([{ role: 'user', parts: [expected] }]);
  });

  it('answers calls in a content of their own, before what the person added', () => {
    const image = { type: 'image', mediaType: 'image/png', source: base64 } as const;
    const contents = contentsOf([
      calls(call('fc-1', '{"q":1}'), call('call_r1_1'), call('fc-3')),
      { role: 'user', content: 'Hurry' },
      result('fc-1'),
      result('call_r1_1', 'no such file', true),
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            callId: 'fc-3',
            name: 'draw',
            content: [{ type: 'text', text: 'see' }, image],
          },
        ],
      },
    ]);
    expect(contents).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'fc-1', name: 'search', args: { q: 1 } } },
          { functionCall: { name: 'search', args: {} } },
          { functionCall: { id: 'fc-3', name: 'search', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'fc-1', name: 'search', response: { result: 'found' } } },
          { functionResponse: { name: 'search', response: { error: 'no such file' } } },
          { functionResponse: { id: 'fc-3', name: 'draw', response: { result: 'see' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { text: 'From the result of the tool "draw":' },
          { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          { text: 'Hurry' },
        ],
      },
    ]);
  });

  it('sends no ids where the dialect knows none', () => {
    expect(contentsOf([calls(call('fc-1')), result('fc-1')], { dialect: { callIds: false } })).toEqual([
      { role: 'model', parts: [{ functionCall: { name: 'search', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'search', response: { result: 'found' } } }] },
    ]);
  });
});
