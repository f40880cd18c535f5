import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../../errors/classify-provider-failure.ts';
import { createAssembly } from '../../../model/assembly.ts';
import { settle } from '../../../model/settle.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import { gemini } from './gemini.ts';

type Event = object | string;

/** Feeds events as a server would send them, and ends the stream. */
function decode(events: readonly Event[]) {
  const decoder = gemini.stream();
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

function settled(parts: readonly StreamPart[]) {
  const assembly = createAssembly();
  for (const part of parts) assembly.push(part);
  return settle(assembly.read(), { provider: 'gemini', model: 'gemini-3-pro' });
}

const verdict = (events: readonly Event[]) => settled(decode(events).parts);

function outcome(events: readonly Event[]) {
  const response = verdict(events);
  return response.type === 'success' ? response.result.finish.reason : response.failure.code;
}

function contentOf(events: readonly Event[]) {
  const response = verdict(events);
  return response.type === 'success' ? response.result.content : response.partial.content;
}

const ids = { responseId: 'r1', modelVersion: 'gemini-3-pro-001' };
const answer = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  ...ids,
});
const say = (text: string, finishReason?: string) => answer([{ text }], finishReason);
const call = (args?: unknown, fields: object = {}) => ({ functionCall: { name: 'search', args }, ...fields });
const ending = (finishReason: string) => ({ candidates: [{ finishReason }], ...ids });
const counting = (usageMetadata: unknown) => ({ usageMetadata, ...ids });
const deepText = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

describe('gemini.stream(): what is not an answer', () => {
  it.each<[string, readonly Event[], string]>([
    ['nothing at all', [], 'STREAM_INTERRUPTED'],
    ['an end without a finish reason', [say('Hello')], 'STREAM_INTERRUPTED'],
    ['an empty finish reason', [say('Hello', '')], 'STREAM_INTERRUPTED'],
    ['a call without a finish reason', [answer([call({})])], 'STREAM_INTERRUPTED'],
    ['an empty answer', [ending('STOP')], 'EMPTY_RESPONSE'],
    ['only thoughts', [answer([{ text: 'Hm', thought: true }], 'STOP')], 'EMPTY_RESPONSE'],
    ['MAX_TOKENS', [say('Hel', 'MAX_TOKENS')], 'OUTPUT_TRUNCATED'],
    [
      'MAX_TOKENS inside the thoughts',
      [{ candidates: [{ content: {}, finishReason: 'MAX_TOKENS' }] }],
      'OUTPUT_TRUNCATED',
    ],
    ['SAFETY after some text', [say('Hel'), ending('SAFETY')], 'CONTENT_FILTERED'],
    ['RECITATION', [ending('RECITATION')], 'CONTENT_FILTERED'],
    ['BLOCKLIST', [ending('BLOCKLIST')], 'CONTENT_FILTERED'],
    ['PROHIBITED_CONTENT', [ending('PROHIBITED_CONTENT')], 'CONTENT_FILTERED'],
    ['SPII', [ending('SPII')], 'CONTENT_FILTERED'],
    ['IMAGE_SAFETY', [ending('IMAGE_SAFETY')], 'CONTENT_FILTERED'],
    ['LANGUAGE', [ending('LANGUAGE')], 'CONTENT_FILTERED'],
    ['a blocked prompt', [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }], 'CONTENT_FILTERED'],
    ['MALFORMED_FUNCTION_CALL', [ending('MALFORMED_FUNCTION_CALL')], 'TOOL_CALL_INVALID'],
    ['UNEXPECTED_TOOL_CALL', [ending('UNEXPECTED_TOOL_CALL')], 'TOOL_CALL_INVALID'],
    ['OTHER without a word', [ending('OTHER')], 'STREAM_INTERRUPTED'],
    ['arguments that are a list', [answer([call([1])], 'STOP')], 'TOOL_CALL_INVALID'],
    ['a call without a name', [answer([{ functionCall: { args: {} } }], 'STOP')], 'TOOL_CALL_INVALID'],
  ])('%s is typed', (_name, events, code) => {
    expect(decode(events).problem).toBeUndefined();
    expect(outcome(events)).toBe(code);
  });

  it('names the reason why a prompt was blocked', () => {
    const { parts } = decode([{ promptFeedback: { blockReason: 'SAFETY' }, ...ids }]);
    expect(parts.at(-1)).toEqual({ type: 'finished', finish: { reason: 'filtered', raw: 'SAFETY' } });
  });

  it.each<[string, Event, RegExp]>([
    ['no JSON', '{"candidates":', /not JSON/],
    ['a broken list', '[{"error"', /not JSON/],
    ['a text', '"hello"', /must be a JSON object/],
    ['a list of texts', '["hello"]', /not a JSON object/],
    ['candidates that are no list', { candidates: {} }, /"candidates" is not a list/],
    ['a candidate that is none', { candidates: [7] }, /A candidate/],
    ['parts that are no list', { candidates: [{ content: { parts: 'a' } }] }, /"parts" is not a list/],
    ['a part that is none', { candidates: [{ content: { parts: ['a'] } }] }, /A part/],
    ['a text that is none', answer([{ text: 7 }]), /not a text/],
    ['a call that is none', answer([{ functionCall: 'search' }]), /A function call/],
    ['a call in pieces', answer([{ functionCall: { name: 'a', willContinue: true } }]), /in pieces/],
    [
      'a call too deep to write',
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":${deepText}}}]}}]}`,
      /levels deep/,
    ],
  ])('%s is a problem', (_name, event, reason) => {
    const { problem } = decode([say('Hel'), event]);
    expect(problem).toMatchObject({ type: 'malformed', reason: expect.stringMatching(reason) as string });
  });

  const overloaded = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
  it.each<[string, Event]>([
    ['an error', overloaded],
    ['an error in a list', [overloaded]],
  ])('%s inside the stream goes to the classifier as it is', (_name, event) => {
    const { problem, parts } = decode([say('Hel'), event]);
    expect(problem).toEqual({ type: 'provider-error', body: JSON.stringify(event) });
    expect(parts.at(-1)).toEqual({ type: 'text-delta', text: 'Hel' });
    const body = problem?.type === 'provider-error' ? problem.body : '';
    expect(classifyProviderFailure({ provider: 'gemini', status: 200, body }).code).toBe('OVERLOADED');
  });
});

