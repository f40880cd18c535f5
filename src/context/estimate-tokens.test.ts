import { describe, expect, it } from 'vitest';
import type { Message, ToolResultPart } from '../model/message.ts';
import { estimateConversation, estimateTokens } from './estimate-tokens.ts';
import { estimateTextTokens } from './text-tokens.ts';

const words = 'The refund of order 48213 was sent to the original card. '.repeat(20);
const wordTokens = estimateTextTokens(words);
const image = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: 'A'.repeat(900_000) },
} as const;
const file = {
  type: 'file',
  mediaType: 'application/pdf',
  source: { type: 'base64', data: 'A'.repeat(900_000) },
} as const;
const result = (content: ToolResultPart['content']): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId: 'c1', name: 'read', content }],
});

describe('estimateTokens()', () => {
  it.each<{ name: string; message: Message; least: number; most: number }>([
    { name: 'an empty message has its overhead', message: { role: 'user', content: '' }, least: 1, most: 10 },
    { name: 'no parts at all', message: { role: 'user', content: [] }, least: 1, most: 10 },
    { name: 'a text', message: { role: 'user', content: words }, least: wordTokens, most: wordTokens + 10 },
    {
      name: 'an image, whatever its bytes',
      message: { role: 'user', content: [image] },
      least: 1000,
      most: 3000,
    },
    {
      name: 'a file, whatever its bytes',
      message: { role: 'user', content: [file] },
      least: 3000,
      most: 8000,
    },
    { name: 'a result', message: result(words), least: wordTokens, most: wordTokens + 30 },
    {
      name: 'an image in a result',
      message: result([{ type: 'text', text: words }, image]),
      least: wordTokens + 1000,
      most: wordTokens + 3000,
    },
    {
      name: 'the arguments of a call',
      message: {
        role: 'assistant',
        content: [
          { type: 'tool-call', callId: 'c1', name: 'write', argumentsText: JSON.stringify({ words }) },
        ],
      },
      least: wordTokens,
      most: wordTokens + 40,
    },
    {
      name: 'a thought',
      message: { role: 'assistant', content: [{ type: 'reasoning', text: words }] },
      least: wordTokens,
      most: wordTokens + 10,
    },
    {
      name: 'an encrypted thought',
      message: {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: '',
            isRedacted: true,
            signature: { protocol: 'anthropic', value: 'x'.repeat(4000) },
          },
        ],
      },
      least: 900,
      most: 1100,
    },
  ])('counts $name', ({ message, least, most }) => {
    expect(estimateTokens(message)).toBeGreaterThanOrEqual(least);
    expect(estimateTokens(message)).toBeLessThanOrEqual(most);
    expect(Number.isSafeInteger(estimateTokens(message))).toBe(true);
  });

  it('looks at a message only once', () => {
    let reads = 0;
    const message: Message = {
      role: 'user',
      get content() {
        reads += 1;
        return words;
      },
    };
    const first = estimateTokens(message);
    expect([estimateTokens(message), estimateTokens(message), reads]).toEqual([first, first, 1]);
  });
});

describe('estimateConversation()', () => {
  it('sums up what is fixed and what the messages take', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: words },
      { role: 'assistant', content: 'Done.' },
    ];
    const parameters = { type: 'object', properties: { path: { type: 'string', description: words } } };
    const bare = estimateConversation({ messages });
    expect(bare.fixedTokens).toBe(0);
    expect(bare.totalTokens).toBe(messages.reduce((sum, message) => sum + estimateTokens(message), 0));
    const whole = estimateConversation({
      instructions: words,
      tools: [{ name: 'read', description: words, parameters }],
      output: { name: 'answer', schema: { type: 'string', description: words } },
      messages,
    });
    expect(whole.messageTokens).toBe(bare.messageTokens);
    expect(whole.fixedTokens).toBeGreaterThan(4 * wordTokens);
    expect(whole.fixedTokens).toBeLessThan(4 * wordTokens + 100);
    expect(whole.totalTokens).toBe(whole.fixedTokens + whole.messageTokens);
  });

  it('gives 0 for nothing', () => {
    expect(estimateConversation({ messages: [] })).toEqual({
      fixedTokens: 0,
      messageTokens: 0,
      totalTokens: 0,
    });
  });
});
