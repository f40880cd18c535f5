import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectStream, isAsyncIterable } from '../watch/collect-stream.ts';
import { encodeResult } from './encode-result.ts';
import type { EncodedResult, Encoding } from './encode-result.ts';

const bounds = { maxCharacters: 1000 };

function encoded(value: unknown, given = bounds): EncodedResult {
  const encoding: Encoding = encodeResult(value, given);
  expect(encoding).not.toHaveProperty('failure');
  return encoding as EncodedResult; // Checked the line before.
}

function textOf(value: unknown, given = bounds): string {
  const { content } = encoded(value, given);
  expect(content).toBeTypeOf('string');
  return content as string; // Checked the line before.
}

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(20)]);
const circular: Record<string, unknown> = { name: 'loop' };
circular['self'] = circular;
const revoked = Proxy.revocable({}, {});
revoked.revoke();

class Hidden {
  readonly #secret = 1;
  reveal(): number {
    return this.#secret;
  }
}

describe('encodeResult()', () => {
  it.each([
    { what: 'a function', value: () => 1, says: 'it is a function' },
    { what: 'a symbol', value: Symbol('s'), says: 'it is a symbol' },
    { what: 'a revoked Proxy', value: revoked.proxy, says: 'revoked' },
    {
      what: 'a toJSON that throws',
      value: {
        toJSON: () => {
          throw new Error('no JSON today');
        },
      },
      says: 'no JSON today',
    },
    {
      what: 'a getter that throws',
      value: {
        get rows(): never {
          throw new Error('no rows today');
        },
      },
      says: 'no rows today',
    },
    {
      what: 'a Proxy that throws',
      value: new Proxy(
        {},
        {
          get: () => {
            throw new Error('do not touch');
          },
        },
      ),
      says: 'do not touch',
    },
  ])('fails typed for $what', ({ value, says }) => {
    expect(encodeResult(value, bounds)).toMatchObject({
      failure: {
        code: 'SERIALIZATION_ERROR',
        origin: 'tool',
        message: expect.stringContaining(says) as unknown,
      },
    });
  });

  it.each([
    { what: 'undefined', value: undefined, text: '(no result)' },
    { what: 'null', value: null, text: 'null' },
    { what: 'an empty text', value: '', text: '' },
    { what: 'a text', value: 'as "it" is', text: 'as "it" is' },
    { what: 'a lone surrogate', value: 'a\ud800b', text: 'a\ud800b' },
    { what: 'NUL', value: 'a\u0000b', text: 'a\u0000b' },
    { what: 'a number', value: 1.5, text: '1.5' },
    { what: 'a bigint', value: 12345678901234567890n, text: '"12345678901234567890"' },
    { what: 'plain JSON', value: { a: [1, 'x', null, { b: true }] }, text: '{"a":[1,"x",null,{"b":true}]}' },
    { what: 'an absent member', value: { a: undefined, b: [undefined] }, text: '{"b":[null]}' },
    { what: 'a date', value: { at: new Date(0) }, text: '{"at":"1970-01-01T00:00:00.000Z"}' },
    { what: 'a URL', value: new URL('https://example.com/a'), text: '"https://example.com/a"' },
    { what: 'typed numbers', value: new Float64Array([1, 2.5]), text: '[1,2.5]' },
    { what: 'a boxed text', value: Object('boxed') as unknown, text: '"boxed"' },
    { what: 'a pattern', value: /a+/g, text: '"/a+/g"' },
    { what: 'UTF-8 bytes', value: Buffer.from('grün\u0000'), text: 'grün\u0000' },
    { what: 'an ArrayBuffer of text', value: new TextEncoder().encode('hello').buffer, text: 'hello' },
    { what: 'an object without a prototype', value: Object.create(null) as unknown, text: '{}' },
    { what: 'the same object twice', value: [circular['name'], [[]], [[]]], text: '["loop",[[]],[[]]]' },
    {
      what: 'a member called __proto__',
      value: JSON.parse('{"__proto__":1}') as unknown,
      text: '{"__proto__":1}',
    },
  ])('writes $what as it is', ({ value, text }) => {
    expect(textOf(value)).toBe(text);
  });

  it.each([
    {
      what: 'a Map',
      value: new Map<unknown, unknown>([
        ['a', 1],
        [{ k: 1 }, 2],
      ]),
      text: '[["a",1],[{"k":1},2]]',
      note: 'a Map is written as a list of [key, value] pairs',
    },
    { what: 'a Set', value: new Set([1, 'a']), text: '[1,"a"]', note: 'a Set is written as a list' },
    { what: 'NaN', value: { a: Number.NaN }, text: '{"a":"NaN"}', note: 'NaN, Infinity' },
    {
      what: 'a date that is none',
      value: new Date(Number.NaN),
      text: '"Invalid Date"',
      note: 'a date that is none',
    },
    {
      what: 'a cycle',
      value: circular,
      text: '{"name":"loop","self":"[circular]"}',
      note: 'contains itself',
    },
    { what: 'a method', value: { a: 1, run: () => 1 }, text: '{"a":1}', note: 'a function has no text' },
    { what: 'a symbol inside', value: [Symbol('s')], text: '[null]', note: 'a symbol has no text' },
    { what: 'private fields', value: new Hidden(), text: '{}', note: '{} represents an object of Hidden' },
    { what: 'a promise inside', value: { later: Promise.resolve(1) }, text: '{"later":{}}', note: 'Promise' },
    {
      what: 'bytes inside',
      value: { file: Buffer.from([0xff, 0xfe]) },
      text: '{"file":{"mediaType":"application/octet-stream","bytes":2,"base64":"//4="}}',
      note: 'base64',
    },
    {
      what: 'an iterator',
      value: [1, 2][Symbol.iterator](),
      text: '[1,2]',
      note: 'an iterator is written as a list',
    },
  ])('writes $what in a defined way and notes it', ({ value, text, note }) => {
    const shown = textOf(value);
    expect(shown.split('\n[Note: ')).toEqual([text, expect.stringContaining(note)]);
  });

  it('writes an error without its stack', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error('inner') }), { code: 'E_BAD' });
    expect(JSON.parse(textOf({ error }))).toEqual({
      error: { name: 'TypeError', message: 'bad', code: 'E_BAD', cause: { name: 'Error', message: 'inner' } },
    });
  });

  it('leaves out what nests too deeply instead of overflowing', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(textOf(deep)).toContain('deeper than 64 levels');
  });

  it('makes an image of bytes that are one, whatever they are said to be', () => {
    const data = png.toString('base64');
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } };
    expect(encoded(new Uint8Array(png)).content).toEqual([image]);
    expect(encoded({ content: [{ ...image, mediaType: 'image/jpeg' }] }).content).toEqual([image]);
  });

  it('tells in words of an image that is none, for providers refuse a conversation that holds one', () => {
    const broken = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } };
    const noBase64 = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: '%%' } };
    expect(encoded({ content: [broken, noBase64] }).content).toEqual([
      { type: 'text', text: '(an image is left out: this was to be image/png, but its bytes are not)' },
      { type: 'text', text: '(an image is left out: image/png: its data is not base64)' },
    ]);
  });

  it('says what other bytes are', () => {
    expect(textOf(Buffer.from('%PDF-1.7\n'))).toMatch(/^\(application\/pdf, 9 bytes, as base64\)\nJVBER/);
    expect(textOf(Buffer.from([0, 0xff]))).toBe('(application/octet-stream, 2 bytes, as base64)\nAP8=');
  });

  it('passes well-formed parts through, within the bound, and writes anything else as JSON', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'https://example.com/a.png' } },
    ];
    expect(encoded({ content: parts }).content).toEqual(parts);
    expect(textOf({ content: parts, more: 1 })).toContain('"more":1');
    expect(textOf({ content: [{ type: 'text' }] })).toBe('{"content":[{"type":"text"}]}');
    expect(textOf({ content: [] })).toBe('{"content":[]}');
    const long = encoded({ content: [{ type: 'text', text: 'x'.repeat(5000) }] });
    expect(JSON.stringify(long.content).length).toBeLessThan(1100);
  });

  it.each([
    { what: 'a text', value: `HEAD${'x'.repeat(300_000_000)}TAIL`, tail: /TAIL$/ },
    { what: 'a text inside', value: { a: `HEAD${'x'.repeat(300_000_000)}TAIL` }, tail: /TAIL"\}$/ },
    {
      what: 'bytes',
      value: Buffer.concat([Buffer.from('HEAD'), Buffer.alloc(50_000_000, 'ü'), Buffer.from('TAIL')]),
      tail: /TAIL\n\[Note: 50,000,008 bytes in all\]$/,
    },
  ])('cuts $what that is far too long to its head, its tail and its length', ({ value, tail }) => {
    const { content, totalCharacters } = encoded(value);
    expect(content).toContain('HEAD');
    expect(content).toMatch(tail);
    expect(content).toMatch(/… \[[\d,]+ (of|or more)/);
    expect((content as string).length).toBeLessThan(1100);
    expect(totalCharacters).toBeGreaterThan(10_000_000);
  });

  it('does not walk a list of ten million rows', () => {
    const rows: unknown[] = [];
    rows.length = 10_000_000;
    rows[0] = 'FIRST';
    rows[rows.length - 1] = 'LAST';
    const text = textOf(rows);
    expect(text).toContain('["FIRST",null');
    expect(text).toContain('"LAST"]');
    expect(text).toMatch(/[\d,]{9,} of 10,000,000 list members are left out/);
    expect(text.length).toBeLessThan(1300);
  });

  it('stops an iterator without end', () => {
    function* forever(): Generator<number> {
      for (let index = 0; ; index += 1) yield index;
    }
    expect(textOf(forever())).toMatch(/the list is longer than the first [\d,]+ members/);
  });

  it('never cuts a pair of surrogates in two', () => {
    const text = textOf('😀'.repeat(2000), { maxCharacters: 501 });
    expect(() => encodeURIComponent(text)).not.toThrow();
  });

  it('gives the same hash for the same result and another for another, also beyond the cut', () => {
    const hash = (value: unknown): string => encoded(value).resultHash;
    expect(hash({ a: 1 })).toBe(hash({ a: 1 }));
    expect(hash({ a: 1 })).not.toBe(hash({ a: 2 }));
    expect(hash('x'.repeat(5000))).not.toBe(hash('x'.repeat(5001)));
    expect(hash(Buffer.from(png))).toBe(hash(png));
  });

  it('writes every JSON value as JSON does, and keeps any value within its bound', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const given = typeof value === 'string' ? [value] : value;
        expect(JSON.parse(textOf(given, { maxCharacters: 1_000_000 }))).toEqual(
          JSON.parse(JSON.stringify(given)),
        );
      }),
    );
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
        fc.integer({ min: 100, max: 400 }),
        (value, maxCharacters) => {
          const encoding = encodeResult(value, { maxCharacters });
          const text = 'failure' in encoding ? '' : JSON.stringify(encoding.content.slice(0, maxCharacters));
          expect('failure' in encoding || encoding.content.length <= maxCharacters + 1000).toBe(true);
          expect(text.length).toBeLessThan(7 * maxCharacters);
        },
      ),
    );
  });
});

