import { isRecord } from '../../base/json.ts';
import {
  aClock,
  aFlag,
  aFunction,
  anObject,
  aRandom,
  aSignal,
  checkOptions,
  someGates,
} from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';
import { timeoutNames } from '../../model/stream-watch.ts';
import type { CallOptions } from './call-model.ts';
import type { CallPolicy } from './call-policy.ts';

const optionRules: Readonly<Record<keyof CallOptions, OptionRule>> = {
  policy: anObject("{ retry: 'patient' }"),
  signal: aSignal,
  onEvent: aFunction,
  gates: someGates,
  clock: aClock,
  random: aRandom,
};

const policyRules: Readonly<Record<keyof CallPolicy, OptionRule>> = {
  retry: {
    isLegal: (value) => typeof value === 'string' || isRecord(value),
    expected: 'the name of a preset, or an object with what differs',
  },
  timeouts: anObject('{ totalMs: 60_000 }'),
  fallBackOnFilter: aFlag,
  limits: anObject('{ maxCostUsd: 0.5 }'),
};

const bound: OptionRule = {
  isLegal: (value) => typeof value === 'number' && value > 0,
  expected: 'a number above 0',
};
const limitRules = { maxRequests: bound, maxTokens: bound, maxCostUsd: bound };

/** Throws a `ConfigError` that names the first option that makes no sense, before anything is sent. */
export function checkCallOptions(options: unknown): void {
  const { policy } = checkOptions({ of: 'callModel()', rules: optionRules }, options);
  if (isRecord(policy)) checkPolicy(policy);
}

/** The same for a policy alone. */
export function checkPolicy(policy: Readonly<Record<string, unknown>>): void {
  checkOptions({ of: '"policy"', rules: policyRules }, policy);
  const { timeouts, limits } = policy;
  // Retries, and the values of timeouts, are looked at where they are filled in.
  if (isRecord(timeouts)) checkOptions({ of: '"policy.timeouts"', rules: timeoutNames }, timeouts);
  if (isRecord(limits)) checkOptions({ of: '"policy.limits"', rules: limitRules }, limits);
}
