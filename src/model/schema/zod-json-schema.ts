import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import type { JsonSchema } from '../request.ts';
import { showPath } from './schema-visit.ts';
import { readZodNode, valueOf } from './zod-node.ts';
import type { ZodNode } from './zod-node.ts';

const maxDepth = 60;
const maxNodes = 20_000;

/**
 * The JSON Schema of what a zod schema takes in, for versions that do not give it themselves: zod 3, and zod 4 before 4.2. Throws a
 * `ConfigError` that names the member which JSON cannot express, and what to write instead. The values are still checked by zod.
 */
export function zodJsonSchema(schema: unknown, what: string): JsonSchema {
  const work: Work = { what, root: schema, path: [], open: new Map(), definitions: {}, nodes: 0 };
  const json = convert(schema, work);
  const isNamed = Object.keys(work.definitions).length > 0;
  return isNamed ? { ...json, $defs: work.definitions } : json;
}

interface Work {
  readonly what: string;
  readonly root: unknown;
  readonly path: string[];
  /** The schemas around the one at hand, with the name under which it refers to one of them. */
  readonly open: Map<unknown, string | undefined>;
  readonly definitions: Record<string, JsonSchema>;
  nodes: number;
}

function convert(schema: unknown, work: Work): JsonSchema {
  if (work.open.has(schema)) return referTo(schema, work);
  work.nodes += 1;
  if (work.open.size >= maxDepth || work.nodes > maxNodes)
    throw refusal(work, 'nests too deep, or has too many parts', 'make it smaller');
  const node = readZodNode(schema);
  if (node === undefined) throw refusal(work, 'is no schema of zod', 'use one copy of zod for all of it');
  work.open.set(schema, undefined);
  const json = describe(convertNode(node, work), node);
  const name = work.open.get(schema);
  work.open.delete(schema);
  if (name === undefined || schema === work.root) return json;
  work.definitions[name] = json;
  return { $ref: `#/$defs/${name}` };
}

/** A schema inside itself: by reference, since written out it would have no end. */
function referTo(schema: unknown, work: Work): JsonSchema {
  if (schema === work.root) return { $ref: '#' };
  const named = [...work.open.values()].filter((name) => name !== undefined).length;
  const name = work.open.get(schema) ?? `schema${Object.keys(work.definitions).length + named}`;
  work.open.set(schema, name);
  return { $ref: `#/$defs/${name}` };
}

function describe(json: JsonSchema, { description }: ZodNode): JsonSchema {
  return description === undefined ? json : { ...json, description };
}

type Convert = (node: ZodNode, work: Work) => JsonSchema;

const ofInner: Convert = ({ parts }, work) => convert(parts['innerType'], work);

const kinds: Readonly<Record<string, Convert>> = {
  string: ({ keywords }) => ({ type: 'string', ...keywords }),
  number: ({ keywords }) => ({ type: 'number', ...keywords }),
  int: ({ keywords }) => ({ type: 'integer', ...keywords }),
  boolean: () => ({ type: 'boolean' }),
  null: () => ({ type: 'null' }),
  any: () => ({}),
  unknown: () => ({}),
  never: () => ({ not: {} }),
  literal: convertLiteral,
  enum: convertEnum,
  array: ({ parts, keywords }, work) => ({
    type: 'array',
    items: at(work, '*', parts['element']),
    ...keywords,
  }),
  object: convertObject,
  record: convertRecord,
  tuple: convertTuple,
  union: ({ parts }, work) => ({ anyOf: listOf(parts['options']).map((option) => convert(option, work)) }),
  intersection: ({ parts }, work) => ({
    allOf: [convert(parts['left'], work), convert(parts['right'], work)],
  }),
  nullable: (node, work) => ({ anyOf: [ofInner(node, work), { type: 'null' }] }),
  default: (node, work) => ({ ...ofInner(node, work), ...defaultOf(node) }),
  prefault: (node, work) => ({ ...ofInner(node, work), ...defaultOf(node) }),
  optional: ofInner,
  nonoptional: ofInner,
  readonly: ofInner,
  catch: ofInner,
  lazy: ({ parts }, work) => convert(valueOf(parts['getter']), work),
  pipe: ({ parts }, work) => convert(isTransform(parts['in']) ? parts['out'] : parts['in'], work),
  template_literal: ({ parts: { pattern } }) =>
    pattern instanceof RegExp ? { type: 'string', pattern: pattern.source } : { type: 'string' },
  date: ({ parts }, work) => {
    if (parts['coerce'] === true) return { type: 'string', format: 'date-time' };
    throw refusal(work, isNot('date'), 'use z.coerce.date(), which takes a text, or z.string()');
  },
};

/** Of what has no form in JSON, what to write instead. */
const advice: Readonly<Record<string, string>> = {
  bigint: 'use z.number().int() or z.string()',
  map: 'use z.record()',
  set: 'use z.array()',
  undefined: 'use .optional()',
  void: 'use .optional()',
  nan: 'use z.number()',
  file: 'use z.string() for its path or its address',
  custom: 'use a kind that JSON has, with .refine() after it',
  transform: 'put the kind that goes in before it, such as z.string().transform(…)',
};

function convertNode(node: ZodNode, work: Work): JsonSchema {
  const known = Object.hasOwn(kinds, node.kind) ? kinds[node.kind] : undefined;
  if (known !== undefined) return known(node, work);
  const instead = Object.hasOwn(advice, node.kind) ? advice[node.kind] : undefined;
  throw refusal(work, isNot(node.kind), instead ?? 'leave it out');
}

