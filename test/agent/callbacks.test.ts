import { describe, expect, it } from 'vitest';
import type { AgentCallbacks, RunEvent } from '../../src/index.ts';
import { calling, eventsOf, expectType, plainTool, setScene, watchEverything } from './scene.ts';

watchEverything();

const retry = { maxAttempts: 3 };

describe('onError', () => {
  it('is called once, after the ladder is spent, with words for a person', async () => {
    const told: unknown[][] = [];
    const { run } = setScene({
      policy: { retry },
      callbacks: { onError: (failure, about) => void told.push([failure, about]) },
      script: [{ failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }],
    });
    const outcome = expectType(await run(), 'failed');
    expect(told).toEqual([
      [outcome.failure, { runId: outcome.runId, outcome, message: expect.any(String) as unknown }],
    ]);
  });

  it.each([
    { what: 'a recovered failure', script: [{ failure: 'SERVER_ERROR' } as const, 'Fine.'] },
    { what: 'a failed tool that the model got round', script: [calling('broken'), 'Fine.'] },
    { what: 'a run that waits for a person', script: [calling('asks')] },
    { what: 'a run that waits for credit', script: [{ failure: 'QUOTA_EXCEEDED' } as const] },
  ])('is not called for $what', async ({ script }) => {
    const told: unknown[] = [];
    const broken = plainTool({
      name: 'broken',
      execute: () => {
        throw new Error('no');
      },
    });
    const asks = plainTool({ name: 'asks', permission: 'ask', execute: () => 1 });
    const { run } = setScene({
      tools: [broken, asks],
      callbacks: { onError: (failure) => void told.push(failure) },
      script,
    });
    const outcome = await run();
    expect(['completed', 'suspended']).toContain(outcome.type);
    expect(told).toEqual([]);
  });

  it('is called for a bound that stopped the run, not for a person or a guardrail who did', async () => {
    const told: string[] = [];
    const callbacks: AgentCallbacks = { onError: ({ code }) => void told.push(code) };
    const look = plainTool({ name: 'look', execute: () => 'nothing' });
    const bound = setScene({
      tools: [look],
      callbacks,
      limits: { maxTurns: 1 },
      policy: { salvage: false },
      script: [calling('look')],
    });
    expectType(await bound.run(), 'stopped');
    const guarded = setScene({
      callbacks,
      hooks: [
        { name: 'no', kind: 'guardrail', on: { 'run-start': () => ({ action: 'halt', reason: 'no' }) } },
      ],
      script: [],
    });
    expectType(await guarded.run(), 'stopped');
    expect(told).toEqual(['MAX_ITERATIONS_EXCEEDED']);
  });

  it('is called for each end of a run that was resumed', async () => {
    const told: string[] = [];
    const { run, resume } = setScene({
      policy: { retry: 'none' },
      callbacks: { onError: ({ code }) => void told.push(code) },
      script: [{ failure: 'SERVER_ERROR' }, { failure: 'NETWORK_ERROR' }, 'Fine.'],
    });
    const { runId } = expectType(await run(), 'failed');
    expectType(await resume(runId), 'failed');
    expectType(await resume(runId), 'completed');
    expect(told).toEqual(['SERVER_ERROR', 'NETWORK_ERROR']);
  });
});

describe('onRetry', () => {
  it('is called each time, of models and of tools, with the wait', async () => {
    const told: string[] = [];
    let lookups = 0;
    const find = plainTool({
      name: 'find',
      effect: 'read',
      execute: (_input, { fail }) => {
        lookups += 1;
        return lookups < 3 ? fail('restarting', { code: 'NETWORK_ERROR', retryable: true }) : 'found';
      },
    });
    const { run } = setScene({
      tools: [find],
      callbacks: {
        onRetry: ({ failure, recovery, delayMs, turn }) =>
          void told.push(
            `${turn} ${failure.code} ${recovery} ${delayMs === undefined ? '' : 'after a wait'}`,
          ),
      },
      script: [{ failure: 'OVERLOADED' }, { failure: 'SERVER_ERROR' }, calling('find'), 'Found.'],
    });
    expectType(await run(), 'completed');
    expect(told).toEqual([
      '1 OVERLOADED retry after a wait',
      '1 SERVER_ERROR retry after a wait',
      '1 NETWORK_ERROR retry after a wait',
      '1 NETWORK_ERROR retry after a wait',
    ]);
  });

  it('is not called for the failure that ends the run', async () => {
    const told: string[] = [];
    const { run } = setScene({
      policy: { retry },
      callbacks: { onRetry: ({ recovery }) => void told.push(recovery) },
      script: [{ failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }],
    });
    expectType(await run(), 'failed');
    expect(told).toEqual(['retry', 'retry']);
  });
});

