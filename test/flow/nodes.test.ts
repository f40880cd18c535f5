import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { calling, expectType, watchEverything } from '../agent/scene.ts';
import { agentsOf, callsOf, countingTool, member, refused, setStage, statusesIn } from './stage.ts';

watchEverything();

describe('a node that fails', () => {
  it('ends the flow, names itself, and leaves the others their results', async () => {
    const { run, world } = setStage();
    const members = { a: member(['A says']), b: member([refused]), c: member(['C says']), d: member(['no']) };
    const outcome = await run(flow('a >> (b | c) >> d', { agents: agentsOf(members), ...world }));
    const { failure, nodes } = expectType(outcome, 'failed');
    expect(failure).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('The node "b" of the flow "flow" failed') as string,
      context: { node: 'b', flow: 'flow', childId: 'r1/b' },
    });
    expect(nodes).toMatchObject([
      { name: 'a', status: 'succeeded', text: 'A says', runId: 'r1/a' },
      { name: 'b', status: 'failed', runId: 'r1/b', failure: { code: 'INVALID_REQUEST' } },
      { name: 'c', status: 'succeeded', text: 'C says' },
      { name: 'd', status: 'not-reached' },
    ]);
    expect(callsOf(members)).toEqual({ a: 1, b: 1, c: 1, d: 0 });
  });

  it.each([
    { retry: 'none', calls: 2, type: 'failed' },
    { retry: 'quick', calls: 3, type: 'completed' },
  ] as const)('is gone on with only where it has a retry: $retry', async ({ retry, calls, type }) => {
    const { run, world } = setStage();
    const pay = countingTool('pay');
    const a = member([calling('pay'), { failure: 'OVERLOADED' }, 'Paid.'], {
      tools: [pay.tool],
      policy: { retry: 'none' },
    });
    const outcome = await run(flow('a', { agents: { a: a.agent }, nodes: { a: { retry } }, ...world }));
    expect(outcome.type).toBe(type);
    // What it has done is not done again: the run is gone on with, not begun afresh.
    expect(pay.inputs).toHaveLength(1);
    expect(a.model.calls).toHaveLength(calls);
  });

  it('fails for good when its retries are used up, and every attempt is counted', async () => {
    const { run, world } = setStage();
    const a = member([{ failure: 'OVERLOADED' }], {
      policy: { retry: 'none' },
      modelOptions: { repeat: 'last' },
    });
    const nodes = { a: { retry: { maxAttempts: 3 } } };
    const outcome = await run(flow('a', { agents: { a: a.agent }, nodes, ...world }));
    expect(expectType(outcome, 'failed').failure.code).toBe('OVERLOADED');
    expect(a.model.calls).toHaveLength(3);
    expect(outcome.usage.requests).toBe(3);
  });

  it('is gone on with also after what a single agent would not try again, for nothing is done twice', async () => {
    const { run, world } = setStage();
    const look = countingTool('look', {
      effect: 'read',
      execute: () => {
        throw new Error('no such page');
      },
    });
    const a = member([calling('look'), 'I cannot see it'], {
      tools: [look.tool],
      limits: { maxFailedTurns: 1 },
    });
    const nodes = { a: { retry: 'quick' } } as const;
    const outcome = await run(flow('a', { agents: { a: a.agent }, nodes, ...world }));
    expect(expectType(outcome, 'completed').text).toBe('I cannot see it');
    expect(outcome.recoveries).toMatchObject([
      { failure: { code: 'TOOL_EXECUTION_ERROR' }, recovery: 'retry' },
    ]);
  });

  it('is done without where it may be skipped, and the next one is told so', async () => {
    const { run, world } = setStage();
    const members = { a: member([refused]), b: member(['B says']) };
    const nodes = { a: { onError: 'skip' } } as const;
    const outcome = await run(flow('a >> b', { agents: agentsOf(members), nodes, ...world }));
    expect(expectType(outcome, 'completed').text).toBe('B says');
    expect(statusesIn(outcome)).toEqual({ a: 'failed', b: 'succeeded' });
    const asked = JSON.stringify(members.b.model.calls[0]?.request.messages);
    expect(asked).toContain('a: no result');
    expect(asked).toContain('INVALID_REQUEST');
  });

  it('has its place taken by a fallback, which knows what it would have known', async () => {
    const { run, world } = setStage();
    const members = {
      a: member(['A says']),
      b: member([refused]),
      c: member(['C says']),
      z: member(['Z says']),
    };
    const nodes = { b: { onError: { fallback: 'c' } } } as const;
    const outcome = await run(flow('a >> b >> z', { agents: agentsOf(members), nodes, ...world }));
    expect(expectType(outcome, 'completed').text).toBe('Z says');
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'failed', c: 'succeeded', z: 'succeeded' });
    expect(JSON.stringify(members.c.model.calls[0]?.request.messages)).toContain('A says');
    expect(JSON.stringify(members.z.model.calls[0]?.request.messages)).toContain('C says');
  });

  it('fails with both names where its fallback fails too', async () => {
    const { run, world } = setStage();
    const members = { b: member([refused]), c: member([refused]) };
    const nodes = { b: { onError: { fallback: 'c' } } } as const;
    const outcome = await run(flow('b', { agents: agentsOf(members), nodes, ...world }));
    expect(expectType(outcome, 'failed').failure).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(
        'The node "b" of the flow "flow" failed, and so did "c" in its place',
      ) as string,
      context: { node: 'b', fallback: 'c' },
    });
    expect(statusesIn(outcome)).toEqual({ b: 'failed', c: 'failed' });
  });

  it('has its `when` and `input` blamed where these throw', async () => {
    const { run, world } = setStage();
    const a = member(['never']);
    const when = (): boolean => {
      throw new TypeError('when is broken');
    };
    const outcome = await run(flow('a', { agents: { a: a.agent }, nodes: { a: { when } }, ...world }));
    expect(expectType(outcome, 'failed').failure.message).toContain('when is broken');
    const input = (): never => {
      throw new TypeError('input is broken');
    };
    const other = await run(flow('a', { agents: { a: a.agent }, nodes: { a: { input } }, ...world }), {
      runId: 'r2',
    });
    expect(expectType(other, 'failed').failure).toMatchObject({
      message: expect.stringContaining('input is broken') as string,
      context: { node: 'a' },
    });
    expect(a.model.calls).toHaveLength(0);
  });

  it('is refused what it does not take', async () => {
    const { run, world } = setStage();
    const members = { a: member(['seven']), b: member(['never']) };
    const accepts = {
      type: 'object',
      properties: { count: { type: 'number' } },
      required: ['count'],
    } as const;
    const outcome = await run(
      flow('a >> b', { agents: agentsOf(members), nodes: { b: { accepts } }, ...world }),
    );
    expect(expectType(outcome, 'failed').failure).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('cannot take what "a" gave') as string,
    });
    expect(callsOf(members)).toEqual({ a: 1, b: 0 });
  });
});

