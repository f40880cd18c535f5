import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { findJsonFault } from './json-fault.ts';
import { repairArguments } from './repair-arguments.ts';

describe('repairArguments()', () => {
  it.each([
    { what: 'cut off in a text', text: '{"path": "/etc/pass' },
    { what: 'cut off after a comma', text: '{"a": 1,' },
    { what: 'cut off before the last bracket', text: '{"a": [1, 2]' },
    { what: 'a fence that is open', text: '```json\n{"a": 1}' },
    { what: 'words behind it', text: '{"a": 1} I hope this helps' },
    { what: 'words before it', text: 'Here you are: {"a": 1}' },
    { what: 'a second object', text: '{"a": 1}{"b": 2}' },
    { what: 'a bracket too many', text: '{"a": 1}}' },
    { what: 'a missing comma', text: '{"a": 1 "b": 2}' },
    { what: 'two commas', text: '{"a": 1,, "b": 2}' },
    { what: 'a leading comma', text: '{, "a": 1}' },
    { what: 'a missing colon', text: '{"a" 1}' },
    { what: 'a missing value', text: '{"a": }' },
    { what: 'a bare word as value', text: '{"path": /tmp/x}' },
    { what: 'a bare word as value', text: '{"city": Berlin}' },
    { what: 'an ellipsis', text: '{"a": [1, 2, ...]}' },
    { what: 'undefined', text: '{"a": undefined}' },
    { what: 'NaN', text: '{"a": NaN}' },
    { what: 'a number with a leading zero', text: '{"zip": 01234}' },
    { what: 'a hexadecimal number', text: '{"a": 0x10}' },
    { what: 'a number without its fraction', text: '{"a": 1.}' },
    { what: 'a range', text: '{"a": 1-2}' },
    { what: 'a quote inside of quotes', text: `{'a': 'it's'}` },
    { what: 'a quote inside of quotes', text: '{"a": "he said "hi" to me"}' },
    { what: 'an unknown escape', text: '{"a": "C:\\dir",}' },
    { what: 'two texts beside each other', text: '{"a": "x" "y"}' },
    { what: 'two texts with a plus', text: '{"a": "x" + "y"}' },
    { what: 'a name twice', text: "{'a': 1, 'a': 2}" },
    { what: 'a truth value as name', text: '{True: 1}' },
    { what: 'a number as name', text: '{1: 2}' },
    { what: 'a comment that is open', text: '{"a": 1} /* note' },
    { what: 'a list', text: '[1, 2,]' },
    { what: 'a text', text: "'a'" },
    { what: 'nothing', text: '' },
    { what: 'a function call', text: 'search({"a": 1})' },
    { what: 'typographic quotes', text: '{“a”: “b”}' },
    { what: 'depth', text: `{'a': ${'['.repeat(5000)}${']'.repeat(5000)}}` },
  ])('does not guess at $what: $text', ({ text }) => {
    expect(repairArguments(text)).toBeUndefined();
  });

  it.each([
    { what: 'a trailing comma', text: '{"a": [1, 2,], "b": {},}', value: { a: [1, 2], b: {} } },
    { what: 'single quotes', text: `{'a': 'say "hi"', 'b': 'it\\'s'}`, value: { a: 'say "hi"', b: "it's" } },
    { what: 'Python', text: "{'a': True, 'b': False, 'c': None}", value: { a: true, b: false, c: null } },
    { what: 'bare names', text: '{a: 1, $b_2: 2}', value: { a: 1, $b_2: 2 } },
    { what: 'a fence', text: '```json\n{"a": "```"}\n```', value: { a: '```' } },
    { what: 'a fence without a name', text: '```\n{"a": 1}```', value: { a: 1 } },
    {
      what: 'comments',
      text: '{ // the path\n "a": "/* kept */", /* two */ "b": 2 }',
      value: { a: '/* kept */', b: 2 },
    },
    {
      what: 'line breaks in a text',
      text: '{"code": "if (x) {\n\treturn;\n}"}',
      value: { code: 'if (x) {\n\treturn;\n}' },
    },
    { what: 'escapes', text: `{'a': '\\u00e9\\n\\\\'}`, value: { a: 'é\n\\' } },
  ])('reads $what', ({ text, value }) => {
    expect(repairArguments(text)).toEqual({ value });
  });

  it('keeps a member called __proto__ as a member', () => {
    const repaired = repairArguments("{'__proto__': {'polluted': True}}");
    expect(Object.keys(repaired?.value ?? {})).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is quick to refuse a long text', () => {
    expect(repairArguments(`\`\`\`\n{'a': 1${' '.repeat(900_000)}x}\n\`\`\``)).toBeUndefined();
    expect(repairArguments(`{'a': '${'\\"'.repeat(400_000)}`)).toBeUndefined();
    expect(repairArguments(`{'a': '${'x'.repeat(2_000_000)}'}`)).toBeUndefined();
  });
});

