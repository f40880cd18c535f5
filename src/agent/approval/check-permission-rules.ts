import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { readPlainCommand } from '../../base/shell-words.ts';
import { configError } from '../../errors/config-error.ts';
import { showName, showValue } from '../../model/check/show-value.ts';
import type { Permission, ToolEffect } from '../../model/tool.ts';
import type { InputCondition, InputPattern, Literal } from './permission-input.ts';
import type { PermissionRule } from './permission.ts';

/** Checks rules when the agent is made and copies them, so that they do not change later. */
export function checkPermissionRules(rules: unknown): readonly PermissionRule[] {
  if (rules === undefined) return [];
  if (!Array.isArray(rules))
    throw configError(`"permissions" must be a list of rules, got ${showValue(rules)}`);
  if (rules.length > maxRules) {
    throw configError(`"permissions" may have at most ${maxRules} rules, got ${rules.length}`);
  }
  return Object.freeze(rules.map((rule: unknown, index) => checkRule(rule, `permissions[${index}]`)));
}

const maxRules = 1000;
const maxNames = 1000;
const maxTextLength = 1000;

const ruleFields = ['tool', 'effect', 'input', 'permission', 'why'] as const;
const permissions = ['allow', 'ask', 'deny'] as const satisfies readonly Permission[];
const effects = ['read', 'idempotent', 'once'] as const satisfies readonly ToolEffect[];

function checkRule(rule: unknown, at: string): PermissionRule {
  if (!isRecord(rule)) throw wrong(at, 'an object such as { tool: "refund", permission: "ask" }', rule);
  checkFieldNames(rule, ruleFields, at);
  const { tool, effect, input, permission, why } = rule;
  return Object.freeze({
    ...(tool === undefined ? {} : { tool: checkTools(tool, `${at}.tool`) }),
    ...(effect === undefined ? {} : { effect: checkEffects(effect, `${at}.effect`) }),
    ...(input === undefined ? {} : { input: checkPattern(input, `${at}.input`) }),
    permission: checkWord(permission, permissions, `${at}.permission`),
    ...(why === undefined ? {} : { why: checkText(why, `${at}.why`) }),
  });
}

function checkTools(tool: unknown, at: string): string | readonly string[] {
  if (!Array.isArray(tool)) return checkText(tool, at);
  checkLength(tool, at);
  return Object.freeze(tool.map((name: unknown, index) => checkText(name, `${at}[${index}]`)));
}

function checkEffects(effect: unknown, at: string): ToolEffect | readonly ToolEffect[] {
  if (!Array.isArray(effect)) return checkWord(effect, effects, at);
  checkLength(effect, at);
  return Object.freeze(effect.map((name: unknown, index) => checkWord(name, effects, `${at}[${index}]`)));
}

function checkPattern(input: unknown, at: string): InputPattern {
  if (!isRecord(input))
    throw wrong(at, 'conditions by path, such as { "order.cents": { over: 1000 } }', input);
  const paths = Object.keys(input);
  // Without a condition the rule would hold for every input, which is not the meaning of "input".
  if (paths.length === 0) throw configError(`"${at}" has no conditions: leave it out`);
  checkLength(paths, at);
  for (const path of paths) {
    if (path.length > maxTextLength || path.split('.').includes('')) {
      throw configError(`"${at}" has the path ${showName(path)}: write names with a dot between them, "a.b"`);
    }
  }
  return Object.freeze(
    Object.fromEntries(paths.map((path) => [path, checkCondition(input[path], `${at}[${showName(path)}]`)])),
  );
}

const conditionRule =
  'a value, a list of values, { matches: "text*" }, { runs: ["git status"] }, { over: number } or { under: number }';

function checkCondition(condition: unknown, at: string): InputCondition {
  if (isLiteral(condition)) return condition;
  if (Array.isArray(condition)) {
    checkLength(condition, at);
    const odd = condition.findIndex((value: unknown) => !isLiteral(value));
    if (odd !== -1) throw wrong(`${at}[${odd}]`, 'a text, a number, true, false or null', condition[odd]);
    return Object.freeze([...(condition as readonly Literal[])]); // Each was looked at above.
  }
  if (!isRecord(condition)) throw wrong(at, conditionRule, condition);
  if ('matches' in condition) return checkMatches(condition, at);
  return 'runs' in condition ? checkRuns(condition, at) : checkBounds(condition, at);
}

function checkMatches(condition: Fields, at: string): InputCondition {
  checkFieldNames(condition, ['matches'], at);
  const matches = checkText(condition['matches'], `${at}.matches`);
  if (!/[^*]/.test(matches)) {
    throw configError(`"${at}.matches" is "${matches}", which every text fits: leave the condition out`);
  }
  return Object.freeze({ matches });
}

function checkRuns(condition: Fields, at: string): InputCondition {
  checkFieldNames(condition, ['runs'], at);
  const { runs } = condition;
  if (!Array.isArray(runs)) throw wrong(`${at}.runs`, 'a list of commands, such as ["git status"]', runs);
  checkLength(runs, `${at}.runs`);
  return Object.freeze({
    runs: Object.freeze(runs.map((command: unknown, index) => checkPlain(command, `${at}.runs[${index}]`))),
  });
}

function checkPlain(command: unknown, at: string): string {
  const text = checkText(command, at);
  if (readPlainCommand(text) !== undefined) return text;
  throw configError(
    `"${at}" is ${showValue(text)}, which is not a plain command: write its first words with one space between them, such as "git status", without operators, variables or patterns`,
  );
}

function checkBounds(condition: Fields, at: string): InputCondition {
  checkFieldNames(condition, ['matches', 'runs', 'over', 'under'], at);
  const { over, under } = condition;
  if (over === undefined && under === undefined) throw wrong(at, conditionRule, condition);
  return Object.freeze({
    ...(over === undefined ? {} : { over: checkNumber(over, `${at}.over`) }),
    ...(under === undefined ? {} : { under: checkNumber(under, `${at}.under`) }),
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** A field that is never read would be a rule that is never applied. */
function checkFieldNames(value: Fields, names: readonly string[], at: string): void {
  const odd = Object.keys(value).find((name) => !names.includes(name));
  if (odd === undefined) return;
  const [nearest] = nearestNames(odd, names);
  const instead = nearest === undefined ? `it may have ${names.join(', ')}` : `did you mean "${nearest}"?`;
  throw configError(`"${at}" has no field ${showName(odd)}: ${instead}`);
}

function checkLength(list: readonly unknown[], at: string): void {
  if (list.length === 0) throw configError(`"${at}" is an empty list, which nothing fits: leave it out`);
  if (list.length > maxNames)
    throw configError(`"${at}" may have at most ${maxNames} entries, got ${list.length}`);
}

function checkText(value: unknown, at: string): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxTextLength) return value;
  throw wrong(at, `a text that is not empty, of at most ${maxTextLength} characters`, value);
}

function checkNumber(value: unknown, at: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrong(at, 'a number', value);
}

function checkWord<Word extends string>(value: unknown, words: readonly Word[], at: string): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw wrong(at, words.map((word) => `"${word}"`).join(' or '), value);
  return found;
}

function isLiteral(value: unknown): value is Literal {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function wrong(at: string, rule: string, value: unknown): Error {
  return configError(`"${at}" must be ${rule}, got ${showValue(value)}`);
}