describe('gemini.stream(): answers', () => {
  it('reads a text; its end is announced when the stream ends', () => {
    const usage = counting({ promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 });
    expect(decode([say('Hel'), say('lo', 'STOP'), usage]).parts).toEqual([
      { type: 'started', responseId: 'r1', servedBy: 'gemini-3-pro-001' },
      { type: 'text-delta', text: 'Hel' },
      { type: 'text-delta', text: 'lo' },
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } },
      { type: 'finished', finish: { reason: 'stop', raw: 'STOP' } },
    ]);
  });

  it('takes what still comes after the finish reason', () => {
    const events = [say('Hel', 'STOP'), say('lo')];
    expect(verdict(events)).toMatchObject({ type: 'success', result: { text: 'Hello' } });
  });

  it.each([
    ['OTHER', 'interrupted'],
    ['MODEL_ARMOR', 'filtered'],
    ['FINISH_REASON_UNSPECIFIED', 'other'],
    ['SOMETHING_NEW', 'other'],
  ])('reads the finish reason %s as %s', (raw, reason) => {
    expect(decode([say('Hi', raw)]).parts.at(-1)).toEqual({ type: 'finished', finish: { reason, raw } });
  });

  it('reads calls, says that they are why it stopped, and keeps the provider’s word for it', () => {
    const events = [answer([{ text: 'Let me look' }, call({ q: 'ä' }), call()], 'STOP')];
    expect(contentOf(events)).toEqual([
      { type: 'text', text: 'Let me look' },
      { type: 'tool-call', callId: 'call_r1_0', name: 'search', argumentsText: '{"q":"ä"}' },
      { type: 'tool-call', callId: 'call_r1_1', name: 'search', argumentsText: '' },
    ]);
    expect(decode(events).parts.at(-1)).toEqual({
      type: 'finished',
      finish: { reason: 'tool-calls', raw: 'STOP' },
    });
  });

  const idsOf = (events: readonly Event[]) =>
    contentOf(events).map((part) => (part.type === 'tool-call' ? part.callId : part.type));
  const withId = (id: unknown) => ({ functionCall: { id, name: 'search', args: {} } });
  it.each<[string, readonly object[], readonly string[]]>([
    ['of its own', [withId('fc-1'), withId('fc-2')], ['fc-1', 'fc-2']],
    ['twice the same', [withId('fc-1'), withId('fc-1')], ['fc-1', 'call_r1_1']],
    ['empty or none', [withId(''), withId(7)], ['call_r1_0', 'call_r1_1']],
    [
      'that looks like ours',
      [withId('call_r1_1'), withId(''), withId('')],
      ['call_r1_1', 'call_r1_2', 'call_r1_3'],
    ],
  ])('gives each call an id: %s', (_name, parts, expected) => {
    expect(idsOf([answer(parts, 'STOP')])).toEqual(expected);
  });

  it('makes ids without the id of a response, and goes on counting in later events', () => {
    const event = { candidates: [{ content: { parts: [call({})] }, finishReason: 'STOP' }] };
    expect(idsOf([event, event])).toEqual(['call_0', 'call_1']);
  });

  it('passes over other candidates and parts that are not of the answer', () => {
    const other = { index: 1, content: { parts: [{ text: 'other' }] }, finishReason: 'MAX_TOKENS' };
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's' };
    const first = answer([{ executableCode: {} }, image, {}, { text: 'mine' }], 'STOP').candidates;
    expect(
      verdict([{ candidates: [...first, other] }, { candidates: null, usageMetadata: 7 }]),
    ).toMatchObject({
      type: 'success',
      result: { content: [{ type: 'text', text: 'mine' }] },
    });
  });

  it('reads a list of answers in one event', () => {
    expect(verdict([[say('Hel'), say('lo', 'STOP')]])).toMatchObject({ result: { text: 'Hello' } });
  });
});

