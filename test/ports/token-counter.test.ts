import { createAgent } from 'rerail';
import type { RunEvent, TokenCounter } from 'rerail';
import type { Message } from 'rerail/model';
import { memoryStore, scriptedModel, simulatedClock } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

/** Ten words each: far below the window by the built-in estimate, above it by a counter that finds 100 tokens in each word. */
const conversation: readonly Message[] = Array.from({ length: 9 }, (_, place): Message => ({
  role: place % 2 === 0 ? 'user' : 'assistant',
  content: `This is message ${place} with ten short words in it.`,
}));
const perWord =
  (tokens: number): TokenCounter =>
  (text) =>
    text.split(' ').length * tokens;
const context = { maxTokens: 6000, reserveTokens: 100, keepLastTurns: 1 } as const;

async function runWith(tokenCounter: TokenCounter | undefined, maxTokens: number = context.maxTokens) {
  const clock = simulatedClock();
  const model = scriptedModel(['Done.']);
  const events: RunEvent[] = [];
  const agent = createAgent({
    model,
    clock,
    instructions: 'Answer shortly.',
    context: { ...context, maxTokens, ...(tokenCounter === undefined ? {} : { tokenCounter }) },
  });
  const running = agent.run(conversation, { onEvent: (event) => void events.push(event) });
  const outcome = await clock.runUntil(running);
  const sent = model.calls[0]?.request.messages ?? [];
  return {
    outcome,
    sent,
    compacted: events.find(({ type }) => type === 'history-compacted'),
    failed: events.filter(({ type }) => type === 'hook-failed'),
  };
}

describe('an own token counter', () => {
  it.each([
    { name: 'at once', counter: perWord(100) },
    {
      name: 'later',
      counter: (async (text) => perWord(100)(text, { signal: AbortSignal.any([]) })) satisfies TokenCounter,
    },
  ])('that answers $name decides whether a conversation fits', async ({ counter }) => {
    const without = await runWith(undefined);
    expect(without.compacted).toBeUndefined();
    const { outcome, compacted, sent, failed } = await runWith(counter);
    expect(outcome.type).toBe('completed');
    expect(compacted).toMatchObject({ why: 'budget' });
    expect(compacted?.type === 'history-compacted' && compacted.tokensBefore).toBeGreaterThan(9 * 10 * 100);
    expect(sent.length).toBeLessThan(without.sent.length);
    expect(failed).toEqual([]);
  });

  it('that finds less than the estimate leaves the conversation as it is', async () => {
    expect((await runWith(undefined, 150)).compacted).toBeDefined();
    const { compacted, failed } = await runWith(() => 0, 150);
    expect([compacted, failed]).toEqual([undefined, []]);
  });

  it.each([
    { name: 'NaN', counter: () => Number.NaN, says: 'gave NaN' },
    { name: 'a negative number', counter: () => -1, says: 'gave -1' },
    { name: 'infinity', counter: () => Infinity, says: 'no number of tokens' },
    { name: 'a text', counter: () => '12', says: 'no number of tokens' },
    { name: 'nothing', counter: () => undefined, says: 'no number of tokens' },
    { name: 'a promise of NaN', counter: () => Promise.resolve(Number.NaN), says: 'gave NaN' },
    {
      name: 'an error',
      counter: () => {
        throw new Error('no dictionary');
      },
      says: 'threw: no dictionary',
    },
    {
      name: 'a rejection',
      counter: () => Promise.reject(new Error('no network')),
      says: 'threw: no network',
    },
    { name: 'no answer', counter: () => new Promise(() => undefined), says: 'no answer within 10 s' },
  ])('that gives $name is told once, and the built-in estimate is used', async ({ counter, says }) => {
    const estimated = await runWith(undefined, 150);
    const { outcome, compacted, failed } = await runWith(counter as TokenCounter, 150);
    expect(outcome.type).toBe('completed');
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ hook: 'tokenCounter', failure: { code: 'HOOK_FAILED' } });
    expect(JSON.stringify(failed)).toContain(says);
    expect(compacted).toEqual(estimated.compacted);
  });

  it('decides what of a session is shown', async () => {
    const store = memoryStore();
    const model = scriptedModel(['Noted.', 'Noted.', 'Noted.', 'Tom.']);
    const agent = createAgent({
      name: 'a',
      model,
      store,
      history: { maxTokens: 1000 },
      context: { tokenCounter: perWord(100) },
    });
    for (const input of ['One two three', 'Four five six', 'Seven eight nine', 'What now'])
      await agent.run(input, { sessionId: 's' });
    expect(model.calls.map(({ request }) => request.messages.length)).toEqual([1, 3, 5, 5]);
  });

  it('is not asked again for a step that is on record', async () => {
    const store = memoryStore();
    const texts: string[] = [];
    const tokenCounter: TokenCounter = (text) => {
      texts.push(text);
      return perWord(100)(text, { signal: new AbortController().signal });
    };
    const options = { name: 'a', context: { ...context, tokenCounter } } as const;
    await new Promise<void>((died) => {
      const model = scriptedModel([
        () => {
          store.kill();
          died();
          return { text: 'never', delayMs: Infinity };
        },
      ]);
      void createAgent({ ...options, model, store }).run(conversation, { runId: 'one' });
    });
    const asked = texts.length;
    expect(asked).toBeGreaterThan(0);
    const model = scriptedModel(['Done.']);
    const second = createAgent({ ...options, model, store: store.reopen() });
    expect(await second.resume('one')).toMatchObject({ type: 'completed' });
    expect(texts).toHaveLength(asked);
    expect(model.calls[0]?.request.messages.length).toBeLessThan(conversation.length);
  });

  it.each([12, 'tiktoken', {}])('must be a function, not %j', (tokenCounter) => {
    const make = (): unknown =>
      createAgent({ model: scriptedModel([]), context: { tokenCounter: tokenCounter as never } });
    expect(make).toThrow('"context.tokenCounter" must be a function');
  });
});
