import { isRecord } from '../../base/json.ts';
import type { JsonSchema } from '../request.ts';
import { badSchema } from './schema-compiling.ts';
import type { Compiling, Keyword } from './schema-compiling.ts';
import { listKeywords } from './schema-list-keywords.ts';
import { logicKeywords } from './schema-logic-keywords.ts';
import { objectKeywords } from './schema-object-keywords.ts';
import { valueKeywords } from './schema-value-keywords.ts';
import { maxIssues, object } from './schema-visit.ts';
import type { Check, Visit } from './schema-visit.ts';

/** A schema as a function, and what of it is not checked. */
export interface CompiledSchema {
  readonly check: Check;
  readonly warnings: readonly string[];
}

/** Turns a schema, plain JSON and bounded, into one function. Throws a `ConfigError` where the schema makes no sense. */
export function compileSchema(root: JsonSchema, what: string): CompiledSchema {
  const compiling: Compiling = {
    root,
    what,
    place: [],
    warnings: [],
    checks: new Map(),
    compile: (node) => compileNode(node, compiling),
  };
  return { check: compileNode(root, compiling), warnings: compiling.warnings };
}

/** A map, for a schema may have a member called "constructor". */
const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({ ...valueKeywords, ...objectKeywords, ...listKeywords, ...logicKeywords }),
);

function compileNode(node: unknown, compiling: Compiling): Check {
  if (node === true) return () => true;
  if (node === false) return (_value, visit) => object(visit, 'is not allowed here');
  if (!isRecord(node)) throw badSchema(compiling, 'a schema: an object, true or false', node);
  const known = compiling.checks.get(node);
  if (known !== undefined) return known;
  const parts: Check[] = [];
  const check: Check = (value, visit) => checkParts(parts, value, visit);
  compiling.checks.set(node, check);
  for (const name of Object.keys(node)) {
    const keyword = keywords.get(name);
    if (keyword === undefined) continue;
    compiling.place.push(name);
    const part = keyword(node[name], { node, compiling });
    if (part !== undefined) parts.push(part);
    compiling.place.pop();
  }
  return check;
}

function checkParts(parts: readonly Check[], value: unknown, visit: Visit): boolean {
  visit.budget.steps -= 1;
  if (visit.budget.steps < 0) return object(visit, 'takes too long to check: send less at once');
  let fits = true;
  for (const part of parts) {
    if (!part(value, visit)) fits = false;
    if (visit.issues.length >= maxIssues) return false;
  }
  return fits;
}
