import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamPart } from '../../model/stream-part.ts';
import type { WireProtocol } from '../protocol.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

const protocols: readonly WireProtocol[] = [openaiChat, openaiResponses];

const anything = fc.jsonValue({ maxDepth: 3 });
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.oneof({ weight: 4, arbitrary: value }, anything);

const functionDelta = fc.record(
  {
    name: sometimes(fc.constantFrom('f', 'g', '')),
    arguments: sometimes(fc.constantFrom('{', '}', '{}', '')),
  },
  { requiredKeys: [] },
);
const callDelta = fc.record(
  {
    index: sometimes(fc.nat(2)),
    id: sometimes(fc.constantFrom('a', 'b', '')),
    function: sometimes(functionDelta),
  },
  { requiredKeys: [] },
);
const chatDelta = fc.record(
  {
    content: sometimes(fc.string()),
    refusal: sometimes(fc.string()),
    reasoning: sometimes(fc.string()),
    tool_calls: sometimes(fc.array(sometimes(callDelta), { maxLength: 3 })),
    function_call: sometimes(functionDelta),
    extra: anything,
  },
  { requiredKeys: [] },
);
const choice = fc.record(
  {
    index: sometimes(fc.nat(1)),
    delta: sometimes(chatDelta),
    message: sometimes(chatDelta),
    finish_reason: sometimes(fc.constantFrom(null, 'stop', 'length', 'tool_calls')),
    usage: anything,
  },
  { requiredKeys: [] },
);
const chunk = fc.record(
  {
    id: sometimes(fc.string()),
    choices: sometimes(fc.array(sometimes(choice), { maxLength: 2 })),
    usage: sometimes(fc.record({ prompt_tokens: anything, prompt_tokens_details: anything })),
    x_groq: anything,
    extra: anything,
  },
  { requiredKeys: [] },
);

const item = fc.record(
  {
    type: fc.constantFrom('message', 'reasoning', 'function_call', 'other'),
    id: sometimes(fc.constantFrom('a', 'b')),
    call_id: sometimes(fc.constantFrom('a', 'b')),
    name: sometimes(fc.constantFrom('f', '')),
    arguments: sometimes(fc.constantFrom('{}', '')),
    status: sometimes(fc.constantFrom('completed', 'incomplete')),
    content: sometimes(
      fc.array(sometimes(fc.record({ type: fc.constant('output_text'), text: fc.string() }))),
    ),
    summary: sometimes(fc.array(sometimes(fc.record({ text: fc.string() })))),
    encrypted_content: anything,
  },
  { requiredKeys: ['type'] },
);
const responseKinds = [
  'created',
  'output_item.added',
  'output_item.done',
  'output_text.delta',
  'output_text.done',
  'refusal.delta',
  'reasoning_summary_text.delta',
  'reasoning_summary_text.done',
  'reasoning_text.delta',
  'function_call_arguments.delta',
  'function_call_arguments.done',
  'completed',
  'incomplete',
  'failed',
  'unknown',
].map((kind) => `response.${kind}`);
const responseEvent = fc.record(
  {
    type: fc.constantFrom(...responseKinds),
    output_index: sometimes(fc.nat(2)),
    content_index: sometimes(fc.nat(1)),
    delta: sometimes(fc.string()),
    text: sometimes(fc.string()),
    arguments: sometimes(fc.string()),
    item: sometimes(item),
    response: sometimes(
      fc.record(
        {
          status: sometimes(fc.constant('completed')),
          output: sometimes(fc.array(sometimes(item))),
          usage: anything,
        },
        { requiredKeys: [] },
      ),
    ),
    extra: anything,
  },
  { requiredKeys: ['type'] },
);

const data = fc.oneof(
  fc.string(),
  fc.constant('[DONE]'),
  anything.map((value) => JSON.stringify(value)),
  chunk.map((value) => JSON.stringify(value)),
  responseEvent.map((value) => JSON.stringify(value)),
);
const events = fc.array(fc.record({ name: fc.constantFrom('message', 'error', ''), data }), {
  maxLength: 20,
});

/** What breaks a promise of `StreamPart`, which must hold whatever a server sends. */
function findBrokenPromises(parts: readonly StreamPart[]): readonly string[] {
  const broken: string[] = [];
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, part] of parts.entries()) {
    if (part.type === 'finished' && index < parts.length - 1) broken.push('finished is not the last');
    if (part.type === 'tool-call-started') {
      if (seen.has(part.callId)) broken.push(`${part.callId} started twice`);
      seen.add(part.callId);
      open.add(part.callId);
    }
    if (part.type === 'tool-call-delta' && !open.has(part.callId)) broken.push(`${part.callId} is not open`);
    if (part.type === 'tool-call-finished' && !open.delete(part.callId))
      broken.push(`${part.callId} is closed`);
  }
  return broken;
}

describe.each(protocols)('$name', (protocol) => {
  it('never throws and keeps the order of parts, whatever events come', () => {
    fc.assert(
      fc.property(events, (list) => {
        const decoder = protocol.stream();
        const parts: StreamPart[] = [];
        for (const event of list) {
          const result = decoder.event(event);
          parts.push(...result.parts);
          if (result.type === 'problem') break;
        }
        parts.push(...decoder.end().parts);
        expect(findBrokenPromises(parts)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws and keeps the order of parts, whatever the whole body is', () => {
    fc.assert(
      fc.property(fc.oneof(anything, chunk, responseEvent, fc.anything()), (body) => {
        expect(findBrokenPromises(protocol.whole(body).parts)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('survives data that is nested deeper than it could be written', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    for (const body of [
      `{"error":${deep}}`,
      `{"choices":${deep}}`,
      `{"type":"response.output_text.delta","x":${deep}}`,
    ]) {
      expect(protocol.stream().event({ name: 'message', data: body })).toHaveProperty('type');
      expect(protocol.whole(JSON.parse(body))).toHaveProperty('type', 'problem');
    }
  });
});
