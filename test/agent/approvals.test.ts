import { describe, expect, it } from 'vitest';
import type { PersonRequest, RunAnswer, RunOutcome } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';
import type { Scene, SceneOptions } from './scene.ts';

watchEverything();

type Approval = Extract<PersonRequest, { type: 'approval' }>;

interface Stage extends Scene {
  readonly paid: readonly unknown[];
}

const day = 24 * 3_600_000;

/** An agent whose one tool asks before it pays. */
function payScene(
  script: readonly ScriptStep[] = [calling('pay', { cents: 4200 }), 'Done.'],
  options: Partial<SceneOptions> = {},
): Stage {
  const paid: unknown[] = [];
  const pay = plainTool({
    name: 'pay',
    permission: 'ask',
    execute: (input) => {
      paid.push(input);
      return 'paid';
    },
  });
  return { ...setScene({ tools: [pay], script, ...options }), paid };
}

function requestOf(outcome: RunOutcome): Approval {
  const { request } = expectType(outcome, 'suspended');
  if (request?.type !== 'approval') throw new Error(`Asked for ${request?.type ?? 'nothing'}`);
  return request;
}

describe('a call that asks', () => {
  it('suspends the run with everything that is needed to decide', async () => {
    const { run, events, paid, clock } = payScene();
    const outcome = expectType(await run('Pay.', { runId: 'pay-1' }), 'suspended');
    expect(outcome.reason).toBe('approval');
    const request = requestOf(outcome);
    expect(request).toMatchObject({ type: 'approval', tool: 'pay', input: { cents: 4200 } });
    expect(request.why).not.toBe('');
    expect(request.hash).toMatch(/^[0-9a-f]{16,}$/);
    expect(request.expiresAt).toBe(clock.wallMs() + day);
    expect(eventsOf(events, 'approval-requested')).toEqual([{ type: 'approval-requested', request }]);
    expect(eventsOf(events, 'run-suspended')).toEqual([
      { type: 'run-suspended', reason: 'approval', request },
    ]);
    expect(paid).toEqual([]);
  });

  const answers: readonly { readonly answer: RunAnswer; readonly isYes: boolean }[] = [
    { answer: true, isYes: true },
    { answer: { approved: true }, isYes: true },
    { answer: { approved: true, reason: 'fine' }, isYes: true },
    { answer: false, isYes: false },
    { answer: { approved: false, reason: 'too much' }, isYes: false },
    { answer: { type: 'absent' }, isYes: false },
  ];

  it.each(answers)('runs after the answer $answer: $isYes', async ({ answer, isYes }) => {
    const { run, resume, paid, events } = payScene();
    const { runId } = await run();
    const outcome = expectType(await resume(runId, { answer }), 'completed');
    expect(paid).toEqual(isYes ? [{ cents: 4200 }] : []);
    expect(eventsOf(events, 'approval-answered').map(({ verdict }) => verdict)).toEqual([
      isYes ? 'yes' : 'no',
    ]);
    expect(resultsIn(outcome.messages)).toEqual([
      expect.stringContaining(isYes ? 'paid' : 'It was not run.'),
    ]);
  });

  const bound: readonly {
    readonly what: string;
    readonly answer: (request: Approval) => RunAnswer;
    readonly isYes: boolean;
  }[] = [
    { what: 'the whole request', answer: (request) => ({ ...request, approved: true }), isYes: true },
    { what: 'its id', answer: ({ id }) => ({ id, approved: true }), isYes: true },
    { what: 'another id', answer: ({ id }) => ({ id: `${id}x`, approved: true }), isYes: false },
    { what: 'another hash', answer: () => ({ hash: '0'.repeat(64), approved: true }), isYes: false },
    { what: 'another tool', answer: () => ({ tool: 'delete', approved: true }), isYes: false },
    {
      what: 'another hash with other arguments',
      answer: () => ({ hash: '0'.repeat(64), input: { cents: 1 }, approved: true }),
      isYes: false,
    },
  ];

  it.each(bound)('takes a yes that names $what: $isYes', async ({ answer, isYes }) => {
    const { run, resume, paid } = payScene();
    const suspended = await run();
    await resume(suspended.runId, { answer: answer(requestOf(suspended)) });
    expect(paid).toHaveLength(isYes ? 1 : 0);
  });

  it('is told no in the words of the person', async () => {
    const { run, resume } = payScene();
    const { runId } = await run();
    const { messages } = await resume(runId, { answer: { approved: false, reason: 'wrong account' } });
    expect(resultsIn(messages)[0]).toContain('wrong account');
  });

  it('stays asked where nobody answers', async () => {
    const { run, resume, paid, model } = payScene();
    const suspended = await run();
    const again = await resume(suspended.runId);
    expect(again).toEqual(suspended);
    expect(paid).toEqual([]);
    expect(model.calls).toHaveLength(1);
  });

  it('runs once, however often it is answered', async () => {
    const { run, resume, paid, model } = payScene();
    const { runId } = await run();
    const first = await resume(runId, { answer: true });
    const second = await resume(runId, { answer: true });
    const third = await resume(runId, { answer: false });
    expect([second, third]).toEqual([first, first]);
    expect(paid).toHaveLength(1);
    expect(model.calls).toHaveLength(2);
  });

  it('is answered once where two answer at the same time', async () => {
    const { run, agent, clock, paid } = payScene();
    const { runId } = await run();
    const both = Promise.all([agent.resume(runId, { answer: true }), agent.resume(runId, { answer: true })]);
    const outcomes = await clock.runUntil(both);
    expect(outcomes.map(({ type }) => type)).toEqual(['completed', 'completed']);
    expect(paid).toHaveLength(1);
  });

  it.each([
    { what: 'late', waitMs: day + 1, answer: true, paid: 0 },
    { what: 'in time', waitMs: day - 1, answer: true, paid: 1 },
    { what: 'never', waitMs: day + 1, answer: undefined, paid: 0 },
  ])('answered $what runs $paid times', async ({ waitMs, answer, paid: times }) => {
    const { run, resume, clock, paid } = payScene();
    const { runId } = await run();
    await clock.advance(waitMs);
    const outcome = await resume(runId, answer === undefined ? {} : { answer });
    expectType(outcome, 'completed');
    expect(paid).toHaveLength(times);
    // Time that is spent suspended is nobody's work.
    expect(outcome.usage.elapsedMs).toBeLessThan(1000);
  });

  it('beside another one is asked on its own, each bound to its call', async () => {
    const { run, resume, paid } = payScene([
      callingAll(['pay', { cents: 1 }], ['pay', { cents: 2 }]),
      'Done.',
    ]);
    const first = await run();
    const second = await resume(first.runId, { answer: { ...requestOf(first), approved: true } });
    expect(requestOf(second).id).not.toBe(requestOf(first).id);
    expect(requestOf(second).input).toEqual({ cents: 2 });
    // The answer to the first question is none to the second.
    const outcome = await resume(first.runId, { answer: { ...requestOf(first), approved: true } });
    expectType(outcome, 'completed');
    expect(paid).toEqual([{ cents: 1 }]);
    expect(resultsIn(outcome.messages)).toEqual(['paid', expect.stringContaining('another one')]);
  });

  it('lets calls beside it run that need not ask', async () => {
    const reached: string[] = [];
    const { run, resume, paid } = payScene([callingAll(['pay', { cents: 1 }], ['look']), 'Done.'], {
      tools: [
        plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' }),
        plainTool({ name: 'look', effect: 'read', execute: () => void reached.push('look') }),
      ],
    });
    const { runId } = expectType(await run(), 'suspended');
    expect(reached).toEqual(['look']);
    await resume(runId, { answer: true });
    expect(reached).toEqual(['look']);
    expect(paid).toEqual([]);
  });

  it('shows arguments that were repaired as such', async () => {
    const { run, resume, paid, events } = payScene([
      { toolCalls: [{ name: 'pay', argumentsText: '{"cents": 42,}' }] },
      'Done.',
    ]);
    const suspended = await run();
    expect(requestOf(suspended)).toMatchObject({ isRepaired: true, input: { cents: 42 } });
    expect(eventsOf(events, 'arguments-repaired')).toMatchObject([{ name: 'pay', input: { cents: 42 } }]);
    await resume(suspended.runId, { answer: true });
    expect(paid).toEqual([{ cents: 42 }]);
  });

  it.each([
    { what: 'the same call twice', inputs: [1, 1, 1, 1], questions: 2 },
    { what: 'different calls three times', inputs: [1, 2, 3, 4], questions: 3 },
  ])('that is refused for $what stops the run', async ({ inputs, questions }) => {
    const { run, resume, events, paid } = payScene(inputs.map((cents) => calling('pay', { cents })));
    let outcome = await run();
    for (let asked = 1; asked < questions; asked += 1) {
      outcome = await resume(outcome.runId, { answer: false });
      expectType(outcome, 'suspended');
    }
    const stopped = expectType(await resume(outcome.runId, { answer: false }), 'stopped');
    expect(stopped.reason).toBe('rejected');
    expect(stopped.report.person.text).not.toBe('');
    expect(eventsOf(events, 'approval-requested')).toHaveLength(questions);
    expect(paid).toEqual([]);
  });
});

