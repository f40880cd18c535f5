import { isRecord } from '../../base/json.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { boundText } from '../../base/text.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { configError } from '../../errors/config-error.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { copySchema } from './copy-schema.ts';
import type { JsonSchema } from '../request.ts';
import { compileSchema } from './schema-compiler.ts';
import { maxIssues, showJson, showPath, startVisit } from './schema-visit.ts';
import type { Check } from './schema-visit.ts';
import { showValue } from '../check/show-value.ts';
import { runOwned, warningOwner } from '../stray-errors.ts';
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts';
import type { InputCheck, Schema, SchemaIssue } from '../tool.ts';
import { zodJsonSchema } from './zod-json-schema.ts';
import { isZod3, readZodNode } from './zod-node.ts';

/** A schema as everything else uses it: as the model gets it, and as a check. */
export interface ReadSchema {
  /** A frozen copy. */
  readonly json: JsonSchema;
  /** Never throws, never rejects, never coerces beyond what the schema itself says. */
  readonly check: (value: unknown) => InputCheck | Promise<InputCheck>;
  /** What of a JSON Schema is not checked, and why. */
  readonly warnings: readonly string[];
}

export interface ReadSchemaOptions {
  /** What the model gets instead of the schema's own JSON Schema. */
  readonly parameters?: JsonSchema | undefined;
}

/**
 * Reads a schema of any library that speaks Standard Schema, or plain JSON Schema. Throws a `ConfigError` where it cannot be
 * given to a model. `what` names its owner in messages: `the input of tool "search"`.
 */
export function readSchema(schema: Schema, what: string, options: ReadSchemaOptions = {}): ReadSchema {
  const { parameters } = options;
  const standard = toStandard(schema);
  if (standard !== undefined) {
    const json = copySchema(parameters ?? jsonSchemaOf(standard, { schema, what }), what);
    const owner = warningOwner(`The schema of ${what}`);
    return { json, check: (value) => runOwned(owner, () => checkStandard(standard, value)), warnings: [] };
  }
  if (!isRecord(schema)) {
    const forms = 'a schema of a library such as zod, or a JSON Schema';
    throw configError(`Cannot use ${what}: it must be ${forms}, got ${showValue(schema)}`);
  }
  const rules = copySchema(schema, what);
  const { check, warnings } = compileSchema(rules, what);
  const json = parameters === undefined ? rules : copySchema(parameters, what);
  return { json, check: (value) => checkJson(check, value), warnings };
}

/** Types of arktype are functions, so anything that can carry a member is looked at. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return false;
  const standard: unknown = Reflect.get(schema, '~standard');
  return isRecord(standard) && typeof standard['validate'] === 'function';
}

/** zod before 3.24 does not speak Standard Schema, but checks in the same words. */
function toStandard(schema: unknown): StandardSchema | undefined {
  if (isStandardSchema(schema)) return schema;
  if (!isZod3(schema)) return undefined;
  const { safeParseAsync } = schema as OldZod; // What every schema of zod 3 has.
  const validate = async (value: unknown): Promise<StandardResult<unknown>> => {
    const result = await safeParseAsync.call(schema, value);
    return result.success ? { value: result.data } : { issues: result.error.issues };
  };
  return { '~standard': { version: 1, vendor: 'zod', validate } };
}

interface OldZod {
  readonly safeParseAsync: (
    value: unknown,
  ) => Promise<
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } }
  >;
}

/** The newest first: a library that does not know a target throws. */
const targets = ['draft-2020-12', 'draft-07'] as const;

interface SchemaOwner {
  /** As it was handed in. */
  readonly schema: unknown;
  readonly what: string;
}

function jsonSchemaOf(standard: StandardSchema, { schema, what }: SchemaOwner): JsonSchema {
  const { vendor, jsonSchema } = standard['~standard'];
  if (jsonSchema === undefined) {
    if (readZodNode(schema) !== undefined) return zodJsonSchema(schema, what);
    const helper = helpers.get(vendor) ?? 'pass its JSON Schema as "parameters"';
    throw configError(
      `Cannot describe ${what} to the model: this ${vendor} schema does not give its JSON Schema; ${helper}`,
    );
  }
  const problems: unknown[] = [];
  for (const target of targets) {
    try {
      // The model has no use for the dialect, and some providers refuse it. What is undefined is not copied.
      return { ...jsonSchema.input({ target }), $schema: undefined };
    } catch (error) {
      problems.push(error); // Reported below, where no target worked.
    }
  }
  // zod says what it cannot express, but not which member that is.
  if (readZodNode(schema) !== undefined) return zodJsonSchema(schema, what);
  const [problem] = problems;
  const message = problem instanceof Error ? problem.message : String(problem);
  const advice = 'change that part, or pass a JSON Schema as "parameters"';
  const failure = configError(
    `Cannot describe ${what} to the model: ${vendor} says "${message}"; ${advice}`,
  ).failure;
  throw RerailError.from(failure, { cause: problem });
}

const helpers: ReadonlyMap<string, string> = new Map([
  [
    'valibot',
    'wrap it in toStandardJsonSchema(schema), or pass "parameters: toJsonSchema(schema)", both of "@valibot/to-json-schema"',
  ],
  ['arktype', 'use a later arktype, or pass "parameters: schema.toJsonSchema()"'],
]);

function checkStandard(schema: StandardSchema, value: unknown): InputCheck | Promise<InputCheck> {
  try {
    const result = schema['~standard'].validate(value);
    if (!isPromiseLike(result)) return toCheck(result, value);
    return Promise.resolve(result).then((settled) => toCheck(settled, value), uncheckable);
  } catch (error) {
    return uncheckable(error);
  }
}

function toCheck(result: StandardResult<unknown>, value: unknown): InputCheck {
  if (result.issues === undefined) return { type: 'valid', value: result.value };
  return { type: 'invalid', issues: result.issues.slice(0, maxIssues).map((issue) => toIssue(issue, value)) };
}

const maxMessageCharacters = 200;

/** Libraries say what they expected, not always what they saw. */
function toIssue({ message, path }: StandardIssue, value: unknown): SchemaIssue {
  const keys = (path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  const seen = keys.length === 0 ? '' : ` (got ${showJson(memberAt(value, keys))})`;
  return { path: showPath(keys), message: `${boundText(message, maxMessageCharacters)}${seen}` };
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** The schema's own code threw: it is unknown whether the value fits. */
function uncheckable(error: unknown): InputCheck {
  const message = boundText(error instanceof Error ? error.message : typeof error, maxMessageCharacters);
  return {
    type: 'invalid',
    issues: [{ path: '', message: `cannot be checked: the schema threw "${message}"` }],
    causes: causesOf(error),
  };
}

function checkJson(check: Check, value: unknown): InputCheck {
  const visit = startVisit();
  try {
    if (check(value, visit)) return { type: 'valid', value };
  } catch (error) {
    return uncheckable(error); // The stack overflowed; every other end is bounded.
  }
  return { type: 'invalid', issues: visit.issues };
}
