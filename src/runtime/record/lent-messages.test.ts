import { describe, expect, it } from 'vitest';
import { addMessages, startHistory } from '../../agent/turn/history.ts';
import type { History } from '../../agent/turn/history.ts';
import type { Message } from '../../model/message.ts';
import { createLentMessages, lendMessages } from './lent-messages.ts';

const say = (content: string): Message => ({ role: 'user', content });
const system: Message = { role: 'system', content: 'Be brief.' };
const begun = startHistory([say('one')]);

describe('lendMessages()', () => {
  const cases: readonly { readonly what: string; readonly next: History; readonly instructions: string }[] = [
    {
      what: 'the conversation was shortened',
      next: startHistory([say('summary'), say('three')]),
      instructions: 'Be brief.',
    },
    {
      what: 'a recent message was changed',
      next: { ...begun, recent: [say('changed'), say('three')] },
      instructions: 'Be brief.',
    },
    { what: 'a message was taken back', next: begun, instructions: 'Be brief.' },
    { what: 'the instructions are others', next: addMessages(begun, say('two')), instructions: 'Be long.' },
  ];
  it.each(cases)('writes a new list where $what', ({ next, instructions }) => {
    const lent = createLentMessages();
    const before = lendMessages(lent, addMessages(begun, say('two')), 'Be brief.');
    const after = lendMessages(lent, next, instructions);
    expect(after).not.toBe(before);
    expect(after).toEqual([{ role: 'system', content: instructions }, ...next.settled, ...next.recent]);
  });

  it('adds to the list where the conversation has only grown, and holds all of it however long that goes on', () => {
    const lent = createLentMessages();
    let history = begun;
    const all: Message[] = [system, say('one')];
    const first = lendMessages(lent, history, 'Be brief.');
    history = addMessages(history, say('two'), say('three'));
    all.push(say('two'), say('three'));
    expect(lendMessages(lent, history, 'Be brief.')).toBe(first);
    for (let turn = 0; turn < 200; turn += 1) {
      history = addMessages(history, say(`${turn}`));
      all.push(say(`${turn}`));
      expect(lendMessages(lent, history, 'Be brief.')).toEqual(all);
    }
  });

  it('lends no system message where there are no instructions', () => {
    expect(lendMessages(createLentMessages(), begun, '')).toEqual([say('one')]);
  });
});
