import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../../errors/classify-provider-failure.ts';
import { createAssembly } from '../../../model/assembly.ts';
import { settle } from '../../../model/settle.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import { anthropicMessages } from './anthropic.ts';

type Event = Readonly<Record<string, unknown>> | string;

/** Feeds events as a server would send them, and ends the stream. */
function decode(events: readonly Event[]) {
  const decoder = anthropicMessages.stream();
  const parts: StreamPart[] = [];
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const name = typeof event === 'string' ? 'message' : String(event['type']);
    const result = decoder.event({ name, data });
    parts.push(...result.parts);
    if (result.type === 'problem') return { parts, problem: result.problem };
  }
  parts.push(...decoder.end().parts);
  return { parts, problem: undefined };
}

function settled(parts: readonly StreamPart[]) {
  const assembly = createAssembly();
  for (const part of parts) assembly.push(part);
  return settle(assembly.read(), { provider: 'anthropic', model: 'claude-sonnet-5' });
}

const verdict = (events: readonly Event[]) => settled(decode(events).parts);
const typesOf = (parts: readonly StreamPart[]) => parts.map(({ type }) => type);

function outcome(events: readonly Event[]) {
  const response = verdict(events);
  return response.type === 'success' ? response.result.finish.reason : response.failure.code;
}

function callsOf(events: readonly Event[]) {
  const response = verdict(events);
  const { toolCalls } = response.type === 'success' ? response.result : response.partial;
  return toolCalls.map(({ callId, name, argumentsText }) => [callId, name, argumentsText]);
}

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5-1', content: [] };
const startWith = (usage?: unknown): Event => ({
  type: 'message_start',
  message: { ...message, stop_reason: null, usage },
});
const start = startWith({ input_tokens: 10, output_tokens: 1 });
const open = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, fields: object): Event => ({
  type: 'content_block_delta',
  index,
  delta: fields,
});
const close = (index: number): Event => ({ type: 'content_block_stop', index });
const openText = (index: number) => open(index, { type: 'text', text: '' });
const openCall = (index: number, id = `toolu_${index}`) =>
  open(index, { type: 'tool_use', id, name: 'search', input: {} });
const openThought = (index: number) => open(index, { type: 'thinking', thinking: '', signature: '' });
const text = (index: number, value: string) => delta(index, { type: 'text_delta', text: value });
const json = (index: number, value: string) =>
  delta(index, { type: 'input_json_delta', partial_json: value });
const thought = (index: number, value: string) => delta(index, { type: 'thinking_delta', thinking: value });
const sign = (index: number, value: string) => delta(index, { type: 'signature_delta', signature: value });
const ending = (stop_reason: string | null, usage: unknown = { output_tokens: 5 }): Event => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const stop: Event = { type: 'message_stop' };
const ping: Event = { type: 'ping' };
const said = (value: string) => [openText(0), text(0, value), close(0)];
const called = (index: number, value: string) => [openCall(index), json(index, value), close(index)];

