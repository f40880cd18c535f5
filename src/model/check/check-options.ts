import { isRecord } from '../../base/json.ts';
import { adviseName } from '../../base/nearest.ts';
import { configError } from '../../errors/config-error.ts';
import { showName, showValue } from './show-value.ts';

/** What one option must be. */
export interface OptionRule {
  readonly isLegal: (value: unknown) => boolean;
  /** Ends the sentence "must be …". */
  readonly expected: string;
  /** The options that it has itself, where it is an object. */
  readonly inside?: Rules;
}

/** The options that something takes. */
export interface OptionsSpec {
  /** What takes them, as a sentence names it: `openai()`. */
  readonly of: string;
  /** Every option by its name; names alone where other code looks at the values. */
  readonly rules: Rules;
}

type Rules = readonly string[] | Readonly<Record<string, OptionRule>>;

/**
 * Throws a `ConfigError` for the first option that does not exist, with the name that was probably meant, or that has a value which makes no
 * sense. An option that is `undefined` is absent. Returns the options.
 *
 * @example checkOptions({ of: 'openai()', rules }, { baseUrl: '…' }); // There is no option "baseUrl" of openai(): did you mean "baseURL"?
 */
export function checkOptions({ of, rules }: OptionsSpec, value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw configError(`The options of ${of} must be an object, got ${showValue(value)}`);
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const rule = ruleOf(rules, name);
    const details = { context: { field: name.slice(0, 64) } };
    if (rule === undefined)
      throw configError(
        `There is no option ${showName(name)} of ${of}: ${adviseName(name, namesOf(rules))}`,
        details,
      );
    if (!rule.isLegal(given))
      throw configError(`"${name}" of ${of} must be ${rule.expected}, got ${showValue(given)}`, details);
    if (rule.inside !== undefined) checkOptions({ of: `"${name}" of ${of}`, rules: rule.inside }, given);
  }
  return value;
}

function namesOf(rules: Rules): readonly string[] {
  return isNames(rules) ? rules : Object.keys(rules);
}

function ruleOf(rules: Rules, name: string): OptionRule | undefined {
  if (isNames(rules)) return rules.includes(name) ? anyValue : undefined;
  return Object.hasOwn(rules, name) ? rules[name] : undefined;
}

function isNames(rules: Rules): rules is readonly string[] {
  return Array.isArray(rules);
}

const hasMethod =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isRecord(value) && names.every((name) => typeof value[name] === 'function');

/** Other code looks at it. */
export const anyValue: OptionRule = { isLegal: () => true, expected: '' };
export const aFunction: OptionRule = {
  isLegal: (value) => typeof value === 'function',
  expected: 'a function',
};
export const aFlag: OptionRule = {
  isLegal: (value) => typeof value === 'boolean',
  expected: 'true or false',
};
export const aText: OptionRule = {
  isLegal: (value) => typeof value === 'string' && value !== '',
  expected: 'a text that is not empty',
};
export const aClock: OptionRule = {
  isLegal: hasMethod('wallMs', 'monotonicMs', 'after'),
  expected: 'a clock with wallMs, monotonicMs and after',
};
export const aRandom: OptionRule = {
  isLegal: aFunction.isLegal,
  expected: 'a function that gives a number from 0 to 1',
};
export const someGates: OptionRule = {
  isLegal: hasMethod('gateOf'),
  expected: 'what createGates() returns',
};
export const aSignal: OptionRule = {
  isLegal: (value) =>
    isRecord(value) && typeof value['aborted'] === 'boolean' && hasMethod('addEventListener')(value),
  expected: 'an AbortSignal: of a controller, pass its "signal"',
};

export function anObject(example: string, inside?: Rules): OptionRule {
  const rule = { isLegal: isRecord, expected: `an object, such as ${example}` };
  return inside === undefined ? rule : { ...rule, inside };
}

export function anObjectWith(method: string, expected: string): OptionRule {
  return { isLegal: hasMethod(method), expected };
}

export function oneOf(...values: readonly string[]): OptionRule {
  return {
    isLegal: (value) => values.some((one) => one === value),
    expected: values
      .map((one) => `"${one}"`)
      .join(', ')
      .replace(/, (?=[^,]*$)/, ' or '),
  };
}

export function aNumber(from: number, to = Infinity): OptionRule {
  return {
    isLegal: (value) => typeof value === 'number' && value >= from && value <= to,
    expected: to === Infinity ? `a number from ${from}` : `a number from ${from} to ${to}`,
  };
}
