import { describe, expect, it } from 'vitest';
import { parallel, sequence } from './build-flow.ts';
import { checkAccepts } from './check-accepts.ts';
import { createGraph } from './flow-graph.ts';

const graph = createGraph({
  name: 'f',
  shape: sequence('a', 'b', parallel('c', 'd')),
  agents: ['a', 'b', 'c', 'd', 'spare', 'sparest'],
  nodes: { a: { onError: { fallback: 'spare' } }, spare: { onError: { fallback: 'sparest' } } },
});

const priced = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

describe('checkAccepts() refuses', () => {
  it.each([
    {
      given: { type: 'string' },
      taken: priced,
      message: 'The node "b" cannot take what "a" gives: it takes object, and the output is string',
    },
    {
      given: { type: ['array', 'null'] },
      taken: { type: ['object', 'string'] },
      message: 'it takes object or string, and the output is array or null',
    },
    {
      given: { type: 'object', properties: { cost: { type: 'number' } } },
      taken: priced,
      message: '"price" is required, and the output has no such property',
      property: 'price',
    },
    {
      given: { type: 'object', properties: { price: { type: 'string' } } },
      taken: priced,
      message: 'of "price", it takes number, and the output is string',
      property: 'price',
    },
    {
      given: { properties: { cost: {} } },
      taken: { required: ['constructor'] },
      message: '"constructor" is required',
      property: 'constructor',
    },
  ])('$message', ({ given, taken, message, property }) => {
    expect(() => checkAccepts(graph, { outputs: { a: given }, accepts: { b: taken } })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message) as unknown,
        failure: expect.objectContaining({
          code: 'FLOW_INVALID',
          hint: 'Change "accepts" of "b" or the output schema of "a".',
          context: { node: 'b', from: 'a', ...(property === undefined ? {} : { property }) },
        }) as unknown,
      }),
    );
  });

  it.each(['spare', 'sparest'])('what a fallback, %s, could not give either', (name) => {
    expect(() =>
      checkAccepts(graph, { outputs: { a: priced, [name]: { type: 'string' } }, accepts: { b: priced } }),
    ).toThrow(`The node "b" cannot take what "${name}" gives`);
  });
});

describe('checkAccepts() lets through', () => {
  it.each([
    { what: 'what fits', given: priced, taken: priced },
    { what: 'an output that nobody knows', given: undefined, taken: priced },
    { what: 'schemas without types', given: {}, taken: {} },
    { what: 'a whole number for a number', given: { type: 'integer' }, taken: { type: 'number' } },
    { what: 'a number that may be whole', given: { type: 'number' }, taken: { type: 'integer' } },
    { what: 'one type of several', given: { type: ['string', 'null'] }, taken: { type: 'string' } },
    { what: 'an object that lists no properties', given: { type: 'object' }, taken: priced },
    {
      what: 'an output that is put together of others',
      given: { type: 'object', properties: {}, allOf: [priced] },
      taken: priced,
    },
    {
      what: 'a property that may be missing',
      given: { type: 'object', properties: { price: {} } },
      taken: priced,
    },
  ])('$what', ({ given, taken }) => {
    expect(() => checkAccepts(graph, { outputs: { a: given }, accepts: { b: taken } })).not.toThrow();
  });
});