describe('anthropicMessages.stream(): what is not an answer', () => {
  it.each<[string, readonly Event[], string]>([
    ['nothing at all', [], 'STREAM_INTERRUPTED'],
    ['an end inside a text', [start, openText(0), text(0, 'Hel')], 'STREAM_INTERRUPTED'],
    ['an end before message_stop', [start, ...said('Hello'), ending('end_turn')], 'STREAM_INTERRUPTED'],
    ['message_stop without a stop reason', [start, ...said('Hello'), stop], 'STREAM_INTERRUPTED'],
    ['a stop reason of null', [start, ...said('Hello'), ending(null), stop], 'STREAM_INTERRUPTED'],
    [
      'a call that never closes',
      [start, openCall(0), json(0, '{}'), ending('tool_use'), stop],
      'STREAM_INTERRUPTED',
    ],
    ['an empty answer', [start, ending('end_turn'), stop], 'EMPTY_RESPONSE'],
    ['white space', [start, ...said(' \n'), ending('end_turn'), stop], 'EMPTY_RESPONSE'],
    [
      'only thoughts',
      [start, openThought(0), thought(0, 'Hm'), close(0), ending('end_turn'), stop],
      'EMPTY_RESPONSE',
    ],
    ['max_tokens', [start, ...said('Hello'), ending('max_tokens'), stop], 'OUTPUT_TRUNCATED'],
    [
      'a full window',
      [start, ...said('Hi'), ending('model_context_window_exceeded'), stop],
      'OUTPUT_TRUNCATED',
    ],
    ['a refusal', [start, ...said('I cannot'), ending('refusal'), stop], 'CONTENT_FILTERED'],
    ['broken arguments', [start, ...called(0, '{"q":'), ending('tool_use'), stop], 'TOOL_CALL_INVALID'],
    [
      'a call without a name',
      [start, open(0, { type: 'tool_use', id: 'a', input: {} }), close(0), ending('tool_use'), stop],
      'TOOL_CALL_INVALID',
    ],
  ])('%s is typed', (_name, events, code) => {
    expect(decode(events).problem).toBeUndefined();
    expect(outcome(events)).toBe(code);
  });

  it('keeps a call that ran into the limit out of the partial, though its block was closed', () => {
    const events = [start, ...said('Let me look'), ...called(1, '{"q":"a'), ending('max_tokens'), stop];
    const response = verdict(events);
    expect(response).toMatchObject({
      type: 'failure',
      failure: { code: 'OUTPUT_TRUNCATED' },
      partial: { text: 'Let me look', toolCalls: [] },
    });
  });

  it('keeps a whole call before the one that was cut', () => {
    const events = [start, ...called(0, '{"q":1}'), ...called(1, '{"q":'), ending('max_tokens'), stop];
    expect(callsOf(events)).toEqual([['toolu_0', 'search', '{"q":1}']]);
  });

  it('keeps a call that another block follows, whatever the stop reason', () => {
    const events = [
      start,
      ...called(0, '{}'),
      openText(1),
      text(1, 'and'),
      close(1),
      ending('max_tokens'),
      stop,
    ];
    expect(callsOf(events)).toEqual([['toolu_0', 'search', '{}']]);
  });

  it('drops a closed call when the stream breaks before the stop reason', () => {
    expect(callsOf([start, ...called(0, '{"q":1}')])).toEqual([]);
  });
});

describe('anthropicMessages.stream(): ids of calls', () => {
  it('keeps two calls of one id apart, and gives one to a call without', () => {
    const events = [
      start,
      ...called(0, '{"q":1}'),
      openCall(1, 'toolu_0'),
      json(1, '{"q":2}'),
      close(1),
      open(2, { type: 'tool_use', name: 'search' }),
      json(2, '{"q":3}'),
      close(2),
      ending('tool_use'),
      stop,
    ];
    expect(callsOf(events)).toEqual([
      ['toolu_0', 'search', '{"q":1}'],
      ['call_1', 'search', '{"q":2}'],
      ['call_2', 'search', '{"q":3}'],
    ]);
  });
});

describe('anthropicMessages.stream(): what the protocol does not allow', () => {
  it.each<[string, readonly Event[], RegExp]>([
    ['no JSON', [start, '{"type":'], /not JSON/],
    ['a list', [start, '[]'], /must be a JSON object/],
    ['a second message_start', [start, ...said('a'), start], /starts a second time/],
    ['message_start without a message', [{ type: 'message_start' }], /no message/],
    ['content before message_start', [openText(0)], /begins with content_block_start/],
    ['message_stop before message_start', [stop], /begins with message_stop/],
    ['a delta for an unknown block', [start, openText(0), text(1, 'a')], /no open content block/],
    ['a delta without an index', [start, openText(0), { type: 'content_block_delta', delta: {} }], /no open/],
    ['a delta after its block closed', [start, ...said('a'), text(0, 'b')], /no open content block/],
    ['a delta that is nothing', [start, openText(0), { type: 'content_block_delta', index: 0 }], /empty/],
    ['a delta in the wrong block', [start, openText(0), json(0, '{}')], /block of type text/],
    ['a delta without text', [start, openText(0), delta(0, { type: 'text_delta', text: 7 })], /no text/],
    ['a block that starts twice', [start, openText(0), openText(0)], /starts twice/],
    [
      'a block without an index',
      [start, { type: 'content_block_start', content_block: {} }],
      /without an index/,
    ],
    ['a block without content', [start, { type: 'content_block_start', index: 0 }], /without its content/],
    ['a block that closes twice', [start, ...said('a'), close(0)], /not open/],
  ])('%s is a problem', (_name, events, reason) => {
    const { problem } = decode(events);
    expect(problem).toMatchObject({ type: 'malformed', reason: expect.stringMatching(reason) as string });
  });

  it('gives the data with the problem, and what came before', () => {
    const { parts, problem } = decode([start, openText(0), text(0, 'Hel'), 'oops']);
    expect(typesOf(parts)).toEqual(['started', 'usage', 'text-delta']);
    expect(problem).toMatchObject({ type: 'malformed', data: 'oops' });
  });

  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  it.each<[string, Event]>([
    ['an error event', overloaded],
    ['an error without its type', { error: overloaded.error }],
  ])('%s goes to the classifier as it is', (_name, event) => {
    const { problem } = decode([start, openText(0), text(0, 'Hel'), event]);
    expect(problem).toEqual({ type: 'provider-error', body: JSON.stringify(event) });
    const body = problem?.type === 'provider-error' ? problem.body : '';
    expect(classifyProviderFailure({ provider: 'anthropic', status: 200, body }).code).toBe('OVERLOADED');
  });

  it('an error event that is not JSON goes to the classifier too', () => {
    const result = anthropicMessages.stream().event({ name: 'error', data: 'upstream connect error' });
    expect(result).toMatchObject({ problem: { type: 'provider-error', body: 'upstream connect error' } });
  });
});

