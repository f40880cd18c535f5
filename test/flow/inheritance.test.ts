import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePermission } from '../../src/agent/approval/permission.ts';
import type { PermissionRule } from '../../src/agent/approval/permission.ts';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import type { Permission, ToolEffect } from '../../src/model/tool.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { calling, callingAll, expectType, resultsIn, watchEverything } from '../agent/scene.ts';
import { agentsOf, callsOf, countingTool, member, setStage, statusesIn } from './stage.ts';
import type { Member } from './stage.ts';

watchEverything();

const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Permission, number>;
const permission = fc.constantFrom<Permission>('allow', 'ask', 'deny');
const effect = fc.constantFrom<ToolEffect>('read', 'idempotent', 'once');
const rule: fc.Arbitrary<PermissionRule> = fc.record(
  {
    tool: fc.constantFrom('pay', 'p*', '*', 'look'),
    effect,
    input: fc.constantFrom({ cents: { over: 50 } }, { cents: { under: 50 } }, { to: 'me' }),
    permission,
  },
  { requiredKeys: ['permission'] },
);
const rules = fc.array(rule, { maxLength: 3 });
const call = fc.record({ cents: fc.constantFrom(1, 50, 99), to: fc.constantFrom('me', 'you') });

/** What became of the one call that the agent makes. */
function decisionOf({ type, messages }: RunOutcome, calls: number): Permission {
  if (type === 'suspended') return 'ask';
  if (calls === 1) return 'allow';
  expect({ type, calls, messages: messages.length > 0 }).toEqual({
    type: 'completed',
    calls: 0,
    messages: true,
  });
  return 'deny';
}

describe('rights', () => {
  it('never grow on the way down: for all rules of three levels and all calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ above: rules, middle: rules, below: rules, own: permission, effect, input: call }),
        async ({ above, middle, below, own, effect: does, input }) => {
          const stage = setStage();
          const pay = countingTool('pay', { permission: own, effect: does });
          const agent = member([calling('pay', input), 'Done.'], {
            tools: [pay.tool],
            policy: { permissions: below },
            callbacks: { onApproval: () => true },
          });
          const inner = flow('a', {
            agents: { a: agent.agent },
            name: 'inner',
            policy: { permissions: middle },
          });
          const policy = { permissions: [...above, { tool: 'other', permission: 'ask' as const }] };
          const outcome = await stage.run(flow('inner', { agents: { inner }, ...stage.world, policy }));
          const subject = { name: 'pay', effect: does, permission: own };
          const alone = [above, middle, below].map(
            (list) => decidePermission(subject, input, list).permission,
          );
          const strictest = Math.max(...alone.map((each) => strictness[each]));
          expect(strictness[decisionOf(outcome, pay.inputs.length)]).toBe(strictest);
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    { own: 'ask', type: 'suspended' },
    { own: 'deny', type: 'completed' },
  ] as const)('of a member are bound by the lead: a tool that it must $own about', async ({ own, type }) => {
    const stage = setStage();
    const leads = countingTool('pay', { permission: own });
    const members = countingTool('pay', { permission: 'allow' });
    const a = member([calling('pay'), 'Well.'], {
      tools: [members.tool],
      callbacks: { onApproval: () => true },
    });
    const lead = member([calling('a', { task: 'Pay.' }), 'Done.'], {
      name: 'lead',
      tools: [leads.tool],
      ...stage.world,
    });
    const outcome = await stage.run(team({ lead: lead.agent, agents: { a: a.agent } }));
    expect(outcome.type).toBe(type);
    expect(members.inputs).toEqual([]);
  });
});

const look = countingTool('look', { effect: 'read', repeats: 'any' });

/** Asks its model as often as it may, each time for a second. */
function greedy(): Member {
  return member(() => ({ ...calling('look'), delayMs: 1000 }), {
    tools: [look.tool],
    policy: { salvage: false },
    modelOptions: { price: { inputUsd: 50_000, outputUsd: 100_000, asOf: '2026-01-01' } },
  });
}

