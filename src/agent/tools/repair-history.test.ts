import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHistoryProblems } from '../../model/check/check-history.ts';
import { lookAtMessages } from '../../model/check/check-messages.ts';
import type { AssistantPart, Message, ToolCallPart, ToolResultPart } from '../../model/message.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import { repairHistory } from './repair-history.ts';
import { unknownOutcome } from './repair-texts.ts';

const user = (content: string): Message => ({ role: 'user', content });
const system = (content: string): Message => ({ role: 'system', content });
const says = (...content: readonly AssistantPart[]): Message => ({ role: 'assistant', content });
const gives = (...content: readonly ToolResultPart[]): Message => ({ role: 'tool', content });
const call = (callId: string, details: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool-call',
  callId,
  name: 'search',
  argumentsText: '{"q":1}',
  ...details,
});
const result = (callId: string, details: Partial<ToolResultPart> = {}): ToolResultPart => ({
  type: 'tool-result',
  callId,
  name: 'search',
  content: `found ${callId}`,
  ...details,
});
const unknown = (callId: string) => result(callId, { content: unknownOutcome, isError: true });

interface Case {
  readonly name: string;
  readonly broken: readonly Message[];
  readonly repaired: readonly unknown[];
  readonly repairs: readonly string[];
}

const text = (words: string) => ({ type: 'text', text: expect.stringContaining(words) as string });

