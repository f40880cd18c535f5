import { describe, expect, it } from 'vitest';
import type { PermissionRule, Tool } from '../../src/index.ts';
import type { Json } from '../../src/base/json.ts';
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

watchEverything();

interface Row {
  readonly what: string;
  readonly rules: readonly PermissionRule[];
  readonly tool?: Partial<Tool>;
  readonly input?: Readonly<Record<string, Json>>;
  readonly becomes: 'runs' | 'asks' | 'denied';
}

const rows: readonly Row[] = [
  { what: 'nothing at all', rules: [], becomes: 'runs' },
  { what: "the tool's own deny", rules: [], tool: { permission: 'deny' }, becomes: 'denied' },
  { what: "the tool's own ask", rules: [], tool: { permission: 'ask' }, becomes: 'asks' },
  { what: 'a deny by name', rules: [{ tool: 'pay', permission: 'deny' }], becomes: 'denied' },
  { what: 'a deny by a pattern of names', rules: [{ tool: 'p*', permission: 'deny' }], becomes: 'denied' },
  { what: 'a deny of another tool', rules: [{ tool: 'delete', permission: 'deny' }], becomes: 'runs' },
  { what: 'an ask by effect', rules: [{ effect: 'once', permission: 'ask' }], becomes: 'asks' },
  { what: 'an ask of another effect', rules: [{ effect: 'read', permission: 'ask' }], becomes: 'runs' },
  {
    what: 'a bound that is passed',
    rules: [{ input: { cents: { over: 1000 } }, permission: 'ask' }],
    becomes: 'asks',
  },
  {
    what: 'a bound that is kept',
    rules: [{ input: { cents: { over: 9000 } }, permission: 'ask' }],
    becomes: 'runs',
  },
  {
    what: 'a bound that cannot be judged',
    rules: [{ input: { cents: { over: 9000 } }, permission: 'deny' }],
    input: { cents: 'much' },
    becomes: 'denied',
  },
  {
    what: 'a deny beside an allow',
    rules: [
      { tool: 'pay', permission: 'allow' },
      { effect: 'once', permission: 'deny' },
    ],
    becomes: 'denied',
  },
  {
    what: 'an allow by name',
    rules: [{ tool: 'pay', permission: 'allow' }],
    tool: { permission: 'ask' },
    becomes: 'runs',
  },
  {
    what: 'an allow by a star',
    rules: [{ tool: '*', permission: 'allow' }],
    tool: { permission: 'ask' },
    becomes: 'asks',
  },
  {
    what: 'an allow of what denies itself',
    rules: [{ tool: 'pay', permission: 'allow' }],
    tool: { permission: 'deny' },
    becomes: 'denied',
  },
  {
    what: 'an argument that matches',
    rules: [{ input: { to: { matches: '*@evil.example' } }, permission: 'deny' }],
    input: { to: 'ann@evil.example' },
    becomes: 'denied',
  },
];

describe('permission', () => {
  it.each(rows)('by $what: $becomes', async ({ rules, tool = {}, input = { cents: 5000 }, becomes }) => {
    let executions = 0;
    const pay = plainTool({
      name: 'pay',
      ...tool,
      execute: () => {
        executions += 1;
        return 'paid';
      },
    });
    const { run, events } = setScene({
      tools: [pay],
      policy: { permissions: rules },
      script: [calling('pay', input), 'Done.'],
    });
    const outcome = await run();
    expect(executions).toBe(becomes === 'runs' ? 1 : 0);
    expect(outcome.type).toBe(becomes === 'asks' ? 'suspended' : 'completed');
    expect(eventsOf(events, 'approval-requested')).toHaveLength(becomes === 'asks' ? 1 : 0);
    expect(decisionsIn(events)).toEqual(becomes === 'denied' ? ['PERMISSION_DENIED → tell-model'] : []);
  });

  it('that is denied is told with the reason of the rule, and siblings run', async () => {
    const reached: unknown[] = [];
    const pay = plainTool({ name: 'pay', execute: (input) => void reached.push(input) });
    const { run } = setScene({
      tools: [pay],
      policy: {
        permissions: [
          { tool: 'pay', input: { cents: { over: 100 } }, permission: 'deny', why: 'no more than a dollar' },
        ],
      },
      script: [callingAll(['pay', { cents: 50 }], ['pay', { cents: 500 }]), 'Done.'],
    });
    const { messages } = expectType(await run(), 'completed');
    expect(reached).toEqual([{ cents: 50 }]);
    expect(resultsIn(messages)[1]).toContain('no more than a dollar');
  });

  it.each([
    { what: 'an unknown effect', rule: { effect: 'write', permission: 'deny' } },
    { what: 'an unknown permission', rule: { tool: 'pay', permission: 'maybe' } },
    { what: 'an unknown field', rule: { tools: 'pay', permission: 'deny' } },
  ])('rules with $what are refused when the agent is made', ({ rule }) => {
    expect(() => setScene({ policy: { permissions: [rule as never] }, script: [] })).toThrow(
      expect.objectContaining({ code: 'CONFIG_ERROR' }),
    );
  });
});
