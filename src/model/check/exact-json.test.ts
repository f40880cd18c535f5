import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findInexact, parseExactly, writeExactly } from './exact-json.ts';
import { parseToolArguments } from '../tool-arguments.ts';

describe('findInexact()', () => {
  it.each([
    ['{"a":1e999}', /1e999/],
    ['{"a":-1e999}', /-1e999/],
    ['{"a":[{"b":1E+400}]}', /1E\+400/],
    ['{"a":1e-999}', /1e-999/],
    ['{"a":12345678901234567890}', /12345678901234567890/],
    ['{"a":9007199254740993}', /9007199254740993/],
    ['{"a":-9007199254740993.0}', /9007199254740993/],
    ['{"a":99999999999999999.99}', /99999999999999999\.99/],
    ['{"amount":1,"amount":1000}', /"amount" is there twice/],
    [String.raw`{"amount":1,"\u0061mount":1000}`, /"amount" is there twice/],
    ['{"x":{"a":1,"b":{"a":2},"a":3}}', /"a" is there twice/],
    ['[{"a":1},{"a":1,"a":1}]', /"a" is there twice/],
  ])('%s', (json, reason) => {
    expect(findInexact(json)).toMatch(reason);
  });

  it.each([
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
    '{"a":"a","b":"a","c":["a","a"]}',
    '{"a":0.1,"b":0.30000000000000004,"c":3.14159265358979323846,"d":-0,"e":0e10,"f":0.0}',
    '{"a":9007199254740991,"b":-9007199254740991,"c":1e300,"d":100000000000000000000000,"e":1e21}',
    String.raw`{"a":"{\"b\":1e999,\"b\":2}","b":"\\"}`,
    '{"":1,"a":{}}',
  ])('%s is exact', (json) => {
    expect(findInexact(json)).toBeUndefined();
  });

  it('finds nothing in whatever JSON.stringify has written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(findInexact(JSON.stringify(value))).toBeUndefined();
      }),
    );
  });
});

describe('parseExactly() and writeExactly()', () => {
  it.each([
    '{"functionCall":{"args":{"a":1e999,"b":[12345678901234567890]}}}',
    '{"functionCall":{"args":{"amount":1,"amount":1000,"amount":5}}}',
    String.raw`{"functionCall":{"args":{"a\"b":1,"a\"b":2}}}`,
  ])('%s comes back as it was written', (json) => {
    expect(writeExactly(parseExactly(json))).toBe(json);
  });

  it('refuses a text that holds its own mark beside such a number', () => {
    expect(() => parseExactly(String.raw`{"functionCall":{"a":1e999,"b":"\uFFFF7"}}`)).toThrow(SyntaxError);
  });
});

describe('parseToolArguments()', () => {
  it('reads -0 as 0, as it is written down', () => {
    const read = parseToolArguments('{"a":-0,"b":-0.5,"c":[-0.0]}');
    expect(read).toEqual({ type: 'parsed', value: { a: 0, b: -0.5, c: [0] } });
    expect(read.type === 'parsed' && Object.is(read.value['a'], 0)).toBe(true);
  });
});