describe('gemini.stream(): usage', () => {
  const usageOf = (...counts: readonly unknown[]) => {
    const response = verdict([say('Hi', 'STOP'), ...counts.map(counting)]);
    return response.type === 'success' ? response.result.usage : {};
  };
  it.each<[string, unknown, object]>([
    ['nothing', {}, {}],
    ['nonsense', { promptTokenCount: -1, candidatesTokenCount: '7', thoughtsTokenCount: 1.5 }, {}],
    [
      'everything',
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        toolUsePromptTokenCount: 10,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 30,
        totalTokenCount: 160,
      },
      { inputTokens: 110, cacheReadTokens: 60, outputTokens: 50, reasoningTokens: 30 },
    ],
    [
      'an answer that was all thoughts, where the count of 0 is left out',
      { promptTokenCount: 100, thoughtsTokenCount: 30, totalTokenCount: 130 },
      { inputTokens: 100, outputTokens: 30, reasoningTokens: 30 },
    ],
    ['thoughts and nothing to tell the rest by', { thoughtsTokenCount: 30 }, { reasoningTokens: 30 }],
    ['nonsense among the thoughts', { candidatesTokenCount: 20, thoughtsTokenCount: -3 }, {}],
    ['a total below its part', { promptTokenCount: 100, totalTokenCount: 90 }, { inputTokens: 100 }],
  ])('counts %s', (_name, metadata, usage) => {
    expect(usageOf(metadata)).toEqual(usage);
  });

  it('the last count wins', () => {
    expect(
      usageOf(
        { promptTokenCount: 9, candidatesTokenCount: 1 },
        { promptTokenCount: 9, candidatesTokenCount: 8 },
      ),
    ).toEqual({
      inputTokens: 9,
      outputTokens: 8,
    });
  });
});

describe('gemini: what the model signed', () => {
  const value = 'CpQCAR/8ZWmYnR+a3==';
  const signature = { protocol: 'gemini', value };
  it.each<[string, readonly Event[], readonly object[]]>([
    [
      'a call',
      [answer([call({}, { thoughtSignature: value }), call({})], 'STOP')],
      [{ type: 'tool-call', signature }, { type: 'tool-call' }],
    ],
    [
      'a text after others',
      [say('Hel'), answer([{ text: 'lo', thoughtSignature: value }]), say('!', 'STOP')],
      [{ text: 'Hel' }, { text: 'lo', signature }, { text: '!' }],
    ],
    [
      'the text before an empty part',
      [say('Hel'), say('lo'), answer([{ text: '', thoughtSignature: value }], 'STOP')],
      [{ text: 'Hello', signature }],
    ],
    [
      'the thoughts before a part that is nothing else',
      [
        answer([{ text: 'Hm', thought: true }]),
        answer([{ thought: true, thoughtSignature: value }, { text: 'Hi' }], 'STOP'),
      ],
      [
        { type: 'reasoning', text: 'Hm', signature },
        { type: 'text', text: 'Hi' },
      ],
    ],
    [
      'an empty signature, which is none',
      [answer([{ text: 'Hi', thoughtSignature: '' }], 'STOP')],
      [{ text: 'Hi' }],
    ],
  ])('stays with its part: %s', (_name, events, content) => {
    const parts = contentOf(events);
    expect(parts).toMatchObject(content);
    expect(parts.filter((part) => part.signature !== undefined)).toHaveLength(
      content.filter((part) => 'signature' in part).length,
    );
  });

  it('goes back byte for byte: stream, message, request', () => {
    const sent = [
      { text: ' Let me  think\n', thought: true, thoughtSignature: value },
      { text: 'Looking' },
      { functionCall: { id: 'fc-1', name: 'search', args: { q: 1 } }, thoughtSignature: `${value}2` },
      { functionCall: { id: 'fc-2', name: 'search', args: {} } },
    ];
    const messages = [{ role: 'assistant', content: contentOf([answer(sent, 'STOP')]) } as const];
    const target = { provider: 'gemini', model: 'gemini-3-pro', dialect: {} };
    expect(gemini.request({ messages }, target).body['contents']).toEqual([{ role: 'model', parts: sent }]);
  });
});

