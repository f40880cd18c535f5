import { isRecord } from '../base/json.ts';
import type { JsonSchema } from './request.ts';
import { resolveReference, toWireSchema } from './schema/tool-schema.ts';
import type { SchemaDialect, WireSchema } from './schema/tool-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Nested schemas are followed this far. */
const maxDepth = 24;
const maxNodes = 5000;

/**
 * The schema of an answer as a provider takes it. As for tools, it may be wider than the one that was asked for, since the answer is
 * checked against that one. Where no answer could be written by it, or the provider would refuse it, it is inexpressible.
 */
export function toOutputSchema(schema: JsonSchema, dialect: SchemaDialect): WireSchema {
  if (dialect === 'anthropic') return toAnthropic(schema);
  // Gemini takes any root, and passes over words that it does not know.
  if (dialect === 'gemini' || isPlainObject(schema)) return { type: 'schema', schema };
  const made = toWireSchema(schema, dialect);
  return made.type === 'schema'
    ? made
    : inexpressible('it is none of an object, and the provider takes no other');
}

const choices = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', '$ref'];

function isPlainObject(schema: JsonSchema): boolean {
  return schema['type'] === 'object' && !choices.some((word) => word in schema);
}

function inexpressible(reason: string): WireSchema {
  return { type: 'inexpressible', reason };
}

/** Thrown and caught in this file only: the schema is left at once, however deep. */
class Inexpressible extends Error {}

interface Place {
  readonly root: JsonSchema;
  readonly seen: readonly string[];
  readonly depth: number;
  readonly count: { nodes: number };
}

/** Anthropic wants every object closed, and refuses circles, bounds and most formats. */
function toAnthropic(schema: JsonSchema): WireSchema {
  // It asks for no form, so there is none to keep: the provider itself says what is missing.
  if (Object.keys(schema).every((word) => word === 'type')) return { type: 'schema', schema };
  try {
    return {
      type: 'schema',
      schema: write(schema, { root: schema, seen: [], depth: 0, count: { nodes: 0 } }),
    };
  } catch (error) {
    if (error instanceof Inexpressible) return inexpressible(error.message);
    throw error;
  }
}

function write(schema: unknown, place: Place): Fields {
  place.count.nodes += 1;
  if (place.depth > maxDepth || place.count.nodes > maxNodes) throw new Inexpressible('it is too large');
  if (!isRecord(schema)) throw new Inexpressible('it allows any value somewhere');
  const below: Place = { ...place, depth: place.depth + 1 };
  const { description } = schema;
  const said = typeof description === 'string' ? { description } : {};
  if (typeof schema['$ref'] === 'string') return { ...writeReference(schema['$ref'], below), ...said };
  const types = typesOf(schema);
  if ('const' in schema || Array.isArray(schema['enum'])) return { ...writeValues(schema), ...said };
  if (types.length > 1) {
    return { anyOf: types.map((type) => write({ ...schema, type, description: undefined }, below)), ...said };
  }
  const members = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  const [type] = types;
  if (type === undefined && members.length > 0)
    return { anyOf: members.map((one) => write(one, below)), ...said };
  if (listOf(schema['allOf']).length > 0 || type === undefined)
    return { ...writeJoined(schema, below), ...said };
  return { ...writeTyped(type, schema, below), ...said };
}

function typesOf({ type, properties, items }: Fields): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string');
  if (isRecord(properties)) return ['object'];
  return isRecord(items) ? ['array'] : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function writeReference(reference: string, place: Place): Fields {
  if (place.seen.includes(reference)) throw new Inexpressible('it refers to itself');
  const target = resolveReference(reference, place.root);
  if (target === undefined)
    throw new Inexpressible(`it refers to ${reference.slice(0, 80)}, which is not in it`);
  return write(target, { ...place, seen: [...place.seen, reference] });
}

function writeValues(schema: Fields): Fields {
  const values = 'const' in schema ? [schema['const']] : listOf(schema['enum']);
  if (values.some((value) => typeof value === 'object' && value !== null)) {
    throw new Inexpressible('it lists values that are objects or lists');
  }
  return { enum: values };
}

/** Parts that hold together: one object, for each part of its own would forbid what the others ask for. */
function writeJoined(schema: Fields, place: Place): Fields {
  const joined = toWireSchema(
    { ...schema, $defs: place.root['$defs'], definitions: place.root['definitions'] },
    'openai',
  );
  const isJoined = joined.type === 'schema' && isPlainObject(joined.schema);
  if (!isJoined || listOf(schema['allOf']).length === 0)
    throw new Inexpressible('it allows any value somewhere');
  return writeTyped('object', joined.schema, place);
}

function writeTyped(type: string, schema: Fields, place: Place): Fields {
  if (type === 'object') return writeObject(schema, place);
  if (type === 'array') return writeArray(schema, place);
  const { format } = schema;
  return type === 'string' && formats.has(format) ? { type, format } : { type };
}

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

function writeObject(schema: Fields, place: Place): Fields {
  const { properties, additionalProperties, patternProperties } = schema;
  const given = isRecord(properties) ? Object.entries(properties) : [];
  const isOpen = isRecord(additionalProperties) || isRecord(patternProperties);
  if (isOpen || (given.length === 0 && additionalProperties !== false)) {
    throw new Inexpressible('it has an object of any properties');
  }
  const written = Object.fromEntries(given.map(([name, inner]) => [name, write(inner, place)]));
  const required = listOf(schema['required']).filter((name) => Object.hasOwn(written, String(name)));
  return {
    type: 'object',
    properties: written,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function writeArray(schema: Fields, place: Place): Fields {
  const { items, minItems } = schema;
  const forms = [...listOf(schema['prefixItems']), ...listOf(items)];
  const inner = forms.length > 0 ? { anyOf: forms } : items;
  const atLeast = minItems === 0 || minItems === 1 ? { minItems } : {};
  return { type: 'array', items: write(inner, place), ...atLeast };
}

/** The replacement of a schema that a provider does not take: words for the model. */
export function describeOutput(schema: JsonSchema): string {
  return [
    'Your final answer must be one JSON value that fits the JSON Schema below.',
    'Write nothing but that JSON: no words before or after it, and no code fence.',
    'Call tools first where you need them; the rule holds for the final answer only.',
    '',
    JSON.stringify(schema),
  ].join('\n');
}
