import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { Agent, AgentOptions, RunAnswer, RunEvent, RunOutcome, Tool } from '../../src/index.ts';
import type { Verified } from '../../src/model/tool.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  decisionsIn,
  expectType,
  plainTool,
  resultsIn,
  watchEverything,
} from './scene.ts';

watchEverything();

// A run that is cancelled while a call that must not happen twice is under way, and resumed by another process.

interface Payment {
  readonly tool: Tool;
  readonly executions: () => number;
}

/** Hangs the first time, and does not listen to the wish to stop. */
function payment(verify?: () => Verified): Payment {
  let executions = 0;
  const tool = plainTool({
    name: 'pay',
    timeoutMs: 60_000,
    ...(verify === undefined ? {} : { verify }),
    execute: () => {
      executions += 1;
      return executions === 1 ? new Promise(() => undefined) : `paid at attempt ${executions}`;
    },
  });
  return { tool, executions: () => executions };
}

const look = plainTool({ name: 'look', effect: 'read', execute: () => 'seen' });
const send = plainTool({ name: 'send', permission: 'ask', onError: 'abort', execute: () => 'sent' });

type Options = Omit<AgentOptions, 'model' | 'store' | 'clock' | 'output'>;

interface Cancelled {
  readonly outcome: RunOutcome;
  /** Another process takes the run up. */
  readonly next: (script?: readonly ScriptStep[]) => Life;
}

interface Life {
  readonly agent: Agent;
  /** Those since it was resumed: what led to its end is told again before. */
  readonly decisions: () => readonly string[];
  readonly resume: (answer?: RunAnswer) => Promise<RunOutcome>;
}

async function cancelled(script: readonly ScriptStep[], options: Options): Promise<Cancelled> {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const live = (steps: readonly ScriptStep[]): Life => {
    const events: RunEvent[] = [];
    const agent = createAgent({
      name: 'clerk',
      random: seededRandom(7),
      gates: createGates({ clock }),
      ...options,
      model: scriptedModel(steps),
      clock,
      store: store.reopen(),
      callbacks: { onEvent: (event) => void events.push(event) },
    });
    const resume = (answer?: RunAnswer): Promise<RunOutcome> =>
      clock.runUntil(agent.resume('r1', answer === undefined ? {} : { answer }));
    const decisions = (): readonly string[] =>
      decisionsIn(events.slice(events.findIndex(({ type }) => type === 'run-resumed')));
    return { agent, decisions, resume };
  };
  const first = live(script);
  const running = first.agent.run('Pay.', { runId: 'r1' });
  clock.after(50, () => void first.agent.cancel('r1', 'wait a moment'));
  const outcome = await clock.runUntil(running);
  return { outcome, next: (steps = ['Done.']) => live(steps) };
}

const cents = { cents: 1 };

describe('a call that was under way when its run was cancelled', () => {
  it.each([
    { what: 'that nobody can check', verify: undefined },
    { what: 'whose check cannot tell', verify: (): Verified => ({ happened: 'unknown' }) },
  ])('$what is a question to a person when the run goes on', async ({ verify }) => {
    const pay = payment(verify);
    const { outcome, next } = await cancelled([calling('pay', cents)], { tools: [pay.tool] });
    expect(outcome.type).toBe('cancelled');
    expect(resultsIn(outcome.messages)).toEqual([expect.stringContaining('may or may not')]);
    const second = next();
    const asked = expectType(await second.resume(), 'suspended');
    expect(asked).toMatchObject({
      reason: 'in-doubt',
      request: { type: 'in-doubt', tool: 'pay', input: cents },
    });
    expect(second.decisions().at(-1)).toBe('UNKNOWN_OUTCOME → ask-person');
    expect(pay.executions()).toBe(1);
  });

  it.each([
    { answer: { happened: true, result: 'no. 7' }, executions: 1, result: /^no\. 7$/ },
    { answer: 'did not happen', executions: 2, result: /^paid at attempt 2$/ },
    { answer: 'unknown', executions: 1, result: /may or may not/ },
  ])('is executed $executions times in all where the person says $answer', async (row) => {
    const pay = payment();
    const { next } = await cancelled([calling('pay', cents)], { tools: [pay.tool] });
    await next().resume();
    const done = expectType(await next().resume(row.answer), 'completed');
    expect(pay.executions()).toBe(row.executions);
    expect(resultsIn(done.messages)).toEqual([expect.stringMatching(row.result)]);
  });

  it.each([
    { found: { happened: true, result: 'no. 7' }, executions: 1, result: 'no. 7' },
    { found: { happened: false }, executions: 2, result: 'paid at attempt 2' },
  ] as const)('is checked by its tool first, which finds $found', async ({ found, executions, result }) => {
    const pay = payment(() => found);
    const { next } = await cancelled([calling('pay', cents)], { tools: [pay.tool] });
    const second = next();
    const done = expectType(await second.resume(), 'completed');
    expect(pay.executions()).toBe(executions);
    expect(resultsIn(done.messages)).toEqual([result]);
    expect(second.decisions()).toEqual(['UNKNOWN_OUTCOME → verify']);
  });

  it('is told to the model where the policy says so', async () => {
    const pay = payment();
    const { next } = await cancelled([calling('pay', cents)], {
      tools: [pay.tool],
      policy: { inDoubt: 'tell' },
    });
    const done = expectType(await next().resume(), 'completed');
    expect(resultsIn(done.messages)).toEqual([expect.stringContaining('may or may not')]);
    expect(pay.executions()).toBe(1);
  });

  it('is asked about again where the run was cancelled over the question', async () => {
    const pay = payment();
    const { next } = await cancelled([calling('pay', cents)], { tools: [pay.tool] });
    const second = next();
    expectType(await second.resume(), 'suspended');
    await second.agent.cancel('r1', 'not now');
    const asked = expectType(await next().resume(), 'suspended');
    expect(asked.request).toMatchObject({ type: 'in-doubt', tool: 'pay' });
    expect(resultsIn(asked.messages)).toHaveLength(1);
  });

  it('takes nothing from its neighbours: what was done stays, and what was not begun is not begun', async () => {
    const pay = payment();
    const { next } = await cancelled([callingAll(['look'], ['pay', cents], ['send'])], {
      tools: [look, pay.tool, send],
    });
    await next().resume();
    const done = expectType(await next().resume('happened'), 'completed');
    expect(resultsIn(done.messages)).toEqual([
      'seen',
      expect.stringContaining('a person checked'),
      expect.stringContaining('was not run'),
    ]);
  });
});

describe('a call that may be made again', () => {
  it('is no question when a cancelled run goes on: the model is told', async () => {
    const slow = plainTool({
      name: 'pay',
      effect: 'idempotent',
      execute: () => new Promise(() => undefined),
    });
    const { next } = await cancelled([calling('pay', cents)], { tools: [slow] });
    const done = expectType(await next().resume(), 'completed');
    expect(resultsIn(done.messages)).toEqual([expect.stringContaining('The run was cancelled while')]);
  });
});
