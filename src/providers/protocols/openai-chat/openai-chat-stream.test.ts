import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../../errors/classify-provider-failure.ts';
import { createAssembly } from '../../../model/assembly.ts';
import { settle } from '../../../model/settle.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { openaiChat } from './openai-chat.ts';

type Event = object | string;

/** Feeds events as a server would send them, and ends the stream. */
function decode(events: readonly Event[]) {
  const decoder = openaiChat.stream();
  const parts: StreamPart[] = [];
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const result = decoder.event({ name: 'message', data });
    parts.push(...result.parts);
    if (result.type === 'problem') return { parts, problem: result.problem };
  }
  parts.push(...decoder.end().parts);
  return { parts, problem: undefined };
}

function verdict(events: readonly Event[]) {
  const assembly = createAssembly();
  for (const part of decode(events).parts) assembly.push(part);
  return settle(assembly.read(), { provider: 'openai', model: 'gpt-5.2' });
}

function failureOf(problem: DecodeProblem | undefined) {
  const body = problem?.type === 'provider-error' ? problem.body : '';
  return classifyProviderFailure({ provider: 'openai', status: 200, body });
}

const done = '[DONE]';
const delta = (fields: object, reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'gpt-5.2-2026',
  choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: reason }],
});
const text = (content: string) => delta({ content });
const end = (reason: string) => delta({}, reason);
const call = (fields: object) => delta({ tool_calls: [fields] });
const started = { type: 'started', responseId: 'chatcmpl-1', servedBy: 'gpt-5.2-2026' };

/** What the stream held, as callers see it. */
function callsOf(events: readonly Event[]) {
  const response = verdict(events);
  const { toolCalls } = response.type === 'success' ? response.result : response.partial;
  return toolCalls.map(({ callId, name, argumentsText }) => [callId, name, argumentsText]);
}

