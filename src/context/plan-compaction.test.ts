import { describe, expect, it } from 'vitest';
import { applyCompaction } from '../model/apply-compaction.ts';
import { missingNote, summaryNote } from '../model/compaction-notes.ts';
import type { Message, ToolResultPart } from '../model/message.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { planCompaction, planQuestion } from './plan-compaction.ts';
import type { CompactionInput } from './plan-compaction.ts';
import type { SummaryRequest } from './ask-for-summary.ts';

const long = 'The quick brown fox jumps over the lazy dog. '.repeat(450);
const user = (content: string): Message => ({ role: 'user', content });
const pinned = (content: string): Message => ({ role: 'user', content, pinned: true });
const turn = (callId: string, content: ToolResultPart['content']): readonly Message[] => [
  { role: 'assistant', content: [{ type: 'tool-call', callId, name: 'read', argumentsText: '{}' }] },
  { role: 'tool', content: [{ type: 'tool-result', callId, name: 'read', content }] },
];
const said = (content: string): Message => ({ role: 'assistant', content });
const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);
const inputOf = (messages: readonly Message[], changes: Partial<CompactionInput> = {}): CompactionInput => ({
  messages,
  fixedTokens: 100,
  reason: { type: 'overflow' },
  rules: { strategies: ['clear-results', 'window'], keepLastTurns: 2 },
  isRead: (name) => name === 'read',
  ...changes,
});
const budget = (maxTokens: number) => ({ type: 'budget', maxTokens, reserveTokens: 0 }) as const;
const compact = (input: CompactionInput): readonly Message[] | undefined => {
  const plan = planCompaction(input);
  return plan === undefined ? undefined : applyCompaction(input.messages, plan);
};

function planSummary(input: CompactionInput): SummaryRequest | undefined {
  const question = planQuestion(input);
  return question?.type === 'summary' ? question.request : undefined;
}

describe('planCompaction() plans nothing', () => {
  it.each([
    { name: 'for no messages', input: inputOf([]) },
    { name: 'for one short message', input: inputOf([user('go')]) },
    {
      name: 'where all fits',
      input: inputOf([user('go'), ...turn('a', long), ...turn('b', long), ...turn('c', long)], {
        reason: budget(1_000_000),
      }),
    },
    {
      name: 'where not even an empty conversation would fit',
      input: inputOf([user('go'), ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')], {
        reason: budget(90),
      }),
    },
    { name: 'where everything is pinned', input: inputOf([pinned(long), pinned(long), pinned(long)]) },
  ])('$name', ({ input }) => {
    expect(planCompaction(input)).toBeUndefined();
  });
});

