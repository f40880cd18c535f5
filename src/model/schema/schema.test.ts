import { Validator } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonSchema } from '../request.ts';
import { readSchema } from './schema.ts';
import type { StandardSchema } from './standard-schema.ts';
import type { Schema } from '../tool.ts';

const what = 'the input of tool "order"';

function customSchema(validate: StandardSchema['~standard']['validate']): StandardSchema {
  return { '~standard': { version: 1, vendor: 'custom', validate } };
}

function issuesOf(schema: Schema, value: unknown): unknown {
  return readSchema(schema, what, { parameters: { type: 'object' } }).check(value);
}

const order: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', pattern: '^[A-Z]\\d+$' },
    items: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { price: { type: 'number', minimum: 0 }, unit: { enum: ['piece', 'kg'] } },
        required: ['price'],
        additionalProperties: false,
      },
    },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    count: { type: 'integer' },
    'odd name': { type: 'boolean' },
  },
  required: ['id', 'items'],
};

describe('readSchema() with JSON Schema', () => {
  it.each([
    {
      value: {},
      issues: [
        'id: is required and missing; it must be a string',
        'items: is required and missing; it must be an array',
      ],
    },
    {
      value: { id: 'x', items: [] },
      issues: [
        'id: must match the pattern ^[A-Z]\\d+$, got the string "x"',
        'items: must have at least 1 items, has 0',
      ],
    },
    {
      value: { id: 'A1', items: [{ price: '5' }] },
      issues: ['items[0].price: must be a number, got the string "5"'],
    },
    {
      value: { id: 'A1', items: [{ price: 1 }, { price: -1, prise: 2 }] },
      issues: [
        'items[1].price: must be at least 0, got -1',
        'items[1].prise: is not a known field; did you mean "price"?',
      ],
    },
    {
      value: { id: 'A1', items: [{ price: 1, unit: 'lb' }] },
      issues: ['items[0].unit: must be one of "piece", "kg", got the string "lb"'],
    },
    {
      value: { id: 'A1', items: [{ price: 1 }], note: 5 },
      issues: ['note: must be a string or null, got the number 5'],
    },
    {
      value: { id: 'A1', items: [{ price: 1 }], count: 1.5 },
      issues: ['count: must be a whole number, got the number 1.5'],
    },
    {
      value: { id: 'A1', items: [{ price: 1 }], count: '3' },
      issues: ['count: must be a whole number, got the string "3"'],
    },
    {
      value: { id: 'A1', items: [{ price: 1 }], 'odd name': 1 },
      issues: ['["odd name"]: must be true or false, got the number 1'],
    },
    { value: [], issues: [': must be an object, got an array of 0 items'] },
  ])('objects to $value by path', ({ value, issues }) => {
    const check = readSchema(order, what).check(value);
    expect(check).toEqual({
      type: 'invalid',
      issues: issues.map((line) => ({
        path: line.slice(0, line.indexOf(': ')),
        message: line.slice(line.indexOf(': ') + 2),
      })),
    });
  });

  it('names the closest of several forms', () => {
    const schema = {
      type: 'object',
      properties: {
        shape: {
          oneOf: [
            {
              type: 'object',
              properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
              required: ['kind', 'radius'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'box' }, side: { type: 'number' } },
              required: ['kind', 'side'],
            },
          ],
        },
      },
    };
    expect(issuesOf(schema, { shape: { kind: 'box', side: '2' } })).toEqual({
      type: 'invalid',
      issues: [{ path: 'shape.side', message: 'must be a number, got the string "2"' }],
    });
  });

  it('says at most ten things', () => {
    const schema = { type: 'object', additionalProperties: { type: 'string' } };
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, index]));
    expect(issuesOf(schema, value)).toMatchObject({ type: 'invalid', issues: { length: 10 } });
  });

  it('returns a value that fits as the same object', () => {
    const value = { id: 'A1', items: [{ price: 1 }] };
    const check = readSchema(order, what).check(value);
    expect(check).toEqual({ type: 'valid', value });
    expect((check as { readonly value: unknown }).value).toBe(value);
  });

  it('leaves a dangerous pattern out and says so', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const { check, warnings, json } = readSchema(schema, what);
    expect(warnings).toEqual([
      'The pattern "^(a+)+$" at "properties.a.pattern" of the input of tool "order" is not checked: it repeats (a+), which holds a repetition itself',
    ]);
    expect(check({ a: `${'a'.repeat(50)}!` })).toMatchObject({ type: 'valid' });
    expect(json).toEqual(schema);
  });

  it('does not take data for a pattern', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', default: { pattern: '(a+)+' } } },
    };
    expect(readSchema(schema, what).warnings).toEqual([]);
  });

  it('refuses a text that is too long for its pattern, instead of hanging', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '\\s+$' } } };
    expect(issuesOf(schema, { a: ' '.repeat(500_000) })).toMatchObject({
      issues: [{ path: 'a', message: expect.stringContaining('at most 10000 characters') as string }],
    });
  });

  it.each([
    { name: 'a schema that refers to itself twice', schema: { allOf: [{ $ref: '#' }, { $ref: '#' }] } },
    {
      name: 'branches that double at every level',
      schema: {
        anyOf: [
          { items: { $ref: '#' }, minItems: 1 },
          { items: { $ref: '#' }, minItems: 1 },
        ],
      },
    },
  ])('ends in bounded time under $name', ({ schema }) => {
    let value: unknown = [];
    for (let level = 0; level < 60; level += 1) value = [value];
    expect(issuesOf(schema, value)).toMatchObject({ type: 'invalid' });
  });

  it('checks a tree to a bound that it tells', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } } };
    const chain = (depth: number): unknown => {
      let value: unknown = {};
      for (let level = 0; level < depth; level += 1) value = { next: value };
      return value;
    };
    expect(issuesOf(schema, chain(300))).toMatchObject({ type: 'valid' });
    expect(issuesOf(schema, chain(1000))).toMatchObject({
      type: 'invalid',
      issues: [{ message: 'nests too deeply to be checked' }],
    });
  });

  it('compares a hundred thousand items without comparing each with each', () => {
    const schema = { type: 'array', uniqueItems: true };
    const list = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(issuesOf(schema, list)).toMatchObject({ type: 'valid' });
    expect(issuesOf(schema, [...list, { index: 7 }])).toMatchObject({
      issues: [{ message: 'must not hold the same item twice: 7 and 100000 are equal' }],
    });
  });

  it('sees own members only', () => {
    const schema = {
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['toString'],
    };
    expect(issuesOf(schema, {})).toMatchObject({ issues: [{ path: 'toString' }] });
    const hostile: unknown = JSON.parse('{"toString":1,"__proto__":{"polluted":true}}');
    expect(issuesOf({ ...schema, additionalProperties: false }, hostile)).toMatchObject({ type: 'invalid' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic['not'] = cyclic;
  it.each([
    { schema: { type: 'objekt' }, message: '"type" must be string, number, integer' },
    {
      schema: { properties: { a: { type: 'string', minLength: -1 } } },
      message: '"properties.a.minLength" must be a whole number',
    },
    {
      schema: { properties: { a: 'string' } },
      message: '"properties.a" must be a schema: an object, true or false, got "string"',
    },
    { schema: { $ref: '#/$defs/none' }, message: '"$ref" must be a place inside this schema' },
    { schema: { $ref: 'https://example.com/x.json' }, message: 'others are not fetched' },
    { schema: { required: 'id' }, message: '"required" must be a list' },
    { schema: { anyOf: [] }, message: '"anyOf" must be a list of at least one schema' },
    { schema: { default: () => 1 }, message: '"default" holds a function, which is no JSON' },
    { schema: cyclic, message: 'or holds itself' },
  ])('refuses the schema at definition: $message', ({ schema, message }) => {
    expect(() => readSchema(schema, what)).toThrow(message);
    expect(() => readSchema(schema, what)).toThrow(expect.objectContaining({ name: 'ConfigError' }));
  });

  it('holds on to the schema as it was', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const { json, check } = readSchema(schema, what);
    schema.properties.a.type = 'number';
    expect(json).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect(check({ a: 'x' })).toMatchObject({ type: 'valid' });
  });
});

describe('readSchema() with JSON Schema agrees with another validator', () => {
  const scalar = fc.oneof(
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      -1,
      2.5,
      3,
      0.3,
      '',
      'a',
      'ab',
      'abc',
      '2026-02-30',
      '2026-02-28',
      '😀',
    ),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'ab', 'c'), tie('value'), { maxKeys: 3 }),
    ),
  }));
  const { schema } = fc.letrec<{ schema: unknown; node: unknown }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie('node')),
    node: fc
      .array(
        fc.oneof(
          ...Object.entries({
            type: fc.oneof(
              fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null'),
              fc.constant(['string', 'null']),
            ),
            enum: fc.array(value, { minLength: 1, maxLength: 3 }),
            const: scalar,
            minimum: fc.constantFrom(0, 1),
            exclusiveMaximum: fc.constantFrom(1, 3),
            multipleOf: fc.constantFrom(1, 0.1, 2),
            minLength: fc.constantFrom(1, 2),
            maxLength: fc.constantFrom(1, 2),
            pattern: fc.constantFrom('^a', 'b$', '.'),
            format: fc.constantFrom('date', 'email'),
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
            patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), tie('schema'), { maxKeys: 1 }),
            additionalProperties: tie('schema'),
            propertyNames: tie('schema'),
            required: fc.subarray(['a', 'b']),
            minProperties: fc.constantFrom(1, 2),
            maxProperties: fc.constantFrom(1, 2),
            dependentRequired: fc.constant({ a: ['b'] }),
            dependentSchemas: fc.record({ a: tie('schema') }),
            prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
            items: tie('schema'),
            contains: tie('schema'),
            minItems: fc.constantFrom(1, 2),
            maxItems: fc.constantFrom(1, 2),
            uniqueItems: fc.boolean(),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            not: tie('schema'),
            if: tie('schema'),
            else: tie('schema'),
            $ref: fc.constant('#/$defs/leaf'),
            // oxlint-disable-next-line unicorn/no-thenable -- the keyword is called so, and nobody awaits this
            then: tie('schema'),
          }).map(([name, argument]) => fc.tuple(fc.constant(name), argument as fc.Arbitrary<unknown>)),
        ),
        { maxLength: 4 },
      )
      .map((members) => Object.fromEntries(members)),
  }));

  it('about every pair of a random schema and a random value', () => {
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(schema, value, (inner, instance) => {
        const root = { $defs: { leaf: { type: ['number', 'object'] } }, allOf: [inner] };
        const ours = readSchema(root, what).check(instance) as { readonly type: 'valid' | 'invalid' };
        // A copy: the other validator writes into the schema.
        const theirs = new Validator(structuredClone(root) as never, '2020-12').validate(instance);
        seen[ours.type] += 1;
        expect(ours.type).toBe(theirs.valid ? 'valid' : 'invalid');
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(100);
  });
});

