import { isRecord } from '../../base/json.ts';
import type { JsonSchema } from '../request.ts';

/**
 * A tool's schema in the words of one provider. What a provider has no words for is widened: our own check holds the arguments
 * to the whole schema all the same. Only what cannot be the arguments of a call, or cannot be named, has no words at all.
 */
export type SchemaDialect = 'openai' | 'anthropic' | 'gemini';

/** The schema to send, or why there is none. */
export type WireSchema =
  | { readonly type: 'schema'; readonly schema: JsonSchema }
  | { readonly type: 'inexpressible'; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;

/** Nested schemas and references are followed this far; what is deeper is any value. */
const maxDepth = 24;
const maxNodes = 5000;

/** By schema, for tools are sent with every request. */
const known: Readonly<Record<SchemaDialect, WeakMap<JsonSchema, WireSchema>>> = {
  openai: new WeakMap(),
  anthropic: new WeakMap(),
  gemini: new WeakMap(),
};

/** Writes a schema in the dialect. The same object each time for the same schema, so that a cached prefix stays the same. */
export function toWireSchema(schema: JsonSchema, dialect: SchemaDialect): WireSchema {
  const cached = known[dialect].get(schema);
  if (cached !== undefined) return cached;
  const made = makeWireSchema(schema, dialect);
  known[dialect].set(schema, made);
  return made;
}

function makeWireSchema(root: JsonSchema, dialect: SchemaDialect): WireSchema {
  const scope: Scope = { root, nodes: 0 };
  const top = toObject(root, { scope, seen: [] });
  if (top === undefined) {
    return { type: 'inexpressible', reason: 'its schema is none of an object, and arguments always are one' };
  }
  const bad = dialect === 'anthropic' ? findBadName(top) : undefined;
  if (bad !== undefined) {
    return {
      type: 'inexpressible',
      reason: `it requires the property ${bad}, a name that the provider refuses`,
    };
  }
  if (dialect === 'gemini') return { type: 'schema', schema: toGemini(top, { scope, seen: [] }) };
  return {
    type: 'schema',
    schema: without(dialect === 'anthropic' ? withoutBadNames(top) : top, ['$schema', '$id']),
  };
}

interface Scope {
  readonly root: JsonSchema;
  nodes: number;
}

interface Place {
  readonly scope: Scope;
  /** The references on the way here: one that is among them leads in a circle. */
  readonly seen: readonly string[];
}

const unions = ['anyOf', 'oneOf'] as const;
const beside = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref'];

/** The schema as one object without choices at its top, wide enough for all of them; nothing where no object fits. */
function toObject(schema: unknown, place: Place): Fields | undefined {
  if (schema === true) return { type: 'object', properties: {} };
  if (!isRecord(schema) || place.seen.length > maxDepth)
    return isRecord(schema) ? { type: 'object' } : undefined;
  const { type } = schema;
  const isObject =
    type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject || isOtherValue(schema)) return undefined;
  const parts: Fields[] = [];
  const target = typeof schema['$ref'] === 'string' ? resolve(schema['$ref'], place) : undefined;
  if (target !== undefined) {
    const inner = target.type === 'circle' ? { type: 'object' } : toObject(target.schema, target.place);
    if (inner === undefined) return undefined;
    parts.push(inner);
  }
  for (const member of listOf(schema['allOf'])) {
    const inner = toObject(member, place);
    if (inner === undefined) return undefined;
    parts.push(inner);
  }
  for (const word of unions) {
    const members = listOf(schema[word]);
    const objects = members.map((member) => toObject(member, place)).filter((one) => one !== undefined);
    if (members.length > 0 && objects.length === 0) return undefined;
    if (objects.length > 0) parts.push(widest(objects));
  }
  return joinAll({ properties: {}, ...without(schema, beside), type: 'object' }, parts);
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function isOtherValue(schema: Fields): boolean {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) && !values.some(isRecord);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function requiredOf({ required }: Fields): readonly unknown[] {
  return listOf(required);
}

/** What fits one of them fits it: all properties, those required that all require. */
function widest(objects: readonly Fields[]): Fields {
  const names = [...new Set(objects.flatMap((one) => Object.keys(fieldsOf(one['properties']))))];
  const properties = names.map((name) => {
    const forms = objects.flatMap((one) => {
      const own = fieldsOf(one['properties']);
      return Object.hasOwn(own, name) ? [own[name]] : [];
    });
    const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
    return [name, distinct.length === 1 ? distinct[0] : { anyOf: distinct }] as const;
  });
  const required = names.filter((name) => objects.every((one) => requiredOf(one).includes(name)));
  return { properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) };
}

