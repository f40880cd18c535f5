import { describe, expect, it } from 'vitest';
import type { Message } from '../model/message.ts';
import { cutHead, exchangeText, splitExchanges } from './select-history-exchanges.ts';

const call: Message = {
  role: 'assistant',
  content: [{ type: 'tool-call', callId: 'c', name: 'search', argumentsText: '{"q":"tea"}' }],
};
const toolResult: Message = {
  role: 'tool',
  content: [{ type: 'tool-result', callId: 'c', name: 'search', content: 'green tea' }],
};
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const system: Message = { role: 'system', content: 'Be brief.' };

describe('splitExchanges()', () => {
  it.each([
    { what: 'nothing', messages: [], sizes: [] },
    { what: 'no user at all', messages: [assistant('hi'), call, toolResult], sizes: [3] },
    { what: 'a greeting before the first user', messages: [system, assistant('hi'), user('a')], sizes: [3] },
    {
      what: 'plain exchanges',
      messages: [user('a'), assistant('b'), user('c'), assistant('d')],
      sizes: [2, 2],
    },
    {
      what: 'two questions in a row',
      messages: [user('a'), user('b'), assistant('c'), user('d')],
      sizes: [3, 1],
    },
    {
      what: 'calls and results',
      messages: [user('a'), call, toolResult, assistant('b'), user('c')],
      sizes: [4, 1],
    },
    {
      what: 'somebody who spoke between a call and its result',
      messages: [user('a'), call, user('hurry'), user('please'), toolResult, assistant('b'), user('c')],
      sizes: [6, 1],
    },
  ])('cuts $what', ({ messages, sizes }) => {
    const exchanges = splitExchanges(messages, () => 1);
    expect(exchanges.map((exchange) => exchange.messages.length)).toEqual(sizes);
    expect(exchanges.map(({ tokens }) => tokens)).toEqual(sizes);
    expect(exchanges.flatMap((exchange) => exchange.messages)).toEqual(messages);
  });
});

describe('exchangeText()', () => {
  it('holds what was said, called and found, but not the instructions', () => {
    const messages = [system, user('tea?'), call, toolResult, assistant('Green.')];
    expect(exchangeText({ messages }, 1000)).toBe('tea?\nsearch {"q":"tea"}\ngreen tea\nGreen.');
  });

  it('lets no single result fill it, and keeps the bound', () => {
    const content = [
      { type: 'tool-result', callId: 'c', name: 'search', content: 'x'.repeat(1_000_000) },
    ] as const;
    const messages = [user('tea?'), call, { role: 'tool', content }, assistant('Green.')] as const;
    expect(exchangeText({ messages }, 2000)).toMatch(/^tea\?\n[^]*x\nGreen\.$/);
    expect(exchangeText({ messages }, 50)).toHaveLength(50);
  });

  it('has no text where there are only images', () => {
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'url', url: 'https://example.com' },
    } as const;
    expect(exchangeText({ messages: [{ role: 'user', content: [image] }] }, 100)).toBe('');
  });
});

describe('cutHead()', () => {
  it('never ends in half a pair', () => {
    expect(cutHead('ab😀', 3)).toBe('ab');
    expect(cutHead('ab😀', 4)).toBe('ab😀');
  });
});
