import type { Json } from '../../base/json.ts';
import type { JsonSchema } from '../../model/request.ts';
import { evaluate, findExpression } from './arithmetic.ts';
import { findField } from './fill-arguments.ts';
import type { Source } from './fill-arguments.ts';
import { fieldsOf, shapeOf } from './schema-shape.ts';
import type { Field, Shape } from './schema-shape.ts';
import { wordsOf } from './words.ts';

/** What an answer in JSON is made from. */
export interface Material {
  readonly source: Source;
  /** The answer in words. */
  readonly text: string;
}

const maxDepth = 6;
const maxItems = 20;
const maxLength = 1000;

/** An answer in the shape of the schema: from what was said where that can be found, else the plainest value allowed. */
export function produceJson(schema: JsonSchema, material: Material): Json {
  const field: Field = { name: 'answer', schema, isRequired: true };
  return produce(field, { ...material, root: schema, depth: 0 });
}

interface Production extends Material {
  readonly root: JsonSchema;
  readonly depth: number;
}

function produce(field: Field, production: Production): Json {
  const { root, depth, source } = production;
  const shape = shapeOf(field.schema, root);
  if (shape.values !== undefined) return findField(field, root, source) ?? shape.values[0] ?? null;
  switch (shape.type) {
    case 'object': {
      if (depth >= maxDepth) return {};
      const fields = fieldsOf(shape.schema).filter((each) => each.isRequired || depth < 2);
      return Object.fromEntries(
        fields.map((each) => [each.name, produce(each, { ...production, depth: depth + 1 })]),
      );
    }
    case 'array':
      return produceList(field, shape, production);
    case 'string':
    case 'any':
      return produceText(field, shape, production);
    case 'number':
    case 'integer':
      return produceNumber(field, shape, production);
    case 'boolean':
      return findField(field, root, source) ?? false;
    default:
      return null;
  }
}

function produceList(field: Field, shape: Shape, production: Production): Json {
  const found = findField(field, production.root, production.source);
  const least = Math.min(numberAt(shape.schema, 'minItems') ?? 0, maxItems);
  if (Array.isArray(found) && found.length >= least)
    return (found as readonly Json[]).slice(0, numberAt(shape.schema, 'maxItems'));
  if (production.depth >= maxDepth) return [];
  const item: Field = { ...field, schema: (shape.schema['items'] ?? {}) as JsonSchema }; // shapeOf takes anything.
  return Array.from({ length: least }, () => produce(item, { ...production, depth: production.depth + 1 }));
}

const answerNames =
  /\b(?:answer|text|message|reply|response|summary|content|output|result|explanation|reason|reasoning|description)\b/;
const examples: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'nobody@example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function produceText(field: Field, { schema }: Shape, { root, source, text }: Production): string {
  const format = schema['format'];
  const example =
    typeof format === 'string' && Object.hasOwn(examples, format) ? examples[format] : undefined;
  const isAnswer = answerNames.test(wordsOf(field.name).join(' '));
  const found = isAnswer ? text : findField(field, root, source);
  const value = typeof found === 'string' ? found : (example ?? 'unknown');
  const least = Math.min(numberAt(schema, 'minLength') ?? 0, maxLength);
  return value.padEnd(least, '.').slice(0, numberAt(schema, 'maxLength') ?? maxLength);
}

function produceNumber(field: Field, { schema, type }: Shape, { root, source }: Production): number {
  const expression = findExpression(source.text);
  const found = findField(field, root, source);
  const sum = expression === undefined ? undefined : evaluate(expression);
  const value = sum ?? (typeof found === 'number' ? found : 0);
  const least = numberAt(schema, 'minimum') ?? numberAbove(schema);
  const most = numberAt(schema, 'maximum') ?? numberBelow(schema);
  const bounded = Math.min(Math.max(value, least ?? -Infinity), most ?? Infinity);
  const step = numberAt(schema, 'multipleOf');
  if (step !== undefined && step > 0) return Math.ceil(bounded / step) * step;
  return type === 'integer' ? Math.round(bounded) : bounded;
}

function numberAbove(schema: JsonSchema): number | undefined {
  const bound = numberAt(schema, 'exclusiveMinimum');
  return bound === undefined ? undefined : bound + 1;
}

function numberBelow(schema: JsonSchema): number | undefined {
  const bound = numberAt(schema, 'exclusiveMaximum');
  return bound === undefined ? undefined : bound - 1;
}

function numberAt(schema: JsonSchema, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