describe('clear-results', () => {
  const rules = { strategies: ['clear-results'], keepLastTurns: 2 } as const;
  const note = '(This result was removed to save room: 20250 characters.)';

  it('clears the oldest results first, no more than it must', () => {
    const messages = [
      user('go'),
      ...turn('a', long),
      ...turn('b', long),
      ...turn('c', long),
      ...turn('d', 'x'),
      ...turn('e', 'x'),
    ];
    const plan = planCompaction(inputOf(messages, { rules, reason: { type: 'overflow' } }));
    expect(plan).toMatchObject({
      strategy: 'clear-results',
      dropped: [],
      cleared: [
        { message: 2, callId: 'a' },
        { message: 4, callId: 'b' },
      ],
      shortened: [],
    });
    expect(plan).not.toHaveProperty('summary');
    expect(compact(inputOf(messages, { rules }))).toEqual([
      user('go'),
      ...turn('a', note),
      ...turn('b', note),
      ...messages.slice(5),
    ]);
  });

  it('keeps head and tail of long old texts where clearing is not enough', () => {
    const messages = [user('go'), said(long), ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')];
    const plan = planCompaction(inputOf(messages, { rules, reason: budget(2000) }));
    expect(plan).toMatchObject({
      strategy: 'clear-results',
      cleared: [{ message: 3, callId: 'a' }],
      shortened: [{ message: 1, part: 0, headCharacters: 2000, tailCharacters: 1000 }],
    });
  });

  it.each([
    { name: 'the last turns', messages: [user('go'), ...turn('a', long), ...turn('b', long)] },
    {
      name: 'the first and the last words of the user',
      messages: [user(long), user(long), ...turn('a', 'x'), ...turn('b', 'x')],
    },
    {
      name: 'pinned messages',
      messages: [user('go'), pinned(long), user('on'), ...turn('a', 'x'), ...turn('b', 'x')],
    },
  ])('does not touch $name: only truncation does', ({ messages }) => {
    expect(planCompaction(inputOf(messages, { rules }))?.strategy ?? 'truncate').toBe('truncate');
  });
});

describe('window', () => {
  const rules = { strategies: ['window'], keepLastTurns: 2 } as const;
  const system: Message = { role: 'system', content: 'Speak French.' };

  it('lets the oldest turns go and says how many messages are missing', () => {
    const tail = [user('last'), ...turn('e', 'x'), ...turn('f', 'x')];
    const messages = [
      user('go'),
      ...turn('a', long),
      system,
      user('more'),
      pinned('I am Ada.'),
      ...turn('b', long),
      ...tail,
    ];
    expect(compact(inputOf(messages, { rules, reason: budget(600) }))).toEqual([
      user('go'),
      user(missingNote(5)),
      system,
      pinned('I am Ada.'),
      ...tail,
    ]);
  });

  it('stops when enough has gone, with room for a while', () => {
    const turns = Array.from({ length: 20 }, (_, index) => turn(`c${index}`, long.slice(0, 2000))).flat();
    const size = sizeOf([user('go'), ...turns]) + 100;
    const plan = planCompaction(inputOf([user('go'), ...turns], { rules, reason: budget(size - 1) }));
    expect(plan?.dropped).toHaveLength(1);
    expect(plan?.tokensAfter).toBeLessThanOrEqual((size - 1) * 0.75);
    expect(plan?.tokensAfter).toBeGreaterThan((size - 1) * 0.65);
  });

  it('does not take a note of the runtime for the last words of the user', () => {
    const asked = user('And the other order?');
    const note = user('[Note from the runtime] Your last answer was empty.');
    const before = [user('go'), said(long), asked, said(long), note, ...turn('b', 'x'), ...turn('c', 'x')];
    expect(compact(inputOf(before, { rules, reason: budget(400) }))).toEqual([
      user('go'),
      user(missingNote(2)),
      asked,
      note,
      ...before.slice(5),
    ]);
  });

  it('counts on from the note of an earlier compaction, of which one is left', () => {
    const before = [
      user('go'),
      user(missingNote(7)),
      ...turn('a', long),
      ...turn('b', 'x'),
      ...turn('c', 'x'),
    ];
    expect(compact(inputOf(before, { rules }))).toEqual([
      user('go'),
      user(missingNote(9)),
      ...before.slice(4),
    ]);
  });

  it('keeps an earlier summary', () => {
    const summary = user(summaryNote('The user is Ada.'));
    const before = [user('go'), summary, ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')];
    expect(compact(inputOf(before, { rules }))).toEqual([
      user('go'),
      summary,
      user(missingNote(2)),
      ...before.slice(4),
    ]);
  });
});

describe('summary', () => {
  const rules = { strategies: ['clear-results', 'summary'], keepLastTurns: 2 } as const;
  const messages = [
    user('go'),
    said(long.slice(0, 3900)),
    user(long.slice(0, 3900)),
    ...turn('a', long),
    user('last'),
    ...turn('b', 'x'),
    ...turn('c', 'x'),
  ];
  const input = inputOf(messages, { rules, reason: budget(1200) });

  it('is asked for only where the strategies before it do not save enough', () => {
    expect(planSummary(inputOf(messages, { rules, reason: budget(1_000_000) }))).toBeUndefined();
    expect(planSummary(inputOf(messages, { rules, reason: budget(5000) }))).toBeUndefined();
    expect(planSummary(inputOf(messages, { reason: budget(1200) }))).toBeUndefined();
    expect(planSummary(input)?.messages[0]?.content).toContain('User: The quick brown fox');
  });

  it('stands in the place of what went', () => {
    const plan = planCompaction({ ...input, summary: { type: 'ok', summary: 'A fox jumped.' } });
    expect(plan).toMatchObject({
      strategy: 'summary',
      dropped: [{ from: 1, to: 5 }],
      cleared: [],
      shortened: [],
    });
    expect(compact({ ...input, summary: { type: 'ok', summary: 'A fox jumped.' } })).toEqual([
      user('go'),
      user(summaryNote('A fox jumped.')),
      ...messages.slice(5),
    ]);
  });

  it('takes an earlier summary in', () => {
    const again = [user('go'), user(summaryNote('A fox jumped.')), ...messages.slice(1)];
    expect(planSummary({ ...input, messages: again })?.messages[0]?.content).toContain('A fox jumped.');
    expect(compact({ ...input, messages: again, summary: { type: 'ok', summary: 'Two foxes.' } })).toEqual([
      user('go'),
      user(summaryNote('Two foxes.')),
      ...messages.slice(5),
    ]);
  });

  it.each([
    { name: 'failed', summary: { type: 'failed', why: 'The model answered without a text.' } as const },
    { name: 'is longer than what it stands for', summary: { type: 'ok', summary: long } as const },
  ])('gives way to truncation where it $name', ({ summary }) => {
    const plan = planCompaction({ ...input, summary });
    expect(plan?.strategy).toBe('truncate');
    expect(plan?.summary).toContain('removed here to save room. What they held is not in this conversation');
    expect(plan?.tokensAfter).toBeLessThanOrEqual(1200);
  });

  it('is not asked for where there is hardly anything to summarise', () => {
    const short = [user(long), ...turn('a', 'x'.repeat(290)), ...turn('b', long), ...turn('c', long)];
    expect(planSummary(inputOf(short, { rules }))).toBeUndefined();
  });
});

describe('truncation', () => {
  it.each([
    { name: 'a huge last result', messages: [user('go'), ...turn('a', long.repeat(20))] },
    { name: 'a huge question', messages: [user(long.repeat(20))] },
    {
      name: 'huge arguments in the turn before the last',
      messages: [
        user('go'),
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', callId: 'a', name: 'write', argumentsText: JSON.stringify({ long }) },
          ],
        } as const,
        ...turn('a', 'x').slice(1),
        ...turn('b', 'x'),
      ],
    },
    {
      name: 'very many long results in the last turns',
      messages: [user('go'), ...Array.from({ length: 2 }, (_, index) => turn(`t${index}`, long)).flat()],
    },
    {
      name: 'an image in the last result',
      messages: [
        user('go'),
        ...turn('a', [
          { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'https://example.org/a' } },
        ]),
      ],
    },
  ])('makes $name fit', ({ messages }) => {
    const plan = planCompaction(inputOf(messages, { reason: budget(1400) }));
    expect(plan?.strategy).toBe('truncate');
    expect(plan?.tokensAfter).toBeLessThanOrEqual(1400);
  });

  it('is not needed for many questions without an answer', () => {
    const messages = Array.from({ length: 60 }, (_, index) => user(`${index} ${long.slice(0, 300)}`));
    const shorter = compact(inputOf(messages, { reason: budget(1400) }));
    expect(shorter?.[0]).toBe(messages[0]);
    expect(shorter?.at(-1)).toBe(messages.at(-1));
    expect(planCompaction(inputOf(messages, { reason: budget(1400) }))?.strategy).toBe('window');
  });

  it('shortens results before it touches what the user said', () => {
    const messages = [user(long.slice(0, 5000)), ...turn('a', long)];
    const plan = planCompaction(inputOf(messages, { reason: budget(2500) }));
    expect(plan?.shortened).toEqual([{ message: 2, part: 0, headCharacters: 2000, tailCharacters: 1000 }]);
  });

  it('does what it can where a pinned message alone is too long', () => {
    const messages = [pinned(long), ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')];
    const plan = planCompaction(inputOf(messages, { reason: budget(1000) }));
    expect(plan?.tokensAfter).toBeGreaterThan(1000);
    expect(compact(inputOf(messages, { reason: budget(1000) }))?.[0]).toBe(messages[0]);
  });
});