describe('the time of a node', () => {
  it('ends it, and that is its failure', async () => {
    const { run, world, clock } = setStage();
    const members = { a: member([{ text: 'late', delayMs: 60_000 }]), b: member(['B says']) };
    const nodes = { a: { timeoutMs: 5000, onError: 'skip' } } as const;
    const startMs = clock.monotonicMs();
    const outcome = await run(flow('a >> b', { agents: agentsOf(members), nodes, ...world }));
    expect(expectType(outcome, 'completed').text).toBe('B says');
    expect(outcome.nodes?.[0]).toMatchObject({ status: 'failed', failure: { code: 'TIMEOUT' } });
    expect(clock.monotonicMs() - startMs).toBeLessThan(6000);
  });

  it('is never longer than what the flow has left, and the flow is stopped by its deadline', async () => {
    const { run, world } = setStage();
    const members = {
      a: member([{ text: 'A', delayMs: 6000 }]),
      b: member([{ text: 'B', delayMs: 6000 }]),
    };
    const limits = { timeoutMs: 10_000 };
    const outcome = await run(flow('a >> b', { agents: agentsOf(members), limits, ...world }));
    expect(expectType(outcome, 'stopped').reason).toBe('deadline');
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'failed' });
    expect(outcome.usage.elapsedMs).toBeLessThanOrEqual(10_000);
  });
});

describe('the time of a node that is gone on with', () => {
  it('is what the flow has left, besides what it has taken', async () => {
    const { run, world } = setStage();
    const busy = { failure: 'OVERLOADED', delayMs: 6000 } as const;
    const a = member([busy, { text: 'A says', delayMs: 3000 }], { policy: { retry: 'none' } });
    const nodes = { a: { retry: { maxAttempts: 2, baseDelayMs: 1 } } };
    const limits = { timeoutMs: 10_000 };
    const outcome = await run(flow('a', { agents: { a: a.agent }, nodes, limits, ...world }));
    expect(expectType(outcome, 'completed').text).toBe('A says');
  });
});

describe('a flow that goes well', () => {
  it('asks what `input` says, skips by `when`, and gives an object where it has several ends', async () => {
    const { run, world } = setStage();
    const members = {
      a: member(['A says']),
      b: member(['B says']),
      c: member(['C says']),
      d: member(['never']),
    };
    const outcome = await run(
      flow('a >> (b | c | d)', {
        agents: agentsOf(members),
        nodes: {
          b: { input: ({ results, task }) => `${task} ${JSON.stringify(results['a'])}` },
          d: { when: ({ results }) => results['a']?.status !== 'succeeded' },
        },
        ...world,
      }),
    );
    expect(expectType(outcome, 'completed').output).toEqual({ b: 'B says', c: 'C says' });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded', d: 'skipped' });
    expect(members.b.model.calls[0]?.request.messages.at(-1)?.content).toContain(
      'Do it. {"status":"succeeded"',
    );
    expect(members.d.model.calls).toHaveLength(0);
  });

  it('is part of another one, and works without a store', async () => {
    const { run, bare } = setStage();
    const members = { a: member(['A says']), b: member(['B says']) };
    const inner = flow('a | b', { agents: agentsOf(members), name: 'inner' });
    const c = member(['C says']);
    const outcome = await run(flow('inner >> c', { agents: { inner, c: c.agent }, ...bare }));
    expect(expectType(outcome, 'completed').text).toBe('C says');
    expect(outcome.usage.requests).toBe(3);
    expect(outcome.nodes?.map(({ runId }) => runId)).toEqual(['r1/inner', 'r1/c']);
  });
});