describe('onApproval', () => {
  const rows: readonly {
    readonly what: string;
    readonly onApproval: () => boolean | undefined | Promise<RunAnswer>;
    readonly paid: number;
  }[] = [
    { what: 'says yes', onApproval: () => true, paid: 1 },
    { what: 'says yes later', onApproval: () => Promise.resolve({ approved: true }), paid: 1 },
    { what: 'says no', onApproval: () => false, paid: 0 },
    { what: 'says nothing', onApproval: () => undefined, paid: 0 },
    {
      what: 'throws',
      onApproval: () => {
        throw new Error('the chat is down');
      },
      paid: 0,
    },
    { what: 'rejects', onApproval: () => Promise.reject(new Error('the chat is down')), paid: 0 },
    { what: 'never answers', onApproval: () => new Promise(() => undefined), paid: 0 },
  ];

  it.each(rows)(
    'that $what lets it run $paid times, without a suspension',
    async ({ onApproval, paid: times }) => {
      const { run, events, paid } = payScene(undefined, { callbacks: { onApproval } });
      expectType(await run(), 'completed');
      expect(paid).toHaveLength(times);
      expect(eventsOf(events, 'run-suspended')).toEqual([]);
      expect(eventsOf(events, 'approval-answered')).toHaveLength(1);
    },
  );

  it('that never answers expires when the question does, and is told so', async () => {
    const signals: AbortSignal[] = [];
    const { run, clock } = payScene(undefined, {
      limits: { approvalTimeoutMs: 60_000 },
      callbacks: {
        onApproval: (_request, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    });
    const startMs = clock.monotonicMs();
    const { messages } = expectType(await run(), 'completed');
    expect(clock.monotonicMs() - startMs).toBe(60_000);
    expect(resultsIn(messages)[0]).toContain('no answer came in time');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('that answers too late is not heard', async () => {
    const stage: { scene?: Stage } = {};
    const scene = payScene(undefined, {
      limits: { approvalTimeoutMs: 1000 },
      callbacks: {
        onApproval: () => new Promise((resolve) => void stage.scene?.clock.after(5000, () => resolve(true))),
      },
    });
    stage.scene = scene;
    expectType(await scene.run(), 'completed');
    await scene.clock.advance(10_000);
    expect(scene.paid).toEqual([]);
  });

  it('that answers about another call has said no', async () => {
    const { run, paid } = payScene(undefined, {
      callbacks: { onApproval: () => ({ approved: true, id: 'other' }) },
    });
    await run();
    expect(paid).toEqual([]);
  });
});
