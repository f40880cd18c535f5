import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/index.ts';
import type { Hook, ResumeOptions, RunOutcome, Tool } from '../../src/index.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
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

const hang = (): Promise<never> => new Promise(() => undefined);
const hour = 3_600_000;

const look = plainTool({ name: 'look', effect: 'read', execute: () => 'looked' });
const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
const deaf = plainTool({ name: 'deaf', timeoutMs: 1000, execute: hang });
const slow = plainTool({ name: 'slow', effect: 'idempotent', timeoutMs: 1000, execute: hang });
const fatal = plainTool({
  name: 'fatal',
  onError: 'abort',
  execute: () => {
    throw new Error('the disk is gone');
  },
});
const broken = plainTool({
  name: 'broken',
  effect: 'read',
  execute: () => {
    throw new Error('no');
  },
});
const tools: readonly Tool[] = [look, pay, deaf, slow, fatal, broken];

interface Row {
  readonly after: string;
  readonly script: readonly ScriptStep[];
  readonly options?: Partial<SceneOptions>;
  readonly first: Partial<RunOutcome> & Pick<RunOutcome, 'type'>;
  readonly resume?: ResumeOptions;
  readonly waitMs?: number;
}

const failed = (code: string): Row['first'] => ({
  type: 'failed',
  failure: expect.objectContaining({ code }) as never,
});

const codes = [
  'SERVER_ERROR',
  'NETWORK_ERROR',
  'OVERLOADED',
  'TIMEOUT',
  'MODEL_LOADING',
  'STREAM_INTERRUPTED',
  'INVALID_REQUEST',
  'INVALID_RESPONSE',
  'CONTEXT_LENGTH_EXCEEDED',
  'UNKNOWN',
  'INTERNAL',
] as const;

const failures: readonly Row[] = [
  ...codes.map((code): Row => ({
    after: code,
    script: [calling('look'), { failure: code }, 'Fine.'],
    options: { policy: { retry: 'none' } },
    first: failed(code),
  })),
  {
    after: 'EMPTY_RESPONSE',
    script: [calling('look'), { text: '' }, 'Fine.'],
    options: { policy: { retry: 'none' }, limits: { maxNudges: 0 } },
    first: failed('EMPTY_RESPONSE'),
  },
  {
    after: 'OUTPUT_TRUNCATED',
    script: [{ text: 'half', finish: 'length' }, 'Fine.'],
    options: { policy: { retry: 'none' }, limits: { maxNudges: 0, maxContinuations: 0 } },
    first: failed('OUTPUT_TRUNCATED'),
  },
  {
    after: 'TOOL_CALL_INVALID',
    script: [{ toolCalls: [{ name: 'look', argumentsText: '{"a":' }] }, 'Fine.'],
    options: { policy: { retry: 'none' }, limits: { maxNudges: 0 } },
    first: failed('TOOL_CALL_INVALID'),
  },
  {
    after: 'a tool that ends the run',
    script: [callingAll(['look'], ['fatal']), 'Fine.'],
    first: failed('TOOL_EXECUTION_ERROR'),
  },
  {
    after: 'turns in which nothing succeeded',
    script: [calling('broken', { a: 1 }), calling('broken', { a: 2 }), 'Fine.'],
    options: { limits: { maxFailedTurns: 2 } },
    first: failed('TOOL_EXECUTION_ERROR'),
  },
];

const suspensions: readonly Row[] = [
  {
    after: 'a question',
    script: [calling('pay'), 'Fine.'],
    first: { type: 'suspended', reason: 'approval' },
    resume: { answer: true },
  },
  {
    after: 'a refusal',
    script: [calling('pay'), 'Fine.'],
    first: { type: 'suspended', reason: 'approval' },
    resume: { answer: false },
  },
  {
    after: 'a doubt',
    script: [calling('deaf'), 'Fine.'],
    first: { type: 'suspended', reason: 'in-doubt' },
    resume: { answer: 'happened' },
  },
  {
    after: 'an empty account',
    script: [{ failure: 'QUOTA_EXCEEDED' }, 'Fine.'],
    first: { type: 'suspended', reason: 'credit' },
  },
  {
    after: 'a bad key',
    script: [{ failure: 'AUTHENTICATION_ERROR' }, 'Fine.'],
    first: { type: 'suspended', reason: 'credentials' },
  },
  {
    after: 'a model that is not there',
    script: [calling('look'), { failure: 'MODEL_NOT_FOUND' }, 'Fine.'],
    first: { type: 'suspended', reason: 'credentials' },
  },
  {
    after: 'a wait of an hour',
    script: [
      calling('look'),
      {
        failure: createFailure('RATE_LIMITED', {
          message: 'come back',
          origin: 'model',
          retryable: true,
          retryAfterMs: hour,
        }),
      },
      'Fine.',
    ],
    first: { type: 'suspended', reason: 'long-wait' },
    waitMs: hour,
  },
];