const cases: readonly Case[] = [
  {
    name: 'a call without a result',
    broken: [user('go'), says(call('a'), call('b')), gives(result('a')), user('and?')],
    repaired: [user('go'), says(call('a'), call('b')), gives(result('a')), gives(unknown('b')), user('and?')],
    repairs: [
      'messages[1]: the call "b" of tool "search" had no result, so one was added that says that its outcome is not known.',
    ],
  },
  {
    name: 'a call at the end',
    broken: [user('go'), says(call('a'))],
    repaired: [user('go'), says(call('a')), gives(unknown('a'))],
    repairs: [
      'messages[1]: the call "a" of tool "search" had no result, so one was added that says that its outcome is not known.',
    ],
  },
  {
    name: 'a result without a call',
    broken: [gives(result('a')), user('go')],
    repaired: [{ role: 'user', content: [text('\nfound a')] }, user('go')],
    repairs: ['messages[0]: the result "a" of tool "search" has no call before it and was written as text.'],
  },
  {
    name: 'the same result twice',
    broken: [user('go'), says(call('a')), gives(result('a')), gives(result('a'))],
    repaired: [user('go'), says(call('a')), gives(result('a'))],
    repairs: ['messages[3]: the result "a" of tool "search" was there twice and was dropped.'],
  },
  {
    name: 'a second result that says something else',
    broken: [user('go'), says(call('a')), gives(result('a'), result('a', { content: 'late' }))],
    repaired: [user('go'), says(call('a')), gives(result('a')), { role: 'user', content: [text('\nlate')] }],
    repairs: [
      'messages[2]: the result "a" of tool "search" is a second one for its call and was written as text.',
    ],
  },
  {
    name: 'two calls with one id',
    broken: [
      user('go'),
      says(call('a'), call('a', { name: 'open' })),
      gives(result('a', { name: 'open' }), result('a')),
    ],
    repaired: [
      user('go'),
      says(call('a'), call('a-2', { name: 'open' })),
      gives(result('a-2', { name: 'open', content: 'found a' }), result('a')),
    ],
    repairs: [
      'messages[1]: the call "a" of tool "open" had the "callId" of another call of the same answer and is now "a-2".',
    ],
  },
  {
    name: 'a result with the name of another tool',
    broken: [user('go'), says(call('a')), gives(result('a', { name: 'find' }))],
    repaired: [user('go'), says(call('a')), gives(result('a'))],
    repairs: [
      'messages[2]: the result of the call "a" of tool "search" said that it was of tool "find" and was given the name of its call.',
    ],
  },
  {
    name: 'a result that comes too late',
    broken: [user('go'), says(call('a')), user('wait'), gives(result('a'))],
    repaired: [user('go'), says(call('a')), gives(result('a')), user('wait')],
    repairs: [
      'messages[3]: the result of the call "a" of tool "search" did not follow its call and was moved behind it.',
    ],
  },
  {
    name: 'a result behind words of the system',
    broken: [user('go'), says(call('a')), system('be brief'), gives(result('a'))],
    repaired: [user('go'), says(call('a')), gives(result('a')), system('be brief')],
    repairs: [
      'messages[3]: the result of the call "a" of tool "search" did not follow its call and was moved behind it.',
    ],
  },
  {
    name: 'an id that a later turn uses again',
    broken: [user('go'), says(call('a')), says(call('a')), gives(result('a'))],
    repaired: [user('go'), says(call('a')), gives(unknown('a')), says(call('a')), gives(result('a'))],
    repairs: [
      'messages[1]: the call "a" of tool "search" had no result, so one was added that says that its outcome is not known.',
    ],
  },
  {
    name: 'messages that say nothing',
    broken: [system(' '), user(''), user('go'), says(), gives(), { role: 'assistant', content: '\n' }],
    repaired: [user('go')],
    repairs: [
      'messages[0]: the system message was empty and was dropped.',
      'messages[1]: the user message was empty and was dropped.',
      'messages[3]: the assistant message was empty and was dropped.',
      'messages[4]: the tool message was empty and was dropped.',
      'messages[5]: the assistant message was empty and was dropped.',
    ],
  },
  {
    name: 'an answer at the beginning',
    broken: [system('be kind'), says({ type: 'text', text: 'Hello' }), user('go')],
    repaired: [
      system('be kind'),
      user('(What was said before is not part of this conversation.)'),
      says({ type: 'text', text: 'Hello' }),
      user('go'),
    ],
    repairs: ['messages[0]: the conversation did not begin with the user, so a note was put before it.'],
  },
  {
    name: 'arguments that are no JSON',
    broken: [
      user('go'),
      says(call('a', { argumentsText: '{"q":' }), call('b')),
      gives(result('a', { content: 'Not JSON', isError: true }), result('b')),
    ],
    repaired: [
      user('go'),
      { role: 'assistant', content: [text('{"q":'), call('b')] },
      gives(result('b')),
      { role: 'user', content: [text('\nNot JSON')] },
    ],
    repairs: [
      'messages[1]: the call "a" of tool "search" had arguments that are not a JSON object, so the call and its result were written as text.',
    ],
  },
  {
    name: 'arguments that are no JSON, without a result',
    broken: [user('go'), says(call('a', { argumentsText: '[1]' }))],
    repaired: [
      user('go'),
      { role: 'assistant', content: [text('[1]')] },
      { role: 'user', content: [text(unknownOutcome)] },
    ],
    repairs: [
      'messages[1]: the call "a" of tool "search" had arguments that are not a JSON object, so the call and its result were written as text.',
    ],
  },
];

describe('repairHistory()', () => {
  it.each(cases)('repairs $name', ({ broken, repaired, repairs }) => {
    expect(repairHistory(broken)).toEqual({ messages: repaired, repairs });
  });

  it('bounds what it says, and says how much it left out', () => {
    const { repairs } = repairHistory([user('go'), ...Array.from({ length: 500 }, () => user(''))]);
    expect(repairs).toHaveLength(101);
    expect(repairs.at(-1)).toBe('And 400 more repairs.');
  });

  it.each([
    { name: 'no messages', messages: [] },
    {
      name: 'a sound conversation with results in two messages',
      messages: [
        system('be brief'),
        user('go'),
        user('now'),
        says(call('a'), call('b', { argumentsText: '' })),
        gives(result('b')),
        gives(result('a')),
        says(call('a')),
        gives(result('a')),
        says({ type: 'reasoning', text: '' }),
      ] as readonly Message[],
    },
    { name: 'what is no message', messages: [{ role: 'developer', content: '' }, null] as never },
    {
      name: 'what cannot be read',
      messages: [
        new Proxy(user('go'), {
          get: () => {
            throw new Error('no');
          },
        }),
      ],
    },
  ])('leaves $name alone, as the same object', ({ messages }) => {
    const repaired = repairHistory(messages);
    expect(repaired.messages).toBe(messages);
    expect(repaired.repairs).toEqual([]);
  });
});