describe('the budget of a flow', () => {
  it('is shared by all that work side by side: beyond it each may end one call', async () => {
    const stage = setStage();
    const members = { a: greedy(), b: greedy(), c: greedy() };
    const limits = { maxRequests: 10 };
    const outcome = await stage.run(flow('a | b | c', { agents: agentsOf(members), limits, ...stage.world }));
    expect(expectType(outcome, 'stopped').reason).toBe('budget');
    expect(statusesIn(outcome)).toEqual({ a: 'failed', b: 'failed', c: 'failed' });
    const calls = Object.values(callsOf(members)).reduce((one, other) => one + other, 0);
    expect(calls).toBeGreaterThanOrEqual(10);
    expect(calls).toBeLessThanOrEqual(12);
    expect(outcome.usage.requests).toBe(calls);
  });

  it.each([{ maxTokens: 150 }, { maxCostUsd: 10 }])(
    'is shared in $maxTokens tokens and $maxCostUsd dollars too, and by what is below an inner flow',
    async (limits) => {
      const stage = setStage();
      const members = { a: greedy(), b: greedy() };
      const inner = flow('a | b', { agents: agentsOf(members), name: 'inner' });
      const c = greedy();
      const outcome = await stage.run(
        flow('inner | c', { agents: { inner, c: c.agent }, limits, ...stage.world }),
      );
      expect(expectType(outcome, 'stopped').reason).toBe('budget');
      const calls = members.a.model.calls.length + members.b.model.calls.length + c.model.calls.length;
      expect(calls).toBeGreaterThanOrEqual(10);
      expect(calls).toBeLessThanOrEqual(12);
      expect(outcome.usage.requests).toBe(calls);
    },
  );

  it('counts what an earlier process has used up', async () => {
    const first = setStage();
    const limits = { maxRequests: 20 };
    const make = (world: object, a: Member, others: readonly [Member, Member]): Flow =>
      flow('a >> (b | c)', {
        agents: { a: a.agent, b: others[0].agent, c: others[1].agent },
        limits,
        ...world,
      });
    const nine = [
      ...Array.from({ length: 8 }, () => calling('look')),
      { failure: 'INVALID_REQUEST' } as const,
    ];
    const a = member(nine, { tools: [look.tool] });
    expectType(await first.run(make(first.world, a, [greedy(), greedy()])), 'failed');
    const second = first.die();
    const others = [greedy(), greedy()] as const;
    const outcome = await second.resume(make(second.world, member(['A says']), others));
    expect(expectType(outcome, 'stopped').reason).toBe('budget');
    // Ten are gone, ten are left for two: beyond that, one may end a call that it has begun.
    expect(others[0].model.calls.length + others[1].model.calls.length).toBeLessThanOrEqual(11);
  });

  it('is not missing for an answer that costs nothing: the last node may use it up', async () => {
    const stage = setStage();
    const members = { a: member(['A says']), b: member(['B says']) };
    const limits = { maxRequests: 2 };
    const outcome = await stage.run(flow('a >> b', { agents: agentsOf(members), limits, ...stage.world }));
    expect(expectType(outcome, 'completed').text).toBe('B says');
  });

  it('ends the flow before the next node begins', async () => {
    const stage = setStage();
    const members = { a: member(['A says']), b: member(['B says']) };
    const limits = { maxRequests: 1 };
    const outcome = await stage.run(flow('a >> b', { agents: agentsOf(members), limits, ...stage.world }));
    expect(expectType(outcome, 'stopped')).toMatchObject({
      reason: 'budget',
      failure: { code: 'BUDGET_EXCEEDED' },
    });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'not-reached' });
    expect(callsOf(members)).toEqual({ a: 1, b: 0 });
  });

  it('is shared by a lead and its members', async () => {
    const stage = setStage();
    const members = { a: greedy(), b: greedy() };
    const jobs = callingAll(['a', { task: '1' }], ['b', { task: '2' }]);
    const lead = member([jobs, 'never'], { name: 'lead', limits: { maxRequests: 8 }, ...stage.world });
    const outcome = await stage.run(team({ lead: lead.agent, agents: agentsOf(members) }));
    expect(expectType(outcome, 'stopped').reason).toBe('budget');
    expect(outcome.usage.requests).toBeLessThanOrEqual(9);
    expect(lead.model.calls).toHaveLength(1);
  });
});

describe('a family', () => {
  it('is not deeper than eight', async () => {
    const stage = setStage();
    let inner: Agent<unknown> = member(['deep']).agent;
    for (let depth = 0; depth < 8; depth += 1)
      inner = flow('x', { agents: { x: inner }, name: `level-${depth}` });
    const outcome = await stage.run(flow('x', { agents: { x: inner }, ...stage.world }));
    expect(expectType(outcome, 'failed').failure).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('agents below agents') as string,
      context: { limit: 'maxDepth' },
    });
  });

  it('is as deep as eight', async () => {
    const stage = setStage();
    let inner: Agent<unknown> = member(['deep']).agent;
    for (let depth = 0; depth < 7; depth += 1)
      inner = flow('x', { agents: { x: inner }, name: `level-${depth}` });
    const outcome = await stage.run(flow('x', { agents: { x: inner }, ...stage.world }));
    expect(expectType(outcome, 'completed').text).toBe('deep');
  });

  it('has no more than a thousand runs, and the lead is told', async () => {
    const stage = setStage();
    const { bare: world } = stage;
    const jobs = callingAll(
      ...Array.from({ length: 64 }, (_each, index) => ['a', { task: `${index}` }] as const),
    );
    const a = member(() => 'done');
    const lead = member([...Array.from({ length: 16 }, () => jobs), 'Enough.'], {
      name: 'lead',
      limits: { maxToolCalls: Infinity },
      ...world,
    });
    const outcome = await stage.run(team({ lead: lead.agent, agents: { a: a.agent } }));
    expect(expectType(outcome, 'completed').text).toBe('Enough.');
    expect(a.model.calls).toHaveLength(1000);
    expect(
      resultsIn(outcome.messages).filter((text) => text.includes('runs under the first one')),
    ).toHaveLength(24);
  });
});
