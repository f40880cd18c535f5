import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import { settle } from '../../model/settle.ts';
import type { WireProtocol } from '../protocol.ts';
import { anthropicMessages } from './anthropic/anthropic.ts';
import { gemini } from './gemini/gemini.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

// What every protocol must make of the same trouble: the one verdict, whatever the wire looks like.

type Event = { readonly name?: string; readonly data: string };
const event = (value: object): Event => ({ data: JSON.stringify(value) });

interface Wire {
  readonly name: string;
  readonly protocol: WireProtocol;
  /** An answer that says "Hello" and ends for the reasons given, the last one as the others. */
  readonly hello: (reasons: readonly ('stop' | 'cut')[]) => readonly Event[];
  readonly calls: (ids: readonly string[]) => Iterable<Event>;
}

const chat = (delta: object, finish_reason: string | null = null): Event =>
  event({ choices: [{ index: 0, delta, finish_reason }] });
const anthropicStart = event({ type: 'message_start', message: { id: 'm' } });
const anthropicEnd = (stop_reason: string): Event => event({ type: 'message_delta', delta: { stop_reason } });
const anthropicStop = event({ type: 'message_stop' });
const candidate = (parts: readonly object[], finishReason?: string): Event =>
  event({ candidates: [{ content: { parts }, finishReason }] });
const callItem = (call_id: string): object => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{}',
});

const wires: readonly Wire[] = [
  {
    name: 'openai-chat',
    protocol: openaiChat,
    hello: (reasons) => [
      chat({ content: 'Hello' }),
      ...reasons.map((reason) => chat({}, reason === 'cut' ? 'length' : 'stop')),
    ],
    *calls(ids) {
      for (const [index, id] of ids.entries())
        yield chat({ tool_calls: [{ index, id, function: { name: 'f', arguments: '{}' } }] });
      yield chat({}, 'tool_calls');
    },
  },
  {
    name: 'openai-responses',
    protocol: openaiResponses,
    hello: (reasons) => [
      event({ type: 'response.output_text.delta', delta: 'Hello' }),
      ...reasons.map((reason) => {
        const status = reason === 'cut' ? 'incomplete' : 'completed';
        return event({ type: `response.${status}`, response: { status } });
      }),
    ],
    *calls(ids) {
      for (const [output_index, id] of ids.entries())
        yield event({ type: 'response.output_item.added', output_index, item: callItem(id) });
      // The other way round: the costliest order to look them up in.
      const output = ids.map((id) => ({ ...callItem(id), status: 'completed' })).toReversed();
      yield event({ type: 'response.completed', response: { status: 'completed', output } });
    },
  },
  {
    name: 'anthropic',
    protocol: anthropicMessages,
    hello: (reasons) => [
      anthropicStart,
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } }),
      event({ type: 'content_block_stop', index: 0 }),
      ...reasons.map((reason) => anthropicEnd(reason === 'cut' ? 'max_tokens' : 'end_turn')),
      anthropicStop,
    ],
    *calls(ids) {
      yield anthropicStart;
      for (const [index, id] of ids.entries()) {
        yield event({
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id, name: 'f' },
        });
        yield event({ type: 'content_block_stop', index });
      }
      yield anthropicEnd('tool_use');
      yield anthropicStop;
    },
  },
  {
    name: 'gemini',
    protocol: gemini,
    hello: (reasons) => [
      candidate([{ text: 'Hello' }]),
      ...reasons.map((reason) => candidate([], reason === 'cut' ? 'MAX_TOKENS' : 'STOP')),
    ],
    *calls(ids) {
      for (const id of ids) yield candidate([{ functionCall: { id, name: 'f', args: {} } }]);
      // As many without an id, which must be given one that is not taken.
      yield* ids.map(() => candidate([{ functionCall: { name: 'f', args: {} } }]));
      yield candidate([], 'STOP');
    },
  },
];

/** As an attempt reads it: until `finished` or a problem. */
function verdict(protocol: WireProtocol, events: Iterable<Event>) {
  const decoder = protocol.stream();
  const assembly = createAssembly();
  const take = (result: ReturnType<typeof decoder.event>): string | undefined => {
    for (const part of result.parts) assembly.push(part);
    if (result.type === 'parts') return undefined;
    const { problem } = result;
    if (problem.type === 'malformed') return 'INVALID_RESPONSE';
    return classifyProviderFailure({ provider: 'x', status: 200, body: problem.body }).code;
  };
  for (const { name = 'message', data } of events) {
    const code = take(decoder.event({ name, data }));
    if (code !== undefined) return { code, calls: 0 };
  }
  take(decoder.end());
  const response = settle(assembly.read(), { provider: 'x', model: 'y' });
  if (response.type === 'failure') return { code: response.failure.code, calls: 0 };
  return { code: response.result.text, calls: response.result.toolCalls.length };
}

describe.each(wires)('$name', ({ protocol, hello, calls }) => {
  it.each([
    ['the error as a text', { data: '{"error":"Overloaded"}' }],
    ['an event named error', { name: 'error', data: '{"message":"Overloaded"}' }],
    ['an event named error without JSON', { name: 'error', data: 'Overloaded' }],
  ])('takes %s for the error that it is', (_name, error) => {
    const begun = hello([]).filter(({ data }) => !data.includes('message_stop'));
    expect(verdict(protocol, [...begun, error]).code).toBe('OVERLOADED');
  });

  it('never takes back that an answer was cut', () => {
    expect(verdict(protocol, hello(['cut', 'stop'])).code).toBe('OUTPUT_TRUNCATED');
    expect(verdict(protocol, hello(['stop'])).code).toBe('Hello');
  });

  it.each(['', ' ', '[DONE]', '[done]'])('is not disturbed by an event with the data %j', (data) => {
    const events = hello(['stop']);
    const blank = data.trim() === '' ? [{ data }] : [];
    expect(verdict(protocol, [...blank, ...events, { data }]).code).toBe('Hello');
  });

  it('refuses what nests too deeply, on every version of Node alike', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(verdict(protocol, [{ data: `{"x":${deep}}` }]).code).toBe('INVALID_RESPONSE');
  });

  it('takes time that grows with the number of calls, and not with its square', { timeout: 30_000 }, () => {
    const ids = Array.from({ length: 60_000 }, (_, index) => `call_${60_000 + index}`);
    expect(verdict(protocol, calls(ids)).calls).toBeGreaterThanOrEqual(ids.length);
  });
});
