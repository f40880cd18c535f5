import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailure } from '../errors/failure.ts';
import { findHistoryProblems } from '../model/check/check-history.ts';
import type { EmbeddingResponse } from '../model/embedding.ts';
import type { Message } from '../model/message.ts';
import { createVectorCache } from './select-history-embeddings.ts';
import type { EmbedTexts } from './select-history-embeddings.ts';
import { splitExchanges } from './select-history-exchanges.ts';
import { resolveSelection } from './select-history-rules.ts';
import { selectHistory } from './select-history.ts';
import type { Selected, SelectHistoryInput } from './select-history.ts';

const topics = ['tea', 'trains', 'invoice', 'weather', 'football'];
const session = topics.flatMap((topic): Message[] => [
  { role: 'user', content: `Tell me about ${topic}` },
  { role: 'assistant', content: `All about ${topic}.` },
]);

/** One token a message. */
function select(given: Partial<SelectHistoryInput> & { readonly options?: object }): Promise<Selected> {
  const { options, ...rest } = given;
  return selectHistory({
    messages: session,
    query: 'the invoice',
    rules: resolveSelection({ maxExchanges: 2, keepLast: 1, ...options }),
    estimate: () => 1,
    signal: new AbortController().signal,
    ...rest,
  });
}

function topicsIn({ messages }: Selected): readonly string[] {
  return topics.filter((topic) => messages.some(({ content }) => content === `All about ${topic}.`));
}

/** Near where they share a topic. */
function vectorOf(text: string): Float32Array {
  return Float32Array.from([0.1, ...topics.map((topic) => (text.includes(topic) ? 1 : 0))]);
}

function embedder(answer?: (texts: readonly string[]) => EmbeddingResponse): {
  readonly embed: EmbedTexts;
  readonly calls: (readonly string[])[];
} {
  const calls: (readonly string[])[] = [];
  const success = (texts: readonly string[]): EmbeddingResponse => ({
    type: 'success',
    result: { vectors: texts.map(vectorOf), usage: {} },
  });
  const embed: EmbedTexts = (texts) => {
    calls.push(texts);
    return Promise.resolve((answer ?? success)(texts));
  };
  return { embed, calls };
}

const down = createFailure('SERVER_ERROR', { origin: 'embedding', message: 'the server is down' });
const byMeaning = { strategy: 'embeddings' };
const byWords = { strategy: 'lexical' };