function convertLiteral({ parts }: ZodNode, work: Work): JsonSchema {
  const values = listOf(parts['values']);
  if (!values.every(isPlain))
    throw refusal(work, 'is a literal that JSON cannot express', 'use a text or a number');
  const [only] = values;
  return values.length === 1 ? { ...typeOf(values), const: only } : { ...typeOf(values), enum: values };
}

function convertEnum({ parts: { entries } }: ZodNode): JsonSchema {
  const values = Array.isArray(entries) ? entries : valuesOfEnum(isRecord(entries) ? entries : {});
  return { ...typeOf(values), enum: values };
}

/** TypeScript writes an enum of numbers in both directions: `{ 0: 'Up', Up: 0 }`. */
function valuesOfEnum(entries: Readonly<Record<string, unknown>>): readonly unknown[] {
  const names = Object.keys(entries).filter((name) => typeof entries[String(entries[name])] !== 'number');
  return [...new Set(names.map((name) => entries[name]))];
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function typeOf(values: readonly unknown[]): JsonSchema {
  const [type, ...others] = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  return type === undefined || others.length > 0 ? {} : { type };
}

function convertObject({ parts: { shape, catchall } }: ZodNode, work: Work): JsonSchema {
  const members = isRecord(shape) ? shape : {};
  const names = Object.keys(members);
  const properties: Record<string, JsonSchema> = {};
  for (const name of names) {
    const value = at(work, name, members[name]);
    // Defined, not assigned: a member called `__proto__` must stay a member.
    Object.defineProperty(properties, name, { value, enumerable: true });
  }
  const required = names.filter((name) => !mayBeAbsent(members[name], maxDepth));
  const rest = catchall === undefined ? undefined : restOf(catchall, work);
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(rest === undefined ? {} : { additionalProperties: rest }),
  };
}

function restOf(catchall: unknown, work: Work): JsonSchema | false | undefined {
  const kind = readZodNode(catchall)?.kind;
  if (kind === 'never') return false;
  return kind === 'unknown' || kind === 'any' ? undefined : at(work, '*', catchall);
}

function convertRecord({ parts: { keyType, valueType } }: ZodNode, work: Work): JsonSchema {
  // With one argument, z.record(values), the first one is the values in some versions of zod 4.
  const [keys, values] = valueType === undefined ? [undefined, keyType] : [keyType, valueType];
  const names = keys === undefined ? {} : convert(keys, work);
  const isAnyName = Object.keys(names).every((word) => word === 'type');
  return {
    type: 'object',
    ...(isAnyName ? {} : { propertyNames: names }),
    additionalProperties: at(work, '*', values),
  };
}

function convertTuple({ parts }: ZodNode, work: Work): JsonSchema {
  const items = listOf(parts['items']);
  const rest = parts['rest'] ?? undefined; // null where there is none.
  return {
    type: 'array',
    prefixItems: items.map((item, index) => at(work, `${index}`, item)),
    items: rest === undefined ? false : at(work, '*', rest),
    minItems: items.filter((item) => !mayBeAbsent(item, maxDepth)).length,
    ...(rest === undefined ? { maxItems: items.length } : {}),
  };
}

/** A default that is the same each time: a new id or the time of day is none that a model should be given. */
function defaultOf({ parts }: ZodNode): JsonSchema {
  const [first, second] = [jsonOf(parts['defaultValue']), jsonOf(parts['defaultValue'])];
  return first === undefined || first !== second ? {} : { default: JSON.parse(first) as unknown };
}

function jsonOf(value: unknown): string | undefined {
  if (!isPlain(value) && !Array.isArray(value) && !isRecord(value)) return undefined;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // It holds itself or a bigint: the member is optional all the same.
  }
}

/** Kinds around another that change nothing about whether a value may be absent. */
const wrappers: Readonly<Record<string, string>> = {
  nullable: 'innerType',
  readonly: 'innerType',
  pipe: 'in',
};

function mayBeAbsent(schema: unknown, depth: number): boolean {
  const node = depth > 0 ? readZodNode(schema) : undefined;
  if (node === undefined) return false;
  const { kind, parts } = node;
  if (['optional', 'default', 'prefault', 'catch'].includes(kind)) return true;
  if (kind === 'union') return listOf(parts['options']).some((option) => mayBeAbsent(option, depth - 1));
  const inner = Object.hasOwn(wrappers, kind) ? parts[wrappers[kind] ?? ''] : undefined;
  if (kind === 'pipe' && isTransform(inner)) return mayBeAbsent(parts['out'], depth - 1);
  return inner !== undefined && mayBeAbsent(inner, depth - 1);
}

function isTransform(schema: unknown): boolean {
  return readZodNode(schema)?.kind === 'transform';
}

function at(work: Work, name: string, schema: unknown): JsonSchema {
  work.path.push(name);
  const json = convert(schema, work);
  work.path.pop();
  return json;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNot(kind: string): string {
  return `is of the kind "${kind}", which JSON cannot express`;
}

function refusal({ what, path }: Work, problem: string, instead: string): Error {
  const member = path.length === 0 ? 'it' : `"${showPath(path).replaceAll('["*"]', '[]')}"`;
  return configError(
    `Cannot describe ${what} to the model: ${member} ${problem}; ${instead}, or pass a JSON Schema as "parameters"`,
    { context: { field: path.join('.') } },
  );
}