/** Ways to write a value that a reader of Python, JavaScript or Markdown takes for the same. */
interface Style {
  readonly quote: '"' | "'";
  readonly hasTrailingComma: boolean;
  readonly isPython: boolean;
  readonly hasBareNames: boolean;
  readonly comment: '' | '/* x, "y" */' | '// {it}\n';
}

const styles: fc.Arbitrary<Style> = fc.record({
  quote: fc.constantFrom('"', "'"),
  hasTrailingComma: fc.boolean(),
  isPython: fc.boolean(),
  hasBareNames: fc.boolean(),
  comment: fc.constantFrom('', '/* x, "y" */', '// {it}\n'),
});

const pythonWords: ReadonlyMap<unknown, string> = new Map([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
] as const);

function spell(value: Json, style: Style): string {
  if (typeof value === 'string') return spellText(value, style);
  if (typeof value === 'boolean' || value === null) {
    return style.isPython ? (pythonWords.get(value) ?? '') : String(value);
  }
  if (typeof value === 'number') return JSON.stringify(value);
  const comma = style.hasTrailingComma ? ',' : '';
  const isList = Array.isArray(value);
  const members = isList
    ? (value as readonly Json[]).map((member) => spell(member, style))
    : Object.entries(value).map(([name, member]) => `${spellName(name, style)}: ${spell(member, style)}`);
  const inside =
    members.length === 0 ? style.comment : `${style.comment}${members.join(`,${style.comment}`)}${comma}`;
  return isList ? `[${inside}]` : `{${inside}}`;
}

function spellText(text: string, { quote }: Style): string {
  const json = JSON.stringify(text);
  return quote === '"' ? json : `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function spellName(name: string, style: Style): string {
  return style.hasBareNames && /^[a-z]+$/.test(name) ? name : spellText(name, style);
}

const names = fc.oneof(fc.constantFrom('a', 'b', 'path'), fc.string({ maxLength: 5 }));
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom('it\'s "it"', '{', '],', '//', 'None', '```'),
    ),
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3 }),
  ),
}));
const objects = fc.dictionary(names, anyValue, { maxKeys: 4 });

describe('repairArguments() of a random object', () => {
  const reading = (text: string): string => JSON.stringify(repairArguments(text)?.value);

  it('gives the object back, whatever harmless way it is written', () => {
    fc.assert(
      fc.property(objects, styles, fc.boolean(), (object, style, isFenced) => {
        const text = spell(object, style);
        expect(reading(isFenced ? `\`\`\`json\n${text}\n\`\`\`` : text)).toBe(JSON.stringify(object));
      }),
      { numRuns: 500 },
    );
  });

  it('gives nothing where it is cut off, wherever that is', () => {
    fc.assert(
      fc.property(objects, styles, fc.boolean(), (object, style, isFenced) => {
        const text = spell(object, style);
        const whole = isFenced ? `\`\`\`json\n${text}\n\`\`\`` : text;
        for (let end = 0; end < whole.length; end += 1)
          expect(repairArguments(whole.slice(0, end))).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});

describe('findJsonFault()', () => {
  it.each([
    { text: '{"a": x}', place: 6 },
    { text: '{"a": 1, }', place: 9 },
    { text: "{'a': 1}", place: 1 },
    { text: '{"a": 1} and', place: 9 },
    { text: '{"a": "x', place: 6 },
    { text: '{"a": [1, 2', place: 11 },
    { text: '', place: 0 },
    { text: '{"a" 1}', place: 5 },
    { text: '[1 2]', place: 3 },
    { text: '{"a": tru}', place: 6 },
  ])('finds where $text stops being JSON', ({ text, place }) => {
    expect(findJsonFault(text)).toBe(place);
  });

  it('finds none in JSON', () => {
    fc.assert(
      fc.property(anyValue, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(findJsonFault(text)).toBe(text.length);
      }),
    );
  });
});
