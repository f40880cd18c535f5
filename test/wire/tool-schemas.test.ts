import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callModel, createAgent, tool } from '../../src/index.ts';
import type { RunEvent } from '../../src/index.ts';
import type { JsonSchema } from '../../src/model/request.ts';
import { startWire, wires } from './wire-server.ts';
import type { WireName, WireRequest } from './wire-server.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The tools of a request: name and schema. */
function toolsIn(wire: WireName, { body }: WireRequest): ReadonlyMap<string, Fields> {
  const tools = (body['tools'] ?? []) as readonly Fields[];
  if (wire === 'gemini') {
    const declared = (tools[0]?.['functionDeclarations'] ?? []) as readonly Fields[];
    return new Map(declared.map((one) => [String(one['name']), one['parametersJsonSchema'] as Fields]));
  }
  return new Map(
    tools.map((one) => {
      const inner = (one['function'] ?? one) as Fields;
      return [String(inner['name']), (inner['parameters'] ?? inner['input_schema']) as Fields];
    }),
  );
}

const choices = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'];
const foreignToGemini = new Set([
  '$ref',
  '$schema',
  '$defs',
  '$id',
  'additionalProperties',
  'const',
  'oneOf',
  'allOf',
  'not',
  'if',
  'patternProperties',
  'propertyNames',
]);

/** What the provider would refuse. */
function problemsOf(wire: WireName, schema: Fields): readonly string[] {
  const problems = choices.filter((word) => schema[word] !== undefined).map((word) => `${word} at the top`);
  if (schema['type'] !== 'object') problems.push('no object at the top');
  if (wire === 'anthropic') {
    const names = Object.keys(schema['properties'] ?? {});
    problems.push(...names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)));
  }
  const visit = (value: unknown, isNames: boolean): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, false);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!isNames && foreignToGemini.has(name)) problems.push(name);
      if (!isNames && name === 'type' && Array.isArray(inner)) problems.push('a list of types');
      visit(inner, !isNames && name === 'properties');
    }
  };
  if (wire === 'gemini') visit(schema, false);
  return problems;
}

const text = { type: 'string' };
const card = {
  type: 'object',
  properties: { kind: { const: 'card' }, number: text },
  required: ['kind', 'number'],
};
const cash = {
  type: 'object',
  properties: { kind: { const: 'cash' }, till: { type: 'integer' } },
  required: ['kind'],
};

const nasty: Readonly<Record<string, JsonSchema>> = {
  anyOf: { anyOf: [card, cash] },
  oneOf: { oneOf: [card, cash], description: 'How to pay' },
  allOf: { allOf: [card, { type: 'object', properties: { note: text } }] },
  ref: { $ref: '#/$defs/Pay', $defs: { Pay: { oneOf: [card, cash] } } },
  recursive: {
    $ref: '#/$defs/Tree',
    $defs: { Tree: { type: 'object', properties: { left: { $ref: '#/$defs/Tree' }, name: text } } },
  },
  circle: { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } },
  remote: { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } },
  record: { type: 'object', additionalProperties: text, propertyNames: text },
  nullable: {
    type: 'object',
    properties: { a: { type: ['string', 'null'] }, b: { enum: [1, 2, null] }, c: { const: true } },
  },
  conditional: {
    type: 'object',
    properties: { a: text },
    if: { required: ['a'] },
    else: { not: { required: ['b'] } },
  },
  tuple: {
    type: 'object',
    properties: { a: { type: 'array', prefixItems: [text, text] } },
    required: ['a', 'missing'],
  },
  draft: { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', type: 'object', properties: {} },
  anything: {},
  odd: { type: 'object', properties: { 'user name': text, ok: text }, required: ['ok'] },
};

const inexpressible: Readonly<Record<string, JsonSchema>> = {
  list: { type: 'array', items: text },
  word: { enum: ['a', 'b'] },
  scalars: { anyOf: [text, { type: 'number' }] },
};

describe.each(wires)('schemas of tools on %s', (wire) => {
  it('are sent in words that the provider takes', async () => {
    const { model, requests } = await startWire(wire, [{ text: 'Hi.' }]);
    const tools = Object.entries(nasty).map(([name, parameters]) => ({ name, parameters }));
    const messages = [{ role: 'user', content: 'Hi' }] as const;
    expect(await callModel(model, { messages, tools })).toMatchObject({ type: 'success' });
    const sent = toolsIn(wire, requests[0] as WireRequest); // It was answered.
    expect([...sent.keys()]).toEqual(Object.keys(nasty));
    expect(
      [...sent].flatMap(([name, schema]) => problemsOf(wire, schema).map((one) => `${name}: ${one}`)),
    ).toEqual([]);
    for (const name of ['anyOf', 'oneOf', 'ref']) {
      expect(Object.keys(sent.get(name)?.['properties'] as Fields)).toEqual(['kind', 'number', 'till']);
      expect(sent.get(name)?.['required']).toEqual(['kind']);
    }
  });

  it('that cannot be expressed are named, and the rest is offered', async () => {
    const { model, requests } = await startWire(wire, [{ text: 'Hi.' }]);
    const tools = Object.entries({ ...inexpressible, fine: { type: 'object', properties: {} } }).map(
      ([name, parameters]) => ({ name, parameters }),
    );
    const outcome = await callModel(model, {
      messages: [{ role: 'user', content: 'Hi' }],
      tools,
      toolChoice: { name: 'list' },
    });
    expect(outcome).toMatchObject({
      type: 'success',
      result: { notes: Object.keys(inexpressible).map((name) => ({ type: 'tool-left-out', tool: name })) },
    });
    expect([...toolsIn(wire, requests[0] as WireRequest).keys()]).toEqual(['fine']);
  });

  it('of an agent with a union at its top work, and are checked by us', async () => {
    const ran: unknown[] = [];
    const events: RunEvent[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: z.union([
        z.object({ kind: z.literal('card'), number: z.string() }),
        z.object({ kind: z.literal('cash'), till: z.number() }),
      ]),
      execute: (input) => {
        ran.push(input);
        return 'paid';
      },
    });
    const { model, requests } = await startWire(wire, [
      { calls: [{ id: 'a', name: 'pay', args: '{"kind":"card","till":1}' }] },
      { calls: [{ id: 'b', name: 'pay', args: '{"kind":"cash","till":1}' }] },
      { text: 'Done.' },
    ]);
    const agent = createAgent({ name: 'payer', model, tools: [pay] });
    const outcome = await agent.run('Pay.', { onEvent: (event) => void events.push(event) });
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(ran).toEqual([{ kind: 'cash', till: 1 }]);
    const schema = toolsIn(wire, requests[0] as WireRequest).get('pay') ?? {};
    expect(problemsOf(wire, schema)).toEqual([]);
    expect(events.filter(({ type }) => type === 'request-noted')).toEqual([]);
  });
});
