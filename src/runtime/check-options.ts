import { isRecord } from '../base/json.ts';
import { nearestNames } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import type { RerailError } from '../errors/rerail-error.ts';
import { timeoutNames } from '../model/stream-watch.ts';
import { retryPresets } from '../resilience/retry-policy.ts';

interface Rule {
  readonly isLegal: (value: unknown) => boolean;
  readonly expected: string;
}

const hasMethod = (name: string) => (value: unknown) => isRecord(value) && typeof value[name] === 'function';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isBound = (value: unknown): boolean => typeof value === 'number' && value > 0;

const optionRules: Readonly<Record<string, Rule>> = {
  policy: { isLegal: isRecord, expected: "an object, such as { retry: 'patient' }" },
  signal: { isLegal: isSignal, expected: 'an AbortSignal: of a controller, hand in its "signal"' },
  onEvent: { isLegal: isFunction, expected: 'a function' },
  gates: { isLegal: hasMethod('gateOf'), expected: 'what createGates() returns' },
  clock: { isLegal: hasMethod('after'), expected: 'a clock with wallMs, monotonicMs and after' },
  random: { isLegal: isFunction, expected: 'a function that gives a number from 0 to 1' },
};

const policyRules: Readonly<Record<string, Rule>> = {
  retry: {
    isLegal: (value) => typeof value === 'string' || isRecord(value),
    expected: 'the name of a preset, or an object with what differs',
  },
  timeouts: { isLegal: isRecord, expected: 'an object, such as { totalMs: 60_000 }' },
  fallBackOnFilter: { isLegal: (value) => typeof value === 'boolean', expected: 'true or false' },
  limits: { isLegal: isRecord, expected: 'an object, such as { maxCostUsd: 0.5 }' },
};

const anything: Rule = { isLegal: () => true, expected: '' };
const bound: Rule = { isLegal: isBound, expected: 'a number above 0' };
const fieldsOf = (names: readonly string[], rule: Rule): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map((name) => [name, rule]));

// Their values are looked at where they are filled in.
const retryRules = fieldsOf(Object.keys(retryPresets.standard), anything);
const timeoutRules = fieldsOf(timeoutNames, anything);
const limitRules = fieldsOf(['maxRequests', 'maxTokens', 'maxCostUsd'], bound);

/** Throws a `ConfigError` that names the first option that makes no sense, before anything is sent. */
export function checkCallOptions(options: unknown): void {
  if (!isRecord(options)) throw misuse('the options', 'an object', options);
  checkFields('option', options, optionRules);
  const { policy } = options;
  if (isRecord(policy)) checkPolicy(policy);
}

/** The same for a policy alone. */
export function checkPolicy(policy: Readonly<Record<string, unknown>>): void {
  checkFields('policy', policy, policyRules);
  const { retry, timeouts, limits } = policy;
  if (isRecord(retry)) checkFields('policy.retry', retry, retryRules);
  if (isRecord(timeouts)) checkFields('policy.timeouts', timeouts, timeoutRules);
  if (isRecord(limits)) checkFields('policy.limits', limits, limitRules);
}

function checkFields(
  place: string,
  fields: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    const rule = rules[name];
    if (rule === undefined) throw unknownField(place, name, Object.keys(rules));
    if (!rule.isLegal(value)) throw misuse(`"${name}"`, rule.expected, value);
  }
}

function isSignal(value: unknown): boolean {
  return isRecord(value) && typeof value['aborted'] === 'boolean' && hasMethod('addEventListener')(value);
}

function unknownField(place: string, name: string, known: readonly string[]): RerailError {
  const [nearest] = nearestNames(name, known);
  const advice = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return configError(`There is no field "${name}" in the ${place} of a call: ${advice}`);
}

function misuse(what: string, expected: string, value: unknown): RerailError {
  const shown = value === null || typeof value !== 'object' ? String(value) : 'an object of another kind';
  return configError(`Cannot make this call: ${what} must be ${expected}, got ${shown}`);
}
