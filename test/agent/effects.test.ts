import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { AgentOptions, ContextStrategy, Message, Tool } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptEntry, ScriptStep } from '../../src/testing/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { eventsOf, plainTool, setScene, watchedModel, watchEverything } from './scene.ts';

// No shortening hides an effect: whatever is cleared, dropped, summarised, truncated or not selected, the model is shown of each call
// that is not `read` the tool, its arguments and its outcome, and the head of its result. That histories are valid is checked by the scene.

watchEverything();

/** One call of a scripted conversation, and how it goes. */
interface Step {
  readonly tool: 'look' | 'pay' | 'save' | 'break';
  readonly characters: number;
}

const effects = { look: 'read', pay: 'once', save: 'idempotent', break: 'once' } as const;
const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(200);

/** Says first what it did; some of them fail. */
const tools: readonly Tool[] = Object.entries(effects).map(([name, effect]) =>
  plainTool({
    name,
    effect,
    repeats: 'any',
    input: { type: 'object', properties: { id: { type: 'string' } } },
    execute: (input) => {
      const { id, characters } = input as { readonly id: string; readonly characters: number };
      if (name === 'break') throw new Error(`result-${id} could not be had`);
      return `result-${id} ${filler.slice(0, characters)}`;
    },
  }),
);

const patient = {
  loop: { nudgeAt: 1000, withdrawAt: 1001, stopAt: 1002 },
  retry: { maxAttempts: 1 },
} as const;
const limits = { maxTurns: 200, maxToolFailures: 1000, maxFailedTurns: 1000, maxToolAttempts: 1 };

const callOf = ({ tool, characters }: Step, id: string): ScriptEntry => ({
  text: 'I go on.',
  toolCalls: [{ name: tool, arguments: { id, characters } }],
});

/** Whether a conversation shows an effect: the call with its result in place, or a line of the list of effects. */
function shows(messages: readonly Message[], { tool }: Step, id: string): 'whole' | 'bare' | 'not' {
  const outcome = tool === 'break' ? 'failed' : 'ok';
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'assistant' && typeof content !== 'string') {
      const call = content.find(
        (part) => part.type === 'tool-call' && part.name === tool && part.argumentsText.includes(`"${id}"`),
      );
      if (call?.type !== 'tool-call') continue;
      const following = messages.slice(index + 1).find((message) => message.role === 'tool');
      const result =
        following?.role === 'tool'
          ? following.content.find(({ callId }) => callId === call.callId)
          : undefined;
      if (result === undefined || (result.isError === true) !== (outcome === 'failed')) return 'not';
      return JSON.stringify(result.content).includes(`result-${id}`) ? 'whole' : 'not';
    }
    if (role !== 'user' || typeof content !== 'string') continue;
    const line = content
      .split('\n')
      .find(
        (each) => each.startsWith(`- ${tool}(`) && each.includes(`"${id}"`) && each.includes(`→ ${outcome}`),
      );
    if (line !== undefined) return line.includes(`result-${id}`) ? 'whole' : 'bare';
  }
  return 'not';
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  tool: fc.constantFrom('look', 'look', 'pay', 'save', 'break'),
  characters: fc.oneof(fc.constant(0), fc.nat(400), fc.nat(8000)),
});

const context = fc
  .record({
    strategies: fc.uniqueArray(fc.constantFrom<ContextStrategy>('clear-results', 'window', 'summary'), {
      minLength: 1,
    }),
    keepLastTurns: fc.integer({ min: 1, max: 3 }),
    maxTokens: fc.option(fc.integer({ min: 1500, max: 9000 }), { nil: undefined }),
  })
  .map(({ strategies, keepLastTurns, maxTokens }) => ({
    strategy: strategies,
    keepLastTurns,
    ...(maxTokens === undefined ? {} : { maxTokens, reserveTokens: 200 }),
  }));

/** By request, whether the provider refuses it; after the last everything is taken. */
const refusals = fc.array(fc.constantFrom(false, false, false, true), { maxLength: 40 });
const summaries = fc.constantFrom('ok', 'fails', 'short');

interface Played {
  readonly hidden: readonly string[];
  readonly bare: number;
  readonly shown: number;
  readonly compactions: number;
}

