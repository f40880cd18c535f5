import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import { compileAt, readCount, readList } from './schema-compiling.ts';
import type { Keyword, Site } from './schema-compiling.ts';
import { branchVisit, maxIssues, object } from './schema-visit.ts';
import type { Check, Visit } from './schema-visit.ts';

/** What a schema says of lists. */
export const listKeywords = {
  items: makeItems,
  prefixItems: (argument, { compiling }) => makePrefix(compileList(argument, { compiling })),
  additionalItems: makeAdditionalItems,
  unevaluatedItems: makeUnevaluatedItems,
  contains: makeContains,
  minItems: (argument, site) => makeCount(argument, site, 'at least'),
  maxItems: (argument, site) => makeCount(argument, site, 'at most'),
  uniqueItems: makeUnique,
} as const satisfies Readonly<Record<string, Keyword>>;

type List = readonly unknown[];

/** A check of lists alone; other values are another keyword's matter. */
function listCheck(check: (list: List, visit: Visit) => boolean): Check {
  return (value, visit) => !Array.isArray(value) || check(value, visit);
}

function compileList(argument: unknown, { compiling }: Pick<Site, 'compiling'>): readonly Check[] {
  return readList(argument, compiling).map((node, index) => compileAt(compiling, index, node));
}

/** A list of schemas stands for the first items in older drafts. */
function makeItems(argument: unknown, site: Site): Check {
  if (Array.isArray(argument)) return makePrefix(compileList(argument, site));
  const { prefixItems } = site.node;
  return makeRest(argument, site, Array.isArray(prefixItems) ? prefixItems.length : 0);
}

function makeAdditionalItems(argument: unknown, site: Site): Check | undefined {
  const { items } = site.node;
  return Array.isArray(items) ? makeRest(argument, site, items.length) : undefined;
}

function makePrefix(checks: readonly Check[]): Check {
  return listCheck((list, visit) => {
    let fits = true;
    for (const [index, check] of checks.entries()) {
      if (index < list.length && !checkItem(list, { index, check }, visit)) fits = false;
    }
    return fits;
  });
}

function makeRest(argument: unknown, { compiling }: Site, start: number): Check {
  const check = compiling.compile(argument);
  return listCheck((list, visit) => {
    let fits = true;
    for (let index = start; index < list.length; index += 1) {
      if (!checkItem(list, { index, check }, visit)) fits = false;
      if (visit.issues.length >= maxIssues) return false;
    }
    return fits;
  });
}

interface ItemCheck {
  readonly index: number;
  readonly check: Check;
}

function checkItem(list: List, { index, check }: ItemCheck, visit: Visit): boolean {
  visit.path.push(index);
  const fits = check(list[index], visit);
  visit.path.pop();
  return fits;
}

const applicators = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'contains', 'items'];

/** Without other schemas at the same place it says the same as `items`. */
function makeUnevaluatedItems(argument: unknown, site: Site): Check | undefined {
  const { node, compiling } = site;
  if (argument === true) return undefined;
  if (!applicators.some((name) => node[name] !== undefined)) return makeItems(argument, site);
  compiling.warnings.push(
    `"unevaluatedItems" beside other schemas is not checked in ${compiling.what}: write "items"`,
  );
  return undefined;
}

function makeContains(argument: unknown, { node, compiling }: Site): Check {
  const check = compiling.compile(argument);
  const least = node['minContains'] === undefined ? 1 : readCount(node['minContains'], compiling);
  const most = node['maxContains'] === undefined ? Infinity : readCount(node['maxContains'], compiling);
  return listCheck((list, visit) => {
    const count = list.filter((item) => check(item, branchVisit(visit))).length;
    if (count < least)
      return object(visit, `must hold at least ${least} items of the requested form, holds ${count}`);
    return count <= most || object(visit, `must hold at most ${most} items of that form, holds ${count}`);
  });
}

function makeCount(argument: unknown, { compiling }: Site, bound: 'at least' | 'at most'): Check {
  const limit = readCount(argument, compiling);
  return listCheck((list, visit) => {
    const isLegal = bound === 'at least' ? list.length >= limit : list.length <= limit;
    return isLegal || object(visit, `must have ${bound} ${limit} items, has ${list.length}`);
  });
}

function makeUnique(argument: unknown): Check | undefined {
  if (argument !== true) return undefined;
  return listCheck((list, visit) => {
    const seen = new Map<string, number>();
    for (const [index, item] of list.entries()) {
      const text = canonicalJson(item as Json); // Arguments are parsed JSON.
      const first = seen.get(text);
      if (first !== undefined)
        return object(visit, `must not hold the same item twice: ${first} and ${index} are equal`);
      seen.set(text, index);
    }
    return true;
  });
}
