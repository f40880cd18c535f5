import type { Json } from '../../base/json.ts';
import type { JsonSchema, ToolDefinition } from '../../model/request.ts';
import type { Facts } from './facts.ts';
import { labelledValue, lookalikesIn, namesIn, numbersIn, quotedIn } from './find-values.ts';
import { fieldsOf, jsonText, shapeOf } from './schema-shape.ts';
import type { Field, Shape } from './schema-shape.ts';
import { findText } from './find-text.ts';
import { canonicalStem, stemsOf, wordsOf } from './words.ts';

/** Where the values of arguments are looked for, the nearest first. */
export interface Source {
  /** The part of the sentence that asks for this tool. */
  readonly clause: string;
  /** All that the person said last. */
  readonly text: string;
  /** What the person said before, the latest last. */
  readonly earlier: readonly string[];
  /** Results of tools that are objects. */
  readonly results: readonly Readonly<Record<string, Json>>[];
  readonly facts: Facts;
}

/** The arguments that could be found, and the names of the required ones that could not. */
export interface Filled {
  readonly arguments: Readonly<Record<string, Json>>;
  readonly missing: readonly string[];
}

const maxDepth = 4;
const maxItems = 20;

/** Fills the arguments of a tool from what was said. Invents nothing. */
export function fillArguments(tool: ToolDefinition, source: Source): Filled {
  const root = tool.parameters;
  const finder = createFinder(source, { root, toolStems: new Set(stemsOf(tool.name)) });
  return finder.fillObject(shapeOf(root, root).schema, 0);
}

/** Finds the value of one field, as the answer for a schema needs it. */
export function findField(field: Field, root: JsonSchema, source: Source): Json | undefined {
  return createFinder(source, { root, toolStems: new Set() }).findRequired(
    field,
    shapeOf(field.schema, root),
  );
}

interface Finder {
  readonly fillObject: (schema: JsonSchema, depth: number) => Filled;
  readonly findRequired: (field: Field, shape: Shape) => Json | undefined;
}

interface Setting {
  readonly root: JsonSchema;
  readonly toolStems: ReadonlySet<string>;
}

function createFinder(source: Source, { root, toolStems }: Setting): Finder {
  const used = new Set<string>();

  /** Looks in one text. What was taken for one field is not taken for the next. */
  function findIn(text: string, field: Field, shape: Shape): Json | undefined {
    const value = findByType(text, field, { shape, used, toolStems, root });
    if (typeof value === 'string' || typeof value === 'number') used.add(String(value));
    return value;
  }

  function findRequired(field: Field, shape: Shape): Json | undefined {
    return (
      findIn(source.clause, field, shape) ??
      resultField(source.results, field.name, shape) ??
      (source.text === source.clause
        ? undefined
        : findIn(source.text, { ...field, isRequired: false }, shape)) ??
      factFor(source.facts, field.name, shape) ??
      source.earlier
        .toReversed()
        .map((text) => (shape.type === 'string' ? labelledValue(text, field.name) : undefined))
        .find((value) => value !== undefined) ??
      (shape.schema['default'] as Json | undefined) // What a schema holds is JSON.
    );
  }

  function fillObject(schema: JsonSchema, depth: number): Filled {
    const missing: string[] = [];
    const entries: (readonly [string, Json])[] = [];
    // Required first, so that an optional field does not take their values away.
    for (const field of fieldsOf(schema).toSorted(
      (one, other) => Number(other.isRequired) - Number(one.isRequired),
    )) {
      const shape = shapeOf(field.schema, root);
      const isNested = shape.type === 'object' && field.isRequired && depth < maxDepth;
      const nested = isNested ? fillObject(shape.schema, depth + 1) : undefined;
      const found = field.isRequired
        ? findRequired
        : (): Json | undefined => findIn(source.clause, field, shape);
      const value = nested === undefined ? found(field, shape) : nested.arguments;
      missing.push(...(nested?.missing ?? []));
      if (value !== undefined) entries.push([field.name, value]);
      else if (field.isRequired) missing.push(field.name);
    }
    return { arguments: Object.fromEntries(entries), missing };
  }

  return { fillObject, findRequired };
}

interface Finding extends Setting {
  readonly shape: Shape;
  readonly used: ReadonlySet<string>;
}