function joinAll(own: Fields, parts: readonly Fields[]): Fields {
  if (parts.length === 0) return own;
  const all = [...parts, own];
  const required = [...new Set(all.flatMap(requiredOf))];
  // Where several say what else there may be, each spoke of its own properties only.
  return {
    ...without(own, ['additionalProperties']),
    properties: Object.assign({}, ...all.map(({ properties }) => fieldsOf(properties))) as Fields,
    ...(required.length > 0 ? { required } : {}),
  };
}

type Resolved =
  | { readonly type: 'schema'; readonly schema: unknown; readonly place: Place }
  | { readonly type: 'circle'; readonly schema: unknown }
  | undefined;

/** A reference inside of the schema. One that leads elsewhere says nothing that could be sent. */
function resolve(reference: string, { scope, seen }: Place): Resolved {
  const schema = resolveReference(reference, scope.root);
  if (schema === undefined) return undefined;
  if (seen.includes(reference)) return { type: 'circle', schema };
  return { type: 'schema', schema, place: { scope, seen: [...seen, reference] } };
}

/** What a reference inside of the schema means, if anything. */
export function resolveReference(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined;
  let schema: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    schema = isRecord(schema) || Array.isArray(schema) ? (schema as Fields)[name] : undefined;
  }
  return schema;
}

const legalProperty = /^[A-Za-z0-9_.-]{1,64}$/;

function findBadName(top: Fields): string | undefined {
  const bad = requiredOf(top).find((name) => typeof name === 'string' && !legalProperty.test(name));
  return bad === undefined ? undefined : JSON.stringify(bad).slice(0, 80);
}

function withoutBadNames(top: Fields): Fields {
  const properties = Object.entries(fieldsOf(top['properties'])).filter(([name]) => legalProperty.test(name));
  return { ...top, properties: Object.fromEntries(properties) };
}

/** What Gemini takes as it stands. */
const geminiWords = [
  'description',
  'title',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
];
const geminiFormats: ReadonlySet<unknown> = new Set([
  'date-time',
  'enum',
  'float',
  'double',
  'int32',
  'int64',
]);

function toGemini(schema: unknown, place: Place): Fields {
  place.scope.nodes += 1;
  if (!isRecord(schema) || place.seen.length > maxDepth || place.scope.nodes > maxNodes) return {};
  if (typeof schema['$ref'] === 'string') {
    const target = resolve(schema['$ref'], place);
    if (target === undefined) return {};
    const described = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
    // A circle is cut where it closes.
    if (target.type === 'circle') return { type: 'object', ...described };
    return { ...toGemini(target.schema, target.place), ...described };
  }
  const below: Place = { scope: place.scope, seen: [...place.seen, ''] };
  const written: Record<string, unknown> = {};
  for (const word of geminiWords) if (schema[word] !== undefined) written[word] = schema[word];
  if (geminiFormats.has(schema['format'])) written['format'] = schema['format'];
  Object.assign(written, geminiValues(schema));
  const members = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  const types = listOf(schema['type']);
  if (types.length > 0) written['anyOf'] = types.map((type) => toGemini({ ...schema, type }, below));
  else if (members.length > 0) written['anyOf'] = members.map((member) => toGemini(member, below));
  for (const member of listOf(schema['allOf']))
    Object.assign(written, { ...toGemini(member, below), ...written });
  if (isRecord(schema['properties']) && types.length === 0)
    Object.assign(written, geminiProperties(schema, below));
  if (schema['items'] !== undefined || schema['type'] === 'array') {
    if (types.length === 0)
      written['items'] = isRecord(schema['items']) ? toGemini(schema['items'], below) : {};
  }
  return written;
}

/** Values by which a schema is one of a few: Gemini lists texts only. */
function geminiValues(schema: Fields): Fields {
  const type = typeof schema['type'] === 'string' ? { type: schema['type'] } : {};
  const values = 'const' in schema ? [schema['const']] : listOf(schema['enum']);
  if (values.length === 0) return type;
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length === values.length) return { type: 'string', enum: texts };
  const [first] = values;
  if (typeof first === 'number' && values.every((value) => typeof value === 'number')) {
    return { type: 'number', ...type, minimum: Math.min(...values), maximum: Math.max(...values) };
  }
  return typeof first === 'boolean' ? { type: 'boolean', ...type } : type;
}

function geminiProperties(schema: Fields, place: Place): Fields {
  const entries = Object.entries(fieldsOf(schema['properties']));
  const properties = Object.fromEntries(entries.map(([name, inner]) => [name, toGemini(inner, place)]));
  const required = requiredOf(schema).filter(
    (name) => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  return { properties, ...(required.length > 0 ? { required } : {}) };
}
