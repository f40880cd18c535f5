import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { calling, expectType, watchEverything } from '../agent/scene.ts';
import { countingTool, member, setStage } from './stage.ts';
import type { Member, Script } from './stage.ts';

watchEverything();

/** An agent that may take one turn, and says nothing more when it has. */
function hasty(script: Script, tools: readonly ReturnType<typeof countingTool>[]): Member {
  return member(script, {
    tools: tools.map(({ tool }) => tool),
    limits: { maxTurns: 1 },
    policy: { salvage: false },
  });
}

describe('a node whose run was stopped', () => {
  it('fails the flow, and is not tried again by a retry: the stop is final', async () => {
    const stage = setStage();
    const a = hasty([calling('look')], [countingTool('look', { effect: 'read' })]);
    const nodes = { a: { retry: 'standard' } } as const;
    const outcome = await stage.run(flow('a', { agents: { a: a.agent }, nodes, ...stage.world }));
    expect(expectType(outcome, 'failed').failure).toMatchObject({
      code: 'MAX_ITERATIONS_EXCEEDED',
      context: { node: 'a', childId: 'r1/a' },
    });
    expect(a.model.calls).toHaveLength(1);
  });

  it('is not begun afresh where it has done what must not happen twice, and the hint says so', async () => {
    const stage = setStage();
    const pay = countingTool('pay');
    const a = hasty([calling('pay'), 'never'], [pay]);
    const made = flow('a', { agents: { a: a.agent }, ...stage.world });
    await stage.run(made);
    const { failure } = expectType(await stage.resume(made), 'failed');
    expect(failure.code).toBe('MAX_ITERATIONS_EXCEEDED');
    expect(failure.hint).toContain('it has called "pay", which must not happen twice');
    expect(pay.inputs).toHaveLength(1);
    expect(a.model.calls).toHaveLength(1);
  });

  it('is not begun afresh where agents below it have worked', async () => {
    const stage = setStage();
    const a = member(['A says']);
    const b = member(['B says']);
    const inner = flow('a >> b', {
      agents: { a: a.agent, b: b.agent },
      name: 'inner',
      limits: { maxRequests: 1 },
    });
    const made = flow('inner', { agents: { inner }, ...stage.world });
    expect(expectType(await stage.run(made), 'failed').failure.code).toBe('BUDGET_EXCEEDED');
    const { failure } = expectType(await stage.resume(made), 'failed');
    expect(failure.hint).toContain('child agents have worked already');
    expect([a.model.calls.length, b.model.calls.length]).toEqual([1, 0]);
  });

  it('is begun afresh under another name when the flow is resumed, and both are counted', async () => {
    const stage = setStage();
    const look = countingTool('look', { effect: 'read' });
    const a = hasty([calling('look'), calling('look'), 'A says'], [look]);
    const made = flow('a', { agents: { a: a.agent }, ...stage.world });
    expectType(await stage.run(made), 'failed');
    const second = expectType(await stage.resume(made), 'failed');
    expect(second.nodes).toMatchObject([{ runId: 'r1/a~2', status: 'failed' }]);
    const outcome = expectType(await stage.resume(made), 'completed');
    expect(outcome.nodes).toMatchObject([{ runId: 'r1/a~3', status: 'succeeded', text: 'A says' }]);
    expect(outcome.usage.requests).toBe(3);
    expect(await stage.statuses()).toEqual({
      r1: 'completed',
      'r1/a': 'stopped',
      'r1/a~2': 'stopped',
      'r1/a~3': 'completed',
    });
  });

  it('keeps to the name that it was begun afresh under when the process dies', async () => {
    const first = setStage();
    const look = countingTool('look', { effect: 'read' });
    const slow = hasty([calling('look'), { text: 'late', delayMs: 60_000 }], [look]);
    const begun = flow('a', { agents: { a: slow.agent }, ...first.world });
    expectType(await first.run(begun), 'failed');
    void begun.resume('r1');
    await first.clock.advance(1000);
    const second = first.die();
    const a = hasty(['A says'], [look]);
    const outcome = await second.resume(flow('a', { agents: { a: a.agent }, ...second.world }));
    expect(expectType(outcome, 'completed').nodes).toMatchObject([{ runId: 'r1/a~2' }]);
    expect(Object.keys(await second.statuses()).toSorted()).toEqual(['r1', 'r1/a', 'r1/a~2']);
  });

  it('is cancelled in whichever life it waits', async () => {
    const stage = setStage();
    const look = countingTool('look', { effect: 'read' });
    const ask = countingTool('ask', { effect: 'read', permission: 'ask' });
    const a = hasty([calling('look'), calling('ask')], [look, ask]);
    const made = flow('a', { agents: { a: a.agent }, ...stage.world });
    await stage.run(made);
    expectType(await stage.resume(made), 'suspended');
    await stage.clock.runUntil(made.cancel('r1'));
    expect(await stage.statuses()).toEqual({ r1: 'cancelled', 'r1/a': 'stopped', 'r1/a~2': 'cancelled' });
  });

  it('is begun afresh in a hand-off too, and the next one reads the conversation of that life', async () => {
    const stage = setStage();
    const look = countingTool('look', { effect: 'read' });
    const to = { to: 'billing', reason: 'money' };
    const triage = hasty([calling('look'), calling('hand_off', to)], [look]);
    const billing = member(['Billing answers']);
    const made = handOff({
      agents: { triage: triage.agent, billing: billing.agent },
      start: 'triage',
      ...stage.world,
    });
    expectType(await stage.run(made), 'failed');
    expect(expectType(await stage.resume(made), 'completed').text).toBe('Billing answers');
    const asked = JSON.stringify(billing.model.calls[0]?.request.messages);
    expect(asked).toContain('hand_off');
    expect(asked).not.toContain('look');
  });
});
