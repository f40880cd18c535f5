import { createAgent, tool } from 'rerail';
import type { ContextView, OwnStrategy, RunEvent } from 'rerail';
import type { Message } from 'rerail/model';
import { memoryStore, scriptedModel, simulatedClock } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

const long = (word: string): string => `${word} `.repeat(400);
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { cents: { type: 'number' } } },
  execute: () => 'paid',
});

/** A conversation with an effect in it that is far too long for the window below. */
const conversation: readonly Message[] = [
  { role: 'user', content: 'Please pay invoice 17.' },
  {
    role: 'assistant',
    content: [{ type: 'tool-call', callId: 'c1', name: 'pay', argumentsText: '{"cents":1700}' }],
  },
  {
    role: 'tool',
    content: [{ type: 'tool-result', callId: 'c1', name: 'pay', content: 'paid, receipt 4711' }],
  },
  { role: 'assistant', content: long('alpha') },
  { role: 'user', content: long('beta') },
  { role: 'assistant', content: long('gamma') },
  { role: 'user', content: long('delta') },
  { role: 'assistant', content: long('epsilon') },
  { role: 'user', content: 'What did you pay?' },
];
const context = { maxTokens: 2500, reserveTokens: 200, keepLastTurns: 1 } as const;

function textOf(messages: readonly Message[]): string {
  return JSON.stringify(messages);
}

function problemsIn(messages: readonly Message[]): readonly string[] {
  const text = textOf(messages);
  const problems: string[] = [];
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    for (const part of message.content)
      if (part.type === 'tool-call' && !text.includes(`"tool-result","callId":"${part.callId}"`))
        problems.push(`${part.callId} has no result`);
  }
  const results = [...text.matchAll(/"tool-result","callId":"(\w+)"/g)].map(([, id]) => id);
  for (const id of results)
    if (!text.includes(`"tool-call","callId":"${id}"`)) problems.push(`${id} has no call`);
  if (!text.includes('pay') || !text.includes('1700')) problems.push('the payment is not visible');
  if (messages[0]?.role !== 'user') problems.push('it does not begin with the user');
  return problems;
}

async function shorten(strategy: OwnStrategy, more: readonly ('window' | 'summary')[] = ['window']) {
  const clock = simulatedClock();
  const model = scriptedModel(['17 euros.']);
  const events: RunEvent[] = [];
  const agent = createAgent({
    model,
    tools: [pay],
    clock,
    context: { ...context, strategy: [strategy, ...more] },
  });
  const running = agent.run(conversation, { onEvent: (event) => void events.push(event) });
  const outcome = await clock.runUntil(running);
  const compacted = events.find(({ type }) => type === 'history-compacted');
  const sent = model.calls[0]?.request.messages ?? [];
  return { outcome, sent, compacted, events };
}

