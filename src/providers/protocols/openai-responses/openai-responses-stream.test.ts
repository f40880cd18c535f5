import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../../errors/classify-provider-failure.ts';
import { createAssembly } from '../../../model/assembly.ts';
import { settle } from '../../../model/settle.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { openaiResponses } from './openai-responses.ts';

type Event = { readonly type?: string; readonly [field: string]: unknown } | string;

/** Feeds events as a server would send them, and ends the stream. */
function decode(events: readonly Event[]) {
  const decoder = openaiResponses.stream();
  const parts: StreamPart[] = [];
  for (const event of events) {
    const [name, data] =
      typeof event === 'string' ? ['message', event] : [event.type ?? 'message', JSON.stringify(event)];
    const result = decoder.event({ name, data });
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

const created: Event = {
  type: 'response.created',
  response: { id: 'resp_1', model: 'gpt-5.2-2026', status: 'in_progress', error: null, output: [] },
};
const started = { type: 'started', responseId: 'resp_1', servedBy: 'gpt-5.2-2026' };
const text = (delta: string, fields: object = {}): Event => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta,
  ...fields,
});
const added = (item: object, index = 0): Event => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
});
const finished = (item: object, index = 0): Event => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
});
const message = (whole: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: whole, annotations: [] }],
});
const fn = (fields: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_a',
  name: 'f',
  ...fields,
});
const args = (delta: string, index = 0): Event => ({
  type: 'response.function_call_arguments.delta',
  output_index: index,
  delta,
});
const argsDone = (whole: string): Event => ({
  type: 'response.function_call_arguments.done',
  output_index: 0,
  arguments: whole,
});
const completed = (fields: object = {}): Event => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [], ...fields },
});
const incomplete = (reason: unknown): Event => ({
  type: 'response.incomplete',
  response: { id: 'resp_1', status: 'incomplete', incomplete_details: { reason }, output: [] },
});

