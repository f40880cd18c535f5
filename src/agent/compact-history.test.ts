import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHistoryProblems } from '../model/check-history.ts';
import { lookAtMessages } from '../model/check-messages.ts';
import type { AssistantPart, Message, ToolResultPart } from '../model/message.ts';
import { compactHistory } from './compact-history.ts';

const long = 'x'.repeat(20_000);
const user = (content: string): Message => ({ role: 'user', content });
const turn = (callId: string, content: ToolResultPart['content']): readonly Message[] => [
  { role: 'assistant', content: [{ type: 'tool-call', callId, name: 'read', argumentsText: '{}' }] },
  { role: 'tool', content: [{ type: 'tool-result', callId, name: 'read', content, isError: true }] },
];
const image = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: 'A'.repeat(8000) },
} as const;
const none = { keepLastMessages: 0 };

describe('compactHistory() gives nothing', () => {
  it.each([
    { name: 'for no messages', messages: [] },
    {
      name: 'where all is short',
      messages: [user('go'), ...turn('a', 'x'), ...turn('b', 'x'), ...turn('c', 'x')],
    },
    { name: 'for the last two turns', messages: [user('go'), ...turn('a', long), ...turn('b', long)] },
    { name: 'for the first user message', messages: [user(long), ...turn('a', 'x'), ...turn('b', 'x')] },
    {
      name: 'for the words of the system',
      messages: [
        user('go'),
        { role: 'system', content: long } as const,
        ...turn('a', 'x'),
        ...turn('b', 'x'),
      ],
    },
    {
      name: 'where less than a tenth would be saved',
      messages: [user(long.repeat(2)), ...turn('a', 'x'.repeat(3000)), ...turn('b', 'x'), ...turn('c', 'x')],
    },
    {
      name: 'for what a provider signed',
      messages: [
        user('go'),
        {
          role: 'assistant',
          content: [{ type: 'text', text: long, signature: { protocol: 'gemini', value: 's' } }],
        } as const,
        ...turn('a', 'x'),
        ...turn('b', 'x'),
      ],
    },
  ])('$name', ({ messages }) => {
    expect(compactHistory(messages, none)).toBeUndefined();
  });

  it('for messages that are to be kept', () => {
    const messages = [user('go'), ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')];
    expect(compactHistory(messages, { keepLastMessages: 4 })).toBeDefined();
    expect(compactHistory(messages, { keepLastMessages: 5 })).toBeUndefined();
    expect(compactHistory(messages, { keepLastMessages: 99 })).toBeUndefined();
  });
});

describe('compactHistory()', () => {
  it('clears an old result and says how long it was', () => {
    const rest = [...turn('b', long), ...turn('c', long)];
    const compacted = compactHistory([user('go'), ...turn('a', long), ...rest], none);
    const note = '(This result was removed to save room: 20000 characters.)';
    expect(compacted).toEqual({
      messages: [user('go'), ...turn('a', note), ...rest],
      removedCharacters: long.length - note.length,
    });
  });

  it('clears the images of an old result', () => {
    const messages = [
      user('go'),
      ...turn('a', [{ type: 'text', text: 'seen' }, image]),
      ...turn('b', 'x'),
      ...turn('c', 'x'),
    ];
    expect(compactHistory(messages, none)?.messages[2]).toMatchObject({
      content: [{ content: '(This result was removed to save room: 4 characters and 1 image.)' }],
    });
  });

  it('keeps head and tail of a long old text', () => {
    const words = `head${long}tail`;
    const messages = [user('go'), user(words), ...turn('a', 'x'), ...turn('b', 'x')];
    const content = compactHistory(messages, none)?.messages[1]?.content;
    expect(content).toMatch(/^headx+\n\(17008 characters were removed here to save room\.\)\nx+tail$/u);
  });

  it('cuts no character in two', () => {
    for (const before of ['', 'x']) {
      const words = before + '😀'.repeat(4000);
      const content = compactHistory([user('go'), user(words), ...turn('a', 'x'), ...turn('b', 'x')], none);
      expect(JSON.stringify(content)).not.toMatch(/\\ud[89a-f]/u);
    }
  });
});

describe('compactHistory() on anything', () => {
  const text = fc.nat(9000).map((length) => 'word '.repeat(length / 5));
  const content = fc.oneof(
    text,
    fc.array(
      fc.oneof(
        text.map((words) => ({ type: 'text' as const, text: words })),
        fc.constant(image),
      ),
      {
        maxLength: 2,
      },
    ),
  );
  const answered = fc.array(content, { maxLength: 3 }).chain((results) =>
    text.map((words): readonly Message[] => {
      const calls = results.map((_, index): AssistantPart => ({
        type: 'tool-call',
        callId: `c${index}`,
        name: 'read',
        argumentsText: '{}',
      }));
      const said: Message = { role: 'assistant', content: [{ type: 'text', text: words }, ...calls] };
      const ends = results.map((result, index): ToolResultPart => ({
        type: 'tool-result',
        callId: `c${index}`,
        name: 'read',
        content: result,
      }));
      return ends.length === 0 ? [said] : [said, { role: 'tool', content: ends }];
    }),
  );
  const other = fc.oneof(
    text.map((words) => [user(words)]),
    text.map((words): readonly Message[] => [{ role: 'system', content: words }]),
  );
  const histories = fc.array(fc.oneof(answered, other), { maxLength: 12 }).map((parts) => parts.flat());
  const shape = (messages: readonly Message[]) =>
    messages.map(({ role, content: parts }) => [
      role,
      typeof parts === 'string' ? [] : parts.map((part) => [part.type, 'callId' in part ? part.callId : '']),
    ]);

  it('keeps roles, parts and pairs, saves what it says, and does it once', () => {
    fc.assert(
      fc.property(histories, fc.nat(6), (messages, keepLastMessages) => {
        const compacted = compactHistory(messages, { keepLastMessages }) ?? {
          messages,
          removedCharacters: 0,
        };
        expect(findHistoryProblems(compacted.messages)).toEqual([]);
        expect(lookAtMessages([user('x'), ...compacted.messages]).problems).toEqual([]);
        expect(shape(compacted.messages)).toEqual(shape(messages));
        expect(compactHistory(compacted.messages, { keepLastMessages })).toBeUndefined();
        const kept = messages.length - keepLastMessages;
        expect(compacted.messages.slice(Math.max(0, kept))).toEqual(messages.slice(Math.max(0, kept)));
        expect(compacted.removedCharacters).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });
});