describe('an own context strategy', () => {
  it('is given messages, tokens and the budget, and decides what the model sees', async () => {
    const views: ContextView[] = [];
    const { outcome, sent, compacted } = await shorten((view) => {
      views.push(view);
      return { keep: [0, 1, 2, 6], summary: 'They talked about Greek letters.' };
    });
    expect(outcome.type).toBe('completed');
    const [view] = views;
    expect(view?.messages).toEqual(conversation);
    expect(view?.tokens).toHaveLength(conversation.length);
    expect(view?.why).toBe('budget');
    expect(view?.totalTokens).toBe(
      (view?.fixedTokens ?? 0) + (view?.tokens ?? []).reduce((a, b) => a + b, 0),
    );
    expect(view?.aimTokens).toBeLessThan(2300);
    expect(compacted).toMatchObject({ strategy: 'own', why: 'budget' });
    expect(textOf(sent)).toContain('They talked about Greek letters.');
    expect(textOf(sent)).toContain('delta');
    expect(textOf(sent)).not.toContain('gamma');
    expect(problemsIn(sent)).toEqual([]);
  });

  it.each([
    { name: 'keeps nothing', keep: [] },
    { name: 'keeps a call without its result', keep: [1] },
    { name: 'keeps a result without its call', keep: [2] },
    { name: 'keeps a place twice', keep: [3, 3] },
  ])('that $name leaves a valid conversation in which the effect is visible', async ({ keep }) => {
    const { sent, compacted } = await shorten(() => ({ keep }));
    expect(compacted).toMatchObject({ strategy: 'own' });
    expect(compacted).not.toHaveProperty('failure');
    expect(problemsIn(sent)).toEqual([]);
    expect(textOf(sent)).toContain('What did you pay?');
  });

  it('cannot change the conversation that it is shown', async () => {
    const { sent } = await shorten((view) => {
      (view.messages as Message[]).splice(0, 3);
      return { keep: [0, 1, 2] };
    });
    expect(problemsIn(sent)).toEqual([]);
    expect(textOf(sent)).toContain('Please pay invoice 17.');
  });

  const garbage: readonly {
    readonly name: string;
    readonly strategy: () => unknown;
    readonly says: string;
  }[] = [
    {
      name: 'throws',
      strategy: () => {
        throw new Error('no idea');
      },
      says: 'it threw: no idea',
    },
    {
      name: 'rejects',
      strategy: () => Promise.reject(new Error('later no idea')),
      says: 'it threw: later no idea',
    },
    { name: 'hangs', strategy: () => new Promise(() => undefined), says: 'no answer within 10 s' },
    { name: 'gives nothing', strategy: () => undefined, says: 'instead of { keep }' },
    { name: 'gives a text', strategy: () => 'all', says: 'instead of { keep }' },
    { name: 'keeps a text', strategy: () => ({ keep: 'all' }), says: '"keep" must be a list' },
    { name: 'keeps places that are none', strategy: () => ({ keep: [0, 99] }), says: 'names 99' },
    { name: 'keeps half a place', strategy: () => ({ keep: [0.5] }), says: 'names 0.5' },
    {
      name: 'keeps far too many',
      strategy: () => ({ keep: Array.from({ length: 100_000 }, () => 0) }),
      says: '100000 places',
    },
    {
      name: 'has no text as summary',
      strategy: () => ({ keep: [], summary: 5 }),
      says: '"summary" must be a text',
    },
    {
      name: 'has an endless summary',
      strategy: () => ({ keep: [], summary: 'x'.repeat(12_001) }),
      says: '12001 characters',
    },
    {
      name: 'cannot be read',
      strategy: () => ({
        get keep() {
          throw new Error('a trap');
        },
      }),
      says: 'cannot be read',
    },
  ];

  it.each(garbage)('that $name gives way to the next one, and that is told', async ({ strategy, says }) => {
    const { outcome, sent, compacted } = await shorten(strategy as OwnStrategy);
    expect(outcome.type).toBe('completed');
    expect(compacted).toMatchObject({ strategy: 'window', failure: { code: 'COMPACTION_FAILED' } });
    expect(JSON.stringify(compacted)).toContain(says.replaceAll('"', String.raw`\"`));
    expect(problemsIn(sent)).toEqual([]);
  });

  it('that saves nothing gives way to the next one', async () => {
    const { compacted } = await shorten(({ messages }) => ({ keep: [...messages.keys()] }));
    expect(compacted).toMatchObject({ strategy: 'window' });
  });

  it('is asked when a provider refuses the conversation', async () => {
    const seen: string[] = [];
    const strategy: OwnStrategy = ({ why }) => {
      seen.push(why);
      return { keep: [] };
    };
    const model = scriptedModel([{ failure: 'CONTEXT_LENGTH_EXCEEDED' }, '17 euros.']);
    const agent = createAgent({ model, tools: [pay], context: { strategy } });
    expect(await agent.run(conversation)).toMatchObject({ type: 'completed' });
    expect(seen).toEqual(['overflow']);
    expect(problemsIn(model.calls[1]?.request.messages ?? [])).toEqual([]);
  });

  it('is not asked again for a step that is on record', async () => {
    const store = memoryStore();
    let asked = 0;
    const strategy: OwnStrategy = () => {
      asked += 1;
      return { keep: [], summary: `Choice ${asked}.` };
    };
    const options = { name: 'a', tools: [pay], context: { ...context, strategy } } as const;
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
    const model = scriptedModel(['17 euros.']);
    const second = createAgent({ ...options, model, store: store.reopen() });
    expect(await second.resume('one')).toMatchObject({ type: 'completed', text: '17 euros.' });
    expect(asked).toBe(1);
    expect(textOf(model.calls[0]?.request.messages ?? [])).toContain('Choice 1.');
  });
});
