import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyCompaction } from '../model/apply-compaction.ts';
import { findHistoryProblems } from '../model/check/check-history.ts';
import { lookAtMessages } from '../model/check/check-messages.ts';
import type { Compaction } from '../model/compaction.ts';
import { wasShortened } from '../model/compaction-notes.ts';
import type { AssistantPart, Message, Signature, TextPart, ToolResultPart } from '../model/message.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { planCompaction, planQuestion } from './plan-compaction.ts';
import type { CompactionInput } from './plan-compaction.ts';

const signature: Signature = { protocol: 'anthropic', value: 's'.repeat(60) };
const image = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'url', url: 'https://example.org/a.png' },
} as const;

const text = fc
  .tuple(fc.constantFrom('word ', '{"a":1},', '老灯塔', '😀'), fc.oneof(fc.nat(40), fc.nat(40), fc.nat(900)))
  .map(([unit, count]) => `t${unit.repeat(count)}`);
const textPart = fc
  .record({ words: text, isSigned: fc.boolean() })
  .map(({ words, isSigned }): TextPart =>
    isSigned ? { type: 'text', text: words, signature } : { type: 'text', text: words },
  );
const result = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      text.map((words): TextPart => ({ type: 'text', text: words })),
      fc.constant(image),
    ),
    { maxLength: 3 },
  ),
);
const said = fc.record({ words: text, isPinned: fc.integer({ min: 0, max: 6 }), isList: fc.boolean() });
const user = said.map(({ words, isPinned, isList }): readonly Message[] => [
  {
    role: 'user',
    content: isList ? [{ type: 'text', text: words }, image] : words,
    ...(isPinned === 0 ? { pinned: true as const } : {}),
  },
]);
const system = text.map((words): readonly Message[] => [{ role: 'system', content: words }]);
const turn = fc
  .record({
    parts: fc.array(textPart, { maxLength: 2 }),
    thought: fc.option(text),
    results: fc.array(result, { maxLength: 3 }),
    argumentsText: text.map((words) => JSON.stringify({ words })),
    isSplit: fc.boolean(),
    hasSystem: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ parts, thought, results, argumentsText, isSplit, hasSystem }): readonly Message[] => {
    const calls = results.map((_, index): AssistantPart => ({
      type: 'tool-call',
      callId: `c${index}`,
      name: 'read',
      argumentsText,
      signature,
    }));
    const thoughts: readonly AssistantPart[] =
      thought === null ? [] : [{ type: 'reasoning', text: thought, signature }];
    const content = [...thoughts, ...parts, ...calls];
    const ends = results.map((value, index): ToolResultPart => ({
      type: 'tool-result',
      callId: `c${index}`,
      name: 'read',
      content: value,
    }));
    const between: readonly Message[] = hasSystem === 0 ? [{ role: 'system', content: 'Between.' }] : [];
    const groups = isSplit ? ends.map((end) => [end]) : [ends].filter(({ length }) => length > 0);
    const tools = groups.map((group): Message => ({ role: 'tool', content: group }));
    return [{ role: 'assistant', content: content.length === 0 ? 'Yes.' : content }, ...between, ...tools];
  });

/** Valid ones: the user begins, and every call has its result behind it. */
const conversations = fc
  .tuple(
    fc.boolean(),
    user,
    fc.array(fc.oneof({ weight: 4, arbitrary: turn }, { weight: 2, arbitrary: user }, system), {
      maxLength: 14,
    }),
  )
  .map(([hasSystem, first, rest]): readonly Message[] => [
    ...(hasSystem ? [{ role: 'system', content: 'Be kind.' } as const] : []),
    ...first,
    ...rest.flat(),
  ]);

const strategies = fc.uniqueArray(fc.constantFrom('clear-results', 'window', 'summary'), { minLength: 1 });
const reason = fc.oneof(
  fc.record({
    type: fc.constant('budget'),
    maxTokens: fc.integer({ min: 300, max: 12_000 }),
    reserveTokens: fc.nat(200),
  }),
  fc.record({ type: fc.constant('overflow') }),
);
const summary = fc.option(
  fc.oneof(
    text.map((words) => ({ type: 'ok', summary: `It was about ${words}` }) as const),
    fc.constant({ type: 'failed', why: 'The model answered without a text.' } as const),
  ),
  { nil: undefined },
);
const inputs: fc.Arbitrary<CompactionInput> = fc
  .record({
    messages: conversations,
    fixedTokens: fc.nat(300),
    reason,
    strategies,
    keepLastTurns: fc.integer({ min: 1, max: 4 }),
    summary,
  })
  .map(({ strategies: list, keepLastTurns, summary: reading, ...rest }) => ({
    ...rest,
    rules: { strategies: list, keepLastTurns },
    ...(reading === undefined ? {} : { summary: reading }),
  }));

/** A plan for any input: where nothing is planned, one that changes nothing. */
function compact(input: CompactionInput): {
  readonly plan: Compaction;
  readonly messages: readonly Message[];
} {
  const tokens = sum(input.messages) + input.fixedTokens;
  const nothing: Compaction = {
    strategy: 'truncate',
    dropped: [],
    cleared: [],
    shortened: [],
    tokensBefore: tokens,
    tokensAfter: tokens,
  };
  const plan = planCompaction(input) ?? nothing;
  return { plan, messages: applyCompaction(input.messages, plan) };
}

function sum(messages: readonly Message[]): number {
  // Copies, so that nothing remembered about an object helps.
  return messages.reduce((total, message) => total + estimateTokens(structuredClone(message)), 0);
}

function holds(check: (input: CompactionInput) => void): void {
  fc.assert(fc.property(inputs, check), { numRuns: 200 });
}