describe('anthropicMessages.stream(): answers', () => {
  it('reads a text from its first to its last event', () => {
    const { parts } = decode([
      start,
      ping,
      openText(0),
      text(0, 'Hel'),
      text(0, 'lo'),
      close(0),
      ending('end_turn'),
      stop,
    ]);
    expect(parts).toEqual([
      { type: 'started', responseId: 'msg_1', servedBy: 'claude-sonnet-5-1' },
      { type: 'usage', usage: { inputTokens: 10 } },
      { type: 'text-delta', text: 'Hel' },
      { type: 'text-delta', text: 'lo' },
      { type: 'text-finished' },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } },
      { type: 'finished', finish: { reason: 'stop', raw: 'end_turn' } },
    ]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool-calls'],
    ['pause_turn', 'interrupted'],
    ['something_new', 'other'],
  ])('reads the stop reason %s as %s', (raw, reason) => {
    expect(decode([start, ...said('Hi'), ending(raw), stop]).parts.at(-1)).toEqual({
      type: 'finished',
      finish: { reason, raw },
    });
  });

  it('reads calls whose text arrives in pieces, and one without any', () => {
    const events = [
      start,
      openCall(0),
      json(0, ''),
      json(0, '{"q":'),
      json(0, '"ä"}'),
      close(0),
      openCall(1),
      close(1),
      ending('tool_use'),
      stop,
    ];
    expect(callsOf(events)).toEqual([
      ['toolu_0', 'search', '{"q":"ä"}'],
      ['toolu_1', 'search', ''],
    ]);
    expect(outcome(events)).toBe('tool-calls');
  });

  it('reads arguments that stand in the start of the block', () => {
    const block = { type: 'tool_use', id: 'a', name: 'search', input: { q: 1 } };
    expect(callsOf([start, open(0, block), close(0), ending('tool_use'), stop])).toEqual([
      ['a', 'search', '{"q":1}'],
    ]);
  });

  it('reads words that stand in the start of the block', () => {
    const events = [
      start,
      open(0, { type: 'thinking', thinking: 'Hm', signature: 'sig' }),
      close(0),
      open(1, { type: 'text', text: 'Hello' }),
      close(1),
      ending('end_turn'),
      stop,
    ];
    expect(verdict(events)).toMatchObject({
      result: {
        content: [
          { type: 'reasoning', text: 'Hm', signature: { protocol: 'anthropic', value: 'sig' } },
          { type: 'text', text: 'Hello' },
        ],
      },
    });
  });

  it('passes over what it does not know: events, blocks, deltas', () => {
    const events = [
      start,
      { type: 'something_new' },
      open(0, { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }),
      json(0, '{"query":"x"}'),
      close(0),
      open(1, { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }),
      close(1),
      openText(2),
      delta(2, { type: 'citations_delta', citation: {} }),
      delta(2, { type: { toString: 1 } }),
      text(2, 'Found'),
      close(2),
      ending('end_turn'),
      stop,
    ];
    expect(decode(events).problem).toBeUndefined();
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'Found', toolCalls: [] } });
  });

  it('adds nothing after message_stop', () => {
    const events = [start, ...said('Hi'), ending('end_turn'), stop];
    expect(decode([...events, start, ...said('again'), 'garbage', stop]).parts).toEqual(decode(events).parts);
  });

  it('keeps interleaved blocks apart, in the order in which they began', () => {
    const events = [
      start,
      openThought(0),
      thought(0, 'a'),
      openText(1),
      text(1, 'x'),
      openCall(2),
      json(2, '{"q"'),
      thought(0, 'b'),
      text(1, 'y'),
      sign(0, 'sig'),
      close(1),
      json(2, ':1}'),
      close(2),
      close(0),
      ending('tool_use'),
      stop,
    ];
    expect(verdict(events)).toMatchObject({
      type: 'success',
      result: {
        content: [
          { type: 'reasoning', text: 'ab', signature: { value: 'sig' } },
          { type: 'text', text: 'xy' },
          { type: 'tool-call', callId: 'toolu_2', argumentsText: '{"q":1}' },
        ],
      },
    });
  });

  it('gives what was held back when the stream ends inside an earlier block', () => {
    const { parts } = decode([start, openText(0), text(0, 'a'), openText(1), text(1, 'b')]);
    expect(parts.slice(2)).toEqual([
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
    ]);
  });
});

