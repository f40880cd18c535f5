import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callModel, createAgent } from '../../src/index.ts';
import type { JsonSchema } from '../../src/model/request.ts';
import { startWire, wires } from './wire-server.ts';
import type { WireName, WireRequest } from './wire-server.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The schema of the answer in a request, if there is one. */
function outputIn(wire: WireName, { body }: WireRequest): Fields | undefined {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce((inner, name) => (inner as Fields | undefined)?.[name], value);
  const paths: Readonly<Record<WireName, readonly string[]>> = {
    'openai-chat': ['response_format', 'json_schema', 'schema'],
    'openai-responses': ['text', 'format', 'schema'],
    anthropic: ['output_config', 'format', 'schema'],
    gemini: ['generationConfig', 'responseJsonSchema'],
  };
  return at(body, ...paths[wire]) as Fields | undefined;
}

const refusedByAnthropic = new Set([
  'oneOf',
  'allOf',
  'not',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'pattern',
  'patternProperties',
  'maxItems',
  '$ref',
]);

/** What the provider would refuse. */
function problemsOf(wire: WireName, schema: Fields): readonly string[] {
  const problems: string[] = [];
  if (wire.startsWith('openai')) {
    if (schema['type'] !== 'object') problems.push('no object at the top');
    const choices = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'];
    problems.push(...choices.filter((word) => word in schema));
  }
  const visit = (value: unknown, isNames: boolean): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, false);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const fields = value as Fields;
    if (!isNames && fields['type'] === 'object' && fields['additionalProperties'] !== false) {
      problems.push('an open object');
    }
    for (const [name, inner] of Object.entries(fields)) {
      if (!isNames && refusedByAnthropic.has(name)) problems.push(name);
      visit(inner, !isNames && name === 'properties');
    }
  };
  if (wire === 'anthropic') visit(schema, false);
  return problems;
}

const text = { type: 'string' };
const card = { type: 'object', properties: { kind: { const: 'card' }, number: text }, required: ['kind'] };
const cash = { type: 'object', properties: { kind: { const: 'cash' } }, required: ['kind'] };
const tree = {
  type: 'object',
  properties: { name: text, left: { $ref: '#' } },
  required: ['name'],
  additionalProperties: false,
};

/** By each schema, where it has to be put in words. */
const schemas: Readonly<Record<string, readonly [JsonSchema, readonly WireName[]]>> = {
  plain: [{ ...card, additionalProperties: false }, []],
  anyOf: [{ anyOf: [card, cash] }, []],
  oneOf: [{ oneOf: [card, cash], description: 'How to pay' }, []],
  allOf: [{ allOf: [card, { type: 'object', properties: { note: text } }] }, []],
  reference: [{ $ref: '#/$defs/Pay', $defs: { Pay: { oneOf: [card, cash] } } }, []],
  bounds: [
    {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, pattern: '^a', format: 'regex' },
        age: { type: ['integer', 'null'], minimum: 0 },
        tags: { type: 'array', items: text, maxItems: 3, minItems: 1 },
        mixed: { enum: [1, 'a', null, true] },
        pair: { type: 'array', prefixItems: [text, { type: 'number' }] },
      },
    },
    [],
  ],
  list: [{ type: 'array', items: card }, ['openai-chat', 'openai-responses']],
  words: [{ enum: ['a', 'b'] }, ['openai-chat', 'openai-responses']],
  record: [{ type: 'object', additionalProperties: text }, ['anthropic']],
  anything: [{ type: 'object', properties: { value: true, other: {} } }, ['anthropic']],
  recursive: [tree, ['anthropic']],
};

describe.each(wires)('the schema of an answer on %s', (wire) => {
  it.each(Object.keys(schemas))('is sent as the provider takes it, or in words: %s', async (name) => {
    const [schema, inWords] = schemas[name] as (typeof schemas)[string];
    const { model, requests } = await startWire(wire, [{ text: '{}' }]);
    const outcome = await callModel(model, {
      messages: [{ role: 'user', content: 'Hi' }],
      output: { name: 'answer', schema, strict: true },
    });
    expect(outcome).toMatchObject({ type: 'success' });
    const [request] = requests as readonly [WireRequest];
    const sent = outputIn(wire, request);
    const notes = outcome.type === 'success' ? (outcome.result.notes ?? []) : [];
    expect(notes.map(({ type }) => type)).toEqual(inWords.includes(wire) ? ['output-in-words'] : []);
    expect(sent === undefined).toBe(inWords.includes(wire));
    expect(request.text.includes('must be one JSON value')).toBe(inWords.includes(wire));
    expect(problemsOf(wire, sent ?? { type: 'object', additionalProperties: false })).toEqual([]);
    const isStrict = request.text.includes('"strict":true');
    expect(isStrict).toBe(wire.startsWith('openai') && sent !== undefined && isSame(sent, schema));
  });

  it('of an agent may be a union, and is checked by us', async () => {
    const { model, requests } = await startWire(wire, [
      { text: '{"kind":"card","till":1}' },
      { text: '{"kind":"cash","till":1}' },
    ]);
    const output = z.union([
      z.object({ kind: z.literal('card'), number: z.string().min(1) }),
      z.object({ kind: z.literal('cash'), till: z.number().int() }),
    ]);
    const outcome = await createAgent({ name: 'payer', model, output }).run('Pay.');
    expect(outcome).toMatchObject({ type: 'completed', output: { kind: 'cash', till: 1 } });
    expect(problemsOf(wire, outputIn(wire, requests[0] as WireRequest) ?? {})).toEqual([]);
  });
});

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