/** Plays the steps and looks at every request: which effect is not to be seen in it? */
async function play({
  steps,
  options,
  refused,
  summary,
}: {
  readonly steps: readonly Step[];
  readonly options: NonNullable<AgentOptions['context']>;
  readonly refused: readonly boolean[];
  readonly summary: 'ok' | 'fails' | 'short';
}): Promise<Played> {
  const hidden: string[] = [];
  const counts = { bare: 0, shown: 0 };
  let next = 0;
  let request = 0;
  const script: ScriptStep = ({ messages }) => {
    if (JSON.stringify(messages.at(-1)).includes('<record>')) {
      if (summary === 'fails') return { failure: 'INVALID_REQUEST' };
      return summary === 'short' ? 'OK.' : 'The user wants the steps done. Some of them were done.';
    }
    request += 1;
    for (const [index, step] of steps.slice(0, next).entries()) {
      if (effects[step.tool] === 'read') continue;
      const seen = shows(messages, step, `id-${index}-x`);
      if (seen === 'not') hidden.push(`request ${request}: ${step.tool} id-${index}-x`);
      if (seen === 'bare') counts.bare += 1;
      counts.shown += 1;
    }
    if (refused[request - 1] === true) return { failure: 'CONTEXT_LENGTH_EXCEEDED' };
    const step = steps[next];
    if (step === undefined) return 'Done.';
    next += 1;
    return callOf(step, `id-${next - 1}-x`);
  };
  const scene = setScene({ script, tools, context: options, policy: patient, limits });
  await scene.run(`Do the steps. ${filler.slice(0, 500)}`);
  return { hidden, ...counts, compactions: eventsOf(scene.events, 'history-compacted').length };
}

describe('what was done stays visible to the model', () => {
  it('through every strategy, refusal and summary, however often the conversation is made shorter', async () => {
    const total = { shown: 0, bare: 0, compactions: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          steps: fc.array(stepArbitrary, { minLength: 4, maxLength: 24 }),
          options: context,
          refused: refusals,
          summary: summaries,
        }),
        async (played) => {
          const { hidden, shown, bare, compactions } = await play(played);
          expect(hidden).toEqual([]);
          total.shown += shown;
          total.bare += bare;
          total.compactions += compactions;
        },
      ),
      { seed: 11, numRuns: 150 },
    );
    // Much was made shorter, and rarely so much that a line has no room for the head of its result.
    expect(total.compactions).toBeGreaterThan(200);
    expect(total.shown).toBeGreaterThan(3000);
    expect(total.bare / total.shown).toBeLessThan(0.2);
  }, 60_000);

  it.each<{ readonly strategy: ContextStrategy | readonly ContextStrategy[] }>([
    { strategy: 'clear-results' },
    { strategy: 'window' },
    { strategy: 'summary' },
    { strategy: ['clear-results', 'window', 'summary'] },
  ])('with the head of its result, in a window of a usual size, by $strategy', async ({ strategy }) => {
    const steps = Array.from({ length: 40 }, (_, index): Step => ({
      tool: index % 2 === 0 ? 'look' : 'pay',
      characters: 6000,
    }));
    const options = { strategy, maxTokens: 16_000 };
    const played = await play({ steps, options, refused: [], summary: 'ok' });
    expect(played).toMatchObject({ hidden: [], bare: 0 });
    expect(played.compactions).toBeGreaterThan(1);
  });

  it('while results that can be read again are cleared first', async () => {
    const steps: readonly Step[] = [
      { tool: 'pay', characters: 3000 },
      ...Array.from({ length: 6 }, (): Step => ({ tool: 'look', characters: 8000 })),
    ];
    let next = 0;
    const seen: (readonly Message[])[] = [];
    const scene = setScene({
      script: ({ messages }) => {
        seen.push(messages);
        const step = steps[next];
        if (step === undefined) return 'Done.';
        next += 1;
        return callOf(step, `id-${next - 1}-x`);
      },
      tools,
      context: { maxTokens: 9000, reserveTokens: 500, strategy: 'clear-results' },
      policy: patient,
    });
    await scene.run('Do the steps.');
    const last = JSON.stringify(seen.at(-1));
    expect(eventsOf(scene.events, 'history-compacted').length).toBeGreaterThan(0);
    expect(last).toContain('This result was removed to save room');
    expect(last).toContain(`result-id-0-x ${filler.slice(0, 2900)}`);
  });
});