describe('openaiChat.stream(): what is not an answer', () => {
  it.each<[string, readonly Event[], string]>([
    ['nothing at all', [], 'STREAM_INTERRUPTED'],
    ['[DONE] without a finish_reason', [text('Hi'), done], 'STREAM_INTERRUPTED'],
    ['an end without a finish_reason', [text('Hi')], 'STREAM_INTERRUPTED'],
    ['an empty finish_reason', [text('Hi'), delta({}, ''), done], 'STREAM_INTERRUPTED'],
    [
      'an end inside a tool call',
      [call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } })],
      'STREAM_INTERRUPTED',
    ],
    ['a full answer cut at the limit', [text('Hi'), end('length'), done], 'OUTPUT_TRUNCATED'],
    ['a limit that a later stop repeats', [text('Hi'), end('length'), end('stop'), done], 'OUTPUT_TRUNCATED'],
    [
      'a limit after another reason',
      [text('Hi'), end('tool_calls'), end('length'), done],
      'OUTPUT_TRUNCATED',
    ],
    ['a content filter', [text('Hi'), end('content_filter'), done], 'CONTENT_FILTERED'],
    ['a refusal', [delta({ refusal: 'No.' }), end('stop'), done], 'CONTENT_FILTERED'],
    ['no content', [delta({ role: 'assistant', content: '' }), end('stop'), done], 'EMPTY_RESPONSE'],
    ['reasoning alone', [delta({ reasoning_content: 'hm' }), end('stop'), done], 'EMPTY_RESPONSE'],
    [
      'a call without a name',
      [call({ index: 0, id: 'a', function: { arguments: '{}' } }), end('tool_calls'), done],
      'TOOL_CALL_INVALID',
    ],
    [
      'arguments that are not JSON',
      [call({ index: 0, id: 'a', function: { name: 'f', arguments: '{x' } }), end('tool_calls'), done],
      'TOOL_CALL_INVALID',
    ],
    [
      'only another choice',
      [{ choices: [{ index: 1, delta: { content: 'x' }, finish_reason: 'stop' }] }, done],
      'STREAM_INTERRUPTED',
    ],
  ])('%s ends as a failure', (...[, events, code]) => {
    expect(verdict(events)).toMatchObject({ type: 'failure', failure: { code } });
  });

  it('drops the last tool call of an answer that was cut, and keeps those before', () => {
    const events = [
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
      call({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
      end('length'),
      done,
    ];
    expect(verdict(events)).toMatchObject({
      type: 'failure',
      failure: { code: 'OUTPUT_TRUNCATED' },
      partial: { toolCalls: [{ callId: 'a', argumentsText: '{"x":1}' }] },
    });
    expect(callsOf(events)).toHaveLength(1);
  });

  it('drops a call that was written to last, though another had begun after it', () => {
    const events = [
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
      call({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
      call({ index: 0, function: { arguments: '"x":' } }),
      end('length'),
      done,
    ];
    expect(callsOf(events)).toEqual([]);
  });

  it.each<[string, Event, string]>([
    [
      'an error in a chunk',
      { error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } },
      'RATE_LIMITED',
    ],
    [
      'an error beside choices (OpenRouter)',
      { ...end('error'), error: { code: 502, message: 'Upstream' } },
      'SERVER_ERROR',
    ],
    [
      'an error inside the choice',
      { choices: [{ error: { code: 503, message: 'Overloaded' } }] },
      'OVERLOADED',
    ],
    [
      'an error object (vLLM)',
      { object: 'error', message: 'Boom', type: 'InternalServerError', code: 500 },
      'SERVER_ERROR',
    ],
    ['finish_reason error alone', end('error'), 'SERVER_ERROR'],
    [
      'an answer broken off for want of machines (DeepSeek)',
      end('insufficient_system_resource'),
      'SERVER_ERROR',
    ],
  ])('hands %s to the classifier', (...[, event, code]) => {
    const { parts, problem } = decode([text('Hi'), event, done]);
    expect(problem?.type).toBe('provider-error');
    expect(failureOf(problem).code).toBe(code);
    expect(parts).not.toContainEqual(expect.objectContaining({ type: 'finished' }));
  });

  it('hands the error of Groq to the classifier, and the usage beside it to the caller', () => {
    const groq = { ...text(''), x_groq: { error: 'over capacity', usage: { prompt_tokens: 3 } } };
    expect(decode([groq])).toEqual({
      parts: [started, { type: 'usage', usage: { inputTokens: 3 } }],
      problem: { type: 'provider-error', body: '{"error":{"message":"over capacity"}}' },
    });
  });

  it.each([
    ['{"error":{"message":"slow down"}}', '{"error":{"message":"slow down"}}'],
    ['{"message":"slow down"}', '{"error":{"message":"slow down"}}'],
    ['upstream died', '{"error":{"message":"upstream died"}}'],
  ])('reads the event named error with the data %s', (data, body) => {
    expect(openaiChat.stream().event({ name: 'error', data })).toEqual({
      type: 'problem',
      problem: { type: 'provider-error', body },
      parts: [],
    });
  });

  it.each<[string, Event]>([
    ['broken JSON', '{"choices":[{"del'],
    ['a page of HTML', '<html><body>Bad gateway</body></html>'],
    ['a list', '[]'],
    ['choices that are no list', { choices: 'x' }],
    ['a delta that is text', { choices: [{ index: 0, delta: 'x' }] }],
    ['content that is a number', delta({ content: 7 })],
    ['content with text in its list', delta({ content: ['x'] })],
    ['calls that are no list', delta({ tool_calls: {} })],
  ])('reports %s as malformed and keeps what came before', (...[, event]) => {
    const { parts, problem } = decode([text('Hi'), event]);
    expect(problem?.type).toBe('malformed');
    expect(parts.slice(0, 2)).toEqual([started, { type: 'text-delta', text: 'Hi' }]);
  });
});

describe('openaiChat.stream(): answers', () => {
  it('reads text, holds the end back for the usage, and ends once', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const events = [
      delta({ role: 'assistant', content: '', refusal: null }),
      { ...text('Hel'), usage: null },
      text('lo'),
      end('stop'),
      { ...text(''), choices: [], usage },
      done,
      text('late'),
      done,
    ];
    expect(decode(events)).toEqual({
      problem: undefined,
      parts: [
        started,
        { type: 'text-delta', text: 'Hel' },
        { type: 'text-delta', text: 'lo' },
        {
          type: 'usage',
          usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cacheReadTokens: 4 },
        },
        { type: 'finished', finish: { reason: 'stop', raw: 'stop' } },
      ],
    });
    expect(verdict(events)).toMatchObject({
      type: 'success',
      result: { text: 'Hello', servedBy: 'gpt-5.2-2026' },
    });
  });

  it('ends without [DONE] where the reason was told', () => {
    expect(verdict([text('Hi'), end('stop')])).toMatchObject({ type: 'success' });
  });

  it('reads a refusal as text and as the reason', () => {
    const { parts } = decode([delta({ refusal: 'I ' }), delta({ refusal: "can't." }), end('stop'), done]);
    expect(parts.slice(1)).toEqual([
      { type: 'text-delta', text: 'I ' },
      { type: 'text-delta', text: "can't." },
      { type: 'finished', finish: { reason: 'refused', raw: 'stop' } },
    ]);
  });

  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['end_turn', 'stop'],
    ['COMPLETE', 'stop'],
    ['STOP', 'stop'],
    ['stop_sequence', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['model_length', 'length'],
    ['tool_calls', 'tool-calls'],
    ['function_call', 'tool-calls'],
    ['content_filter', 'filtered'],
    ['sensitive', 'filtered'],
    ['MALFORMED_FUNCTION_CALL', 'malformed-call'],
    ['weird', 'other'],
    ['constructor', 'other'],
  ])('reads the finish_reason %s as %s and keeps it', (raw, reason) => {
    expect(decode([text('x'), end(raw), done]).parts.at(-1)).toEqual({
      type: 'finished',
      finish: { reason, raw },
    });
  });

  it.each<[string, object, string]>([
    ['reasoning_content (DeepSeek)', { reasoning_content: 'hm', content: null }, 'hm'],
    ['reasoning (OpenRouter, Groq)', { reasoning: 'hm', content: '' }, 'hm'],
    ['both with the same text', { reasoning: 'hm', reasoning_content: 'hm' }, 'hm'],
    [
      'details beside the text',
      { reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
      'hm',
    ],
    [
      'details alone',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'h' },
          { type: 'reasoning.summary', summary: 'm' },
        ],
      },
      'hm',
    ],
    [
      'a list of thinking (Mistral)',
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
      'hm',
    ],
  ])('reads %s as reasoning', (...[, fields, thought]) => {
    const { parts } = decode([delta(fields), text('So'), end('stop'), done]);
    expect(parts.slice(1, 3)).toEqual([
      { type: 'reasoning-delta', text: thought },
      { type: 'text-delta', text: 'So' },
    ]);
  });

  it('reads a list of texts and passes over kinds that it does not know', () => {
    const content = [
      { type: 'text', text: 'Hi' },
      { type: 'reference', reference_ids: [1] },
    ];
    expect(decode([delta({ content })]).parts).toEqual([started, { type: 'text-delta', text: 'Hi' }]);
  });

  it.each<[string, object, object]>([
    [
      'DeepSeek',
      { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 8 },
      { inputTokens: 9, outputTokens: 2, cacheReadTokens: 8 },
    ],
    [
      'xAI, whose completion leaves reasoning out',
      {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 111,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      { inputTokens: 9, outputTokens: 102, reasoningTokens: 100 },
    ],
    [
      'OpenRouter',
      { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 5 } },
      { inputTokens: 9, cacheReadTokens: 1, cacheWriteTokens: 5 },
    ],
    [
      'a server that talks nonsense',
      { prompt_tokens: -1, completion_tokens: '5', total_tokens: 1e300, prompt_tokens_details: null },
      {},
    ],
  ])('reads the usage of %s', (...[, usage, expected]) => {
    expect(decode([{ ...end('stop'), usage }, done]).parts).toContainEqual({
      type: 'usage',
      usage: expected,
    });
  });

  it.each<[string, object]>([
    ['in x_groq', { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 1 } } }],
    [
      'in the choice (Moonshot)',
      {
        choices: [
          { index: 0, delta: {}, usage: { prompt_tokens: 3, completion_tokens: 1 }, finish_reason: 'stop' },
        ],
      },
    ],
  ])('finds the usage %s', (...[, fields]) => {
    const { parts } = decode([text('x'), { ...end('stop'), ...fields }, done]);
    expect(parts).toContainEqual({ type: 'usage', usage: { inputTokens: 3, outputTokens: 1 } });
  });

  it('takes nothing from the first chunk of Azure, which holds only the verdict on the prompt', () => {
    const filter = { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
    const results = { choices: [{ index: 0, content_filter_offsets: {}, finish_reason: null }] };
    expect(decode([filter, text('Hi'), results, end('stop'), done]).parts[0]).toEqual(started);
  });

  it('takes only the first of several choices', () => {
    const two = {
      choices: [
        { index: 1, delta: { content: 'B' } },
        { index: 0, delta: { content: 'A' }, finish_reason: 'stop' },
      ],
    };
    expect(verdict([two, done])).toMatchObject({ type: 'success', result: { text: 'A' } });
  });

  it('reads an answer that a server sent in one event, and no message that only repeats deltas', () => {
    const whole = { choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
    expect(verdict([whole, done])).toMatchObject({ type: 'success', result: { text: 'Hi' } });
    expect(verdict([text('Hi'), whole, done])).toMatchObject({ type: 'success', result: { text: 'Hi' } });
  });

  it.each(['', ' ', '\n'])('takes blank data (%j) for a sign of life', (data) => {
    expect(decode([data]).parts).toEqual([]);
  });
});

