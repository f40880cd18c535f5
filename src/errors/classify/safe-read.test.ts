import { describe, expect, it } from 'vitest';
import { causeChain, describeThrown, nameOf, readEntries, readProperty, readText } from './safe-read.ts';

class Meteor {
  readonly speed = 7;
}

const hostile: readonly (readonly [string, unknown])[] = [
  ['a revoked proxy', revokedProxy({})],
  ['a revoked list', revokedProxy([])],
  [
    'a proxy that throws',
    new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse }),
  ],
  ['a getter that throws', Object.defineProperty({}, 'message', { enumerable: true, get: refuse })],
  ['a name that throws', Object.defineProperty(new Error('x'), 'name', { get: refuse })],
  [
    'a class without a name',
    Object.create(Object.defineProperty({}, 'constructor', { get: refuse })) as unknown,
  ],
  ['no prototype', Object.create(null) as unknown],
];

describe.each(hostile)('%s', (_, value) => {
  it('can be looked at without harm', () => {
    expect(readProperty(value, 'other')).toBeUndefined();
    expect(readText(value, 'other')).toBeUndefined();
    expect(describeThrown(value)).toMatch(/\S/);
    expect(nameOf(value) ?? '').toBeTypeOf('string');
    // Compared by identity: a matcher would look into it.
    const chain = causeChain(value);
    expect([chain.length, chain[0] === value]).toEqual([1, true]);
    for (const [, inner] of readEntries(value, 10)) expect(inner).toBeUndefined();
  });

  it('can hide inside another value without harm', () => {
    const wrapped = Object.assign(new Error('outer'), { cause: value, errors: value, lastError: value });
    expect(causeChain(wrapped)[0] === wrapped).toBe(true);
    expect(readEntries({ value }, 10)[0]?.[1] === value).toBe(true);
    expect(describeThrown({ message: value })).toBeTypeOf('string');
  });
});

describe('describeThrown()', () => {
  it.each([
    ['null', null, 'null was thrown'],
    ['undefined', undefined, 'undefined was thrown'],
    ['a number', 7, '7 was thrown'],
    ['a big integer', 7n, '7 was thrown'],
    ['a symbol', Symbol('seven'), 'Symbol(seven) was thrown'],
    ['false', false, 'false was thrown'],
    ['a text', 'seven', 'seven'],
    ['an error', new Error('seven'), 'seven'],
    ['a plain object', {}, 'Object without a message was thrown'],
    ['an error without a message', new RangeError(), 'RangeError without a message was thrown'],
    ['a class without a message', new Meteor(), 'Meteor without a message was thrown'],
  ])('has a text for %s', (_, thrown, text) => {
    expect(describeThrown(thrown)).toBe(text);
  });
});

describe('causeChain()', () => {
  it('ends in a circle', () => {
    const [first, second] = [new Error('first'), new Error('second')];
    first.cause = second;
    second.cause = first;
    expect(causeChain(first)).toEqual([first, second]);
  });

  it('ends in a chain of ten thousand, and in an aggregate of as many', () => {
    let error = new Error('innermost');
    for (let count = 0; count < 10_000; count += 1) error = new Error('outer', { cause: error });
    expect(causeChain(error).length).toBeLessThanOrEqual(8);
    const aggregate = new AggregateError(
      Array.from({ length: 10_000 }, (_, index) => new Error(String(index))),
    );
    expect(causeChain(aggregate).length).toBeLessThanOrEqual(8);
  });

  it('follows causes, aggregates and what SDKs call theirs, outermost first', () => {
    const innermost = new Error('innermost');
    const chain = causeChain({ cause: { lastError: { errors: [{ originalError: innermost }] } } });
    expect(chain.length).toBe(5);
    expect(chain.at(-1)).toBe(innermost);
  });
});

describe('readEntries()', () => {
  it('is bounded, and has none for bytes and texts', () => {
    expect(readEntries(Array.from({ length: 1e6 }), 5).length).toBe(5);
    expect(
      readEntries(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 1])), 5).length,
    ).toBe(5);
    expect(readEntries(new Uint8Array(1000), 5)).toEqual([]);
    expect(readEntries('text', 5)).toEqual([]);
  });
});

function revokedProxy(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function refuse(): never {
  throw new Error('refused');
}