describe('what work in the background did stays visible', () => {
  it.each(['done', 'failed'] as const)('where it is %s and the note of it has gone', async (end) => {
    const send = plainTool({
      name: 'send',
      effect: 'once',
      execute: (_input, { background }) => {
        const work = end === 'done' ? Promise.resolve('receipt-77') : Promise.reject(new Error('receipt-77'));
        background('the bank', work);
        return 'Started.';
      },
    });
    const steps = Array.from({ length: 8 }, (_, index) =>
      callOf({ tool: 'look', characters: 6000 }, `id-${index}-x`),
    );
    const scene = setScene({
      script: [{ toolCalls: [{ name: 'send', arguments: {} }] }, ...steps, 'Done.'],
      tools: [...tools, send],
      context: { maxTokens: 5000, reserveTokens: 200, strategy: 'window', keepLastTurns: 1 },
      policy: patient,
    });
    await scene.run('Send it.');
    const last = JSON.stringify(scene.model.calls.at(-1)?.request.messages);
    expect(eventsOf(scene.events, 'history-compacted').length).toBeGreaterThan(0);
    const outcome = end === 'done' ? 'ok' : 'failed';
    expect(last).toMatch(
      new RegExp(`- send\\(\\{.{2}background.{5}the bank.{3}\\) → ${outcome}: [^<]*receipt-77`, 'u'),
    );
  });
});

interface End {
  readonly content: string;
  readonly isError?: true;
}

describe('what earlier conversations did stays visible', () => {
  const past = (name: string, id: string, { content, isError }: End): readonly Message[] => [
    { role: 'user', content: `Please ${id}. ${filler.slice(0, 3000)}` },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', callId: id, name, argumentsText: `{"id":"${id}"}` }],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', callId: id, name, content, ...(isError === undefined ? {} : { isError }) },
      ],
    },
    { role: 'assistant', content: 'Done.' },
  ];

  it('also of tools that the agent does not have, and of calls whose end was not seen', async () => {
    const unknown = 'The outcome of this call is not known: it may or may not have happened.';
    const history: readonly Message[] = [
      ...past('gone', 'id-gone', { content: `result-id-gone ${filler.slice(0, 4000)}` }),
      ...past('gone', 'id-failed', { content: 'result-id-failed: no such account', isError: true }),
      ...past('pay', 'id-open', { content: unknown, isError: true }),
      ...past('look', 'id-look', { content: `result-id-look ${filler.slice(0, 4000)}` }),
    ];
    const scene = setScene({
      script: ({ messages }) => JSON.stringify(messages),
      tools,
      context: { maxTokens: 2500, reserveTokens: 100, strategy: 'window' },
    });
    await scene.run([...history, { role: 'user', content: 'Go on.' }]);
    const note = JSON.stringify(scene.model.calls.at(-1)?.request.messages);
    expect(note).toContain('- gone({\\"id\\":\\"id-gone\\"}) → ok: result-id-gone');
    expect(note).toContain('- gone({\\"id\\":\\"id-failed\\"}) → failed: result-id-failed: no such account');
    expect(note).toContain(
      '- pay({\\"id\\":\\"id-open\\"}) → not known: The outcome of this call is not known',
    );
    expect(note).not.toContain('- look(');
  });

  it('and is counted, not forgotten, beyond the 500 calls that a list holds', async () => {
    const many = Array.from({ length: 620 }, (_, index) =>
      past('gone', `id-${index}-x`, { content: `result-${index}` }),
    );
    const history = many.flatMap((messages) => messages.filter(({ role }) => role !== 'user'));
    const scene = setScene({
      script: ['Yes.'],
      tools,
      context: { maxTokens: 24_000, reserveTokens: 100, strategy: 'window' },
    });
    const question = { role: 'user', content: filler.repeat(2) } as const;
    await scene.run([{ role: 'user', content: 'Begin.' }, ...history, question]);
    const text = JSON.stringify(scene.model.calls.at(-1)?.request.messages);
    const listed = text.match(/- gone\(/gu)?.length ?? 0;
    const inPlace = text.match(/"argumentsText"/gu)?.length ?? 0;
    const older = Number(/- (\d+) older calls of gone, not listed → ok/u.exec(text)?.[1] ?? 0);
    expect(older).toBeGreaterThan(0);
    expect(listed).toBeLessThanOrEqual(500);
    expect(listed + inPlace + older).toBe(620);
  });
});