describe('gemini.whole()', () => {
  it.each<[string, unknown, object]>([
    ['a text', 'hello', { type: 'malformed', reason: 'An answer is not a JSON object' }],
    [
      'an object that is no answer',
      { hello: 1 },
      { type: 'malformed', reason: 'The body holds no candidates' },
    ],
    ['an empty list', [], { type: 'malformed' }],
    ['a list with something else in it', [say('Hi', 'STOP'), 7], { type: 'malformed' }],
    [
      'an error inside 200',
      { error: { code: 429 } },
      { type: 'provider-error', body: '{"error":{"code":429}}' },
    ],
    [
      'an error in a list',
      [{ error: { code: 429 } }],
      { type: 'provider-error', body: '[{"error":{"code":429}}]' },
    ],
  ])('%s is a problem', (_name, body, problem) => {
    expect(gemini.whole(body)).toMatchObject({ type: 'problem', problem });
  });

  it.each<[string, unknown]>([
    ['one answer', { ...say('Hello', 'STOP'), usageMetadata: { promptTokenCount: 1 } }],
    ['a list of answers', [say('Hel'), say('lo', 'STOP'), counting({ promptTokenCount: 1 })]],
  ])('reads %s', (_name, body) => {
    const { type, parts } = gemini.whole(body);
    expect(type).toBe('parts');
    expect(parts.at(-1)).toEqual({ type: 'finished', finish: { reason: 'stop', raw: 'STOP' } });
    expect(settled(parts)).toMatchObject({
      type: 'success',
      result: { text: 'Hello', usage: { inputTokens: 1 } },
    });
  });

  it('reads a blocked prompt', () => {
    expect(settled(gemini.whole({ promptFeedback: { blockReason: 'SAFETY' } }).parts)).toMatchObject({
      failure: { code: 'CONTENT_FILTERED' },
    });
  });

  it('an answer that does not say why it ended is not whole', () => {
    expect(settled(gemini.whole(say('Hel')).parts)).toMatchObject({
      failure: { code: 'STREAM_INTERRUPTED' },
    });
  });
});

describe('gemini: whatever comes', () => {
  const part = fc.record(
    {
      text: fc.oneof(fc.string(), fc.jsonValue()),
      thought: fc.jsonValue(),
      thoughtSignature: fc.oneof(fc.string(), fc.jsonValue()),
      functionCall: fc.oneof(
        fc.record({ id: fc.jsonValue(), name: fc.jsonValue(), args: fc.jsonValue() }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );
  const candidate = fc.record(
    {
      content: fc.oneof(fc.record({ parts: fc.oneof(fc.array(part), fc.jsonValue()) }), fc.jsonValue()),
      finishReason: fc.oneof(fc.constantFrom('STOP', 'SAFETY', '__proto__'), fc.jsonValue()),
      index: fc.oneof(fc.constant(0), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const response = fc.record(
    {
      candidates: fc.oneof(fc.array(candidate), fc.jsonValue()),
      promptFeedback: fc.jsonValue(),
      usageMetadata: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
      responseId: fc.jsonValue(),
      error: fc.option(fc.jsonValue(), { nil: null, freq: 8 }),
    },
    { requiredKeys: [] },
  );
  const event = fc.oneof(
    response.map((value) => JSON.stringify(value)),
    fc.array(response).map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  );

  it('no event makes the decoder throw, and finished comes last and once', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        const { parts } = decode(events);
        const position = parts.findIndex(({ type }) => type === 'finished');
        expect(position === -1 || position === parts.length - 1).toBe(true);
        settled(parts);
      }),
      { numRuns: 200 },
    );
  });

  it('no body makes whole() throw', () => {
    fc.assert(
      fc.property(fc.oneof(response, fc.array(response), fc.anything()), (body) => {
        expect(['parts', 'problem']).toContain(gemini.whole(body).type);
      }),
      { numRuns: 150 },
    );
  });
});
