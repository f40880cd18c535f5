import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { JsonSchema } from '../../model/request.ts';

/** What the mind understands of a JSON Schema. Whatever it does not understand is `any`. */
export interface Shape {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' | 'any';
  /** The only values allowed, where they are listed. */
  readonly values?: readonly Json[];
  readonly schema: JsonSchema;
}

/** A field of an object. */
export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

const types: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
  'null',
]);
const maxSteps = 10;
const maxFields = 50;

/** Reads a schema, following local references and taking the first alternative that is not null. */
export function shapeOf(given: unknown, root: JsonSchema): Shape {
  let schema = asSchema(given);
  for (let step = 0; step < maxSteps; step += 1) {
    const next = refersTo(schema, root);
    if (next === undefined) break;
    schema = next;
  }
  const values = valuesOf(schema);
  return { type: typeOf(schema), schema, ...(values === undefined ? {} : { values }) };
}

/** The fields of an object schema, bounded. */
export function fieldsOf(schema: JsonSchema): readonly Field[] {
  const properties = asSchema(schema['properties']);
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly Json[]) : [];
  return Object.entries(properties)
    .slice(0, maxFields)
    .map(([name, field]) => ({ name, schema: asSchema(field), isRequired: required.includes(name) }));
}

/** A schema from outside: whatever is no object allows anything. */
export function asSchema(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}

/** A value as a person writes it: a text without quotation marks. */
export function jsonText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function refersTo(schema: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const reference = schema['$ref'];
  if (typeof reference === 'string') return asSchema(follow(reference, root));
  if (schema['type'] !== undefined || schema['enum'] !== undefined || schema['const'] !== undefined)
    return undefined;
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema[keyword];
    if (!Array.isArray(options)) continue;
    const chosen = (options as readonly Json[]).map(asSchema).find((option) => option['type'] !== 'null');
    if (chosen !== undefined) return { ...chosen, ...describe(schema) };
  }
  return undefined;
}

function describe(schema: JsonSchema): JsonSchema {
  const description = schema['description'];
  return description === undefined ? {} : { description };
}

function follow(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#/')) return {};
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (place, key) => (isRecord(place) && Object.hasOwn(place, key) ? place[key] : undefined),
      root,
    );
}

function typeOf(schema: JsonSchema): Shape['type'] {
  const given = schema['type'];
  const listed: readonly unknown[] = Array.isArray(given) ? given : [given];
  const found =
    listed.find((type) => types.has(type) && type !== 'null') ?? listed.find((type) => types.has(type));
  if (found !== undefined) return found as Shape['type']; // The set holds nothing else.
  if (isRecord(schema['properties'])) return 'object';
  return schema['items'] === undefined ? 'any' : 'array';
}

function valuesOf(schema: JsonSchema): readonly Json[] | undefined {
  if (schema['const'] !== undefined) return [schema['const'] as Json]; // What a schema lists is JSON.
  const listed = schema['enum'];
  return Array.isArray(listed) && listed.length > 0 ? (listed as readonly Json[]) : undefined;
}