describe('after a refusal', () => {
  const turns = Array.from({ length: 30 }, (_, index) => turn(`c${index}`, long.slice(0, 1500))).flat();

  it('six tenths of what was sent are left', () => {
    const plan = planCompaction(inputOf([user('go'), ...turns]));
    expect(plan?.tokensAfter).toBeLessThanOrEqual((plan?.tokensBefore ?? 0) * 0.6);
    expect(plan?.tokensAfter).toBeGreaterThan((plan?.tokensBefore ?? 0) * 0.5);
  });

  it('a smaller budget still holds', () => {
    const plan = planCompaction(
      inputOf([user('go'), ...turns], {
        reason: { type: 'overflow', budget: { maxTokens: 2000, reserveTokens: 500 } },
      }),
    );
    expect(plan?.tokensAfter).toBeLessThanOrEqual(1500);
  });

  it('not all is thrown away where instructions and tools are most of it', () => {
    const messages = [user('go'), ...turns];
    const plan = planCompaction(inputOf(messages, { fixedTokens: sizeOf(messages) * 9 }));
    expect((plan?.tokensAfter ?? 0) - sizeOf(messages) * 9).toBeGreaterThan(sizeOf(messages) * 0.2);
  });
});

describe('planCompaction()', () => {
  it('takes the estimate of somebody who knows better', () => {
    const plan = planCompaction(
      inputOf([user('go'), ...turn('a', long), ...turn('b', 'x'), ...turn('c', 'x')], {
        tokensOf: (message) => JSON.stringify(message).length,
        fixedTokens: 0,
      }),
    );
    expect(plan?.tokensBefore).toBeGreaterThan(20_000);
  });
});
