import { describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkPermissionRules } from './check-permission-rules.ts';

function problemOf(rules: unknown): string {
  try {
    checkPermissionRules(rules);
  } catch (error) {
    if (RerailError.isInstance(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'no problem';
}

const ok = { tool: 'refund', permission: 'ask' };

describe('checkPermissionRules()', () => {
  it.each([
    { rules: 'deny', says: '"permissions" must be a list of rules, got the text "deny"' },
    { rules: null, says: '"permissions" must be a list of rules, got null' },
    { rules: Array.from({ length: 1001 }, () => ok), says: 'at most 1000 rules, got 1001' },
    { rules: [ok, 'x'], says: '"permissions[1]" must be an object' },
    {
      rules: [{ tool: 'a' }],
      says: '"permissions[0].permission" must be "allow" or "ask" or "deny", got nothing',
    },
    { rules: [{ ...ok, permission: 'Deny' }], says: '"permissions[0].permission" must be' },
    { rules: [{ ...ok, toll: 'x' }], says: '"permissions[0]" has no field "toll": did you mean "tool"?' },
    { rules: [{ ...ok, regex: 'x' }], says: 'has no field "regex": it may have tool, effect, input' },
    { rules: [{ ...ok, tool: '' }], says: '"permissions[0].tool" must be a text that is not empty' },
    { rules: [{ ...ok, tool: [] }], says: '"permissions[0].tool" is an empty list' },
    { rules: [{ ...ok, tool: ['a', 5] }], says: '"permissions[0].tool[1]" must be a text' },
    {
      rules: [{ ...ok, effect: 'write' }],
      says: '"permissions[0].effect" must be "read" or "idempotent" or "once"',
    },
    { rules: [{ ...ok, effect: ['read', 'x'] }], says: '"permissions[0].effect[1]" must be' },
    { rules: [{ ...ok, why: 5 }], says: '"permissions[0].why" must be a text' },
    { rules: [{ ...ok, input: [] }], says: '"permissions[0].input" must be conditions by path' },
    { rules: [{ ...ok, input: {} }], says: '"permissions[0].input" has no conditions: leave it out' },
    { rules: [{ ...ok, input: { 'a..b': 1 } }], says: 'has the path "a..b"' },
    { rules: [{ ...ok, input: { a: undefined } }], says: '"permissions[0].input["a"]" must be a value' },
    { rules: [{ ...ok, input: { a: /x/ } }], says: '"permissions[0].input["a"]" must be a value' },
    { rules: [{ ...ok, input: { a: NaN } }], says: '"permissions[0].input["a"]" must be a value' },
    {
      rules: [{ ...ok, input: { a: [1, {}] } }],
      says: '"permissions[0].input["a"][1]" must be a text, a number',
    },
    { rules: [{ ...ok, input: { a: [] } }], says: 'is an empty list' },
    { rules: [{ ...ok, input: { a: { matches: '**' } } }], says: 'which every text fits' },
    { rules: [{ ...ok, input: { a: { matches: 5 } } }], says: '["a"].matches" must be a text' },
    {
      rules: [{ ...ok, input: { a: { over: '5' } } }],
      says: '["a"].over" must be a number, got the text "5"',
    },
    { rules: [{ ...ok, input: { a: { above: 5 } } }], says: 'has no field "above"' },
    { rules: [{ ...ok, input: { a: { run: ['ls'] } } }], says: 'has no field "run": did you mean "runs"?' },
    { rules: [{ ...ok, input: { a: { runs: 'ls' } } }], says: '["a"].runs" must be a list of commands' },
    { rules: [{ ...ok, input: { a: { runs: [] } } }], says: '["a"].runs" is an empty list' },
    { rules: [{ ...ok, input: { a: { runs: ['ls', ''] } } }], says: '["a"].runs[1]" must be a text' },
    {
      rules: [{ ...ok, input: { a: { runs: ['git *'] } } }],
      says: '["a"].runs[0]" is the text "git *", which is not a plain command',
    },
    { rules: [{ ...ok, input: { a: { runs: ['ls'], over: 5 } } }], says: 'has no field "over"' },
  ])('refuses with: $says', ({ rules, says }) => {
    expect(problemOf(rules)).toMatch(/^CONFIG_ERROR: /);
    expect(problemOf(rules)).toContain(says);
  });

  it('takes nothing for no rules', () => {
    expect(checkPermissionRules(undefined)).toEqual([]);
  });

  it('copies what it takes, so that a later change has no effect', () => {
    const tools = ['refund'];
    const rule = {
      tool: tools,
      effect: ['once'],
      input: {
        'order.cents': { over: 5, under: 9 },
        name: { matches: 'a*' },
        kind: ['x', null],
        flag: true,
        line: { runs: ['git status'] },
      },
      permission: 'ask',
      why: 'money',
    };
    const checked = checkPermissionRules([rule]);
    expect(checked).toEqual([rule]);
    tools.push('other');
    expect(checked[0]?.tool).toEqual(['refund']);
    expect(Object.isFrozen(checked[0])).toBe(true);
  });
});
