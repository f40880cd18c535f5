import { describe, expect, it } from 'vitest';
import { createInbox } from './memory-inbox.ts';

const signal = (id: string, name = 'go') => ({ name, id, payload: `payload ${id}` });

describe('createInbox', () => {
  it.each([
    { name: 'was taken by a wait of the journal', id: 'waited' },
    { name: 'was taken by a call of the journal', id: 'took' },
    { name: 'still waits', id: 'waiting' },
    { name: 'came long ago', id: 'old' },
  ])('does not take again what $name', ({ id }) => {
    const inbox = createInbox(10, {
      signals: [signal('waited'), signal('took'), signal('waiting')],
      signalIds: ['old'],
      journal: [
        {
          type: 'wait',
          position: 0,
          signal: 'go',
          signalled: { type: 'signalled', id: 'waited', payload: null },
        },
        {
          type: 'call',
          position: 1,
          effect: 'take',
          input: null,
          outcome: { type: 'done', value: null },
          took: ['took'],
        },
      ],
    });
    expect(inbox.add(signal(id))).toBe('duplicate');
    expect(inbox.all()).toEqual([signal('waiting')]);
  });

  it('says when it is full, and has room again when something was taken', () => {
    const inbox = createInbox(1);
    expect([inbox.add(signal('a')), inbox.add(signal('b')), inbox.add(signal('a'))]).toEqual([
      'added',
      'full',
      'duplicate',
    ]);
    expect(inbox.take('other')).toBeUndefined();
    expect(inbox.take('go')).toEqual(signal('a'));
    expect(inbox.add(signal('b'))).toBe('added');
  });

  it('shows what is pending by name, the oldest first, and removes by id', () => {
    const inbox = createInbox(10);
    for (const [id, name] of [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'a'],
    ] as const)
      inbox.add(signal(id, name));
    inbox.remove(['1', 'unknown']);
    expect(inbox.pending('a')).toEqual([{ id: '3', payload: 'payload 3' }]);
    expect(inbox.pending('nobody')).toEqual([]);
  });
});
