import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../capabilities.ts';
import { checkRequest } from './check-request.ts';
import type { Message } from '../message.ts';
import type { ModelRequest } from '../request.ts';

const nothing: Capabilities = {
  tools: false,
  parallelToolCalls: false,
  structuredOutput: 'none',
  images: false,
  files: false,
  reasoningEffort: false,
  reasoningBudget: false,
  caching: 'none',
  sampling: [],
  continuation: 'none',
};
const everything: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: true,
  files: true,
  reasoningEffort: true,
  reasoningBudget: true,
  caching: 'marked',
  sampling: ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'seed'],
  continuation: 'prefill',
};
const modelWith = (capabilities: Capabilities) => ({ provider: 'anthropic', name: 'claude-x', capabilities });
const messages: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const tool = (name: string) => ({ name, parameters: { type: 'object' } });
const call = (callId: string, name = 'search') =>
  ({ type: 'tool-call', callId, name, argumentsText: '{}' }) as const;
const result = (callId: string, name = 'search') =>
  ({ type: 'tool-result', callId, name, content: 'done' }) as const;
const image = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: 'AA==' },
} as const;

describe('checkRequest() against a model that can do nothing', () => {
  const lacking: readonly (readonly [field: string, request: Partial<ModelRequest>])[] = [
    ['tools', { tools: [tool('search')] }],
    ['parallelToolCalls', { parallelToolCalls: false }],
    ['parallelToolCalls', { parallelToolCalls: true }],
    ['output', { output: { name: 'answer', schema: {} } }],
    ['images', { messages: [{ role: 'user', content: [image] }] }],
    [
      'files',
      { messages: [{ role: 'user', content: [{ ...image, type: 'file', mediaType: 'application/pdf' }] }] },
    ],
    ['reasoning.effort', { reasoning: { effort: 'low' } }],
    ['reasoning.budgetTokens', { reasoning: { budgetTokens: 1024 } }],
    ['temperature', { temperature: 0 }],
    ['topP', { topP: 0.5 }],
    ['topK', { topK: 5 }],
    ['frequencyPenalty', { frequencyPenalty: 0 }],
    ['presencePenalty', { presencePenalty: 1 }],
    ['stopSequences', { stopSequences: ['END'] }],
    ['seed', { seed: 0 }],
    ['continueFrom', { continueFrom: 'Once upon' }],
  ];

  it.each(lacking)('refuses %s in one sentence, and the able model takes it', (field, request) => {
    const failure = checkRequest(modelWith(nothing), { messages, ...request });
    expect(failure).toMatchObject({
      code: 'CONFIG_ERROR',
      origin: 'config',
      retryable: false,
      sideEffect: 'none',
      message: `anthropic (claude-x) does not take "${field}": leave it out or choose another model`,
    });
    expect(checkRequest(modelWith(everything), { messages, ...request })).toBeUndefined();
  });

  it('names everything that is lacking at once', () => {
    const failure = checkRequest(modelWith(nothing), { messages, seed: 1, topK: 2, continueFrom: 'a' });
    expect(failure?.message).toBe(
      'anthropic (claude-x) does not take "topK", "seed" and "continueFrom": leave them out or choose another model',
    );
    expect(failure?.context['lacking']).toEqual(['topK', 'seed', 'continueFrom']);
  });

  it('sees an image that a tool gave back', () => {
    const history: readonly Message[] = [
      { role: 'assistant', content: [call('1')] },
      { role: 'tool', content: [{ ...result('1'), content: [image] }] },
    ];
    expect(
      checkRequest(modelWith({ ...everything, images: false }), { messages: history })?.message,
    ).toContain('does not take "images"');
  });

  it('takes a plain request, an empty list of tools and empty wishes', () => {
    expect(checkRequest(modelWith(nothing), { messages })).toBeUndefined();
    expect(checkRequest(modelWith(nothing), { messages, tools: [], reasoning: {} })).toBeUndefined();
    expect(checkRequest(modelWith(nothing), { messages, toolChoice: 'auto', cacheKey: 'a' })).toBeUndefined();
  });
});

