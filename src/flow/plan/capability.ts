import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { configError } from '../../errors/config-error.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { readSchema } from '../../model/schema/schema.ts';
import { showName, showValue } from '../../model/check/show-value.ts';
import type { Schema } from '../../model/tool.ts';
import { isToolName } from '../../model/tool-name.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import type { Capability, CapabilityOptions, NoValues, Values } from './plan-types.ts';

/**
 * Says what a plan can do: the values that a step of it needs, those that it provides, and what its failures mean. Throws a
 * `ConfigError` that names the field where the definition makes no sense.
 *
 * @example
 * const forecast = capability({
 *   name: 'forecast',
 *   description: 'The weather of the next days at a place.',
 *   requires: { place: z.string() },
 *   provides: { days: z.array(z.string()) },
 *   effect: 'read',
 *   execute: async ({ place }, { signal }) => ({ days: await lookUp(place, { signal }) }),
 * });
 */
export function capability<
  const Requires extends Values = NoValues,
  const Provides extends Values = NoValues,
>(options: CapabilityOptions<Requires, Provides>): Capability {
  checkOptions(options);
  const { name, description, requires = {}, provides = {} } = options;
  // A plan forgets the types of the values: their schemas stand between the steps.
  const kept = Object.freeze({ ...options }) as unknown as CapabilityOptions<Values, Values>;
  return Object.freeze({
    name,
    description,
    requires: Object.freeze(Object.keys(requires)),
    provides: Object.freeze(Object.keys(provides)),
    options: kept,
  });
}

/** Reads the schema of a value. No model is informed of it, so it need not be JSON Schema. */
export function readValueSchema(schema: Schema, what: string): ReturnType<typeof readSchema> {
  return readSchema(schema, what, { parameters: {} });
}

/** Begins with a letter, so that it can be a member of any object. */
const legalValueName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const maxValues = 100;

function checkOptions(options: unknown): void {
  if (!isRecord(options)) {
    const form = '{ name, description, requires, provides, execute }';
    throw configError(`Cannot define a capability: expected ${form}, got ${showValue(options)}`);
  }
  const { name, requires, provides, retryPolicy } = options;
  if (typeof name !== 'string' || !isToolName(name)) {
    const rule = '"name" must be 1 to 64 letters, digits, "_" or "-"';
    throw configError(`Cannot define a capability: ${rule}, got ${showValue(name)}`);
  }
  for (const field of Object.keys(options)) {
    if (options[field] !== undefined && !rules.has(field)) throw unknownField(name, field, options);
  }
  for (const [field, { isLegal, expected }] of rules) {
    const value = options[field];
    if (isLegal(value)) continue;
    throw wrong(name, `"${field}" must be ${expected}, got ${showValue(value)}`);
  }
  checkValues(name, 'requires', requires);
  checkValues(name, 'provides', provides);
  if (retryPolicy !== undefined) checkRetry(name, retryPolicy, options['effect']);
}

interface Rule {
  readonly isLegal: (value: unknown) => boolean;
  readonly expected: string;
}

const optional = (isLegal: Rule['isLegal'], expected: string): Rule => ({
  isLegal: (value) => value === undefined || isLegal(value),
  expected,
});
const oneOf = (...names: readonly string[]): Rule =>
  optional(
    (value) => names.some((name) => name === value),
    `one of ${names.map((name) => `'${name}'`).join(', ')}`,
  );
const isFunction = (value: unknown): boolean => typeof value === 'function';
const valuesRule = optional(isRecord, 'schemas by name, such as { city: z.string() }');

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['name', { isLegal: () => true, expected: '' }], // Seen before, for every message names it.
  [
    'description',
    {
      isLegal: (value) => typeof value === 'string' && value.trim() !== '',
      expected: 'a text that says what it does and when the planner should choose it',
    },
  ],
  ['requires', valuesRule],
  ['provides', valuesRule],
  ['execute', { isLegal: isFunction, expected: 'a function (values, context) => the provided values' }],
  ['effect', oneOf('read', 'idempotent', 'once')],
  ['permission', oneOf('allow', 'ask', 'deny')],
  [
    'timeoutMs',
    optional(
      (value) => Number.isFinite(value) && Number(value) > 0,
      'a number of milliseconds above 0, such as 30_000',
    ),
  ],
  [
    'retryPolicy',
    optional(
      (value) => typeof value === 'string' || isRecord(value),
      "a preset such as 'quick', or { maxAttempts }",
    ),
  ],
  ['classifyError', optional(isFunction, 'a function (error) => { severity } or undefined')],
  ['verify', optional(isFunction, 'a function (values, context) => { happened }')],
]);

function checkValues(capabilityName: string, field: 'requires' | 'provides', values: unknown): void {
  const entries = isRecord(values) ? Object.entries(values) : [];
  if (entries.length > maxValues) {
    throw wrong(capabilityName, `"${field}" may name at most ${maxValues} values, got ${entries.length}`);
  }
  for (const [name, schema] of entries) {
    if (!legalValueName.test(name)) {
      const rule = 'a letter, then at most 63 letters, digits, "_" or "-"';
      throw wrong(capabilityName, `the name of a value in "${field}" must be ${rule}, got ${showName(name)}`);
    }
    // What is no schema is reported there.
    readValueSchema(schema as Schema, `the value "${name}" of capability "${capabilityName}"`);
  }
}

function checkRetry(name: string, retryPolicy: unknown, effect: unknown): void {
  const { maxAttempts } = resolveRetryPolicy(retryPolicy as RetryOption); // It says itself what makes no sense.
  if (maxAttempts === 1 || effect === 'read' || effect === 'idempotent') return;
  const mend = "write effect: 'read' or 'idempotent' if it may be repeated, or leave out \"retryPolicy\"";
  throw wrong(name, `"retryPolicy" means nothing where the effect is 'once' (the default): ${mend}`);
}

function wrong(name: string, what: string): RerailError {
  return configError(`Cannot define capability "${name}": ${what}`, { context: { capability: name } });
}

/** What other libraries, and tools, call a field. */
const fieldsElsewhere: ReadonlyMap<string, string> = new Map([
  ...['input', 'inputs', 'needs'].map((name) => [name, 'call it "requires", schemas by name'] as const),
  ...['output', 'outputs', 'gives'].map((name) => [name, 'call it "provides", schemas by name'] as const),
  ...['handler', 'run', 'call', 'func'].map((name) => [name, 'call it "execute"'] as const),
  ...['retry', 'retries', 'maxRetries'].map((name) => [name, 'call it "retryPolicy"'] as const),
  ...['timeout', 'timeoutSeconds'].map((name) => [name, 'call it "timeoutMs", in milliseconds'] as const),
  ['classify_error', 'call it "classifyError"'],
]);

function unknownField(name: string, field: string, options: Readonly<Record<string, unknown>>): RerailError {
  const known = [...rules.keys()];
  const [nearest] = nearestNames(
    field,
    known.filter((one) => options[one] === undefined),
  );
  const meant = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return wrong(name, `there is no field ${showName(field)}: ${fieldsElsewhere.get(field) ?? meant}`);
}
