import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../model/message.ts';
import { addMessages, lastMessage, messagesOf, startHistory } from './history.ts';

const say = (text: string): Message => ({ role: 'user', content: text });

describe('a history', () => {
  it('is the list of all that was added, in order, however it was added', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { maxLength: 5 }), { maxLength: 80 }), (batches) => {
        let history = startHistory([say('first')]);
        for (const batch of batches) history = addMessages(history, ...batch.map(say));
        const all = ['first', ...batches.flat()].map(say);
        expect(messagesOf(history)).toEqual(all);
        expect(lastMessage(history)).toEqual(all.at(-1));
      }),
    );
  });

  it('does not change what was there before: two ways may lead on from one history', () => {
    const start = addMessages(startHistory([say('a')]), say('b'));
    const left = addMessages(start, say('left'));
    const right = addMessages(start, say('right'));
    expect(messagesOf(start)).toHaveLength(2);
    expect(lastMessage(left)).toEqual(say('left'));
    expect(lastMessage(right)).toEqual(say('right'));
  });
});
