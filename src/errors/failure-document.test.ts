import { readFileSync } from 'node:fs';
import { Validator, type Schema } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../base/json.ts';
import { failureCodes, origins } from './codes.ts';
import { parseFailureDocument } from './failure-document.ts';
import { classifiers, createFailure, phases, sideEffects } from './failure.ts';
import type { Failure, FailureDetails } from './failure.ts';
import { AgentError, ModelError, RerailError } from './rerail-error.ts';

const seed = 20_270_116;

describe('a document that cannot be read', () => {
  const missing = (field: string): unknown => {
    const document = documentOf();
    const kept = Object.entries(document.failure).filter(([name]) => name !== field);
    return { ...document, failure: Object.fromEntries(kept) };
  };
  const withField = (field: string, value: unknown): unknown => {
    const document = documentOf();
    return { ...document, failure: { ...document.failure, [field]: value } };
  };

  const cases: readonly (readonly [string, unknown, string])[] = [
    ['nothing', undefined, 'expected an object'],
    ['null', null, 'expected an object'],
    ['a text', '{"type":"rerail.failure"}', 'expected an object'],
    ['a list', [], 'expected an object'],
    ['another type', { ...documentOf(), type: 'rerail.run' }, '"type"'],
    ['a newer version', { ...documentOf(), version: 2 }, '"version"'],
    ['no version', { ...documentOf(), version: undefined }, '"version"'],
    ['a version as text', { ...documentOf(), version: '1' }, '"version"'],
    ['no failure', { ...documentOf(), failure: undefined }, '"failure"'],
    ['a failure that is a list', { ...documentOf(), failure: [] }, '"failure"'],
    ...['code', 'origin', 'message', 'retryable', 'classifiedBy', 'context', 'causes'].map(
      (field) => [`no ${field}`, missing(field), `"failure.${field}"`] as const,
    ),
    ['a code that is a number', withField('code', 7), '"failure.code"'],
    ['an unknown origin', withField('origin', 'moon'), '"failure.origin"'],
    ['an origin of the prototype', withField('origin', 'constructor'), '"failure.origin"'],
    ['retryable as text', withField('retryable', 'yes'), '"failure.retryable"'],
    ['a negative wait', withField('retryAfterMs', -1), '"failure.retryAfterMs"'],
    ['an endless wait', withField('retryAfterMs', Number.POSITIVE_INFINITY), '"failure.retryAfterMs"'],
    ['a wait as text', withField('retryAfterMs', '5'), '"failure.retryAfterMs"'],
    ['an unknown phase', withField('phase', 'later'), '"failure.phase"'],
    ['an unknown side effect', withField('sideEffect', 'maybe'), '"failure.sideEffect"'],
    ['provider facts of the wrong type', withField('provider', { statusCode: '429' }), '"failure.provider"'],
    ['a status that is no number', withField('provider', { statusCode: Number.NaN }), '"failure.provider"'],
    ['a hint that is an object', withField('hint', {}), '"failure.hint"'],
    ['a context that is a list', withField('context', []), '"failure.context"'],
    ['causes that are no list', withField('causes', {}), '"failure.causes"'],
    ['a cause without a message', withField('causes', [{ name: 'Error' }]), '"failure.causes"'],
  ];

  it.each(cases)('throws a SERIALIZATION_ERROR that names the field: %s', (_, document, field) => {
    const error = thrownBy(() => RerailError.fromJSON(document));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ code: 'SERIALIZATION_ERROR', retryable: false });
    expect(error.message).toContain(field);
  });

  it('says what it found, bounded and redacted', () => {
    const key = `sk-ant-api03-${'Zk9Qx7vB'.repeat(6)}`;
    for (const filler of [0, 40, 60, 66, 70, 5000]) {
      const error = thrownBy(() =>
        RerailError.fromJSON({ ...documentOf(), type: `${'x'.repeat(filler)} ${key}` }),
      );
      expect(error.message.length).toBeLessThan(400);
      expect(error.message).not.toContain(key.slice(0, 18));
    }
  });

  it.each([
    ['a revoked proxy', revokedProxy()],
    [
      'a getter that throws',
      Object.defineProperty({ type: 'rerail.failure' }, 'version', { get: () => raise() }),
    ],
    ['a failure that throws', { ...documentOf(), failure: new Proxy({}, { get: () => raise() }) }],
    ['a context that throws', withField('context', new Proxy({}, { ownKeys: () => raise() }))],
    ['a context deep inside which it throws', withField('context', { a: { b: revokedProxy() } })],
  ])('is no reason to throw anything else: %s', (_, document) => {
    // Whatever can still be read may come back; nothing but a typed error may be thrown.
    const parsed = parseFailureDocument(document);
    expect(JSON.parse(JSON.stringify(parsed.failure))).toEqual(parsed.failure);
    expect(['RATE_LIMITED', 'SERIALIZATION_ERROR']).toContain(parsed.failure.code);
  });
});

