import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { ContextStrategy, Message, RunEvent, RunOutcome } from '../../src/index.ts';
import { createFailure } from '../../src/errors/index.ts';
import type { Failure } from '../../src/errors/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptEntry, ScriptStep } from '../../src/testing/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { eventsOf, expectType, plainTool, setScene, watchedModel, watchEverything } from './scene.ts';

// A provider that refuses a conversation as too long: it is made shorter until it is taken or nothing is left to cut.

watchEverything();

const page = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
const turns = 8;
const input = { type: 'object', properties: { page: { type: 'number' } } } as const;
const tools = [
  plainTool({ name: 'read', effect: 'read', repeats: 'any', input, execute: () => page }),
  plainTool({ name: 'pay', effect: 'once', repeats: 'any', input, execute: () => `Paid. ${page}` }),
];
const policy = { loop: { nudgeAt: 100, withdrawAt: 101, stopAt: 102 }, retry: { maxAttempts: 1 } } as const;

const sizeOf = (messages: readonly Message[]): number => JSON.stringify(messages).length;
const isSummary = (messages: readonly Message[]): boolean =>
  JSON.stringify(messages.at(-1)).includes('<record>');

type Step = Extract<ScriptStep, (...given: never) => unknown>;

/** Reads and pays by turns, and answers; what it is asked, and how long that was. */
function worker(refuse: (messages: readonly Message[], request: number) => ScriptEntry | undefined): {
  readonly step: Step;
  readonly sizes: number[];
} {
  const sizes: number[] = [];
  let turn = 0;
  return {
    sizes,
    step: ({ messages }) => {
      if (isSummary(messages)) return 'The user wants the pages read and paid. Some of them are.';
      sizes.push(sizeOf(messages));
      const refused = refuse(messages, sizes.length);
      if (refused !== undefined) return refused;
      turn += 1;
      if (turn > turns) return 'All done.';
      return { toolCalls: [{ name: turn % 2 === 0 ? 'pay' : 'read', arguments: { page: turn } }] };
    },
  };
}

const tooLong: ScriptEntry = { failure: 'CONTEXT_LENGTH_EXCEEDED' };

/** As a provider says it that counts: a token is four characters to it. */
function counted(messages: readonly Message[], maxTokens: number): Failure {
  const requestedTokens = Math.ceil(sizeOf(messages) / 4);
  return createFailure('CONTEXT_LENGTH_EXCEEDED', {
    origin: 'model',
    message: `prompt is too long: ${requestedTokens} tokens > ${maxTokens} maximum`,
    context: { requestedTokens, maxTokens },
  });
}

const compacted = (
  events: readonly RunEvent[],
): readonly Extract<RunEvent, { type: 'history-compacted' }>[] => eventsOf(events, 'history-compacted');

/** Between two answers every request is shorter than the one before. */
function expectShrinking(events: readonly RunEvent[]): void {
  for (const { tokensBefore, tokensAfter } of compacted(events))
    expect(tokensAfter).toBeLessThan(tokensBefore);
}

