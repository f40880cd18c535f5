import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { judgePattern } from './pattern-cost.ts';
import type { JsonSchema } from '../request.ts';
import { showPath } from './schema-visit.ts';
import type { Check } from './schema-visit.ts';

/** What is known while a schema is being turned into checks. */
export interface Compiling {
  readonly root: JsonSchema;
  /** Whose schema it is, as a message names it: `the input of tool "search"`. */
  readonly what: string;
  /** Where in the schema. Pushed and popped. */
  readonly place: string[];
  readonly warnings: string[];
  /** By schema object, so that a schema may refer to itself. */
  readonly checks: Map<object, Check>;
  readonly compile: (node: unknown) => Check;
}

/** Where a keyword stands. */
export interface Site {
  readonly node: JsonSchema;
  readonly compiling: Compiling;
}

/** Makes the check of a keyword from what is written behind it. Nothing: there is nothing to check. */
export type Keyword = (argument: unknown, site: Site) => Check | undefined;

/** A `ConfigError` that names the place in the schema. */
export function badSchema({ what, place }: Compiling, expected: string, seen: unknown): RerailError {
  const shown = JSON.stringify(seen).slice(0, 100);
  const where = place.length === 0 ? 'the schema' : `"${showPath(place)}"`;
  return configError(`Cannot use the JSON Schema of ${what}: ${where} must be ${expected}, got ${shown}`);
}

/** The check of a schema that is at a further place. */
export function compileAt(compiling: Compiling, key: string | number, node: unknown): Check {
  compiling.place.push(String(key));
  const check = compiling.compile(node);
  compiling.place.pop();
  return check;
}

export function readList(argument: unknown, compiling: Compiling): readonly unknown[] {
  if (Array.isArray(argument)) return argument;
  throw badSchema(compiling, 'a list', argument);
}

export function readNames(argument: unknown, compiling: Compiling): readonly string[] {
  const names = readList(argument, compiling);
  if (names.every((name) => typeof name === 'string')) return names;
  throw badSchema(compiling, 'a list of names', argument);
}

export function readRecord(argument: unknown, compiling: Compiling): JsonSchema {
  if (isRecord(argument)) return argument;
  throw badSchema(compiling, 'an object', argument);
}

export function readNumber(argument: unknown, compiling: Compiling): number {
  if (typeof argument === 'number' && Number.isFinite(argument)) return argument;
  throw badSchema(compiling, 'a number', argument);
}

export function readCount(argument: unknown, compiling: Compiling): number {
  if (Number.isInteger(argument) && Number(argument) >= 0) return Number(argument);
  throw badSchema(compiling, 'a whole number, 0 or above', argument);
}

/** A pattern that is ready to be tried on texts up to a length. */
export interface Pattern {
  readonly expression: RegExp;
  readonly maxTextLength: number;
}

/** Nothing, with a warning, where trying it could hang the process or no engine of ours reads it. */
export function readPattern(source: unknown, compiling: Compiling): Pattern | undefined {
  if (typeof source !== 'string') throw badSchema(compiling, 'a regular expression', source);
  const cost = judgePattern(source);
  if (cost.type === 'dangerous') return warn(compiling, source, cost.why);
  try {
    return { expression: new RegExp(source, 'u'), maxTextLength: cost.maxTextLength };
  } catch (error) {
    // RegExp throws nothing but SyntaxError.
    return warn(compiling, source, (error as SyntaxError).message);
  }
}

function warn({ what, place, warnings }: Compiling, source: string, why: string): undefined {
  const shown = JSON.stringify(source.slice(0, 60));
  warnings.push(`The pattern ${shown} at "${showPath(place)}" of ${what} is not checked: ${why}`);
  return undefined;
}
