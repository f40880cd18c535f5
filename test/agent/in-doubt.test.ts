import { describe, expect, it } from 'vitest';
import type { RunAnswer, RunOutcome, ToolContext } from '../../src/index.ts';
import type { Verified } from '../../src/model/tool.ts';
import {
  calling,
  callingAll,
  decisionsIn,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';
import type { Scene, SceneOptions } from './scene.ts';

watchEverything();

// The rows of DURABILITY.md that need no crash: a call whose end nobody saw because its time ran out. What counts is how often
// the tool's own code was reached.

interface Stage extends Scene {
  readonly executions: () => number;
  readonly keys: ReadonlySet<string>;
}

type Verify = (input: unknown, context: ToolContext) => Verified | Promise<Verified>;

/** A tool that hangs the first `hangs` times, until its signal aborts. */
function hangScene(
  { hangs = 1, verify }: { readonly hangs?: number; readonly verify?: Verify },
  options: Partial<SceneOptions> = {},
): Stage {
  const keys = new Set<string>();
  let executions = 0;
  const pay = plainTool({
    name: 'pay',
    timeoutMs: 1000,
    ...(verify === undefined ? {} : { verify }),
    execute: (_input, { idempotencyKey, signal }) => {
      executions += 1;
      keys.add(idempotencyKey);
      return executions <= hangs ? hangUntil(signal) : `paid at attempt ${executions}`;
    },
  });
  const scene = setScene({ tools: [pay], script: [calling('pay', { cents: 1 }), 'Done.'], ...options });
  return { ...scene, executions: () => executions, keys };
}

const hang = (): Promise<never> => new Promise(() => undefined);

const hangUntil = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('a call in doubt', () => {
  it.each([
    { what: 'with its result', found: { happened: true, result: 'paid, no. 7' }, result: 'paid, no. 7' },
    { what: 'without one', found: { happened: true }, result: 'It has happened. Its result is not known.' },
  ] as const)(
    'that verify finds to have happened $what is settled, and not made again',
    async ({ found, result }) => {
      const { run, executions, events } = hangScene({ verify: () => found });
      const outcome = expectType(await run(), 'completed');
      expect(executions()).toBe(1);
      expect(resultsIn(outcome.messages)).toEqual([result]);
      expect(decisionsIn(events)).toEqual(['UNKNOWN_OUTCOME → verify']);
      expect(outcome.recoveries).toMatchObject([
        { recovery: 'verify', failure: { code: 'UNKNOWN_OUTCOME' } },
      ]);
    },
  );

  it('that verify finds not to have happened is made again, with the same key', async () => {
    const { run, executions, keys } = hangScene({ verify: () => ({ happened: false }) });
    const outcome = expectType(await run(), 'completed');
    expect(executions()).toBe(2);
    expect(keys.size).toBe(1);
    expect(resultsIn(outcome.messages)).toEqual(['paid at attempt 2']);
  });

  it('that never happens is made again as often as any call, and no more', async () => {
    const { run, executions } = hangScene(
      { hangs: 99, verify: () => ({ happened: false }) },
      { limits: { maxToolAttempts: 3 } },
    );
    const outcome = expectType(await run(), 'completed');
    expect(executions()).toBe(3);
    expect(resultsIn(outcome.messages)[0]).toContain('3 times');
  });

  it.each([
    { what: 'cannot tell', verify: () => ({ happened: 'unknown' }) as const },
    {
      what: 'throws',
      verify: () => {
        throw new Error('the bank is closed');
      },
    },
    { what: 'rejects', verify: () => Promise.reject(new Error('the bank is closed')) },
    { what: 'hangs', verify: hang },
    { what: 'answers nonsense', verify: () => 'yes' as never },
    { what: 'is not there', verify: undefined },
  ])('whose verify $what is a question to a person', async ({ verify }) => {
    const { run, executions, events } = hangScene(verify === undefined ? {} : { verify });
    const outcome = expectType(await run(), 'suspended');
    expect(outcome.reason).toBe('in-doubt');
    expect(outcome.request).toMatchObject({ type: 'in-doubt', tool: 'pay', input: { cents: 1 } });
    expect(decisionsIn(events).at(-1)).toBe('UNKNOWN_OUTCOME → ask-person');
    expect(executions()).toBe(1);
  });

  const answers: readonly {
    readonly answer: RunAnswer;
    readonly executions: number;
    readonly result: RegExp;
  }[] = [
    { answer: { happened: true, result: 'no. 7' }, executions: 1, result: /^no\. 7$/ },
    { answer: { happened: true, result: { number: 7 } }, executions: 1, result: /^\{"number":7\}$/ },
    { answer: 'happened', executions: 1, result: /a person checked/ },
    { answer: { happened: false }, executions: 2, result: /^paid at attempt 2$/ },
    { answer: 'did not happen', executions: 2, result: /^paid at attempt 2$/ },
    { answer: 'unknown', executions: 1, result: /may or may not/ },
    { answer: { happened: false, id: 'another' }, executions: 1, result: /may or may not/ },
  ];

  it.each(answers)('that a person answers with $answer is executed $executions times in all', async (row) => {
    const { run, resume, executions } = hangScene({});
    const { runId } = expectType(await run(), 'suspended');
    const outcome = expectType(await resume(runId, { answer: row.answer }), 'completed');
    expect(executions()).toBe(row.executions);
    expect(resultsIn(outcome.messages)).toEqual([expect.stringMatching(row.result)]);
  });

  it('stays in doubt where nobody answers, and is executed once', async () => {
    const { run, resume, executions } = hangScene({});
    const suspended = await run();
    expect(await resume(suspended.runId)).toEqual(suspended);
    expect(executions()).toBe(1);
  });

  it('that hangs again after a person said it did not happen is asked about again', async () => {
    const { run, resume, executions } = hangScene({ hangs: 2 });
    const first = expectType(await run(), 'suspended');
    const second = expectType(await resume(first.runId, { answer: { happened: false } }), 'suspended');
    expect(second.request?.id).not.toBe(first.request?.id);
    expect(executions()).toBe(2);
    // The answer to the first question must not make the call a third time.
    const outcome = await resume(first.runId, { answer: { ...first.request, happened: false } });
    expectType(outcome, 'completed');
    expect(executions()).toBe(2);
  });

  it('is told to the model where the policy says so', async () => {
    const { run, executions, events } = hangScene({}, { policy: { inDoubt: 'tell' } });
    const outcome = expectType(await run(), 'completed');
    expect(executions()).toBe(1);
    expect(decisionsIn(events)).toEqual(['UNKNOWN_OUTCOME → tell-model']);
    expect(resultsIn(outcome.messages)[0]).toMatch(/may or may not/);
  });

  it.each([
    { effect: 'read' as const, executions: 2 },
    { effect: 'idempotent' as const, executions: 2 },
  ])(
    'is none where the effect is $effect: the next attempt has the same key',
    async ({ effect, executions }) => {
      const keys = new Set<string>();
      let reached = 0;
      const pay = plainTool({
        name: 'pay',
        effect,
        timeoutMs: 1000,
        execute: (_input, { idempotencyKey, signal }) => {
          reached += 1;
          keys.add(idempotencyKey);
          return reached === 1 ? hangUntil(signal) : 'paid';
        },
      });
      const { run, events } = setScene({ tools: [pay], script: [calling('pay'), 'Done.'] });
      const outcome = expectType(await run(), 'completed');
      expect([reached, keys.size]).toEqual([executions, 1]);
      expect(decisionsIn(events)).toEqual(['TIMEOUT → retry']);
      expect(resultsIn(outcome.messages)).toEqual(['paid']);
    },
  );

  it('asked by onApproval takes its answer at once', async () => {
    const { run, executions } = hangScene(
      {},
      { callbacks: { onApproval: () => ({ happened: true, result: 'no. 7' }) } },
    );
    const outcome = expectType(await run(), 'completed');
    expect(executions()).toBe(1);
    expect(resultsIn(outcome.messages)).toEqual(['no. 7']);
  });

  it('and what comes late is evidence, never a result', async () => {
    let end: (value: string) => void = () => undefined;
    const pay = plainTool({
      name: 'pay',
      timeoutMs: 1000,
      execute: () => new Promise((resolve) => void (end = resolve)),
      verify: () => {
        end('paid, late');
        return { happened: true, result: 'paid, no. 7' } as const;
      },
    });
    const { run, events } = setScene({ tools: [pay], script: [calling('pay'), 'Done.'] });
    const outcome: RunOutcome = await run();
    expect(eventsOf(events, 'tool-late')).toMatchObject([
      { settled: 'returned', summary: expect.stringContaining('paid, late') as unknown },
    ]);
    expect(resultsIn(outcome.messages)).toEqual(['paid, no. 7']);
  });

  it('two at once are settled one after the other, each executed once', async () => {
    const { run, resume, executions } = hangScene(
      { hangs: 99 },
      { script: [callingAll(['pay', { cents: 1 }], ['pay', { cents: 2 }]), 'Done.'] },
    );
    const first = expectType(await run(), 'suspended');
    const second = expectType(await resume(first.runId, { answer: 'happened' }), 'suspended');
    expect(second.request?.type === 'in-doubt' && second.request.input).toEqual({ cents: 2 });
    expectType(await resume(first.runId, { answer: 'happened' }), 'completed');
    expect(executions()).toBe(2);
  });
});