describe('what earlier runs of a session did stays visible', () => {
  const clock = simulatedClock();

  /** Runs one after the other in one session; each looks at what the ones before did. */
  function createSession(options: Partial<AgentOptions>): {
    readonly run: (
      steps: readonly Step[],
      end?: 'answer' | 'fail' | 'stop' | 'cancel',
    ) => Promise<{ readonly type: string; readonly hidden: readonly string[] }>;
  } {
    const store = memoryStore({ clock });
    const done: { readonly step: Step; readonly id: string }[] = [];
    let runs = 0;
    return {
      run: async (steps, end = 'answer') => {
        runs += 1;
        const hidden: string[] = [];
        const controller = new AbortController();
        let next = 0;
        const model = watchedModel(({ messages }) => {
          if (JSON.stringify(messages.at(-1)).includes('<record>')) return 'The user wants steps to be done.';
          for (const { step, id } of done)
            if (shows(messages, step, id) === 'not') hidden.push(`${step.tool} ${id}`);
          const step = steps[next];
          if (step === undefined && end === 'fail') return { failure: 'INVALID_REQUEST' };
          if (step === undefined && end === 'cancel') controller.abort();
          if (step === undefined && end !== 'stop') return `Answer ${runs}.`;
          next += 1;
          const made = step ?? { tool: 'look', characters: 10 };
          const id = `id-${runs}-${next}-x`;
          if (effects[made.tool] !== 'read') done.push({ step: made, id });
          return callOf(made, id);
        });
        const agent = createAgent({
          name: 'clerk',
          random: seededRandom(7),
          gates: createGates({ clock }),
          tools,
          ...options,
          policy: patient,
          limits: { ...limits, maxTurns: end === 'stop' ? steps.length + 1 : 200 },
          model,
          clock,
          store: store.reopen(),
        });
        const { type } = await clock.runUntil(
          agent.run(`Question ${runs}. ${filler.slice(0, 300)}`, {
            sessionId: 's',
            signal: controller.signal,
          }),
        );
        return { type, hidden };
      },
    };
  }

  it.each([
    { end: 'answer', type: 'completed' },
    { end: 'fail', type: 'failed' },
    { end: 'stop', type: 'stopped' },
    { end: 'cancel', type: 'cancelled' },
  ] as const)('after a run that is $type', async ({ end, type }) => {
    const session = createSession({});
    const steps: readonly Step[] = [
      { tool: 'pay', characters: 100 },
      { tool: 'look', characters: 100 },
      { tool: 'break', characters: 0 },
    ];
    expect((await session.run(steps, end)).type).toBe(type);
    expect(await session.run([{ tool: 'save', characters: 5 }])).toEqual({ type: 'completed', hidden: [] });
    expect(await session.run([])).toEqual({ type: 'completed', hidden: [] });
  });

  it.each(['recency', 'lexical', 'none'] as const)('where %s selects little of it', async (strategy) => {
    const session = createSession({ history: { strategy, maxExchanges: 1 } });
    for (let run = 0; run < 4; run += 1) {
      const ended = await session.run([
        { tool: 'pay', characters: 500 },
        { tool: 'look', characters: 500 },
      ]);
      expect(ended).toEqual({ type: 'completed', hidden: [] });
    }
  });

  it('where even the last exchange is too long to be shown', async () => {
    const session = createSession({ history: { maxTokens: 200 } });
    await session.run([{ tool: 'pay', characters: 4000 }]);
    expect(await session.run([])).toEqual({ type: 'completed', hidden: [] });
  });

  it('through random runs, selections and compactions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            steps: fc.array(stepArbitrary, { maxLength: 6 }),
            end: fc.constantFrom<'answer' | 'fail' | 'stop' | 'cancel'>(
              'answer',
              'answer',
              'fail',
              'stop',
              'cancel',
            ),
          }),
          { minLength: 2, maxLength: 5 },
        ),
        context,
        fc.record({
          strategy: fc.constantFrom<'recency' | 'lexical' | 'none'>('recency', 'lexical', 'none'),
          maxExchanges: fc.integer({ min: 1, max: 3 }),
          maxTokens: fc.integer({ min: 100, max: 6000 }),
        }),
        async (runs, options, history) => {
          const session = createSession({ context: options, history });
          for (const { steps, end } of runs) expect((await session.run(steps, end)).hidden).toEqual([]);
        },
      ),
      { seed: 12, numRuns: 60 },
    );
  }, 60_000);
});