describe('checkRequest() for what no model takes', () => {
  const misuse: readonly (readonly [title: string, request: Partial<ModelRequest>, words: string])[] = [
    ['no messages', { messages: [] }, '"messages" is empty'],
    ['an empty tool name', { tools: [tool('')] }, 'the tool "" has a bad name: it must be 1 to 64'],
    ['a space in a tool name', { tools: [tool('a b')] }, 'the tool "a b" has a bad name: it must be'],
    ['a tool name of 65 characters', { tools: [tool('a'.repeat(65))] }, 'must be 1 to 64'],
    ['a name twice', { tools: [tool('a'), tool('a')] }, 'the tool "a" is there twice'],
    ['an unknown choice', { tools: [tool('a')], toolChoice: { name: 'b' } }, '"toolChoice" names "b"'],
    ['a required tool without tools', { toolChoice: 'required' }, '"toolChoice" is "required"'],
    ['a bad name for the output', { output: { name: 'my answer', schema: {} } }, '"output.name" must be'],
    [
      'a temperature of NaN',
      { temperature: Number.NaN },
      '"temperature" must be a number from 0 to 2, got NaN',
    ],
    ['a temperature of 2.1', { temperature: 2.1 }, 'got 2.1'],
    ['a temperature below 0', { temperature: -0.1 }, 'got -0.1'],
    ['topP above 1', { topP: 1.5 }, '"topP" must be a number from 0 to 1, got 1.5'],
    ['topK of 0', { topK: 0 }, '"topK" must be a whole number above 0'],
    ['a penalty of 3', { frequencyPenalty: 3 }, '"frequencyPenalty" must be a number from -2 to 2'],
    ['a broken seed', { seed: 1.5 }, '"seed" must be a whole number, got 1.5'],
    ['no output at all', { maxOutputTokens: 0 }, '"maxOutputTokens" must be a whole number above 0, got 0'],
    ['half a token', { maxOutputTokens: 0.5 }, 'got 0.5'],
    ['endless output', { maxOutputTokens: Infinity }, 'got Infinity'],
    ['a negative budget', { reasoning: { budgetTokens: -1 } }, '"reasoning.budgetTokens" must be'],
    [
      'an empty stop',
      { stopSequences: ['a', ''] },
      'must be a list of texts, none of them empty, got ["a",""]',
    ],
    ['nothing to continue', { continueFrom: '  ' }, '"continueFrom" must be the text of a broken answer'],
  ];

  it.each(misuse)('refuses %s', (_title, request, words) => {
    const failure = checkRequest(modelWith(everything), { messages, ...request });
    expect(failure?.code).toBe('CONFIG_ERROR');
    expect(failure?.message).toContain('Cannot call anthropic (claude-x): ');
    expect(failure?.message).toContain(words);
  });

  it('names eight problems and counts the rest', () => {
    const tools = Array.from({ length: 20 }, (_, index) => tool(`bad name ${index}`));
    const failure = checkRequest(modelWith(everything), { messages, tools });
    expect(failure?.message).toContain('"bad name 7"');
    expect(failure?.message).not.toContain('"bad name 8"');
    expect(failure?.message).toContain('; and 12 more');
  });

  it('takes the borders themselves', () => {
    const request: ModelRequest = {
      messages,
      temperature: 2,
      topP: 0,
      topK: 1,
      presencePenalty: -2,
      seed: -1,
      maxOutputTokens: 1,
      tools: [tool('a'.repeat(64)), tool('A_b-9')],
      toolChoice: { name: 'A_b-9' },
      reasoning: { budgetTokens: 0 },
    };
    expect(checkRequest(modelWith(everything), request)).toBeUndefined();
  });
});

describe('checkRequest() for a history', () => {
  const broken: readonly (readonly [title: string, history: readonly Message[], words: string])[] = [
    [
      'a result without a call',
      [{ role: 'tool', content: [result('1')] }],
      'the result "1" of tool "search" has no open call before it',
    ],
    [
      'a result with another id',
      [
        { role: 'assistant', content: [call('1')] },
        { role: 'tool', content: [result('2')] },
      ],
      'the result "2" of tool "search" has no open call',
    ],
    [
      'a result that comes after the user spoke',
      [
        { role: 'assistant', content: [call('1')] },
        { role: 'user', content: 'Well?' },
        { role: 'tool', content: [result('1')] },
      ],
      'the call "1" of tool "search" has no result',
    ],
    [
      'the same result twice',
      [
        { role: 'assistant', content: [call('1')] },
        { role: 'tool', content: [result('1'), result('1')] },
      ],
      'has no open call',
    ],
    [
      'a result of another tool',
      [
        { role: 'assistant', content: [call('1')] },
        { role: 'tool', content: [result('1', 'delete')] },
      ],
      'is of tool "delete", but its call was for "search"',
    ],
    [
      'a call at the end that nobody answered',
      [{ role: 'assistant', content: [call('1'), call('2')] }],
      'the call "2" of tool "search" has no result',
    ],
    [
      'two calls with one id',
      [
        { role: 'assistant', content: [call('1'), call('1')] },
        { role: 'tool', content: [result('1')] },
      ],
      'two tool calls of one answer have the same "callId"',
    ],
  ];

  it.each(broken)('refuses %s', (_title, history, words) => {
    const failure = checkRequest(modelWith(everything), { messages: [...messages, ...history] });
    expect(failure?.message).toContain(words);
  });

  it('takes results in several messages, in any order, and ids that begin anew in every turn', () => {
    const turn: readonly Message[] = [
      { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, call('0'), call('1')] },
      { role: 'tool', content: [result('1')] },
      { role: 'tool', content: [result('0')] },
    ];
    expect(
      checkRequest(modelWith(everything), { messages: [...messages, ...turn, ...turn] }),
    ).toBeUndefined();
  });
});
