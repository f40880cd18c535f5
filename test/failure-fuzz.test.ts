import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classifyFailure,
  createFailure,
  renderFailure,
  RerailError,
  severities,
  severityOf,
} from '../src/errors/index.ts';
import type { Failure } from '../src/errors/index.ts';

// fast-check prints the seed and the path of whatever fails; another seed is tried by RERAIL_FUZZ_SEED=….
const seed = Number(process.env['RERAIL_FUZZ_SEED'] ?? 20_261_116);
const numRuns = 3000;

const values = hostileValues();

describe('a failure document with hostile fields', () => {
  it('is read, or refused with a SERIALIZATION_ERROR, and never ends in another error', () => {
    fc.assert(
      fc.property(recipes(outerFields), recipes(innerFields), (outer, inner) => {
        const document = { ...base, failure: { ...base.failure, ...enliven(inner) }, ...enliven(outer) };
        const read = readDocument(document);
        expect(JSON.parse(JSON.stringify(read.failure))).toEqual(read.failure);
        expectTexts(read.failure);
        // Something that looks like a document may also be thrown.
        expect(RerailError.isInstance(RerailError.from(classifyFailure(document)))).toBe(true);
      }),
      { seed, numRuns },
    );
  });

  it('names the version where that is an object without a primitive value', () => {
    const version = { toString: 1, valueOf: 1 };
    expect(() => RerailError.fromJSON({ ...base, version })).toThrow('"version" must be 1, got object');
  });
});

describe('a failure that was not made by createFailure', () => {
  it('is rendered, thrown and ranked, whatever its fields hold', () => {
    fc.assert(
      fc.property(recipes(innerFields), (inner) => {
        const failure = { ...base.failure, ...enliven(inner) } as unknown as Failure;
        expectTexts(failure);
        const error = RerailError.from(failure);
        expect(typeof error.message).toBe('string');
        expect(severities).toContain(severityOf(failure));
      }),
      { seed, numRuns },
    );
  });

  it.each(values.map((value, index) => [index, value] as const))(
    'is rendered and thrown where the whole is hostile value %i',
    (_, value) => {
      const failure = value as Failure;
      expectTexts(failure);
      expect(RerailError.isInstance(RerailError.from(failure))).toBe(true);
      expect(severities).toContain(severityOf(failure));
      expect(readDocument(value).failure.code).toBe('SERIALIZATION_ERROR');
    },
  );
});

const base = JSON.parse(
  JSON.stringify(
    RerailError.from(
      createFailure('RATE_LIMITED', {
        message: 'Too fast',
        retryAfterMs: 1500,
        phase: 'body',
        sideEffect: 'none',
        hint: 'Wait',
        provider: { provider: 'openai', statusCode: 429 },
        context: { tool: 'x', attempts: 1 },
        causes: [{ name: 'Error', message: '429 Too fast' }],
      }),
    ),
  ),
) as { readonly failure: Readonly<Record<string, unknown>> };

const outerFields = ['type', 'version', 'name', 'failure'];
const innerFields = Object.keys(base.failure);

/** By place in the list, for fast-check could neither copy nor print the values themselves. */
type Recipe = Readonly<Record<string, number>>;

function recipes(fields: readonly string[]): fc.Arbitrary<Recipe> {
  const value = fc.nat({ max: values.length - 1 });
  return fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 3 });
}

function enliven(recipe: Recipe): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(recipe).map(([field, index]) => [field, values[index]]));
}

function hostileValues(): readonly unknown[] {
  const bare: unknown = Object.create(null);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const throwing = { get: raise, ownKeys: raise, has: raise, getPrototypeOf: raise };
  return [
    null,
    undefined,
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    true,
    '',
    'x'.repeat(100_000),
    'toString',
    '__proto__',
    'constructor',
    Symbol('s'),
    () => 1,
    [],
    [null],
    [[]],
    {},
    bare,
    new Date(Number.NaN),
    new Map(),
    new Error('x'),
    { length: 5 },
    circle,
    [circle],
    revoked.proxy,
    new Proxy({}, throwing),
    new Proxy([], { get: raise }),
    new Proxy(() => 1, throwing),
    { toString: 1, valueOf: 1 },
    [{ toString: 1, valueOf: 1 }],
    { toJSON: raise },
    { deep: { toJSON: raise, big: 1n } },
    Object.defineProperty({}, 'tool', { get: raise, enumerable: true }),
    JSON.parse('{"__proto__":{"polluted":1}}') as unknown,
    { [Symbol.toPrimitive]: 1 },
    [{ name: 1, message: null }],
    Array.from({ length: 5000 }, () => ({ name: 'Error', message: 'm' })),
    Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index])),
  ];
}

function raise(): never {
  throw new TypeError('hostile');
}

function readDocument(document: unknown): RerailError {
  try {
    return RerailError.fromJSON(document);
  } catch (error) {
    if (!RerailError.isInstance(error) || error.code !== 'SERIALIZATION_ERROR') throw error;
    return error;
  }
}

function expectTexts(failure: Failure): void {
  for (const audience of ['person', 'model', 'developer'] as const) {
    const text = renderFailure(failure, audience);
    expect(typeof text).toBe('string');
    expect(text.length).toBeLessThan(400_000);
  }
}
