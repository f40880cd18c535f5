import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLoosely } from './loose-object.ts';

const seed = 20_270_118;
const example = {
  error: {
    message: 'It\'s "over"\n\tnow: {a} \\ é 你',
    type: 'rate_limit_error',
    param: null,
    code: 429,
    list: [1, -2.5, true, []],
  },
};

describe('parseLoosely() on damaged text', () => {
  it('never throws and always ends, wherever the text was cut', () => {
    const forms = [
      JSON.stringify(example),
      JSON.stringify(example).replaceAll('"', String.raw`\"`),
      inspect(example),
      pythonRepr(example),
      '{"a": "\\u00',
      String.raw`{"a": "\\`,
    ];
    for (const text of forms) {
      for (let length = 0; length <= text.length; length += 1) {
        for (const from of [0, Math.floor(length / 2)]) {
          const { end } = parseLoosely(text.slice(0, length), from);
          expect(end).toBeGreaterThanOrEqual(from);
        }
      }
    }
  });

  it('never throws on anything', () => {
    const noise = fc.string({
      unit: fc.constantFrom(...Array.from(`{}[]()"'\\:=,.<> \nabuTNx019é\u{1F642}`)),
      maxLength: 80,
    });
    fc.assert(
      fc.property(noise, fc.nat(80), (text, from) => {
        const { value } = parseLoosely(text, from);
        expect(() => JSON.stringify(value)).not.toThrow();
      }),
      { seed, numRuns: 3000 },
    );
  });

  it('keeps what came before the cut', () => {
    const text = JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error' } });
    expect(parseLoosely(text.slice(0, -12), 0).value).toMatchObject({ error: { message: 'Overloaded' } });
  });

  it('says that quotes are not where they belong', () => {
    expect(parseLoosely(`{"message": "he said "no" to it", "code": 5}`, 0).broken).toBe(true);
    expect(parseLoosely(`{"message": "no", "code": 5}`, 0).broken).toBe(false);
  });

  it('is bounded in depth and number', () => {
    const { value } = parseLoosely('{"a":'.repeat(100_000), 0);
    expect(depthOf(value)).toBeLessThan(40);
    const wide = parseLoosely(`[${'1,'.repeat(100_000)}1]`, 0).value;
    expect((wide as readonly unknown[]).length).toBeLessThan(10_000);
  });

  it('takes __proto__ for an ordinary key', () => {
    const { value } = parseLoosely(
      '{"__proto__": {"polluted": 1}, constructor: {prototype: {polluted: 1}}}',
      0,
    );
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((value as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('parseLoosely() on whole text', () => {
  it('reads every list and object that JSON.stringify writes, within its bounds', () => {
    const inner = fc.json({ maxDepth: 4 }).map((json): unknown => JSON.parse(json));
    const value = fc.oneof(
      fc.array(inner, { maxLength: 8 }),
      fc.dictionary(fc.string({ unit: 'binary' }), inner, { maxKeys: 8 }),
    );
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (original, indent) => {
        const text = JSON.stringify(original, null, indent);
        const { value: read, end, broken } = parseLoosely(text, 0);
        expect(read).toEqual(JSON.parse(text));
        expect(end).toBe(text.length);
        expect(broken).toBe(false);
      }),
      { seed, numRuns: 1000 },
    );
  });

  it('reads every text that JSON can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseLoosely(JSON.stringify({ text }), 0).value).toEqual({ text });
      }),
      { seed, numRuns: 1000 },
    );
    expect(parseLoosely(JSON.stringify({ text: '\b\f\v\0' }), 0).value).toEqual({ text: '\b\f\v\0' });
  });

  it('reads what Python prints', () => {
    expect(parseLoosely(pythonRepr(example), 0).value).toEqual(example);
    expect(parseLoosely("{'ok': True, 'no': False, 'none': None, 'pair': (1, 'two')}", 0).value).toEqual({
      ok: true,
      no: false,
      none: null,
      pair: [1, 'two'],
    });
  });

  it('reads what JavaScript inspects', () => {
    const text = inspect({
      error: { message: "it's over", type: 'overloaded_error', code: null, n: [1, 2] },
    });
    expect(parseLoosely(text, 0).value).toEqual({
      error: { message: "it's over", type: 'overloaded_error', code: null, n: [1, 2] },
    });
  });

  it('reads JSON that was escaped once more', () => {
    const text = JSON.stringify({ error: { message: 'Overloaded', code: 529 } }).replaceAll(
      '"',
      String.raw`\"`,
    );
    expect(parseLoosely(text, 0).value).toEqual({ error: { message: 'Overloaded', code: 529 } });
  });

  it('stops behind the object, so that a caller can go on there', () => {
    const text = 'see {"a": {"b": [1]}} and more';
    const { value, end } = parseLoosely(text, 4);
    expect(value).toEqual({ a: { b: [1] } });
    expect(text.slice(end)).toBe(' and more');
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** As Python prints it: single quotes, escaped where both kinds occur. */
function pythonRepr(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') {
    const escaped = value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`);
    return `'${escaped.replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`)}'`;
  }
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  const entries = Object.entries(value as object).map(
    ([key, inner]) => `${pythonRepr(key)}: ${pythonRepr(inner)}`,
  );
  return `{${entries.join(', ')}}`;
}