describe('anthropicMessages.stream(): usage', () => {
  const usageOf = (events: readonly Event[]) => {
    const response = verdict(events);
    return response.type === 'success' ? response.result.usage : response.partial.usage;
  };
  const cached = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 30 };

  it.each<[string, readonly [first: unknown, last: unknown], object]>([
    ['nothing', [undefined, {}], {}],
    ['null', [null, null], {}],
    ['only input', [{ input_tokens: 10 }, {}], { inputTokens: 10 }],
    ['a placeholder of output', [{ input_tokens: 10, output_tokens: 1 }, {}], { inputTokens: 10 }],
    [
      'all three parts of the input',
      [cached, { output_tokens: 5 }],
      { inputTokens: 240, cacheReadTokens: 200, cacheWriteTokens: 30, outputTokens: 5 },
    ],
    [
      'null for the cache',
      [{ ...cached, cache_read_input_tokens: null }, {}],
      { inputTokens: 40, cacheWriteTokens: 30 },
    ],
    ['nonsense for the cache', [{ ...cached, cache_read_input_tokens: -1 }, {}], { cacheWriteTokens: 30 }],
    [
      'nonsense for the input',
      [{ ...cached, input_tokens: '10' }, {}],
      { cacheReadTokens: 200, cacheWriteTokens: 30 },
    ],
    [
      'a sum beyond what can be counted',
      [{ ...cached, input_tokens: Number.MAX_SAFE_INTEGER }, {}],
      { cacheReadTokens: 200, cacheWriteTokens: 30 },
    ],
    [
      'a later correction',
      [{ input_tokens: 0 }, { input_tokens: 12, output_tokens: 3 }],
      { inputTokens: 12, outputTokens: 3 },
    ],
    ['nonsense for the output', [{ input_tokens: 1 }, { output_tokens: 1.5 }], { inputTokens: 1 }],
    [
      'thoughts',
      [{ input_tokens: 1 }, { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } }],
      { inputTokens: 1, outputTokens: 9, reasoningTokens: 4 },
    ],
  ])('counts %s', (_name, [first, last], usage) => {
    expect(usageOf([startWith(first), ...said('Hi'), ending('end_turn', last), stop])).toEqual(usage);
  });

  it('the last count of the output wins', () => {
    const events = [
      start,
      ...said('Hi'),
      ending(null, { output_tokens: 2 }),
      ending('end_turn', { output_tokens: 9 }),
      stop,
    ];
    expect(usageOf(events)).toEqual({ inputTokens: 10, outputTokens: 9 });
  });
});