describe('openaiResponses.stream(): what is not an answer', () => {
  it.each<[string, readonly Event[], string]>([
    ['nothing at all', [], 'STREAM_INTERRUPTED'],
    ['[DONE] without a closing event', [created, text('Hi'), '[DONE]'], 'STREAM_INTERRUPTED'],
    [
      'a whole message without a closing event',
      [created, text('Hi'), finished(message('Hi'))],
      'STREAM_INTERRUPTED',
    ],
    ['a limit', [created, text('Hi'), incomplete('max_output_tokens')], 'OUTPUT_TRUNCATED'],
    ['a cut for reasons unknown', [created, text('Hi'), incomplete(undefined)], 'OUTPUT_TRUNCATED'],
    ['a content filter', [created, text('Hi'), incomplete('content_filter')], 'CONTENT_FILTERED'],
    [
      'a refusal',
      [created, { type: 'response.refusal.delta', output_index: 0, delta: 'No.' }, completed()],
      'CONTENT_FILTERED',
    ],
    [
      'a refusal without deltas',
      [created, finished({ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }), completed()],
      'CONTENT_FILTERED',
    ],
    ['no output', [created, completed()], 'EMPTY_RESPONSE'],
    ['a call that never ended', [created, added(fn()), args('{}'), completed()], 'STREAM_INTERRUPTED'],
    [
      'a call without a name',
      [created, finished(fn({ name: undefined, status: 'completed' })), completed()],
      'TOOL_CALL_INVALID',
    ],
  ])('%s ends as a failure', (...[, events, code]) => {
    expect(verdict(events)).toMatchObject({ type: 'failure', failure: { code } });
  });

  it('drops the call in which the limit was reached, and keeps the one before', () => {
    const events = [
      created,
      added(fn()),
      args('{}'),
      finished(fn({ arguments: '{}', status: 'completed' })),
      added(fn({ id: 'fc_2', call_id: 'call_b' }), 1),
      args('{"x":', 1),
      finished(fn({ id: 'fc_2', call_id: 'call_b', arguments: '{"x":', status: 'incomplete' }), 1),
      incomplete('max_output_tokens'),
    ];
    const response = verdict(events);
    expect(response).toMatchObject({ type: 'failure', failure: { code: 'OUTPUT_TRUNCATED' } });
    expect(response).toMatchObject({ partial: { toolCalls: [{ callId: 'call_a' }] } });
    expect(decode(events).parts.filter(({ type }) => type === 'tool-call-finished')).toHaveLength(1);
  });

  it('does not trust a call that the server did not call complete in an answer that was cut', () => {
    const response = verdict([
      created,
      added(fn()),
      args('{'),
      argsDone('{'),
      finished(fn()),
      incomplete('max_output_tokens'),
    ]);
    expect(response).toMatchObject({ type: 'failure', partial: { toolCalls: [] } });
  });

  it.each<[string, Event, string]>([
    [
      'an error event',
      {
        type: 'error',
        code: 'rate_limit_exceeded',
        message: 'Rate limit reached',
        param: null,
        sequence_number: 3,
      },
      'RATE_LIMITED',
    ],
    [
      'an error event with an error inside',
      { type: 'error', error: { type: 'server_error', message: 'Boom' } },
      'SERVER_ERROR',
    ],
    [
      'a bare error',
      { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } },
      'QUOTA_EXCEEDED',
    ],
    [
      'response.failed',
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'server_error', message: 'The model failed' } },
      },
      'SERVER_ERROR',
    ],
    [
      'response.failed without saying why',
      { type: 'response.failed', response: { status: 'failed', error: null } },
      'SERVER_ERROR',
    ],
    ['response.failed without a response', { type: 'response.failed' }, 'SERVER_ERROR'],
    [
      'a closing event whose response failed',
      completed({ status: 'failed', error: { code: 'server_error', message: 'x' } }),
      'SERVER_ERROR',
    ],
  ])('hands %s to the classifier', (...[, event, code]) => {
    const { parts, problem } = decode([created, text('Hi'), event, completed()]);
    expect(problem?.type).toBe('provider-error');
    expect(failureOf(problem).code).toBe(code);
    expect(parts).toEqual([started, { type: 'text-delta', text: 'Hi' }]);
  });

  it.each<[string, readonly Event[]]>([
    ['broken JSON', ['{"type":']],
    ['a delta that is no text', [text('Hi'), { type: 'response.output_text.delta', delta: 1 }]],
    [
      'arguments that are no text',
      [added(fn()), { type: 'response.function_call_arguments.delta', delta: {} }],
    ],
    ['reasoning that is no text', [{ type: 'response.reasoning_text.delta' }]],
    ['an item that is none', [{ type: 'response.output_item.done', item: null }]],
    ['an added item that is none', [{ type: 'response.output_item.added' }]],
    ['a closing event without response', [text('Hi'), { type: 'response.completed' }]],
    [
      'another text at its end',
      [text('Hi'), { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Ho' }],
    ],
    ['another message at its end', [text('Hi'), finished(message('Hi there'))]],
    ['other arguments at their end', [added(fn()), args('{"x":1}'), argsDone('{"x":2}')]],
    ['other arguments in the call', [added(fn()), args('{"x":1}'), finished(fn({ arguments: '{}' }))]],
    [
      'another summary at its end',
      [
        { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'a' },
        finished({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'b' }] }),
      ],
    ],
    ['a piece that came twice', [text('Hi'), text('Hi'), finished(message('Hi'))]],
    ['two messages in turns', [text('A'), text('B', { output_index: 1 }), text('C')]],
  ])('reports %s as malformed', (...[, events]) => {
    expect(decode([created, ...events, completed()]).problem).toMatchObject({ type: 'malformed' });
  });
});

