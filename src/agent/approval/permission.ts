import type { Json } from '../../base/json.ts';
import { matchesGlob } from '../../base/glob.ts';
import type { Permission, ToolEffect } from '../../model/tool.ts';
import { judgeInput } from './permission-input.ts';
import type { InputPattern } from './permission-input.ts';

// How a permission is decided:
//
// 1. A tool that says `deny` of itself is denied; no rule changes that.
// 2. Of the rules that match, the strictest counts: `deny` before `ask` before `allow`. Their order means nothing.
// 3. Where no rule matches, the tool's own permission counts.
// 4. An `allow` lifts a tool's own `ask` only if the rule says what it is about: the tool by its exact name, or conditions
//    on the input. A rule of nothing but an effect, or of a name with `*`, lifts nothing.
// 5. Where a condition cannot be judged (a number was wanted and a text came), the rule counts if it is `ask` or `deny`, and
//    does not if it is `allow`. A command that is not understood, and in which nothing of what a `deny` names is plain to see, is
//    asked about. The input is judged as the model wrote it, before a schema turns it into something else.
// 6. Of rules that were intersected, each list decides for itself and the strictest decision counts.

/** One rule about which calls may run. All that it says must hold; what it leaves out holds for every call. */
export interface PermissionRule {
  /** A tool's name, or a pattern with `*` for any characters; or several of them. */
  readonly tool?: string | readonly string[];
  readonly effect?: ToolEffect | readonly ToolEffect[];
  readonly input?: InputPattern;
  readonly permission: Permission;
  /** For the person who is asked, or for the code that wonders why it was denied. */
  readonly why?: string;
}

/** Rules, or several lists of them that must all agree: see `intersectRules`. */
export type PermissionRules =
  readonly PermissionRule[] | { readonly allOf: readonly (readonly PermissionRule[])[] };

/** A tool as far as rules look at it. */
export interface PermissionSubject {
  readonly name: string;
  readonly effect: ToolEffect;
  /** The tool's own. */
  readonly permission: Permission;
}

/** Whether a call may run, and in words what decided it. */
export interface PermissionDecision {
  readonly permission: Permission;
  readonly why: string;
}

/** Says whether a call may run: see the list above. */
export function decidePermission(
  subject: PermissionSubject,
  input: Json,
  rules: PermissionRules,
): PermissionDecision {
  if (isList(rules)) return decideByList(subject, input, rules);
  return rules.allOf
    .map((list) => decideByList(subject, input, list))
    .reduce(stricter, { permission: 'allow', why: whyOwn({ ...subject, permission: 'allow' }) });
}

/**
 * The rules of a child under those of its parent. A call is allowed only where both allow it, asked where one asks, denied
 * where one denies: handing work to another agent gives no right.
 */
export function intersectRules(parent: PermissionRules, child: PermissionRules): PermissionRules {
  return { allOf: [...listsOf(parent), ...listsOf(child)] };
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Permission, number>;

/** The one of two decisions that lets less happen. */
export function stricter(one: PermissionDecision, other: PermissionDecision): PermissionDecision {
  return strictness[other.permission] > strictness[one.permission] ? other : one;
}

/** `Array.isArray` does not narrow readonly lists. */
function isList(rules: PermissionRules): rules is readonly PermissionRule[] {
  return Array.isArray(rules);
}

function listsOf(rules: PermissionRules): readonly (readonly PermissionRule[])[] {
  return isList(rules) ? [rules] : rules.allOf;
}

function decideByList(
  subject: PermissionSubject,
  input: Json,
  rules: readonly PermissionRule[],
): PermissionDecision {
  const own: PermissionDecision = { permission: subject.permission, why: whyOwn(subject) };
  if (rules.length === 0 || own.permission === 'deny') return own;
  let ruled: PermissionDecision | undefined;
  for (const rule of rules) {
    const match = judgeRule(rule, subject, input);
    if (match === undefined) continue;
    if (rule.permission === 'allow' && (match.unclear !== undefined || !mayLift(rule, subject))) continue;
    const permission = rule.permission === 'deny' && match.isAsked === true ? 'ask' : rule.permission;
    const decision = { permission, why: whyRule(rule, match) };
    ruled = ruled === undefined ? decision : stricter(ruled, decision);
  }
  return ruled ?? own;
}

interface Match {
  /** The condition that could not be judged. */
  readonly unclear?: string;
  /** A command that is not understood: a person is asked where the rule would forbid. */
  readonly isAsked?: true;
}

function judgeRule(
  { tool, effect, input: pattern }: PermissionRule,
  subject: PermissionSubject,
  input: Json,
): Match | undefined {
  if (tool !== undefined && !asList(tool).some((glob) => matchesGlob(subject.name, glob))) return undefined;
  if (effect !== undefined && !asList(effect).includes(subject.effect)) return undefined;
  if (pattern === undefined) return {};
  const verdict = judgeInput(pattern, input);
  if (verdict.type === 'no') return undefined;
  if (verdict.type === 'yes') return {};
  return { unclear: verdict.path, ...(verdict.isAsked === true ? { isAsked: true } : {}) };
}

/** An `allow` that says no more than `*` or an effect was not written with this tool in mind. */
function mayLift({ tool, input }: PermissionRule, { name, permission }: PermissionSubject): boolean {
  if (permission === 'allow' || input !== undefined) return true;
  return tool !== undefined && asList(tool).includes(name);
}

function asList<Item extends string>(value: Item | readonly Item[]): readonly Item[] {
  return typeof value === 'string' ? [value] : value;
}

const ownWords = {
  allow: 'nothing forbids it',
  ask: 'this tool asks before every call',
  deny: 'this tool is switched off',
} as const satisfies Record<Permission, string>;

function whyOwn({ permission }: PermissionSubject): string {
  return ownWords[permission];
}

const ruleWords = {
  allow: 'a rule allows',
  ask: 'a rule asks before',
  deny: 'a rule forbids',
} as const satisfies Record<Permission, string>;

function whyRule(rule: PermissionRule, { unclear }: Match): string {
  const because = rule.why ?? `${ruleWords[rule.permission]} ${describeSubject(rule)}`;
  if (unclear === undefined) return because;
  return `${because} ("${unclear}" is of a kind that the rule cannot judge, so it counts)`;
}

function describeSubject({ tool, effect, input }: PermissionRule): string {
  const parts = [
    tool === undefined ? 'every call' : `calls of ${quoteAll(asList(tool))}`,
    ...(effect === undefined ? [] : [`with effect ${quoteAll(asList(effect))}`]),
    ...(input === undefined ? [] : [`that depend on ${quoteAll(Object.keys(input))}`]),
  ];
  return parts.join(' ');
}

const maxQuoted = 5;

function quoteAll(names: readonly string[]): string {
  const rest = names.length - maxQuoted;
  const shown = names.slice(0, maxQuoted).map((name) => `"${name}"`);
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}