describe('planCompaction() and applyCompaction() on anything', () => {
  it('leave a conversation that every provider takes', () => {
    holds((input) => {
      const { messages } = compact(input);
      expect(findHistoryProblems(messages)).toEqual([]);
      expect(lookAtMessages(messages).problems).toEqual([]);
      const turns = messages.filter(({ role }) => role !== 'system').map(({ role }) => role);
      expect(turns[0]).toBe('user');
      const inRow = (roles: readonly string[]): number =>
        roles.filter((role, index) => role === 'assistant' && roles[index - 1] === 'assistant').length;
      const before = input.messages.filter(({ role }) => role !== 'system').map(({ role }) => role);
      expect(inRow(turns)).toBeLessThanOrEqual(inRow(before));
    });
  });

  it('keep system and pinned messages whole, the first and the last words of the user, and the last turn unless it truncates', () => {
    holds((input) => {
      const { plan, messages } = compact(input);
      const whole = input.messages.filter(
        (message) => message.role === 'system' || (message.role === 'user' && message.pinned === true),
      );
      expect(messages.filter((message) => whole.includes(message))).toEqual(whole);
      const users = input.messages.filter(({ role }) => role === 'user');
      const goes = (message: Message | undefined): boolean =>
        plan.dropped.some(({ from, to }) =>
          input.messages.slice(from, to).some((dropped) => dropped === message),
        );
      const lastTurn = input.messages.findLast(({ role }) => role === 'assistant');
      expect([users[0], users.at(-1)].map(goes)).toEqual([false, false]);
      expect(goes(lastTurn) && plan.strategy !== 'truncate').toBe(false);
    });
  });

  it('leave the last turns and the words of the user as they are unless it truncates', () => {
    holds((input) => {
      const { plan, messages } = compact(input);
      const { keepLastTurns } = input.rules;
      const turns = [...input.messages.keys()].filter((index) => input.messages[index]?.role === 'assistant');
      const tailAt = turns.at(-keepLastTurns) ?? (turns.length === 0 ? input.messages.length : 0);
      const users = input.messages.filter(({ role }) => role === 'user');
      const wanted = [users[0], users.at(-1), ...input.messages.slice(tailAt)];
      const lost = wanted.filter((message) => message !== undefined && !messages.includes(message));
      expect(plan.strategy === 'truncate' ? [] : lost).toEqual([]);
    });
  });

  it('say truly what is left, and never make it longer', () => {
    holds((input) => {
      const { plan, messages } = compact(input);
      expect(plan.tokensBefore).toBe(sum(input.messages) + input.fixedTokens);
      expect(plan.tokensAfter).toBe(sum(messages) + input.fixedTokens);
      expect(planCompaction(input)?.tokensAfter ?? -1).toBeLessThan(plan.tokensBefore);
    });
  });

  it('touch no signature, no argument and no thought', () => {
    holds((input) => {
      const { plan, messages } = compact(input);
      const signed = (list: readonly Message[]): readonly unknown[] =>
        list.flatMap((message) =>
          message.role === 'assistant' && typeof message.content !== 'string'
            ? message.content.filter((part) => part.signature !== undefined)
            : [],
        );
      const stays = input.messages.filter(
        (_, index) => !plan.dropped.some(({ from, to }) => index >= from && index < to),
      );
      expect(signed(messages)).toEqual(signed(stays));
    });
  });

  it('leave one note in a text, however often it is shortened, which says how much is gone', () => {
    holds((input) => {
      const { messages } = compact(input);
      const again = compact({ ...input, messages, reason: { type: 'overflow', isLast: true } }).messages;
      const notes =
        JSON.stringify(again).match(/removed (?:here )?to save room(?:: \d+ characters)?/gu) ?? [];
      const texts = again.flatMap(textsOf).filter(wasShortened);
      const marks = texts.map((words) => words.match(/removed (?:here )?to save room/gu)?.length);
      expect(marks.every((count) => count === 1)).toBe(true);
      expect(notes.length).toBeGreaterThanOrEqual(marks.length);
    });
  });

  it('are no defect even for a conversation that is not valid', () => {
    const shuffled = inputs.chain((input) =>
      fc
        .shuffledSubarray([...input.messages], { minLength: input.messages.length })
        .map((messages) => ({ ...input, messages })),
    );
    fc.assert(
      fc.property(shuffled, (input) => {
        const { plan, messages } = compact(input);
        expect(plan.tokensAfter).toBe(sum(messages) + input.fixedTokens);
      }),
      { numRuns: 200 },
    );
  });

  it('come to rest: compacting again and again ends', () => {
    holds((input) => {
      let { messages } = input;
      for (let round = 0; round < 12; round += 1)
        messages = compact({
          ...input,
          messages,
          reason: { type: 'budget', maxTokens: 700, reserveTokens: 100 },
        }).messages;
      const last = planCompaction({
        ...input,
        messages,
        reason: { type: 'budget', maxTokens: 700, reserveTokens: 100 },
      });
      expect(last).toBeUndefined();
    });
  });

  it('survive the journal: a plan is plain data, and planning is deterministic', () => {
    holds((input) => {
      const { plan, messages } = compact(input);
      const copy = structuredClone(input);
      expect(JSON.parse(JSON.stringify(compact(copy).plan))).toEqual(plan);
      expect(applyCompaction(copy.messages, JSON.parse(JSON.stringify(plan)) as Compaction)).toEqual(
        messages,
      );
      expect(planQuestion(copy)).toEqual(planQuestion(input));
    });
  });
});

function textsOf({ role, content }: Message): readonly string[] {
  if (role !== 'tool') return textsIn(content);
  return content.flatMap((each) => textsIn(each.content));
}

function textsIn(content: string | readonly { readonly type: string }[]): readonly string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((part) => (part.type === 'text' && 'text' in part ? [String(part.text)] : []));
}