describe('openaiResponses.stream(): answers', () => {
  it('reads a whole stream as OpenAI sends it', () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 17,
    };
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'First.' },
        { type: 'summary_text', text: 'Then.' },
      ],
      encrypted_content: 'gAAA',
    };
    const summary = (index: number, delta: string): Event => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: index,
      delta,
    });
    const events = [
      created,
      { type: 'response.in_progress', response: { id: 'resp_1' } },
      added({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'partial' }),
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
      summary(0, 'Fir'),
      summary(0, 'st.'),
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'First.' },
      summary(1, 'Then.'),
      finished(reasoning),
      added({ type: 'message', id: 'msg_1', content: [] }, 1),
      { type: 'response.content_part.added', output_index: 1, content_index: 0 },
      text('Hel', { output_index: 1 }),
      { type: 'keepalive', sequence_number: 9 },
      text('lo', { output_index: 1, obfuscation: 'x1' }),
      text('', { output_index: 1 }),
      { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Hello' },
      { type: 'response.content_part.done', output_index: 1 },
      finished(message('Hello'), 1),
      completed({ output: [reasoning, message('Hello')], usage }),
      '[DONE]',
      text('late'),
    ];
    expect(decode(events)).toEqual({
      problem: undefined,
      parts: [
        started,
        { type: 'reasoning-delta', text: 'Fir' },
        { type: 'reasoning-delta', text: 'st.' },
        { type: 'reasoning-delta', text: '\n\n' },
        { type: 'reasoning-delta', text: 'Then.' },
        {
          type: 'reasoning-finished',
          signature: { protocol: 'openai-responses', value: 'gAAA', id: 'rs_1' },
        },
        { type: 'text-delta', text: 'Hel' },
        { type: 'text-delta', text: 'lo' },
        { type: 'text-finished' },
        {
          type: 'usage',
          usage: { inputTokens: 10, outputTokens: 7, reasoningTokens: 3, cacheReadTokens: 4 },
        },
        { type: 'finished', finish: { reason: 'stop', raw: 'completed' } },
      ],
    });
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });

  it.each<[string, readonly Event[]]>([
    [
      'in pieces',
      [
        added(fn({ arguments: '' })),
        args('{"x"'),
        args(':1}'),
        argsDone('{"x":1}'),
        finished(fn({ arguments: '{"x":1}', status: 'completed' })),
      ],
    ],
    [
      'without deltas',
      [added(fn()), argsDone('{"x":1}'), finished(fn({ arguments: '{"x":1}', status: 'completed' }))],
    ],
    ['only at its end', [finished(fn({ arguments: '{"x":1}', status: 'completed' }))]],
    ['without status', [added(fn()), args('{"x":1}'), finished(fn())]],
    ['without the end of the item', [added(fn()), args('{"x":1}'), argsDone('{"x":1}')]],
    [
      'with arguments before the name',
      [added(fn({ name: undefined })), args('{"x":1}'), finished(fn({ status: 'completed' }))],
    ],
    ['with arguments as an object', [finished(fn({ arguments: { x: 1 }, status: 'completed' }))]],
    [
      'with an end that comes twice',
      [
        added(fn()),
        args('{"x":1}'),
        finished(fn({ status: 'completed' })),
        finished(fn({ status: 'completed' })),
      ],
    ],
  ])('reads a call that comes %s', (...[, events]) => {
    const all = [created, ...events, completed()];
    expect(verdict(all)).toMatchObject({
      type: 'success',
      result: {
        finish: { reason: 'tool-calls', raw: 'completed' },
        toolCalls: [{ callId: 'call_a', name: 'f', argumentsText: '{"x":1}' }],
      },
    });
    expect(decode(all).parts.filter(({ type }) => type === 'tool-call-finished')).toHaveLength(1);
  });

  it('takes the end of a call from the closing event where the stream did not tell it', () => {
    const output = [fn({ arguments: '{}', status: 'completed' })];
    expect(verdict([created, added(fn(), 3), args('{}', 3), completed({ output })])).toMatchObject({
      type: 'success',
      result: { toolCalls: [{ callId: 'call_a', argumentsText: '{}' }] },
    });
  });

  it('takes everything from the closing event where the stream told nothing', () => {
    const events = [created, added({ type: 'message', content: [] }), completed({ output: [message('Hi')] })];
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'Hi' } });
  });

  it('does not repeat a message whose place in the closing event is another', () => {
    const events = [created, text('Hi', { output_index: 1 }), completed({ output: [message('Hi')] })];
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'Hi' } });
  });

  it('reads reasoning itself where a server sends that, and one of both where it sends both', () => {
    const thought = (type: string, delta: string): Event => ({ type, output_index: 0, delta });
    const { parts } = decode([
      created,
      thought('response.reasoning_text.delta', 'hm'),
      thought('response.reasoning_summary_text.delta', 'sum'),
      { type: 'response.reasoning_summary_text.done', output_index: 0, text: 'sum' },
      finished({
        type: 'reasoning',
        summary: [{ text: 'sum' }],
        content: [{ type: 'reasoning_text', text: 'hm' }],
      }),
    ]);
    expect(parts.slice(1)).toEqual([{ type: 'reasoning-delta', text: 'hm' }, { type: 'reasoning-finished' }]);
  });

  it('keeps encrypted reasoning that has no text', () => {
    const { parts } = decode([
      created,
      finished({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'g' }),
    ]);
    expect(parts.slice(1)).toEqual([
      { type: 'reasoning-finished', signature: { protocol: 'openai-responses', value: 'g', id: 'rs_1' } },
    ]);
  });

  it('takes the kind of an event from its name where the data has none', () => {
    const decoder = openaiResponses.stream();
    expect(decoder.event({ name: 'response.output_text.delta', data: '{"delta":"Hi"}' }).parts).toEqual([
      { type: 'text-delta', text: 'Hi' },
    ]);
  });

  it('tells items apart by their ids where there are no indices', () => {
    const plain = (delta: string, id: string): Event => ({
      type: 'response.output_text.delta',
      item_id: id,
      delta,
    });
    const events = [
      created,
      plain('A', 'm1'),
      finished({ ...message('A'), id: 'm1' }),
      plain('B', 'm2'),
      completed(),
    ];
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'AB' } });
  });
});