describe('readSchema() with Standard Schema', () => {
  it.each([
    {
      library: 'zod',
      schema: z.object({ items: z.array(z.object({ price: z.number() })) }),
      message: 'Invalid input: expected number, received string (got the string "5")',
    },
    {
      library: 'valibot',
      schema: v.object({ items: v.array(v.object({ price: v.number() })) }),
      message: 'Invalid type: Expected number but received "5" (got the string "5")',
    },
  ])('objects by path in the words of $library', ({ schema, message }) => {
    expect(issuesOf(schema, { items: [{ price: 1 }, { price: 1 }, { price: '5' }] })).toEqual({
      type: 'invalid',
      issues: [{ path: 'items[2].price', message }],
    });
  });

  it('takes what the schema makes of the value', () => {
    expect(issuesOf(z.object({ a: z.string().trim() }), { a: ' x ', extra: 1 })).toEqual({
      type: 'valid',
      value: { a: 'x' },
    });
  });

  it('waits for a schema that is asynchronous, and is never rejected', async () => {
    const schema = z
      .object({ a: z.string() })
      .refine(async ({ a }) => Promise.resolve(a === 'x'), 'must be x');
    await expect(issuesOf(schema, { a: 'y' })).resolves.toEqual({
      type: 'invalid',
      issues: [{ path: '', message: 'must be x' }],
    });
    const broken = customSchema(async () => Promise.reject(new Error('no database')));
    await expect(issuesOf(broken, {})).resolves.toMatchObject({
      type: 'invalid',
      issues: [{ message: 'cannot be checked: the schema threw "no database"' }],
    });
  });

  it('never throws, whatever the schema does', () => {
    const schema = customSchema(() => {
      throw new Error('boom');
    });
    expect(issuesOf(schema, {})).toEqual({
      type: 'invalid',
      issues: [{ path: '', message: 'cannot be checked: the schema threw "boom"' }],
      causes: [expect.objectContaining({ name: 'Error', message: 'boom' })],
    });
  });

  it('gives the JSON Schema of the input, frozen and without its dialect', () => {
    const { json } = readSchema(z.object({ at: z.string().transform(Number) }), what);
    expect(json).toEqual({ type: 'object', properties: { at: { type: 'string' } }, required: ['at'] });
    expect(Object.isFrozen(json['properties'])).toBe(true);
  });

  it('falls back to draft 7 where a library knows no other', () => {
    const inner = z.object({ a: z.string() })['~standard'];
    const schema: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'older',
        validate: inner.validate,
        jsonSchema: {
          input: ({ target }) => {
            if (target !== 'draft-07') throw new Error(`no ${target}`);
            return { type: 'object', title: target };
          },
          output: () => ({}),
        },
      },
    };
    expect(readSchema(schema, what).json).toEqual({ type: 'object', title: 'draft-07' });
  });

  it('takes a schema that is a function, as arktype makes them', () => {
    const type = Object.assign(() => undefined, { '~standard': z.object({ a: z.string() })['~standard'] });
    expect(readSchema(type, what).json).toMatchObject({ type: 'object', required: ['a'] });
  });

  it.each([
    {
      name: 'a date in zod',
      schema: z.object({ on: z.date() }),
      message: '"on" is of the kind "date", which JSON cannot express; use z.coerce.date()',
    },
    { name: 'valibot without its helper', schema: v.object({}), message: 'toStandardJsonSchema' },
  ])('says at definition what to do about $name', ({ schema, message }) => {
    expect(() => readSchema(schema, what)).toThrow(message);
    expect(() => readSchema(schema, what)).toThrow('the input of tool "order"');
    expect(() => readSchema(schema, what)).toThrow('"parameters');
  });

  it('takes the JSON Schema handed in besides', () => {
    const { json, check } = readSchema(v.object({ a: v.string() }), what, { parameters: { type: 'object' } });
    expect(json).toEqual({ type: 'object' });
    expect(check({ a: 1 })).toMatchObject({ type: 'invalid' });
  });
});