describe('onDebug and onEvent', () => {
  it('hear everything; only onEvent hears the pieces of text, only onDebug the failure written out', async () => {
    const heard: RunEvent[] = [];
    const debugged: { readonly type: string; readonly detail: string | undefined }[] = [];
    const { run } = setScene({
      callbacks: {
        onEvent: (event) => void heard.push(event),
        onDebug: ({ type }, { detail }) => void debugged.push({ type, detail }),
      },
      script: [{ failure: 'OVERLOADED' }, { text: ['All', ' is', ' well.'] }],
    });
    expectType(await run(), 'completed');
    expect(
      eventsOf(heard, 'text-delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('All is well.');
    expect(debugged.map(({ type }) => type)).toEqual(
      heard.map(({ type }) => type).filter((type) => type !== 'text-delta'),
    );
    const details = debugged.filter(({ detail }) => detail !== undefined);
    expect(details.map(({ type }) => type)).toEqual(['failure', 'recovery']);
    expect(details[0]?.detail).toContain('OVERLOADED');
  });
});

describe('a callback that throws', () => {
  const broken = (): never => {
    throw new Error('the pager is down');
  };

  it.each(['onError', 'onRetry', 'onDebug'] as const)(
    '%s is noted and never touches the run',
    async (name) => {
      const { run, events } = setScene({
        policy: { retry },
        callbacks: { [name]: broken },
        script: [{ failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }, { failure: 'SERVER_ERROR' }],
      });
      const outcome = expectType(await run(), 'failed');
      expect(outcome.failure.code).toBe('SERVER_ERROR');
      // What is told last cannot be told of.
      const noted = name === 'onError' ? [] : eventsOf(events, 'hook-failed');
      expect(noted.length > 0).toBe(name !== 'onError');
    },
  );

  it('as onEvent is noted once, and hears no more', async () => {
    let calls = 0;
    const noted: RunEvent[] = [];
    const { run } = setScene({
      hooks: [
        {
          name: 'watch',
          kind: 'observer',
          on: {},
          onEvent: (event) => void (event.type === 'hook-failed' && noted.push(event)),
        },
      ],
      script: ['Fine.'],
    });
    const outcome = await run('Do it.', {
      onEvent: () => {
        calls += 1;
        broken();
      },
    });
    expectType(outcome, 'completed');
    expect(calls).toBe(1);
    expect(noted).toMatchObject([{ type: 'hook-failed', point: 'event', failure: { code: 'HOOK_FAILED' } }]);
  });

  it('as onApproval has said no, and is noted', async () => {
    let executions = 0;
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => void (executions += 1) });
    const { run, events } = setScene({
      tools: [pay],
      callbacks: { onApproval: broken },
      script: [calling('pay'), 'No.'],
    });
    expectType(await run(), 'completed');
    expect(executions).toBe(0);
    expect(eventsOf(events, 'hook-failed')).toMatchObject([
      {
        hook: 'onApproval',
        point: 'approval',
        failure: { message: expect.stringContaining('the pager is down') as unknown },
      },
    ]);
  });

  it('that is none is refused when the agent is made', () => {
    expect(() => setScene({ callbacks: { onErorr: broken } as never, script: [] })).toThrow(/onError/);
    expect(() => setScene({ callbacks: { onError: 'log' } as never, script: [] })).toThrow(/function/);
  });
});