describe('openaiResponses.whole()', () => {
  const whole = (fields: object) => ({
    id: 'resp_1',
    model: 'm',
    status: 'completed',
    error: null,
    output: [],
    ...fields,
  });

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['nothing', undefined],
    ['an empty object', {}],
    ['a response that is not done', whole({ status: 'in_progress' })],
    ['a response without output', whole({ output: null })],
  ])('reports %s as malformed', (...[, body]) => {
    expect(openaiResponses.whole(body)).toMatchObject({ type: 'problem', problem: { type: 'malformed' } });
  });

  it.each<[string, unknown, string]>([
    ['an error with 200', { error: { message: 'no' } }, '{"error":{"message":"no"}}'],
    [
      'a response that failed',
      whole({ status: 'failed', error: { code: 'server_error' } }),
      '{"error":{"code":"server_error"}}',
    ],
  ])('hands %s to the classifier', (...[, body, error]) => {
    expect(openaiResponses.whole(body)).toMatchObject({ problem: { type: 'provider-error', body: error } });
  });

  it('reads an answer with reasoning, text and calls', () => {
    const body = whole({
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'g' },
        message('Hi'),
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        fn({ arguments: '{}', status: 'completed' }),
      ],
      usage: { input_tokens: 1, output_tokens: 2 },
    });
    expect(openaiResponses.whole(body)).toEqual({
      type: 'parts',
      parts: [
        { type: 'started', responseId: 'resp_1', servedBy: 'm' },
        { type: 'reasoning-finished', signature: { protocol: 'openai-responses', value: 'g', id: 'rs_1' } },
        { type: 'text-delta', text: 'Hi' },
        { type: 'text-finished' },
        { type: 'tool-call-started', callId: 'call_a', name: 'f' },
        { type: 'tool-call-delta', callId: 'call_a', text: '{}' },
        { type: 'tool-call-finished', callId: 'call_a' },
        { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
        { type: 'finished', finish: { reason: 'tool-calls', raw: 'completed' } },
      ],
    });
  });

  it('reads an answer that was cut', () => {
    const body = whole({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [fn({ arguments: '{', status: 'incomplete' })],
    });
    const { parts } = openaiResponses.whole(body);
    expect(parts.map(({ type }) => type)).toEqual([
      'started',
      'tool-call-started',
      'tool-call-delta',
      'finished',
    ]);
    expect(parts.at(-1)).toEqual({
      type: 'finished',
      finish: { reason: 'length', raw: 'max_output_tokens' },
    });
  });
});
