import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { configError } from '../../errors/config-error.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { showName, showValue } from './show-value.ts';
import { isToolName } from '../tool-name.ts';

/** Throws a `ConfigError` for the first field of a tool's definition that makes no sense. The schemas are looked at elsewhere. */
export function checkToolFields(definition: unknown): void {
  if (!isRecord(definition)) {
    throw configError(
      `Cannot define a tool: expected { name, description, input, execute }, got ${showValue(definition)}`,
    );
  }
  const { name } = definition;
  if (typeof name !== 'string' || !isToolName(name)) {
    throw configError(
      `Cannot define a tool: "name" must be 1 to 64 letters, digits, "_" or "-", got ${showValue(name)}`,
    );
  }
  for (const field of Object.keys(definition)) {
    if (definition[field] !== undefined && !rules.has(field)) throw unknownField(name, field, definition);
  }
  for (const [field, { isLegal, expected, isOptional }] of rules) {
    const value = definition[field];
    if (value === undefined && isOptional === true) continue;
    if (isLegal(value)) continue;
    const isElsewhere = field === 'input' && value === undefined && definition['parameters'] !== undefined;
    const advice = isElsewhere ? ' (rename "parameters" to "input")' : '';
    throw badField(name, { field, expected: `${expected}${advice}`, value });
  }
}

interface Rule {
  readonly isLegal: (value: unknown) => boolean;
  readonly expected: string;
  readonly isOptional?: true;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const oneOf = (...names: readonly string[]): Rule => ({
  isLegal: (value) => names.some((name) => name === value),
  expected: names.map((name) => `'${name}'`).join(', '),
  isOptional: true,
});

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['name', { isLegal: () => true, expected: '' }], // Seen above, for every message names it.
  [
    'description',
    {
      isLegal: (value) => typeof value === 'string' && value.trim() !== '',
      expected: 'a text that says what the tool does and when the model should use it',
    },
  ],
  [
    'input',
    {
      isLegal: (value) => isRecord(value) || isFunction(value),
      expected: 'a schema: z.object({ … }) or JSON Schema; z.object({}) for a tool without input',
    },
  ],
  ['execute', { isLegal: isFunction, expected: 'a function (input, context) => result' }],
  ['effect', oneOf('read', 'idempotent', 'once')],
  ['permission', oneOf('allow', 'ask', 'deny')],
  ['onError', oneOf('tell', 'abort')],
  [
    'timeoutMs',
    {
      isLegal: (value) => Number.isFinite(value) && Number(value) > 0,
      expected: 'a number of milliseconds above 0, such as 30_000',
      isOptional: true,
    },
  ],
  ['maxResultCharacters', { isLegal: isCount, expected: 'a whole number above 0', isOptional: true }],
  [
    'repeats',
    {
      isLegal: (value) => value === 'any' || isCount(value),
      expected: "a whole number above 0, or 'any'",
      isOptional: true,
    },
  ],
  [
    'resource',
    {
      isLegal: (value) => isFunction(value) || (typeof value === 'string' && value !== ''),
      expected: 'a name, or a function that gives one for an input',
      isOptional: true,
    },
  ],
  ['strict', { isLegal: (value) => typeof value === 'boolean', expected: 'true or false', isOptional: true }],
  [
    'parameters',
    {
      isLegal: (value) => isRecord(value) && !('~standard' in value),
      expected: 'a JSON Schema as plain data, for the model; the schema of a library goes into "input"',
      isOptional: true,
    },
  ],
  [
    'isolate',
    {
      isLegal: (value) => value === false,
      expected: 'left out here: only tool() runs a tool in a thread of its own',
      isOptional: true,
    },
  ],
  [
    'verify',
    { isLegal: isFunction, expected: 'a function (input, context) => { happened }', isOptional: true },
  ],
  [
    'classifyError',
    { isLegal: isFunction, expected: 'a function (error) => { code } or undefined', isOptional: true },
  ],
]);

interface Misuse {
  readonly field: string;
  readonly expected: string;
  readonly value: unknown;
}

function badField(tool: string, { field, expected, value }: Misuse): RerailError {
  const choices = typeof value === 'string' && expected.startsWith("'") ? expected.match(/\w+/g) : null;
  const [nearest] = nearestNames(typeof value === 'string' ? value : '', choices ?? []);
  const advice = nearest === undefined ? '' : `; did you mean '${nearest}'?`;
  const rule = expected.startsWith("'") ? `one of ${expected}` : expected;
  return configError(
    `Cannot define tool "${tool}": "${field}" must be ${rule}, got ${showValue(value)}${advice}`,
  );
}

/** What other libraries call a field. */
const fieldsElsewhere: ReadonlyMap<string, string> = new Map([
  ...['inputSchema', 'input_schema', 'schema', 'args', 'argsSchema'].map(
    (name) => [name, 'call it "input"'] as const,
  ),
  ...['handler', 'run', 'func', 'function', 'invoke', 'call', 'callback', 'fn'].map(
    (name) => [name, 'call it "execute"'] as const,
  ),
  ...['timeout', 'timeoutSeconds'].map((name) => [name, 'call it "timeoutMs", in milliseconds'] as const),
  ...['needsApproval', 'requiresApproval', 'approval'].map(
    (name) => [name, "write permission: 'ask'"] as const,
  ),
  ['idempotent', "write effect: 'idempotent'"],
  ['readOnly', "write effect: 'read'"],
  ...['retry', 'retries', 'maxRetries'].map(
    (name) => [name, "write effect: 'read' or 'idempotent'; the agent's policy does the rest"] as const,
  ),
  ...['outputSchema', 'output'].map((name) => [name, 'leave it out: a result may be any JSON'] as const),
]);

function unknownField(
  tool: string,
  field: string,
  definition: Readonly<Record<string, unknown>>,
): RerailError {
  const [nearest] = nearestNames(
    field,
    [...rules.keys()].filter((name) => definition[name] === undefined),
  );
  const meant =
    nearest === undefined ? `known are ${[...rules.keys()].join(', ')}` : `did you mean "${nearest}"?`;
  return configError(
    `Cannot define tool "${tool}": there is no field ${showName(field)}: ${fieldsElsewhere.get(field) ?? meant}`,
  );
}