describe('selectHistory()', () => {
  it.each([
    { what: 'a failure', answer: () => ({ type: 'failure', failure: down }) as const, code: 'SERVER_ERROR' },
    {
      what: 'something thrown',
      answer: () => {
        throw new Error('bug in the client');
      },
      code: 'UNKNOWN',
    },
    {
      what: 'too few vectors',
      answer: () => ({ type: 'success', result: { vectors: [vectorOf('tea')], usage: {} } }) as const,
      code: 'INVALID_RESPONSE',
    },
    {
      what: 'nonsense',
      answer: () => 'vectors!' as unknown as EmbeddingResponse, // What a client without types may give.
      code: 'INVALID_RESPONSE',
    },
  ])('goes on by words when embedding ends in $what, and says so', async ({ answer, code }) => {
    const selected = await select({ options: byMeaning, embed: embedder(answer).embed });
    expect(selected.strategy).toBe('lexical');
    expect(topicsIn(selected)).toEqual(['invoice', 'football']);
    expect(selected.degraded).toMatchObject([{ from: 'embeddings', to: 'lexical', failure: { code } }]);
  });

  it('goes on by words when there is no embedding model', async () => {
    const selected = await select({ options: byMeaning });
    expect(selected.strategy).toBe('lexical');
    expect(selected.degraded).toMatchObject([{ failure: { code: 'PROVIDER_NOT_CONFIGURED' } }]);
  });

  it('goes on by time when neither meaning nor words can be had', async () => {
    const broken = { role: 'user', content: [{ type: 'text', text: 'a' }, null] } as unknown as Message; // As a damaged store gives it.
    const messages = [broken, ...session];
    const selected = await select({ messages, options: byMeaning, embed: embedder().embed });
    expect(selected.strategy).toBe('recency');
    expect(topicsIn(selected)).toEqual(['weather', 'football']);
    expect(selected.degraded.map(({ from, to }) => [from, to])).toEqual([
      ['embeddings', 'lexical'],
      ['lexical', 'recency'],
    ]);
  });

  it('goes on by time when an old message cannot be measured', async () => {
    const estimate = ({ content }: Message): number => {
      if (JSON.stringify(content).includes('tea')) throw new Error('no tokens today');
      return 1;
    };
    const selected = await select({ query: 'tea', options: byMeaning, embed: embedder().embed, estimate });
    expect(selected).toMatchObject({ strategy: 'recency', degraded: [{}, {}] });
    expect(topicsIn(selected)).toEqual(['weather', 'football']);
  });

  it('shows nothing rather than failing when the session cannot even be read', async () => {
    const messages = [null, ...session] as unknown as Message[]; // As a damaged store gives it.
    const selected = await select({ messages, options: byWords });
    expect(selected).toMatchObject({ messages: [], strategy: 'none', tokens: 0 });
    expect(selected.degraded).toMatchObject([
      { from: 'lexical', to: 'none', failure: { origin: 'context' } },
    ]);
  });

  it('shows nothing when the last exchange alone is too long, and says by how much', async () => {
    const selected = await select({ options: { maxTokens: 1 } });
    expect(selected).toMatchObject({ messages: [], strategy: 'none', exchanges: { total: 5, selected: 0 } });
    expect(selected.degraded).toMatchObject([
      {
        from: 'recency',
        to: 'none',
        failure: { code: 'COMPACTION_FAILED', context: { tokens: 2, maxTokens: 1 } },
      },
    ]);
  });

  it.each([
    { when: 'before it begins', abortFirst: true },
    { when: 'while a deaf embedding model is asked', abortFirst: false },
  ])('rejects with the reason of a signal that aborts $when', async ({ abortFirst }) => {
    const controller = new AbortController();
    const reason = new Error('stop it');
    if (abortFirst) controller.abort(reason);
    const selecting = select({
      options: byMeaning,
      embed: () => new Promise(() => undefined),
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(selecting).rejects.toBe(reason);
  });

  it('shows all where all is within the bounds, and asks nobody', async () => {
    const { embed, calls } = embedder();
    const selected = await select({ options: { ...byMeaning, maxExchanges: 5 }, embed });
    expect(selected).toMatchObject({ strategy: 'all', messages: session, degraded: [] });
    expect(calls).toEqual([]);
  });

  it('counts tokens by itself where nobody does', async () => {
    const options = { maxExchanges: 5, maxTokens: 40 };
    const selected = await select({ options, estimate: undefined });
    expect(selected.strategy).toBe('recency');
    expect(selected.exchanges.selected).toBeGreaterThanOrEqual(1);
    expect(selected.exchanges.selected).toBeLessThan(5);
    expect(selected.tokens).toBeGreaterThan(2);
  });

  it('shows an empty session as all of it', async () => {
    await expect(select({ messages: [] })).resolves.toMatchObject({ strategy: 'all', messages: [] });
  });

  it('shows nothing where the rules say so', async () => {
    const selected = await select({ options: { strategy: 'none' } });
    expect(selected).toMatchObject({ strategy: 'none', messages: [], degraded: [] });
  });

  it.each([
    { what: 'the last ones', options: {}, query: 'invoice', shown: ['weather', 'football'] },
    {
      what: 'the last ones by tokens',
      options: { maxExchanges: 5, maxTokens: 7 },
      query: '',
      shown: ['invoice', 'weather', 'football'],
    },
    { what: 'by words', options: byWords, query: 'my tea', shown: ['tea', 'football'] },
    {
      what: 'by words in their order',
      options: { ...byWords, maxExchanges: 3 },
      query: 'invoice or tea',
      shown: ['tea', 'invoice', 'football'],
    },
    {
      what: 'the last ones where no word is shared',
      options: byWords,
      query: 'zeppelin',
      shown: ['weather', 'football'],
    },
    {
      what: 'the last ones where nothing is asked',
      options: byMeaning,
      query: '  ',
      shown: ['weather', 'football'],
    },
    { what: 'by meaning', options: byMeaning, query: 'trains', shown: ['trains', 'football'] },
    {
      what: 'what must be kept first',
      options: { ...byWords, keepLast: 2 },
      query: 'tea',
      shown: ['weather', 'football'],
    },
  ])('shows $what', async ({ options, query, shown }) => {
    const selected = await select({ options, query, embed: embedder().embed });
    expect(topicsIn(selected)).toEqual(shown);
    expect(selected.degraded).toEqual([]);
  });

  it.each([
    { what: 'by time', options: { maxExchanges: 3 }, shown: ['tea', 'weather', 'football'] },
    { what: 'by words', options: { ...byWords, keepLast: 2 }, shown: ['tea', 'football'] },
    { what: 'by meaning', options: { ...byMeaning, maxExchanges: 3 }, shown: ['tea', 'invoice', 'football'] },
    { what: 'in too little room', options: { maxTokens: 3 }, shown: ['football'] },
  ])(
    'keeps what is pinned $what, after the last exchange and before all others',
    async ({ options, shown }) => {
      const [first, ...rest] = session;
      const messages = [{ ...first, pinned: true } as Message, ...rest]; // The first one is the user's.
      const selected = await select({ messages, options, embed: embedder().embed });
      expect(topicsIn(selected)).toEqual(shown);
    },
  );

  it('counts no more of a long session than it may show', async () => {
    let counted = 0;
    const estimate = (): number => {
      counted += 1;
      return 1;
    };
    const messages = Array.from({ length: 1000 }, () => session).flat();
    await select({ messages, estimate, options: { maxExchanges: 5 } });
    expect(counted).toBeLessThanOrEqual(10);
  });

  it('leaves out what is too long for the rest of the room, and takes the next', async () => {
    const estimate = ({ content }: Message): number =>
      JSON.stringify(content).includes('invoice') ? 100 : 1;
    const options = { ...byWords, maxTokens: 50, maxExchanges: 3 };
    const selected = await select({ options, query: 'invoice tea', estimate });
    expect(topicsIn(selected)).toEqual(['tea', 'weather', 'football']);
  });

  describe('by embeddings', () => {
    it('asks once, for what it does not remember, also across runs', async () => {
      const { embed, calls } = embedder();
      const vectors = createVectorCache();
      const first = await select({ options: byMeaning, query: 'tea', embed, vectors });
      const again = await select({ options: byMeaning, query: 'tea', embed, vectors });
      await select({ options: byMeaning, query: 'trains', embed, vectors });
      expect(calls.map((texts) => texts.length)).toEqual([6, 1]);
      expect(again).toEqual(first);
    });

    it('asks for no more than the bound, the latest first, and for the older ones the next time', async () => {
      const { embed, calls } = embedder();
      const vectors = createVectorCache();
      const options = { ...byMeaning, maxEmbedded: 3 };
      const first = await select({ options, query: 'tea', embed, vectors });
      const second = await select({ options, query: 'tea', embed, vectors });
      expect(calls.map((texts) => texts.length)).toEqual([3, 3]);
      expect([topicsIn(first), topicsIn(second)]).toEqual([
        ['weather', 'football'],
        ['tea', 'football'],
      ]);
    });

    it('remembers what was done before a failure', async () => {
      const vectors = createVectorCache();
      const broken: EmbedTexts = (texts) =>
        Promise.resolve({
          type: 'failure',
          failure: down,
          done: { vectors: texts.slice(0, 4).map(vectorOf), usage: {} },
        });
      await select({ options: byMeaning, embed: broken, vectors });
      const { embed, calls } = embedder();
      await select({ options: byMeaning, embed, vectors });
      expect(calls.map((texts) => texts.length)).toEqual([2]);
    });

    it('forgets vectors that do not compare, and is well again in the next run', async () => {
      const vectors = createVectorCache();
      vectors.set('Tell me about tea\nAll about tea.', new Float32Array(2));
      const { embed } = embedder();
      const first = await select({ options: byMeaning, embed, vectors });
      expect(first).toMatchObject({
        strategy: 'lexical',
        degraded: [{ failure: { code: 'INVALID_RESPONSE' } }],
      });
      await expect(select({ options: byMeaning, embed, vectors })).resolves.toMatchObject({
        strategy: 'embeddings',
        degraded: [],
      });
    });
  });

  it('always shows whole exchanges in their order, within the bounds, with the last one where it fits', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, rulesInAnyForm, fc.string(), async (messages, options, query) => {
        const estimate = ({ content }: Message): number => JSON.stringify(content).length;
        const rules = resolveSelection(options);
        const { embed } = embedder();
        const { signal } = new AbortController();
        const isRead = (): boolean => true;
        const selected = await selectHistory({ messages, query, rules, estimate, embed, signal, isRead });
        const all = splitExchanges(messages, estimate);
        const shown = splitExchanges(selected.messages, estimate);
        const last = all.at(-1);
        const mustShowLast =
          rules.strategy !== 'none' && last !== undefined && last.tokens <= rules.maxTokens;
        const places = shown.map((exchange) =>
          all.findIndex((other) => other.messages[0] === exchange.messages[0]),
        );
        expect(places).toEqual([...new Set(places)].toSorted((one, other) => one - other));
        expect(shown).toEqual(places.map((place) => all[place]));
        expect(shown.length).toBeLessThanOrEqual(rules.maxExchanges);
        expect(selected.tokens).toBeLessThanOrEqual(rules.maxTokens);
        expect(selected.tokens).toBe(shown.reduce((sum, { tokens }) => sum + tokens, 0));
        expect(places.includes(all.length - 1)).toBe(mustShowLast);
        expect(findHistoryProblems(selected.messages)).toEqual([]);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});

describe('createVectorCache()', () => {
  it('holds no more than its bound, and drops what was not used for the longest time', () => {
    const cache = createVectorCache(2);
    const vector = new Float32Array(1);
    cache.set('a', vector);
    cache.set('b', vector);
    cache.get('a');
    cache.set('c', vector);
    expect(['a', 'b', 'c'].map((text) => cache.get(text) !== undefined)).toEqual([true, false, true]);
  });
});

const exchange = fc
  .record({
    questions: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
    calls: fc.nat({ max: 2 }),
    answer: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ questions, calls, answer }): Message[] => {
    const callIds = Array.from({ length: calls }, (_, index) => `call_${index}`);
    const name = 'search';
    return [
      ...questions.map((content): Message => ({ role: 'user', content })),
      ...(calls === 0
        ? []
        : ([
            {
              role: 'assistant',
              content: callIds.map((callId) => ({ type: 'tool-call', callId, name, argumentsText: '{}' })),
            },
            {
              role: 'tool',
              content: callIds.map((callId) => ({ type: 'tool-result', callId, name, content: 'found' })),
            },
          ] satisfies Message[])),
      ...(answer === undefined ? [] : [{ role: 'assistant', content: answer } as const]),
    ];
  });
const sessions = fc.array(exchange, { maxLength: 12 }).map((exchanges) => exchanges.flat());
const rulesInAnyForm = fc.record({
  strategy: fc.constantFrom('recency', 'lexical', 'embeddings', 'none'),
  maxExchanges: fc.integer({ min: 3, max: 10 }),
  maxTokens: fc.integer({ min: 1, max: 400 }),
  keepLast: fc.integer({ min: 1, max: 3 }),
  maxEmbedded: fc.integer({ min: 1, max: 12 }),
});
