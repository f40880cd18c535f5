import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import { badSchema, readCount, readList, readNumber, readPattern } from './schema-compiling.ts';
import type { Keyword, Pattern, Site } from './schema-compiling.ts';
import { formats } from './schema-formats.ts';
import { object, showJson } from './schema-visit.ts';
import type { Check, Visit } from './schema-visit.ts';

/** What a schema says of values of any kind, of numbers and of texts. */
export const valueKeywords = {
  type: makeType,
  enum: makeEnum,
  const: (argument) => makeOneOf([argument as Json]), // A schema is plain JSON here.
  minimum: makeMinimum,
  maximum: makeMaximum,
  exclusiveMinimum: makeExclusiveMinimum,
  exclusiveMaximum: makeExclusiveMaximum,
  multipleOf: makeMultipleOf,
  minLength: (argument, site) => makeLength(argument, site, 'at least'),
  maxLength: (argument, site) => makeLength(argument, site, 'at most'),
  pattern: makePattern,
  format: makeFormat,
} as const satisfies Readonly<Record<string, Keyword>>;

const typeNames: ReadonlyMap<unknown, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'an object'],
  ['null', 'null'],
]);

/** What a schema asks for, in few words; nothing where it does not say. */
export function describeExpected(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type, enum: choices } = node as Readonly<Record<string, unknown>>; // Any object has unknown fields.
  if (Array.isArray(choices)) return `one of ${listChoices(choices as readonly Json[])}`;
  return describeTypes(Array.isArray(type) ? type : [type]);
}

function describeTypes(types: readonly unknown[]): string | undefined {
  const words = types.map((type) => typeNames.get(type));
  return words.includes(undefined) ? undefined : words.join(' or ');
}

function makeType(argument: unknown, { compiling }: Site): Check {
  const types: readonly unknown[] = Array.isArray(argument) ? argument : [argument];
  const expected = types.length === 0 ? undefined : describeTypes(types);
  if (expected === undefined) throw badSchema(compiling, [...typeNames.keys()].join(', '), argument);
  const [only] = types;
  const isLegal =
    types.length === 1
      ? (value: unknown): boolean => isOfType(value, only)
      : (value: unknown): boolean => types.some((type) => isOfType(value, type));
  return (value, visit) => isLegal(value) || object(visit, `must be ${expected}, got ${showJson(value)}`);
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function makeEnum(argument: unknown, { compiling }: Site): Check {
  const choices = readList(argument, compiling);
  if (choices.length === 0) throw badSchema(compiling, 'a list of at least one value', argument);
  return makeOneOf(choices as readonly Json[]); // A schema is plain JSON here.
}

function makeOneOf(choices: readonly Json[]): Check {
  const scalars: ReadonlySet<unknown> = new Set(choices.filter((choice) => !isContainer(choice)));
  const containers = new Set(choices.filter(isContainer).map((choice) => canonicalJson(choice)));
  const expected = choices.length === 1 ? listChoices(choices) : `one of ${listChoices(choices)}`;
  return (value, visit) => {
    if (scalars.has(value)) return true;
    if (containers.size > 0 && isContainer(value) && containers.has(canonicalJson(value as Json)))
      return true;
    return object(visit, `must be ${expected}, got ${showJson(value)}`);
  };
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

const maxListedChoices = 12;

function listChoices(choices: readonly Json[]): string {
  const shown = choices.slice(0, maxListedChoices).map((choice) => JSON.stringify(choice).slice(0, 60));
  return choices.length > maxListedChoices ? `${shown.join(', ')} …` : shown.join(', ');
}

/** A check of numbers alone; other values are another keyword's matter. */
function numberCheck(isLegal: (value: number) => boolean, expected: string): Check {
  return (value, visit) =>
    typeof value !== 'number' || isLegal(value) || object(visit, `must be ${expected}, got ${value}`);
}

// In draft 4 the exclusive bounds are flags beside the bounds.
function makeMinimum(argument: unknown, { node, compiling }: Site): Check {
  const least = readNumber(argument, compiling);
  if (node['exclusiveMinimum'] === true) return numberCheck((value) => value > least, `above ${least}`);
  return numberCheck((value) => value >= least, `at least ${least}`);
}

function makeMaximum(argument: unknown, { node, compiling }: Site): Check {
  const most = readNumber(argument, compiling);
  if (node['exclusiveMaximum'] === true) return numberCheck((value) => value < most, `below ${most}`);
  return numberCheck((value) => value <= most, `at most ${most}`);
}

function makeExclusiveMinimum(argument: unknown, { compiling }: Site): Check | undefined {
  if (typeof argument === 'boolean') return undefined;
  const bound = readNumber(argument, compiling);
  return numberCheck((value) => value > bound, `above ${bound}`);
}

function makeExclusiveMaximum(argument: unknown, { compiling }: Site): Check | undefined {
  if (typeof argument === 'boolean') return undefined;
  const bound = readNumber(argument, compiling);
  return numberCheck((value) => value < bound, `below ${bound}`);
}

function makeMultipleOf(argument: unknown, { compiling }: Site): Check {
  const step = readNumber(argument, compiling);
  if (step <= 0) throw badSchema(compiling, 'a number above 0', argument);
  return numberCheck((value) => isMultiple(value, step), `a multiple of ${step}`);
}

/** 0.07 is a multiple of 0.01, though not for a computer: what it is off by is a matter of the last digits. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  const distance = Math.abs(times - Math.round(times));
  return Number.isFinite(times) && distance <= Math.abs(times) * 4 * Number.EPSILON;
}

function makeLength(argument: unknown, { compiling }: Site, bound: 'at least' | 'at most'): Check {
  const limit = readCount(argument, compiling);
  return (value, visit) => {
    if (typeof value !== 'string') return true;
    const length = countCharacters(value);
    const isLegal = bound === 'at least' ? length >= limit : length <= limit;
    return (
      isLegal || object(visit, `must have ${bound} ${limit} characters, has ${length}: ${showJson(value)}`)
    );
  };
}

/** JSON Schema counts code points, not the halves of a pair. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isPairAt(text, index)) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

function isPairAt(text: string, index: number): boolean {
  const [high, low] = [text.charCodeAt(index), text.charCodeAt(index + 1)];
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

function makePattern(argument: unknown, { compiling }: Site): Check | undefined {
  const pattern = readPattern(argument, compiling);
  if (pattern === undefined) return undefined;
  return (value, visit) => typeof value !== 'string' || checkPattern(value, pattern, visit);
}

function checkPattern(text: string, { expression, maxTextLength }: Pattern, visit: Visit): boolean {
  const shown = `the pattern ${expression.source.slice(0, 60)}`;
  if (text.length > maxTextLength) {
    return object(
      visit,
      `must have at most ${maxTextLength} characters to be held against ${shown}, has ${text.length}`,
    );
  }
  return expression.test(text) || object(visit, `must match ${shown}, got ${showJson(text)}`);
}

function makeFormat(argument: unknown): Check | undefined {
  const format = typeof argument === 'string' ? formats.get(argument) : undefined;
  if (format === undefined) return undefined;
  const expected = `must be of the format "${String(argument)}", such as ${format.example}`;
  return (value, visit) =>
    typeof value !== 'string' ||
    format.isLegal(value) ||
    object(visit, `${expected}, got ${showJson(value)}`);
}