describe('anthropicMessages: what the model signed', () => {
  const data = 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB==';
  it('goes back byte for byte: stream, message, request', () => {
    const events = [
      start,
      openThought(0),
      thought(0, ' Let me  think\n'),
      sign(0, 'ErUB'),
      sign(0, '+/x=='),
      close(0),
      openThought(1),
      sign(1, 'only'),
      close(1),
      open(2, { type: 'redacted_thinking', data }),
      close(2),
      ...called(3, '{"q": 1}'),
      ending('tool_use'),
      stop,
    ];
    const response = verdict(events);
    if (response.type !== 'success') throw new Error(response.failure.message);
    const history = [{ role: 'assistant', content: response.result.content } as const];
    const target = { provider: 'anthropic', model: 'm', dialect: {} };
    expect(anthropicMessages.request({ messages: history }, target).body['messages']).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: ' Let me  think\n', signature: 'ErUB+/x==' },
          { type: 'thinking', thinking: '', signature: 'only' },
          { type: 'redacted_thinking', data },
          { type: 'tool_use', id: 'toolu_3', name: 'search', input: { q: 1 } },
        ],
      },
    ]);
  });
});

describe('anthropicMessages.whole()', () => {
  const body = {
    ...message,
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'a', name: 'search', input: {} },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 4 },
  };
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;

  it.each<[string, unknown, object]>([
    ['no object', 'text', { type: 'malformed', reason: 'The body is not a JSON object' }],
    ['null', null, { type: 'malformed' }],
    ['no content', { ...message, content: undefined }, { type: 'malformed' }],
    ['a block that is none', { ...body, content: [7] }, { type: 'malformed' }],
    [
      'a call too deep to write',
      { ...body, content: [{ ...body.content[2], input: deep }] },
      { type: 'malformed' },
    ],
    [
      'an error inside 200',
      { type: 'error', error: { type: 'overloaded_error' } },
      { type: 'provider-error', body: '{"type":"error","error":{"type":"overloaded_error"}}' },
    ],
  ])('%s is a problem', (_name, given, problem) => {
    expect(anthropicMessages.whole(given)).toMatchObject({ type: 'problem', problem });
  });

  it('reads a complete answer', () => {
    const { parts } = anthropicMessages.whole(body);
    expect(parts.at(-1)).toEqual({ type: 'finished', finish: { reason: 'tool-calls', raw: 'tool_use' } });
    expect(settled(parts)).toMatchObject({
      type: 'success',
      result: {
        responseId: 'msg_1',
        text: 'Hello',
        toolCalls: [{ callId: 'a', argumentsText: '{}' }],
        usage: { inputTokens: 3, outputTokens: 4 },
      },
    });
  });

  it('drops a call at the end of an answer that was cut', () => {
    const content = [body.content[1], body.content[2]];
    const { parts } = anthropicMessages.whole({ ...body, content, stop_reason: 'max_tokens' });
    expect(settled(parts)).toMatchObject({
      failure: { code: 'OUTPUT_TRUNCATED' },
      partial: { toolCalls: [] },
    });
  });
});

describe('anthropicMessages: whatever comes', () => {
  const words =
    'message_start content_block_start content_block_delta content_block_stop message_delta message_stop error ping text ' +
    'thinking tool_use text_delta input_json_delta signature_delta redacted_thinking __proto__ toString';
  const word = fc.constantFrom(...words.split(' '));
  const loose = fc.oneof(word, fc.jsonValue());
  const fields = fc.record(
    {
      type: loose,
      index: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.jsonValue()),
      message: fc.oneof(fc.constant(message), fc.jsonValue()),
      content_block: fc.oneof(fc.record({ type: loose, id: loose, input: fc.jsonValue() }), fc.jsonValue()),
      delta: fc.oneof(
        fc.record({ type: loose, text: loose, partial_json: loose, stop_reason: loose }),
        fc.jsonValue(),
      ),
      usage: fc.oneof(
        fc.record({ input_tokens: fc.jsonValue(), output_tokens: fc.jsonValue() }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );
  const event = fc.oneof(
    fields.map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  );

  it('no event makes the decoder throw, and finished comes last and once', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.boolean(), (events, startsWell) => {
        const { parts } = decode(startsWell ? [start, ...events] : events);
        const position = parts.findIndex(({ type }) => type === 'finished');
        expect(position === -1 || position === parts.length - 1).toBe(true);
        settled(parts);
      }),
      { numRuns: 200 },
    );
  });

  it('no body makes whole() throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.record({ content: fc.array(fields) }), fc.anything()),
        (body) => {
          expect(['parts', 'problem']).toContain(anthropicMessages.whole(body).type);
        },
      ),
      { numRuns: 150 },
    );
  });
});
