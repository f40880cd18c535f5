import { anyValue, checkOptions } from './check/check-options.ts';
import type { OptionRule } from './check/check-options.ts';
import type { Retention, RunQuery } from './store/store.ts';

/** Throws a `ConfigError` for a condition that does not exist: without it a list would hold more than was asked for. */
export function checkRunQuery(query: RunQuery): void {
  checkOptions({ of: 'runs.list()', rules: queryRules }, query);
}

const queryRules: Readonly<Record<keyof RunQuery, OptionRule>> = {
  status: { isLegal: Array.isArray, expected: "a list, such as ['failed']" },
  agent: anyValue,
  sessionId: anyValue,
  code: anyValue,
  tool: anyValue,
  text: anyValue,
  fromMs: anyValue,
  toMs: anyValue,
  below: anyValue,
  limit: anyValue,
  cursor: anyValue,
};

/** The same for what may go: without it nothing would. */
export function checkRetention(rule: Retention): void {
  checkOptions({ of: 'runs.prune()', rules: ['maxAgeMs', 'maxRuns'] }, rule);
}