describe('a document of another version of Rerail', () => {
  it('becomes UNKNOWN and not retryable where its code is new, and keeps the code', () => {
    const document = documentOf();
    const error = RerailError.fromJSON({
      ...document,
      failure: { ...document.failure, code: 'SOLAR_FLARE', retryable: true },
    });
    expect(error).toBeInstanceOf(ModelError);
    expect(error.failure).toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
      context: { unknownCode: 'SOLAR_FLARE' },
    });
  });

  it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty', ''])(
    'does not take "%s" for a code',
    (code) => {
      const document = documentOf();
      const { failure } = RerailError.fromJSON({ ...document, failure: { ...document.failure, code } });
      expect(failure).toMatchObject({ code: 'UNKNOWN', context: { unknownCode: code } });
    },
  );

  it('loses fields that are not in the table', () => {
    const document = documentOf();
    const text = JSON.stringify({
      ...document,
      secretPlan: 1,
      failure: { ...document.failure, stack: 'at x', toString: 'x', newField: [1] },
    });
    const { failure } = RerailError.fromJSON(JSON.parse(text));
    expect(JSON.stringify(failure)).not.toMatch(/secretPlan|stack|newField|toString/);
  });

  it('cannot reach a prototype', () => {
    const text = JSON.stringify(documentOf())
      .replace('"context":{', '"__proto__":{"polluted":1},"context":{"__proto__":{"polluted":1},')
      .replace('"type":', '"__proto__":{"polluted":1},"type":');
    const { failure } = RerailError.fromJSON(JSON.parse(text));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((failure as unknown as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(failure.context['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(failure.context)).toBe(Object.prototype);
  });

  it('is redacted and bounded on the way in', () => {
    const key = `sk-ant-api03-${'Zk9Qx7vB'.repeat(6)}`;
    const document = documentOf();
    const text = `it said ${key}`;
    const { failure } = RerailError.fromJSON({
      ...document,
      failure: {
        ...document.failure,
        message: text,
        hint: text,
        code: 'RATE_LIMITED',
        context: {
          apiKey: 'hunter22hunter',
          nested: [{ note: text }],
          [key]: 1,
          long: 'x'.repeat(1_000_000),
        },
        provider: { provider: text, model: text, requestId: text, errorType: text },
        causes: Array.from({ length: 100 }, () => ({ name: text, message: text, code: text })),
      },
    });
    const json = JSON.stringify(failure);
    expect(json).not.toMatch(/Zk9Qx7vB|hunter22/);
    expect(json).toContain('[redacted anthropic key]');
    expect(failure.causes.length).toBe(8);
    expect(json.length).toBeLessThan(65_536);
  });

  it.each([
    ['a big integer', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['no number', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['nothing', undefined],
    ['a date', new Date(0)],
    ['a map', new Map([[1, 2]])],
    ['a circle', circle()],
    ['a list with a hole', Array.from({ length: 2 })],
  ])('holds only JSON afterwards, though its context came with %s', (_, value) => {
    const document = documentOf();
    const parsed = parseFailureDocument({
      ...document,
      failure: { ...document.failure, context: { value, kept: 1 } },
    });
    const { context } = parsed.failure;
    expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
    // The rest is not lost for it.
    expect(context['kept']).toBe(1);
  });
});

describe('failure.schema.json', () => {
  const schema = JSON.parse(readFileSync(new URL('failure.schema.json', import.meta.url), 'utf8')) as Schema;
  const validator = new Validator(schema, '2020-12');

  it('refuses what fromJSON refuses', () => {
    const mutations: readonly (readonly [string, (document: Mutable) => void])[] = [
      ['no type', (document) => delete document['type']],
      ['another type', (document) => (document['type'] = 'rerail.run')],
      ['another version', (document) => (document['version'] = 2)],
      ['no failure', (document) => delete document['failure']],
      ['no code', (document) => delete inner(document)['code']],
      ['a code that is a number', (document) => (inner(document)['code'] = 7)],
      ['another origin', (document) => (inner(document)['origin'] = 'moon')],
      ['no message', (document) => delete inner(document)['message']],
      ['retryable as text', (document) => (inner(document)['retryable'] = 'yes')],
      ['a negative wait', (document) => (inner(document)['retryAfterMs'] = -1)],
      ['another phase', (document) => (inner(document)['phase'] = 'later')],
      ['another side effect', (document) => (inner(document)['sideEffect'] = 'maybe')],
      ['another classifier', (document) => (inner(document)['classifiedBy'] = 'guess')],
      ['a status as text', (document) => (inner(document)['provider'] = { statusCode: '429' })],
      ['a list as context', (document) => (inner(document)['context'] = [])],
      ['causes without message', (document) => (inner(document)['causes'] = [{ name: 'Error' }])],
    ];
    const accepted = mutations.filter(([, mutate]) => {
      const document = JSON.parse(JSON.stringify(documentOf())) as Mutable;
      mutate(document);
      expect(() => RerailError.fromJSON(document)).toThrow(RerailError);
      return validator.validate(document).valid;
    });
    expect(accepted.map(([name]) => name)).toEqual([]);
  });

  it('accepts every document that toJSON writes, and fromJSON gives it back unchanged', () => {
    fc.assert(
      fc.property(fc.constantFrom(...failureCodes), arbitraryDetails(), (code, details) => {
        const error = RerailError.from(createFailure(code, details));
        const document: unknown = JSON.parse(JSON.stringify(error));
        expect(validator.validate(document).errors).toEqual([]);
        expect(RerailError.fromJSON(document).failure).toEqual(error.failure);
      }),
      { seed, numRuns: 300 },
    );
  });

  it.each([
    [
      'many members',
      { context: Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, index])) },
    ],
    ['a long list', { context: { list: Array.from({ length: 1000 }, (_, index) => index) } }],
    ['a deep context', { context: { deep: nest(40) } }],
    ['long texts', { context: { a: 'x'.repeat(9000), b: 'y '.repeat(9000) } }],
    ['long names', { context: { ['x'.repeat(9000)]: 1 } }],
    ['every bound at once', { hint: 'x'.repeat(9000), context: { a: ['z'.repeat(9000)], deep: nest(40) } }],
  ])('gives back the largest failure that can be made, unchanged: %s', (_, details) => {
    const causes = Array.from({ length: 20 }, () => ({
      name: 'Error',
      message: 'm'.repeat(9000),
      code: 'c'.repeat(900),
    }));
    const error = RerailError.from(
      createFailure('UNKNOWN', { message: 'x'.repeat(9000), causes, ...details }),
    );
    const document: unknown = JSON.parse(JSON.stringify(error));
    expect(validator.validate(document).errors).toEqual([]);
    expect(RerailError.fromJSON(document).failure).toEqual(error.failure);
    expect(JSON.stringify(error).length).toBeLessThan(65_536);
  });

  it('accepts a newer code, as its description asks of every reader', () => {
    const document = JSON.parse(JSON.stringify(documentOf())) as Mutable;
    inner(document)['code'] = 'SOLAR_FLARE';
    expect(validator.validate(document).valid).toBe(true);
  });
});

type Mutable = Record<string, unknown>;

function inner(document: Mutable): Mutable {
  return document['failure'] as Mutable;
}

interface Document {
  readonly type: string;
  readonly version: number;
  readonly name: string;
  readonly failure: Readonly<Record<string, unknown>>;
}

function documentOf(): Document {
  const failure: Failure = createFailure('RATE_LIMITED', {
    message: 'Too fast',
    retryAfterMs: 1500,
    provider: { provider: 'openai', statusCode: 429 },
    context: { because: 'the status is 429' },
    causes: [{ name: 'Error', message: '429 Too fast' }],
  });
  return JSON.parse(JSON.stringify(RerailError.from(failure))) as Document;
}

function arbitraryDetails(): fc.Arbitrary<FailureDetails> {
  // Pieces of secrets, labels and marks, so that bounds cut through them.
  const fragments = [
    'api_key=',
    '"',
    'Zk9Qx7vB',
    'password: ',
    'hunter22',
    '[redacted]',
    ' ',
    'x'.repeat(60),
    'Bearer ',
    '\\"',
    '\n',
  ];
  const secretive = fc.array(fc.constantFrom(...fragments), { maxLength: 120 }).map((list) => list.join(''));
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    secretive,
    fc.constant('x'.repeat(5000)),
  );
  const cause = fc.record({ name: text, message: text, code: text }, { requiredKeys: ['name', 'message'] });
  const details = fc.record(
    {
      message: text,
      origin: fc.constantFrom(...origins),
      retryable: fc.boolean(),
      retryAfterMs: fc.nat(),
      phase: fc.constantFrom(...phases),
      sideEffect: fc.constantFrom(...sideEffects),
      classifiedBy: fc.constantFrom(...classifiers),
      hint: text,
      provider: fc.record(
        {
          provider: text,
          model: text,
          statusCode: fc.integer({ min: 100, max: 999 }),
          requestId: text,
          errorType: text,
        },
        { requiredKeys: [] },
      ),
      context: fc.dictionary(
        fc.string({ maxLength: 20 }),
        fc.json({ maxDepth: 3 }).map((json): unknown => JSON.parse(json)),
      ),
      causes: fc.array(cause, { maxLength: 12 }),
    },
    { requiredKeys: ['message'] },
  );
  return details as fc.Arbitrary<FailureDetails>; // fast-check makes absent keys `undefined` in its types, not in its values.
}

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('Expected the action to throw an Error');
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function circle(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

function nest(depth: number): Json {
  return depth === 0 ? 'bottom' : { in: nest(depth - 1) };
}

function raise(): never {
  throw new Error('refused');
}
