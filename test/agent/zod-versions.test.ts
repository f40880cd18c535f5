import { describe, expect, it } from 'vitest';
import { z as zod4 } from 'zod';
import { z as zod323 } from 'zod-3.23';
import { z as zod324 } from 'zod-3.24';
import { z as zod325 } from 'zod-3.25';
import { z as zod325v4 } from 'zod-3.25/v4';
import { createAgent, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

/** Every version in the words of the newest: what is used below, all of them have. */
type Zod = typeof zod4;
const versions = Object.entries({
  'zod 3.23': zod323,
  'zod 3.24': zod324,
  'zod 3.25': zod325,
  'zod/v4 of 3.25': zod325v4,
  'zod 4': zod4,
}).map(([name, z]) => [name, z as unknown as Zod] as const);

function inputOf(z: Zod, member: (z: Zod) => unknown) {
  const input = z.object({ member: member(z) as never });
  return tool({ name: 'book', description: 'Books.', input, execute: () => 'done' });
}

type Kind = readonly [name: string, member: (z: Zod) => unknown, wanted: object];

/** zod 4.2 and later give their JSON Schema themselves. */
const kinds: readonly Kind[] = [
  [
    'a text',
    (z) => z.string().min(1).max(9).describe('Its name'),
    { type: 'string', minLength: 1, maxLength: 9, description: 'Its name' },
  ],
  ['a text of one length', (z) => z.string().length(3), { type: 'string', minLength: 3, maxLength: 3 }],
  ['a pattern', (z) => z.string().regex(/^A\d$/), { type: 'string', pattern: '^A\\d$' }],
  ['a whole number', (z) => z.number().int().min(1).max(5), { type: 'integer', minimum: 1, maximum: 5 }],
  ['a number', (z) => z.number().gt(0).lt(1), { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['a choice', (z) => z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
  ['a constant', (z) => z.literal('a'), { type: 'string', const: 'a' }],
  ['a flag', (z) => z.boolean().optional(), { type: 'boolean' }],
  ['a default', (z) => z.number().default(10), { type: 'number', default: 10 }],
  ['null', (z) => z.string().nullable(), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  [
    'a list',
    (z) => z.array(z.string()).min(1).max(2),
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
  ],
  [
    'a pair',
    (z) => z.tuple([z.string(), z.number()]),
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
  ],
  [
    'a strict object',
    (z) => z.object({ a: z.string() }).strict(),
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  ],
  [
    'a record',
    (z) => z.record(z.string(), z.number()),
    { type: 'object', additionalProperties: { type: 'number' } },
  ],
  ['a union', (z) => z.union([z.string(), z.number()]), { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  [
    'two in one',
    (z) => z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    {
      allOf: [
        { type: 'object', properties: { a: {} } },
        { type: 'object', properties: { b: {} } },
      ],
    },
  ],
  ['a refinement', (z) => z.string().refine((text) => text !== ''), { type: 'string' }],
  ['a transformation', (z) => z.string().transform(Number), { type: 'string' }],
  ['what is prepared', (z) => z.preprocess((value) => value, z.string()), { type: 'string' }],
  ['a chain', (z) => z.string().pipe(z.string()), { type: 'string' }],
  ['a brand', (z) => z.string().brand('id'), { type: 'string' }],
  ['a point in time', (z) => z.coerce.date(), { type: 'string', format: 'date-time' }],
  ['anything', (z) => z.any(), {}],
];

const optional = new Set(['a flag', 'a default']);

describe.each(versions.filter(([name]) => name !== 'zod 4'))('the JSON Schema of %s', (_, z) => {
  it.each<Kind>(kinds)('says %s', (...[name, member, wanted]) => {
    const { parameters } = inputOf(z, member);
    expect(parameters).toMatchObject({ type: 'object', properties: { member: wanted } });
    expect(parameters['required'] ?? []).toEqual(optional.has(name) ? [] : ['member']);
  });
});

const refused: readonly (readonly [name: string, member: (z: Zod) => unknown, sentence: string])[] = [
  [
    'a date',
    (z) => z.object({ day: z.date() }),
    '"member.day" is of the kind "date", which JSON cannot express; use z.coerce.date()',
  ],
  [
    'a set',
    (z) => z.array(z.set(z.string())),
    '"member[]" is of the kind "set", which JSON cannot express; use z.array()',
  ],
  [
    'a map',
    (z) => z.map(z.string(), z.string()).optional(),
    '"member" is of the kind "map", which JSON cannot express; use z.record()',
  ],
  [
    'a bigint',
    (z) => z.union([z.string(), z.bigint()]),
    '"member" is of the kind "bigint", which JSON cannot express; use z.number().int() or z.string()',
  ],
  [
    'undefined',
    (z) => z.record(z.string(), z.undefined()),
    '"member[]" is of the kind "undefined", which JSON cannot express; use .optional()',
  ],
  [
    'a symbol',
    (z) => z.symbol(),
    '"member" is of the kind "symbol", which JSON cannot express; leave it out',
  ],
];

describe.each(versions)('a tool with the schemas of %s', (_, z) => {
  it('refers to a schema inside itself', async () => {
    const node: unknown = z.object({ name: z.string(), below: z.lazy(() => z.array(node as never)) });
    const { parameters, parse } = inputOf(z, () => node);
    const text = JSON.stringify(parameters);
    expect(text.length).toBeLessThan(800);
    expect(text).toContain('"$ref":"#/$defs/');
    expect(await parse({ member: { name: 'a', below: [{ name: 'b', below: [] }] } })).toMatchObject({
      type: 'valid',
    });
    expect(await parse({ member: { name: 'a', below: [{ name: 'b' }] } })).toMatchObject({
      type: 'invalid',
      issues: [{ path: 'member.below[0].below' }],
    });
  });

  it('checks and transforms what a model calls it with, and tells the model what is wrong', async () => {
    const seen: unknown[] = [];
    const book = tool({
      name: 'book',
      description: 'Books.',
      input: z.object({ day: z.coerce.date(), seats: z.number().int().default(1) }),
      execute: (input) => {
        seen.push(input);
        return 'booked';
      },
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'book', arguments: { day: '2026-01-05', seats: 'two' } }] },
      { toolCalls: [{ name: 'book', arguments: { day: '2026-01-05' } }] },
      { text: 'Booked.' },
    ]);
    const outcome = await createAgent({ model, tools: [book] }).run('Book a seat.');
    expect(outcome).toMatchObject({ type: 'completed', text: 'Booked.' });
    expect(seen).toEqual([{ day: new Date('2026-01-05'), seats: 1 }]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain('seats');
  });

  it.each(refused)(
    'is refused for %s, with its member and what to write instead',
    (...[, member, sentence]) => {
      expect(() => inputOf(z, member)).toThrow(sentence);
      expect(() => inputOf(z, member)).toThrow(
        /^Cannot describe the input of tool "book" to the model: .*or pass a JSON Schema as "parameters"$/,
      );
    },
  );

  it('gives a form to an answer', async () => {
    const model = scriptedModel([{ text: '{"city":"Bern"}' }]);
    const agent = createAgent({ model, output: z.object({ city: z.string() }) });
    expect(await agent.run('Where?')).toMatchObject({ type: 'completed', output: { city: 'Bern' } });
  });
});

it('infers the input from the schemas of zod 3 and of zod/v4', () => {
  const from3 = tool({
    name: 'a',
    description: 'A.',
    input: zod325.object({ n: zod325.number() }),
    execute: ({ n }) => n.toFixed(1),
  });
  const from4 = tool({
    name: 'b',
    description: 'B.',
    input: zod325v4.object({ n: zod325v4.number() }),
    execute: ({ n }) => n.toFixed(1),
  });
  expect([from3.name, from4.name]).toEqual(['a', 'b']);
});

it('names a format in both versions', () => {
  const emails = [zod325.object({ to: zod325.string().email() }), zod325v4.object({ to: zod325v4.email() })];
  for (const input of emails) {
    const { parameters } = tool({ name: 'send', description: 'Sends.', input, execute: () => 'sent' });
    expect(parameters['properties']).toEqual({ to: { type: 'string', format: 'email' } });
  }
});
