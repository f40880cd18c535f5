import { defaultLoopRules } from '../agent/loop-guard.ts';
import { isRecord } from '../base/json.ts';
import { nearestNames } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import { isTool } from '../model/define-tool.ts';
import { showValue } from '../model/show-value.ts';
import { checkPolicy } from './check-options.ts';
import type { AgentOptions, AgentPolicy } from './agent-options.ts';

/** Throws a `ConfigError` that names the first option that makes no sense. What has a checker of its own is looked at there. */
export function checkAgentOptions(options: unknown): void {
  if (!isRecord(options)) throw configError('createAgent() takes an object: { model, tools, … }');
  checkFields('the options of createAgent()', options, fields);
  const { policy = {}, name = 'agent', instructions = '' } = options;
  checkTexts({ name, instructions });
  checkParts(options);
  checkExplain(options['explain']);
  checkFields('policy', policy, policyFields);
  const { retry, timeouts } = policy as AgentPolicy; // Looked at in the next line.
  checkPolicy({ retry, timeouts });
  checkPolicyValues(policy as AgentPolicy); // Its fields are looked at one by one.
}

/** What the rest relies on. */
function checkParts({
  model,
  tools,
  settings,
  clock,
  random,
  gates,
  store,
  engine,
  leaseMs,
  onChange,
  setup,
  setupTimeoutMs,
}: Readonly<Record<string, unknown>>): void {
  if (model === undefined)
    throw configError('An agent needs a "model", as in createAgent({ model: openai(\'gpt-5.2\') })');
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool)))
    throw configError('"tools" must be a list of tools, each made with tool({ … })');
  const wanted = [
    ['settings', settings, isRecord(settings), 'an object, such as { temperature: 0 }'],
    [
      'clock',
      clock,
      hasMethod(clock, 'monotonicMs') && hasMethod(clock, 'after'),
      'a clock with wallMs, monotonicMs and after',
    ],
    ['random', random, typeof random === 'function', 'a function that gives a number from 0 to 1'],
    ['gates', gates, hasMethod(gates, 'gateOf'), 'what createGates() returns'],
    ['store', store, isRecord(store) && isRecord(store['runs']), "a store, such as sqlite('runs.db')"],
    ['engine', engine, typeof engine === 'function', 'an engine, such as restate({ … })'],
    ['setup', setup, typeof setup === 'function', 'a function of { signal }'],
    [
      'setupTimeoutMs',
      setupTimeoutMs,
      isSetupTimeout(setupTimeoutMs),
      'a number of milliseconds from 1 to 3600000',
    ],
    ['leaseMs', leaseMs, isLease(leaseMs), 'a number of milliseconds from 1000 to 3600000'],
    ['onChange', onChange, onChange === 'warn' || onChange === 'strict', '"warn" or "strict"'],
  ] as const;
  for (const [name, value, isLegal, expected] of wanted) {
    if (value !== undefined && !isLegal)
      throw configError(`"${name}" of the agent must be ${expected}, got ${showValue(value)}`);
  }
  if (engine !== undefined && store !== undefined) throw configError(bothKeepers);
  const stray = ['messages', 'tools', 'toolChoice', 'output', 'continueFrom'].find(
    (name) => isRecord(settings) && name in settings,
  );
  if (stray !== undefined) throw configError(`"${stray}" is no setting of an agent: it writes that itself`);
}

const bothKeepers = 'An agent has a "store" or an "engine", not both: the engine keeps the runs itself';

function checkExplain(explain: unknown): void {
  if (explain === undefined || explain === 'auto' || explain === 'always' || explain === 'never') return;
  throw configError(`"explain" of the agent must be "auto", "always" or "never", got ${showValue(explain)}`);
}

function isLease(leaseMs: unknown): boolean {
  return typeof leaseMs === 'number' && leaseMs >= 1000 && leaseMs <= 3_600_000;
}

function isSetupTimeout(timeoutMs: unknown): boolean {
  return typeof timeoutMs === 'number' && timeoutMs >= 1 && timeoutMs <= 3_600_000;
}

function hasMethod(value: unknown, name: string): boolean {
  return isRecord(value) && typeof value[name] === 'function';
}

const fields = new Set<string>([
  'name',
  'model',
  'instructions',
  'tools',
  'output',
  'policy',
  'limits',
  'hooks',
  'callbacks',
  'settings',
  'gates',
  'clock',
  'random',
  'store',
  'context',
  'history',
  'setup',
  'setupTimeoutMs',
  'engine',
  'leaseMs',
  'onChange',
  'explain',
] satisfies readonly (keyof AgentOptions)[]);
const policyFields = new Set<string>([
  'retry',
  'timeouts',
  'fallBackOnFilter',
  'salvage',
  'inDoubt',
  'loop',
  'strayErrors',
  'permissions',
] satisfies readonly (keyof AgentPolicy)[]);

function checkFields(place: string, given: unknown, known: ReadonlySet<string>): void {
  if (!isRecord(given)) throw configError(`${place} must be an object, got ${showValue(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.has(name)) continue;
    const [nearest] = nearestNames(name, [...known]);
    const advice =
      nearest === undefined ? `known are ${[...known].join(', ')}` : `did you mean "${nearest}"?`;
    throw configError(`There is no field "${name}" in ${place}: ${advice}`, { context: { field: name } });
  }
}

function checkPolicyValues({ salvage, inDoubt, fallBackOnFilter, loop, strayErrors }: AgentPolicy): void {
  for (const [name, value] of Object.entries({ salvage, fallBackOnFilter })) {
    if (value !== undefined && typeof value !== 'boolean') throw badPolicy(name, 'true or false', value);
  }
  if (inDoubt !== undefined && !['ask', 'tell'].includes(inDoubt))
    throw badPolicy('inDoubt', '"ask" or "tell"', inDoubt);
  if (strayErrors !== undefined && !['report', 'end-process'].includes(strayErrors))
    throw badPolicy('strayErrors', '"report" or "end-process"', strayErrors);
  if (loop === undefined) return;
  checkFields('policy.loop', loop, new Set(Object.keys(defaultLoopRules)));
  const { nudgeAt, withdrawAt, stopAt } = { ...defaultLoopRules, ...loop };
  for (const [name, value] of Object.entries({ nudgeAt, withdrawAt, stopAt })) {
    if (!(Number.isInteger(value) && value > 0))
      throw badPolicy(`loop.${name}`, 'a whole number above 0', value);
  }
  if (nudgeAt > withdrawAt || withdrawAt > stopAt)
    throw badPolicy(
      'loop',
      'rising: nudgeAt, then withdrawAt, then stopAt',
      `${nudgeAt}, ${withdrawAt}, ${stopAt}`,
    );
}

function badPolicy(name: string, expected: string, value: unknown): Error {
  return configError(`"policy.${name}" must be ${expected}, got ${showValue(value)}`, {
    context: { field: name },
  });
}

function checkTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(texts)) {
    if (typeof value !== 'string')
      throw configError(`"${name}" of the agent must be a text, got ${typeof value}`);
  }
  if (texts['name'] === '') throw configError('"name" of the agent must not be empty');
  // Whoever keeps runs knows by it which stand below others, and removes these together: see `model/run-tree.ts`.
  if (String(texts['name']).includes('/'))
    throw configError(
      '"name" of the agent must not contain "/", which stands before the names of agents below: write "-"',
    );
}