describe('repairHistory() on anything', () => {
  const id = fc.constantFrom('a', 'b', 'a-2', '');
  const name = fc.constantFrom('search', 'open');
  const words = fc.oneof(fc.constantFrom('', ' ', 'hi'), fc.string({ unit: 'binary' }));
  const textPart = fc.record({ type: fc.constant('text' as const), text: words });
  const image = fc.constant({
    type: 'image' as const,
    mediaType: 'image/png',
    source: { type: 'base64' as const, data: 'AA==' },
  });
  const callPart = fc.record({
    type: fc.constant('tool-call' as const),
    callId: id,
    name,
    argumentsText: fc.constantFrom('{}', '{"q":1}', '', '{"q":', 'null'),
  });
  const resultPart = fc.record(
    {
      type: fc.constant('tool-result' as const),
      callId: id,
      name,
      content: fc.oneof(words, fc.array(fc.oneof(textPart, image), { maxLength: 3 })),
      isError: fc.boolean(),
    },
    { requiredKeys: ['type', 'callId', 'name', 'content'] },
  );
  const reasoning = fc.record({ type: fc.constant('reasoning' as const), text: words });
  const list = <T>(part: fc.Arbitrary<T>) => fc.array(part, { maxLength: 4 });
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({ role: fc.constant('system' as const), content: fc.oneof(words, list(textPart)) }),
    fc.record({
      role: fc.constant('user' as const),
      content: fc.oneof(words, list(fc.oneof(textPart, image))),
    }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: fc.oneof(words, list(fc.oneof(textPart, reasoning, callPart, callPart))),
    }),
    fc.record({ role: fc.constant('tool' as const), content: list(resultPart) }),
  );
  const histories = fc.array(message, { minLength: 1, maxLength: 14 });
  const parts = (messages: readonly Message[]) =>
    messages.flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]));

  it('makes every history one that is sent', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { messages } = repairHistory(history);
        expect(findHistoryProblems(messages)).toEqual([]);
        expect(lookAtMessages([user('x'), ...messages]).problems).toEqual([]);
        const invalid = parts(messages).filter(
          (part) => part.type === 'tool-call' && parseToolArguments(part.argumentsText).type === 'invalid',
        );
        expect(invalid).toEqual([]);
        expect(messages.find(({ role }) => role !== 'system')?.role ?? 'user').toBe('user');
      }),
      { numRuns: 1000 },
    );
  });

  it('finds nothing more to repair in what it repaired', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { messages } = repairHistory(history);
        expect(repairHistory(messages)).toEqual({ messages, repairs: [] });
      }),
      { numRuns: 1000 },
    );
  });

  it('loses no result', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const wordy = history.map((one, at): Message =>
          one.role === 'tool'
            ? gives(...one.content.map((part, place) => ({ ...part, content: `unique ${at}.${place}.` })))
            : one,
        );
        const after = JSON.stringify(repairHistory(wordy).messages);
        const lost = parts(wordy).filter(
          (part) => part.type === 'tool-result' && !after.includes(part.content as string),
        );
        expect(lost).toEqual([]);
      }),
    );
  });

  it('changes nothing where nothing is wrong, and otherwise says what', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { messages, repairs } = repairHistory(history);
        expect(messages === history).toBe(repairs.length === 0);
        expect(repairs.every((repair) => /^messages\[\d+\]: .+\.$/su.test(repair))).toBe(true);
      }),
    );
  });
});