describe('openaiChat.stream(): tool calls', () => {
  const f = (args: unknown, fields: object = {}) => ({ ...fields, function: { name: 'f', arguments: args } });

  it.each<[string, readonly Event[], readonly (readonly string[])[]]>([
    [
      'in pieces',
      [
        call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"x"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
        call({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'whole',
      [delta({ tool_calls: [f('{}', { index: 0, id: 'a' }), f('{"y":2}', { index: 1, id: 'b' })] })],
      [
        ['a', 'f', '{}'],
        ['b', 'f', '{"y":2}'],
      ],
    ],
    [
      'interleaved',
      [
        call(f('{', { index: 0, id: 'a' })),
        call(f('{', { index: 1, id: 'b' })),
        call({ index: 0, function: { arguments: '}' } }),
        call({ index: 1, function: { arguments: '}' } }),
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'f', '{}'],
      ],
    ],
    [
      'without any id',
      [call(f('{}', { index: 0 })), call(f('{}', { index: 1 }))],
      [
        ['call_0', 'f', '{}'],
        ['call_1', 'f', '{}'],
      ],
    ],
    ['with an empty id', [call(f('{}', { index: 0, id: '' }))], [['call_0', 'f', '{}']]],
    [
      'with an id that comes late',
      [call(f('{', { index: 0 })), call({ index: 0, id: 'late', function: { arguments: '}' } })],
      [['call_0', 'f', '{}']],
    ],
    [
      'with a name that comes late',
      [
        call({ index: 0, id: 'a' }),
        call({ index: 0, function: { arguments: '{' } }),
        call({ index: 0, function: { name: 'f', arguments: '}' } }),
      ],
      [['a', 'f', '{}']],
    ],
    [
      'with id and name in every piece',
      [call(f('{', { index: 0, id: 'a' })), call(f('}', { index: 0, id: 'a' }))],
      [['a', 'f', '{}']],
    ],
    [
      'with a new id in every piece',
      [call(f('{', { index: 0, id: 'a' })), call({ index: 0, id: 'b', function: { arguments: '}' } })],
      [['a', 'f', '{}']],
    ],
    [
      'with one index for all (Gemini)',
      [call(f('{"x":1}', { index: 0, id: 'a' })), call(f('{"x":2}', { index: 0, id: 'b' }))],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'f', '{"x":2}'],
      ],
    ],
    [
      'with one id for all',
      [call(f('{"x":1}', { index: 0, id: 'a' })), call(f('{"x":2}', { index: 1, id: 'a' }))],
      [
        ['a', 'f', '{"x":1}'],
        ['call_1', 'f', '{"x":2}'],
      ],
    ],
    [
      'without index',
      [call(f('{', { id: 'a' })), call({ function: { arguments: '}' } }), call(f('{}', { id: 'b' }))],
      [
        ['a', 'f', '{}'],
        ['b', 'f', '{}'],
      ],
    ],
    [
      'with neither index nor id',
      [call(f('{"x":1}')), call(f('{"x":2}'))],
      [
        ['call_0', 'f', '{"x":1}'],
        ['call_1', 'f', '{"x":2}'],
      ],
    ],
    ['with arguments as an object', [call(f({ x: 1 }, { index: 0, id: 'a' }))], [['a', 'f', '{"x":1}']]],
    ['without arguments', [call(f(null, { index: 0, id: 'a' }))], [['a', 'f', '']]],
    [
      'by both names',
      [
        delta({
          function_call: { name: 'f', arguments: '{}' },
          tool_calls: [f('{}', { index: 0, id: 'a' })],
        }),
      ],
      [['a', 'f', '{}']],
    ],
    [
      'by the old name',
      [delta({ function_call: { name: 'f', arguments: '{' } }), delta({ function_call: { arguments: '}' } })],
      [['call_0', 'f', '{}']],
    ],
  ])('reads calls %s', (...[, events, calls]) => {
    expect(callsOf([...events, end('tool_calls'), done])).toEqual(calls);
    expect(verdict([...events, end('tool_calls'), done]).type).toBe('success');
  });

  it('knows tool calls though the server says stop', () => {
    expect(decode([call(f('{}', { index: 0, id: 'a' })), end('stop'), done]).parts.slice(1)).toEqual([
      { type: 'tool-call-started', callId: 'a', name: 'f' },
      { type: 'tool-call-delta', callId: 'a', text: '{}' },
      { type: 'tool-call-finished', callId: 'a' },
      { type: 'finished', finish: { reason: 'tool-calls', raw: 'stop' } },
    ]);
  });
});