function findByType(text: string, field: Field, finding: Finding): Json | undefined {
  const { shape } = finding;
  if (shape.values !== undefined) return chooseValue(text, shape.values, field.isRequired);
  switch (shape.type) {
    case 'number':
    case 'integer':
      return findNumber(text, field, finding.used);
    case 'boolean':
      return findFlag(text, field);
    case 'array':
      return findList(text, field, finding);
    case 'null':
      return null;
    case 'object':
      return field.isRequired ? {} : undefined;
    default:
      return findText(text, { ...finding, field });
  }
}

/** The listed value that the person named; where only one is allowed, that one. */
function chooseValue(text: string, values: readonly Json[], isRequired: boolean): Json | undefined {
  const said = new Set(wordsOf(text).map(canonicalStem));
  const named = values.filter((value) => {
    const words = wordsOf(jsonText(value)).map(canonicalStem);
    return words.length > 0 && words.every((word) => said.has(word));
  });
  const longest = named.toSorted((one, other) => jsonText(other).length - jsonText(one).length)[0];
  return longest ?? (isRequired && values.length === 1 ? values[0] : undefined);
}

function findNumber(text: string, field: Field, used: ReadonlySet<string>): number | undefined {
  const stems = new Set(wordsOf(field.name).map(canonicalStem));
  const numbers = numbersIn(text).filter(({ value }) => !used.has(String(value)));
  const isNamed = (word: string): boolean => word !== '' && stems.has(canonicalStem(word));
  const wantsCents = stems.has('cent');
  const found =
    numbers.find(({ before, after }) => isNamed(before) || isNamed(after)) ??
    numbers.find(({ isMoney }) => isMoney && (wantsCents || /amount|price|sum|total/i.test(field.name))) ??
    (field.isRequired ? numbers[0] : undefined);
  if (found === undefined) return undefined;
  return wantsCents && found.isMoney ? Math.round(found.value * 100) : found.value;
}

function findFlag(text: string, field: Field): boolean | undefined {
  const stems = wordsOf(field.name)
    .filter((word) => word !== 'is')
    .map(canonicalStem);
  const said = wordsOf(text);
  const place = said.findIndex((word) => stems.includes(canonicalStem(word)));
  if (place < 0) return field.isRequired ? false : undefined;
  return !said
    .slice(Math.max(0, place - 2), place)
    .some((word) => /^(?:no|not|without|never|dont)$/.test(word));
}

function findList(text: string, field: Field, finding: Finding): readonly Json[] | undefined {
  const items = shapeOf(finding.shape.schema['items'], finding.root);
  const found = listedIn(text, items).slice(0, maxItems);
  if (found.length > 0 && (field.isRequired || labelledValue(text, field.name) !== undefined)) return found;
  if (!field.isRequired || items.type === 'array' || items.type === 'object') return undefined;
  const single = findByType(text, field, { ...finding, shape: items });
  return single === undefined ? undefined : [single];
}

function listedIn(text: string, items: Shape): readonly Json[] {
  if (items.values !== undefined) {
    const said = new Set(wordsOf(text).map(canonicalStem));
    return items.values.filter((value) => said.has(canonicalStem(jsonText(value))));
  }
  if (items.type === 'number' || items.type === 'integer') return numbersIn(text).map(({ value }) => value);
  if (items.type !== 'string') return [];
  const lists = [quotedIn(text), lookalikesIn(text, 'email'), lookalikesIn(text, 'path'), namesIn(text)];
  return lists.find((list) => list.length > 0) ?? [];
}

function resultField(results: Source['results'], name: string, shape: Shape): Json | undefined {
  const value = results.findLast((result) => Object.hasOwn(result, name))?.[name];
  if (value === undefined || shape.values?.includes(value) === false) return undefined;
  const type = shape.type === 'integer' ? 'number' : shape.type;
  if (type === 'any' || typeof value === type) return value;
  if (type === 'array') return Array.isArray(value) ? value : undefined;
  return type === 'string' && typeof value === 'number' ? String(value) : undefined;
}

function factFor(facts: Facts, name: string, shape: Shape): string | undefined {
  if (shape.type !== 'string' || shape.values !== undefined) return undefined;
  const stems = wordsOf(name).map(canonicalStem);
  return [...facts].find(([fact]) => stems.includes(canonicalStem(fact)))?.[1];
}
