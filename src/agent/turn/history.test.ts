import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../model/message.ts';
import { addMessages, lastMessage, messagesOf, startHistory, withoutLast } from './history.ts';

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

  it('can be had without its latest messages, however it was added to', () => {
    const counts = fc.record({ added: fc.nat(200), left: fc.nat(210) });
    fc.assert(
      fc.property(counts, ({ added, left }) => {
        const all = Array.from({ length: added + 1 }, (_, index) => say(String(index)));
        const history = all
          .slice(1)
          .reduce((so, next) => addMessages(so, next), startHistory(all.slice(0, 1)));
        expect(messagesOf(withoutLast(history, left))).toEqual(all.slice(0, Math.max(0, all.length - left)));
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