describe('collectStream()', () => {
  const options = { ...bounds, isOver: () => false };
  async function* pieces(list: readonly unknown[]): AsyncGenerator {
    for (const piece of list) yield await Promise.resolve(piece);
  }

  it('rejects with what the stream throws', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield await Promise.resolve('a');
      throw new Error('broke off');
    }
    await expect(collectStream(broken(), options)).rejects.toThrow('broke off');
  });

  it('stops a stream without end and closes it', async () => {
    let isClosed = false;
    async function* forever(): AsyncGenerator<string> {
      try {
        for (;;) yield 'more and more ';
      } finally {
        isClosed = true;
      }
    }
    const encoding = await collectStream(forever(), options);
    expect(encoding).toMatchObject({
      content: expect.stringMatching(
        /^more and more [^]*at least[^]*it was not read beyond 100,000 pieces/,
      ) as unknown,
    });
    expect(isClosed).toBe(true);
  });

  it('stops when nobody waits any more', async () => {
    let count = 0;
    async function* forever(): AsyncGenerator<number> {
      for (;;) yield (count += 1);
    }
    await collectStream(forever(), { ...bounds, isOver: () => count >= 3 });
    expect(count).toBe(3);
  });

  it.each([
    { what: 'texts', list: ['a', 'b'], content: 'ab' },
    { what: 'nothing', list: [], content: '' },
    { what: 'rows', list: [{ a: 1 }, { a: 2 }], content: '{"a":1}\n{"a":2}\n' },
    { what: 'bytes', list: [Buffer.from([0xc3]), Buffer.from([0xbc])], content: 'ü' },
  ])('joins $what', async ({ list, content }) => {
    await expect(collectStream(pieces(list), options)).resolves.toMatchObject({ content });
  });

  it('knows a stream, and takes what refuses the question as it is', () => {
    expect(isAsyncIterable(pieces([]))).toBe(true);
    expect([null, 'text', [1], revoked.proxy].map((value) => isAsyncIterable(value))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
