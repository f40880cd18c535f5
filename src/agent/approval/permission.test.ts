import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import type { Permission, ToolEffect } from '../../model/tool.ts';
import { decidePermission, intersectRules } from './permission.ts';
import type { PermissionRule, PermissionRules, PermissionSubject } from './permission.ts';

const asking: PermissionSubject = { name: 'refund', effect: 'once', permission: 'ask' };
const allowed: PermissionSubject = { ...asking, permission: 'allow' };
const denied: PermissionSubject = { ...asking, permission: 'deny' };
const over: PermissionRule = { tool: 'refund', input: { cents: { over: 1000 } }, permission: 'ask' };

interface Row {
  readonly name: string;
  readonly subject: PermissionSubject;
  readonly input?: Json;
  readonly rules: readonly PermissionRule[];
  readonly permission: Permission;
}

describe('decidePermission()', () => {
  it.each<Row>([
    {
      name: 'never lifts a deny of the tool itself',
      subject: denied,
      rules: [{ tool: 'refund', permission: 'allow' }],
      permission: 'deny',
    },
    {
      name: 'takes deny before ask before allow, whatever their order',
      subject: allowed,
      rules: [
        { tool: 'refund', permission: 'allow' },
        { permission: 'deny' },
        { tool: 'refund', permission: 'ask' },
      ],
      permission: 'deny',
    },
    {
      name: 'takes ask before allow',
      subject: allowed,
      rules: [{ permission: 'ask' }, { tool: 'refund', permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'does not lift an ask by a mere effect',
      subject: asking,
      rules: [{ effect: 'once', permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'does not lift an ask by a star',
      subject: asking,
      rules: [{ tool: '*', permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'does not lift an ask by a pattern',
      subject: asking,
      rules: [{ tool: 'ref*', effect: ['once'], permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'does not lift an ask by a rule of everything',
      subject: asking,
      rules: [{ permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'lifts an ask by the exact name',
      subject: asking,
      rules: [{ tool: ['x', 'refund'], permission: 'allow' }],
      permission: 'allow',
    },
    {
      name: 'lifts an ask by a condition on the input',
      subject: asking,
      input: { cents: 10 },
      rules: [{ tool: '*', input: { cents: { under: 100 } }, permission: 'allow' }],
      permission: 'allow',
    },
    {
      name: 'does not lift an ask where the condition fails',
      subject: asking,
      input: { cents: 100 },
      rules: [{ tool: 'refund', input: { cents: { under: 100 } }, permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'does not lift an ask where the condition cannot be judged',
      subject: asking,
      input: { cents: '10' },
      rules: [{ tool: 'refund', input: { cents: { under: 100 } }, permission: 'allow' }],
      permission: 'ask',
    },
    {
      name: 'asks where the condition holds',
      subject: allowed,
      input: { cents: 1001 },
      rules: [over],
      permission: 'ask',
    },
    {
      name: 'does not ask below the bound',
      subject: allowed,
      input: { cents: 1000 },
      rules: [over],
      permission: 'allow',
    },
    {
      name: 'asks where a number came as a text',
      subject: allowed,
      input: { cents: '5000' },
      rules: [over],
      permission: 'ask',
    },
    {
      name: 'asks where a number came as a list',
      subject: allowed,
      input: { cents: [1] },
      rules: [over],
      permission: 'ask',
    },
    {
      name: 'does not ask where the value is absent',
      subject: allowed,
      input: {},
      rules: [over],
      permission: 'allow',
    },
    {
      name: 'is about other tools only',
      subject: allowed,
      rules: [{ tool: 'pay', permission: 'deny' }],
      permission: 'allow',
    },
    {
      name: 'is about other effects only',
      subject: allowed,
      rules: [{ effect: 'read', permission: 'deny' }],
      permission: 'allow',
    },
    {
      name: 'leaves the tool its own permission without rules',
      subject: asking,
      rules: [],
      permission: 'ask',
    },
  ])('$name', ({ subject, input = {}, rules, permission }) => {
    expect(decidePermission(subject, input, rules).permission).toBe(permission);
  });

  it.each<{
    readonly name: string;
    readonly rule: PermissionRule;
    readonly input: Json;
    readonly why: string;
  }>([
    {
      name: 'the words of the rule',
      rule: { permission: 'deny', why: 'not at night' },
      input: {},
      why: 'not at night',
    },
    {
      name: 'what the rule is about',
      rule: { ...over, effect: 'once' },
      input: { cents: 2000 },
      why: 'a rule asks before calls of "refund" with effect "once" that depend on "cents"',
    },
    {
      name: 'what could not be judged',
      rule: { ...over, why: 'much money' },
      input: { cents: '2000' },
      why: 'much money ("cents" is of a kind that the rule cannot judge, so it counts)',
    },
  ])('says why: $name', ({ rule, input, why }) => {
    expect(decidePermission(allowed, input, [rule]).why).toBe(why);
  });
});

describe('the conditions of a rule', () => {
  it.each<{
    readonly condition: NonNullable<PermissionRule['input']>;
    readonly input: Json;
    readonly holds: boolean | 'unclear';
  }>([
    { condition: { a: 'x' }, input: { a: 'y' }, holds: false },
    { condition: { a: 'x' }, input: {}, holds: false },
    { condition: { a: 'x' }, input: { a: null }, holds: false },
    { condition: { a: 'x' }, input: null, holds: false },
    { condition: { a: 'x' }, input: { a: 'x' }, holds: true },
    { condition: { a: null }, input: { a: null }, holds: true },
    { condition: { a: [1, 2] }, input: { a: 2 }, holds: true },
    { condition: { a: 5 }, input: { a: '5' }, holds: 'unclear' },
    { condition: { a: true }, input: { a: 'true' }, holds: 'unclear' },
    { condition: { a: 'x' }, input: { a: ['x'] }, holds: 'unclear' },
    { condition: { a: 'x' }, input: 'x', holds: 'unclear' },
    { condition: { 'a.b': 1 }, input: { a: { b: 1 } }, holds: true },
    { condition: { 'a.b': 1 }, input: { a: [{ b: 1 }] }, holds: 'unclear' },
    { condition: { 'a.b': 1 }, input: { a: {} }, holds: false },
    { condition: { constructor: 1 }, input: {}, holds: false },
    { condition: { a: { matches: 'src/*' } }, input: { a: 'src/x.ts' }, holds: true },
    { condition: { a: { matches: 'src/*' } }, input: { a: 'lib/x.ts' }, holds: false },
    { condition: { a: { matches: 'src/*' } }, input: { a: 'src/../secret' }, holds: 'unclear' },
    { condition: { a: { matches: 'src/*' } }, input: { a: String.raw`src\..\secret` }, holds: 'unclear' },
    { condition: { a: { matches: 'src/*' } }, input: { a: 'src/a..b' }, holds: true },
    { condition: { a: { matches: 'src/*' } }, input: { a: 5 }, holds: 'unclear' },
    { condition: { a: { matches: '*x' } }, input: { a: 'x'.repeat(100_001) }, holds: 'unclear' },
    { condition: { a: { over: 1, under: 3 } }, input: { a: 2 }, holds: true },
    { condition: { a: { over: 1, under: 3 } }, input: { a: 3 }, holds: false },
    { condition: { a: 1, b: 2 }, input: { a: 1, b: 3 }, holds: false },
    { condition: { a: 1, b: 2 }, input: { a: '1', b: 3 }, holds: false },
  ])('$condition for $input: $holds', ({ condition, input, holds }) => {
    const tightened = decidePermission(allowed, input, [{ input: condition, permission: 'deny' }]).permission;
    const lifted = decidePermission(asking, input, [{ input: condition, permission: 'allow' }]).permission;
    expect(tightened).toBe(holds === false ? 'allow' : 'deny');
    expect(lifted).toBe(holds === true ? 'allow' : 'ask');
  });
});

const order: readonly Permission[] = ['allow', 'ask', 'deny'];
const rank = (permission: Permission): number => order.indexOf(permission);

const permissions = fc.constantFrom<Permission>('allow', 'ask', 'deny');
const effects = fc.constantFrom<ToolEffect>('read', 'idempotent', 'once');
const names = fc.constantFrom('a', 'ab', 'b');
const values = fc.constantFrom<Json>(1, 5, 'x', 'xy', '5', null, ['x'], true);
const inputs: fc.Arbitrary<Json> = fc.oneof(
  fc.dictionary(fc.constantFrom('p', 'q'), values),
  fc.record({ p: fc.dictionary(fc.constant('q'), values) }),
  values,
);
const subjects = fc.record({ name: names, effect: effects, permission: permissions });
const conditions = fc.dictionary(
  fc.constantFrom('p', 'q', 'p.q'),
  fc.oneof(
    fc.constantFrom<1 | 'x' | null>(1, 'x', null),
    fc.constant(['x', 5] as const),
    fc.constantFrom({ matches: 'x*' }, { over: 2 }, { under: 2 }, { over: 0, under: 9 }),
  ),
  { minKeys: 1 },
);
const rulesArbitrary: fc.Arbitrary<readonly PermissionRule[]> = fc.array(
  fc.record(
    {
      tool: fc.oneof(fc.constantFrom('*', 'a', 'a*', 'b'), fc.array(names, { minLength: 1, maxLength: 2 })),
      effect: effects,
      input: conditions,
      permission: permissions,
    },
    { requiredKeys: ['permission'] },
  ),
  { maxLength: 4 },
);

function decided(subject: PermissionSubject, input: Json, rules: PermissionRules): number {
  return rank(decidePermission(subject, input, rules).permission);
}

describe('intersectRules()', () => {
  it('does not let a child lift what its parent asks about, also where the parent has no rules', () => {
    const child: readonly PermissionRule[] = [{ tool: 'refund', permission: 'allow' }];
    expect(decidePermission(asking, {}, child).permission).toBe('allow');
    expect(decidePermission(asking, {}, intersectRules([], child)).permission).toBe('ask');
    expect(decidePermission(asking, {}, intersectRules(child, [])).permission).toBe('ask');
    expect(decidePermission(asking, {}, intersectRules(child, child)).permission).toBe('allow');
  });

  it('is the meet of both: never more than the parent or the child, and no less than both grant', () => {
    fc.assert(
      fc.property(
        subjects,
        inputs,
        fc.tuple(rulesArbitrary, rulesArbitrary),
        (subject, input, [parent, child]) => {
          const both = decided(subject, input, intersectRules(parent, child));
          expect(both).toBe(Math.max(decided(subject, input, parent), decided(subject, input, child)));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('holds down a line of descendants: each is at most every one above it, in whatever order they were joined', () => {
    fc.assert(
      fc.property(
        subjects,
        inputs,
        fc.tuple(rulesArbitrary, rulesArbitrary, rulesArbitrary),
        (subject, input, [first, second, third]) => {
          const left = decided(subject, input, intersectRules(intersectRules(first, second), third));
          const right = decided(subject, input, intersectRules(first, intersectRules(second, third)));
          expect(left).toBe(right);
          for (const rules of [first, second, third, intersectRules(first, second)]) {
            expect(left).toBeGreaterThanOrEqual(decided(subject, input, rules));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('gives no right by adding an ask or a deny, nor by an allow of a mere effect or pattern', () => {
    const harmless: fc.Arbitrary<PermissionRule> = fc.oneof(
      fc.record({ tool: fc.constantFrom('*', 'a*'), permission: permissions }),
      fc.record({ effect: effects, permission: permissions }),
      fc.record({ tool: names, input: conditions, permission: fc.constantFrom<Permission>('ask', 'deny') }),
    );
    fc.assert(
      fc.property(subjects, inputs, fc.tuple(rulesArbitrary, harmless), (subject, input, [rules, added]) => {
        const before = decided(subject, input, rules);
        expect(decided(subject, input, [...rules, added])).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 2000 },
    );
  });

  it('survives the way through JSON', () => {
    const rules = intersectRules([over], [{ permission: 'deny', tool: 'x' }]);
    expect(JSON.parse(JSON.stringify(rules))).toEqual(rules);
  });
});
