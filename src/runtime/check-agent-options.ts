import { defaultLoopRules } from '../agent/turn/loop-guard.ts';
import { isRecord } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import {
  aClock,
  aFlag,
  aFunction,
  aNumber,
  anObject,
  anyValue,
  aRandom,
  aText,
  checkOptions,
  oneOf,
  someGates,
} from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';
import { someTools } from '../model/define-tool.ts';
import { checkPolicy } from './model-call/check-options.ts';
import type { AgentOptions, AgentPolicy } from './agent-options.ts';

/** Throws a `ConfigError` that names the first option that makes no sense. What has a checker of its own is looked at there. */
export function checkAgentOptions(options: unknown): void {
  const given = checkOptions({ of: 'createAgent()', rules: optionRules }, options);
  const { model, policy = {}, name = 'agent', settings, store, engine } = given;
  if (model === undefined)
    throw configError('An agent needs a "model", as in createAgent({ model: openai(\'gpt-5.2\') })');
  if (engine !== undefined && store !== undefined) throw configError(bothKeepers);
  // Code that keeps runs knows by it which stand below others, and removes these together: see `model/run-tree.ts`.
  if (String(name).includes('/'))
    throw configError(
      '"name" of createAgent() must not contain "/", which separates the names of child agents: write "-"',
    );
  const stray = ['messages', 'tools', 'toolChoice', 'output', 'continueFrom'].find(
    (field) => isRecord(settings) && field in settings,
  );
  if (stray !== undefined) throw configError(`"${stray}" is no setting of an agent: it writes that itself`);
  const looked: AgentPolicy = checkOptions({ of: '"policy"', rules: policyRules }, policy);
  const { retry, timeouts, loop } = looked;
  checkPolicy({ retry, timeouts });
  checkLoop(loop);
}

const bothKeepers = 'An agent has a "store" or an "engine", not both: the engine keeps the runs itself';

/** What has a checker of its own is looked at there. */
const optionRules: Readonly<Record<keyof AgentOptions, OptionRule>> = {
  name: aText,
  model: anyValue,
  selectModel: { ...aFunction, expected: 'a function that gives one of the models' },
  instructions: { isLegal: (value) => typeof value === 'string', expected: 'a text' },
  tools: someTools,
  toolChoice: anyValue,
  output: anyValue,
  policy: anObject("{ retry: 'patient' }"),
  limits: anyValue,
  hooks: anyValue,
  callbacks: anyValue,
  settings: anObject('{ temperature: 0 }'),
  gates: someGates,
  clock: aClock,
  random: aRandom,
  store: {
    isLegal: (value) => isRecord(value) && isRecord(value['runs']),
    expected: "a store, such as sqlite('runs.db')",
  },
  context: anyValue,
  history: anyValue,
  setup: { ...aFunction, expected: 'a function of { signal }' },
  setupTimeoutMs: milliseconds(1),
  engine: { ...aFunction, expected: 'an engine, such as restate({ … })' },
  leaseMs: milliseconds(1000),
  onChange: oneOf('warn', 'strict'),
  explain: oneOf('auto', 'always', 'never'),
};

function milliseconds(least: number): OptionRule {
  const { isLegal } = aNumber(least, 3_600_000);
  return { isLegal, expected: `a number of milliseconds from ${least} to 3600000` };
}

const policyRules: Readonly<Record<keyof AgentPolicy, OptionRule>> = {
  retry: anyValue,
  timeouts: anyValue,
  fallBackOnFilter: aFlag,
  salvage: aFlag,
  inDoubt: oneOf('ask', 'tell'),
  loop: anObject('{ stopAt: 8 }'),
  strayErrors: oneOf('report', 'end-process'),
  permissions: anyValue,
};

function checkLoop(loop: AgentPolicy['loop']): void {
  if (loop === undefined) return;
  const count: OptionRule = {
    isLegal: (value) => Number.isInteger(value) && Number(value) > 0,
    expected: 'a whole number above 0',
  };
  const rules = { nudgeAt: count, withdrawAt: count, stopAt: count };
  checkOptions({ of: '"policy.loop"', rules }, loop);
  const { nudgeAt, withdrawAt, stopAt } = { ...defaultLoopRules, ...loop };
  if (nudgeAt <= withdrawAt && withdrawAt <= stopAt) return;
  throw configError(
    `"loop" of "policy" must be rising: nudgeAt, then withdrawAt, then stopAt, got ${nudgeAt}, ${withdrawAt}, ${stopAt}`,
    { context: { field: 'loop' } },
  );
}