describe('a conversation that the provider refuses as too long', () => {
  it.each([
    { characters: 30_000 },
    { characters: 20_000 },
    { characters: 10_000 },
    { characters: 5000 },
    { characters: 3600 },
  ])(
    'is made shorter until it is of $characters characters, and the run completes',
    async ({ characters }) => {
      const { step } = worker((messages) => (sizeOf(messages) > characters ? tooLong : undefined));
      const scene = setScene({ script: Array.from({ length: 200 }, () => step), tools, policy });
      const outcome = await scene.run('Read all pages.');
      expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' });
      expect(compacted(scene.events).length).toBeGreaterThan(0);
      expectShrinking(scene.events);
    },
  );

  it.each<{
    readonly what: string;
    readonly strategy?: ContextStrategy | readonly ContextStrategy[];
    readonly refused: readonly number[];
  }>([
    { what: 'once', refused: [7] },
    { what: 'twice in a row', refused: [7, 8] },
    { what: 'four times in a row', refused: [7, 8, 9, 10] },
    { what: 'after each turn', refused: [4, 6, 8, 10, 12, 14] },
    { what: 'twice after each turn', refused: [4, 5, 7, 8, 10, 11, 13, 14, 16, 17] },
    { what: 'twice in a row', strategy: 'clear-results', refused: [7, 8] },
    { what: 'twice in a row', strategy: 'window', refused: [7, 8] },
    { what: 'three times in a row', strategy: 'summary', refused: [7, 8, 9] },
    { what: 'three times in a row', strategy: ['clear-results', 'window', 'summary'], refused: [7, 8, 9] },
  ])('$what is taken in the end, by $strategy', async ({ strategy, refused }) => {
    for (const code of ['CONTEXT_LENGTH_EXCEEDED', 'REQUEST_TOO_LARGE'] as const) {
      const { step } = worker((_, request) => (refused.includes(request) ? { failure: code } : undefined));
      const scene = setScene({
        script: Array.from({ length: 100 }, () => step),
        tools,
        policy,
        ...(strategy === undefined ? {} : { context: { strategy } }),
      });
      const outcome = await scene.run('Read all pages.');
      expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' });
      expect(outcome.recoveries.map(({ recovery, failure }) => `${failure.code} by ${recovery}`)).toEqual(
        refused.map(() => `${code} by compact`),
      );
      expectShrinking(scene.events);
    }
  });

  it('for ever ends the run after a bounded number of requests, each shorter than the last, with numbers', async () => {
    for (const code of ['CONTEXT_LENGTH_EXCEEDED', 'REQUEST_TOO_LARGE'] as const) {
      const { step, sizes } = worker((_, request) => (request > 7 ? { failure: code } : undefined));
      const scene = setScene({ script: Array.from({ length: 100 }, () => step), tools, policy });
      const { failure } = expectType(await scene.run('Read all pages.'), 'failed');
      const refused = sizes.slice(7);
      expect(failure.code).toBe(code);
      expect(refused.length).toBeLessThanOrEqual(7);
      expect(refused).toEqual(refused.toSorted((one, other) => other - one));
      expect(new Set(refused).size).toBe(refused.length);
      expect(failure.message).toMatch(
        /Nothing is left to cut: it is about \d+ tokens by estimate, \d+ of them/u,
      );
      expect(failure.context).toMatchObject({ shortenings: refused.length - 1 });
      expect(failure.context['estimatedTokens']).toBeLessThan(1500);
    }
  });

  it('is cut by the numbers that the provider states, at once', async () => {
    const { step, sizes } = worker((messages) =>
      sizeOf(messages) / 4 > 2000 ? { failure: counted(messages, 2000) } : undefined,
    );
    const scene = setScene({ script: Array.from({ length: 100 }, () => step), tools, policy });
    const history: readonly Message[] = Array.from({ length: 20 }, (_, index): readonly Message[] => [
      { role: 'user', content: `Question ${index}: ${page.slice(0, 2000)}` },
      { role: 'assistant', content: `Answer ${index}: ${page.slice(0, 2000)}` },
    ]).flat();
    const outcome = await scene.run([...history, { role: 'user', content: 'Read all pages.' }]);
    expect(outcome.type).toBe('completed');
    // More than ten times as much as it takes: without its numbers that would be five refusals.
    expect((sizes[0] ?? 0) / 4).toBeGreaterThan(20_000);
    expect((sizes[1] ?? 0) / 4).toBeLessThan(2000);
  });

  it('is asked again as it is where by the stated limit it must fit, and only so often', async () => {
    const unbelievable = (messages: readonly Message[]): ScriptEntry => ({
      failure: createFailure('CONTEXT_LENGTH_EXCEEDED', {
        message: 'Too long',
        context: { requestedTokens: sizeOf(messages) + 200_000, maxTokens: 128_000 },
      }),
    });
    const play = async (last: number): Promise<RunOutcome> => {
      let request = 0;
      const scene = setScene({
        script: Array.from(
          { length: 30 },
          () =>
            ({ messages }: { readonly messages: readonly Message[] }) => {
              request += 1;
              if (request === 1) return { toolCalls: [{ name: 'note', arguments: {} }] };
              return request <= last ? unbelievable(messages) : 'Done.';
            },
        ),
        tools: [plainTool({ name: 'note', effect: 'once', execute: () => 'Noted.' })],
        policy,
      });
      return scene.run('Note it.');
    };
    expect(await play(3)).toMatchObject({ type: 'completed', text: 'Done.' });
    const failed = expectType(await play(30), 'failed');
    expect(failed.usage.requests).toBeLessThanOrEqual(5);
  });

  it('also when the last turn alone holds too much', async () => {
    let request = 0;
    const scene = setScene({
      script: Array.from({ length: 20 }, () => ({ messages }: { readonly messages: readonly Message[] }) => {
        request += 1;
        if (request === 1)
          return { toolCalls: [{ name: 'pay', arguments: { page: 1, note: page.repeat(10) } }] };
        return sizeOf(messages) > 10_000 ? tooLong : JSON.stringify(messages);
      }),
      tools,
      policy,
    });
    const outcome = expectType(await scene.run('Pay.'), 'completed');
    expect(outcome.text).toContain('- pay({');
    expect(outcome.text).toContain('→ ok: Paid.');
  });

  it('while it streams, with what was said taken back', async () => {
    const { step } = worker((_, request) =>
      request === 7 || request === 8 ? { failure: 'CONTEXT_LENGTH_EXCEEDED', text: 'I was say' } : undefined,
    );
    const scene = setScene({ script: Array.from({ length: 100 }, () => step), tools, policy });
    const stream = scene.agent.stream('Read all pages.');
    let text = '';
    const reading = (async () => {
      for await (const event of stream) {
        if (event.type === 'text-retracted') text = text.slice(0, event.keep);
        if (event.type === 'text-delta') text += event.text;
      }
    })();
    const outcome = await scene.clock.runUntil(stream.outcome);
    await reading;
    expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' });
    expect(text).toBe('All done.');
  });
});