describe('resume()', () => {
  it.each([...failures, ...suspensions])('goes on after $after', async (row) => {
    const { run, resume, clock, events } = setScene({ tools, script: row.script, ...row.options });
    const first = await run('Look.', { runId: 'run-1' });
    expect(first).toMatchObject(row.first);
    expect(findHistoryProblems(first.messages)).toEqual([]);
    await clock.advance(row.waitMs ?? 0);
    const outcome = expectType(await resume('run-1', row.resume), 'completed');
    expect(outcome.text).toBe('Fine.');
    expect(findHistoryProblems(outcome.messages)).toEqual([]);
    // What was said before is still there, and what was used up still counts.
    expect(outcome.messages[0]).toEqual({ role: 'user', content: 'Look.' });
    expect(outcome.usage.requests).toBeGreaterThan(first.usage.requests - 1);
    expect(eventsOf(events, 'run-resumed')).toHaveLength(1);
    expect(await resume('run-1')).toEqual(outcome);
  });

  it('before the moment that was asked for changes nothing', async () => {
    const failure = createFailure('RATE_LIMITED', {
      message: 'come back',
      origin: 'model',
      retryable: true,
      retryAfterMs: hour,
    });
    const { run, resume, clock, model } = setScene({ script: [{ failure }, 'Fine.'] });
    const suspended = expectType(await run(), 'suspended');
    expect(suspended.resumeAt).toBeGreaterThanOrEqual(clock.wallMs() + hour);
    expect(await resume(suspended.runId)).toEqual(suspended);
    expect(model.calls).toHaveLength(1);
  });

  it.each([
    { where: 'a model was asked', at: 'attempt-started', script: [{ text: 'late', delayMs: hour }, 'Fine.'] },
    { where: 'it waited for a retry', at: 'recovery', script: [{ failure: 'OVERLOADED' }, 'Fine.'] },
    { where: 'a tool ran', at: 'tool-started', script: [callingAll(['look'], ['slow']), 'Fine.'] },
  ] as const)('goes on after it was cancelled while $where', async ({ at, script }) => {
    const { agent, clock, resume } = setScene({ tools, script });
    const running = agent.run('Look.', {
      runId: 'run-1',
      onEvent: ({ type }) => void (type === at && setImmediate(() => void agent.cancel('run-1'))),
    });
    expectType(await clock.runUntil(running), 'cancelled');
    const outcome = expectType(await resume('run-1'), 'completed');
    expect(outcome.text).toBe('Fine.');
    expect(findHistoryProblems(outcome.messages)).toEqual([]);
  });

  it('goes on after a hook broke', async () => {
    let calls = 0;
    const hook: Hook = {
      name: 'once',
      kind: 'transformer',
      on: {
        'before-model': () => {
          calls += 1;
          if (calls === 2) throw new Error('broken');
        },
      },
    };
    const { run, resume } = setScene({ tools, hooks: [hook], script: [calling('look'), 'Fine.'] });
    const { runId } = expectType(await run(), 'failed');
    expect(await resume(runId)).toMatchObject({ type: 'completed' });
  });

  const finals: readonly (Row & { readonly type: RunOutcome['type'] })[] = [
    { after: 'an answer', type: 'completed', script: ['Fine.'], first: { type: 'completed' } },
    {
      after: 'a limit',
      type: 'stopped',
      script: [calling('look'), 'Partly.'],
      options: { limits: { maxTurns: 1 } },
      first: { type: 'stopped', reason: 'max-turns' },
    },
    {
      after: 'a refusal of the model',
      type: 'stopped',
      script: [{ failure: 'CONTENT_FILTERED' }],
      first: { type: 'stopped', reason: 'refused' },
    },
  ];

  it.each(finals)('after $after gives the same outcome again', async ({ script, options, first, after }) => {
    const { run, resume, model, events } = setScene({ tools, script, ...options });
    const outcome = await run('Look.', { runId: after });
    expect(outcome).toMatchObject(first);
    const requests = model.calls.length;
    const told = events.length;
    expect(await resume(after, { answer: true })).toEqual(outcome);
    expect([model.calls.length, events.length]).toEqual([requests, told]);
  });

  it('in the very moment of the outcome goes on as well', async () => {
    const { agent, clock } = setScene({
      policy: { retry: 'none' },
      script: [{ failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }, 'Fine.'],
    });
    const running = agent
      .run('Look.', { runId: 'run-1' })
      .then(() => agent.resume('run-1'))
      .then(() => agent.resume('run-1'));
    expect(await clock.runUntil(running)).toMatchObject({ type: 'completed' });
  });

  it('in the very event of the suspension goes on as well', async () => {
    const stage: { scene?: Scene; resumed?: Promise<RunOutcome> } = {};
    const scene = setScene({
      tools,
      callbacks: {
        onEvent: ({ type }) => {
          if (type === 'run-finished')
            stage.resumed ??= stage.scene?.agent.resume('run-1', { answer: true }) as Promise<RunOutcome>;
        },
      },
      script: [calling('pay'), 'Fine.'],
    });
    stage.scene = scene;
    await scene.run('Pay.', { runId: 'run-1' });
    expect(await scene.clock.runUntil(stage.resumed as Promise<RunOutcome>)).toMatchObject({
      type: 'completed',
    });
  });

  it('of a run under way waits for its end', async () => {
    const { agent, clock, model } = setScene({ script: [{ text: 'Fine.', delayMs: 1000 }] });
    const both = Promise.all([agent.run('Look.', { runId: 'run-1' }), agent.resume('run-1')]);
    const [one, other] = await clock.runUntil(both);
    expect(other).toEqual(one);
    expect(model.calls).toHaveLength(1);
  });

  it('with a signal that is aborted already asks nobody', async () => {
    const { run, resume, model } = setScene({ tools, script: [calling('pay'), 'Never.'] });
    const { runId } = expectType(await run(), 'suspended');
    const outcome = expectType(
      await resume(runId, { answer: true, signal: AbortSignal.abort() }),
      'cancelled',
    );
    expect(findHistoryProblems(outcome.messages)).toEqual([]);
    expect(model.calls).toHaveLength(1);
    expect(resultsIn(outcome.messages)).toHaveLength(1);
  });

  it('of a run that never was is a typed error', async () => {
    const { agent } = setScene({ script: [] });
    await expect(agent.resume('nobody')).rejects.toMatchObject({ code: 'NOT_REGISTERED' });
  });
});