describe('with other models behind it', () => {
  const chain = (
    first: ScriptStep,
    second: ScriptStep,
  ): { readonly run: () => Promise<RunOutcome>; readonly asked: () => readonly number[] } => {
    const clock = simulatedClock();
    const models = [first, second].map((step, index) =>
      watchedModel(
        Array.from({ length: 100 }, () => step),
        { provider: `provider-${index}` },
      ),
    );
    const [model, fallback] = models as [ReturnType<typeof watchedModel>, ReturnType<typeof watchedModel>];
    const agent = createAgent({
      model: [model, fallback],
      clock,
      tools,
      policy,
      random: seededRandom(3),
      gates: createGates({ clock }),
    });
    return {
      run: () => clock.runUntil(agent.run('Read all pages.')),
      asked: () => models.map(({ calls }) => calls.length),
    };
  };

  it('the larger one is asked first, and nothing is cut', async () => {
    const { step } = worker(() => undefined);
    const small: ScriptStep = (request, index) =>
      sizeOf(request.messages) > 10_000 ? tooLong : step(request, index);
    const outcome = await chain(small, step).run();
    expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' });
    expect(JSON.stringify(outcome.messages)).not.toContain('to save room');
  });

  it('the conversation is made shorter where all of them refuse it, twice in a row too', async () => {
    const { step } = worker((messages) => (sizeOf(messages) > 4000 ? tooLong : undefined));
    expect(await chain(step, step).run()).toMatchObject({ type: 'completed', text: 'All done.' });
  });

  it.each(['NETWORK_ERROR', 'QUOTA_EXCEEDED', 'AUTHENTICATION_ERROR'] as const)(
    'the conversation is made shorter for the first where the last one fails with %s',
    async (code) => {
      const { step } = worker((messages) => (sizeOf(messages) > 8000 ? tooLong : undefined));
      expect(await chain(step, { failure: code }).run()).toMatchObject({
        type: 'completed',
        text: 'All done.',
      });
    },
  );

  it('all refusing for ever ends the run, each asked a bounded number of times', async () => {
    const { step } = worker((_, request) => (request > 7 ? tooLong : undefined));
    const { run, asked } = chain(step, tooLong);
    expect(await run()).toMatchObject({ type: 'failed', failure: { code: 'CONTEXT_LENGTH_EXCEEDED' } });
    expect(Math.max(...asked())).toBeLessThanOrEqual(7 + 7);
  });
});

describe('in a session and with a failing summary', () => {
  it('the next run of the session is made shorter too', async () => {
    const clock = simulatedClock();
    const store = memoryStore({ clock });
    for (let run = 0; run < 3; run += 1) {
      const { step } = worker((messages) => (sizeOf(messages) > 12_000 ? tooLong : undefined));
      const agent = createAgent({
        name: 'clerk',
        model: watchedModel(Array.from({ length: 100 }, () => step)),
        clock,
        tools,
        policy,
        store: store.reopen(),
        random: seededRandom(3),
        gates: createGates({ clock }),
      });
      const outcome = await clock.runUntil(agent.run('Read all pages.', { sessionId: 's' }));
      expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' });
    }
  });

  it.each(['INVALID_REQUEST', 'CONTEXT_LENGTH_EXCEEDED', 'NETWORK_ERROR'] as const)(
    'a summary that fails with %s costs detail, not the run',
    async (code) => {
      const { step } = worker((messages) => (sizeOf(messages) > 20_000 ? tooLong : undefined));
      const failing: ScriptStep = (request, index) =>
        isSummary(request.messages) ? { failure: code } : step(request, index);
      const scene = setScene({
        script: Array.from({ length: 200 }, () => failing),
        tools,
        policy,
        context: { strategy: 'summary' },
      });
      expect(await scene.run('Read all pages.')).toMatchObject({ type: 'completed', text: 'All done.' });
      expect(compacted(scene.events).some(({ failure }) => failure?.code === 'COMPACTION_FAILED')).toBe(true);
    },
  );
});
