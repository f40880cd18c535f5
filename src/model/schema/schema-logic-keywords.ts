import { badSchema, compileAt, readList } from './schema-compiling.ts';
import type { Keyword, Site } from './schema-compiling.ts';
import { resolveReference } from './schema-references.ts';
import { describeExpected } from './schema-value-keywords.ts';
import { branchVisit, maxIssues, object, showJson } from './schema-visit.ts';
import type { Check, Visit } from './schema-visit.ts';

/** How a schema is put together from others. */
export const logicKeywords = {
  $ref: makeReference,
  allOf: makeAllOf,
  anyOf: makeAnyOf,
  oneOf: makeOneOf,
  not: makeNot,
  if: makeIf,
  $dynamicRef: makeUnchecked,
  $recursiveRef: makeUnchecked,
} as const satisfies Readonly<Record<string, Keyword>>;

/** References and values together: deeper than anybody means, and far from the end of the stack. */
const maxNesting = 800;

function makeReference(reference: unknown, { compiling }: Site): Check {
  const target = typeof reference === 'string' ? resolveReference(reference, compiling.root) : undefined;
  if (target === undefined) {
    const expected = 'a place inside this schema, such as "#/$defs/item" (others are not fetched)';
    throw badSchema(compiling, expected, reference);
  }
  const check = compiling.compile(target);
  return (value, visit) => {
    if (visit.references + visit.path.length > maxNesting)
      return object(visit, 'nests too deeply to be checked');
    visit.references += 1;
    const fits = check(value, visit);
    visit.references -= 1;
    return fits;
  };
}

function compileForms(argument: unknown, { compiling }: Site): readonly Check[] {
  const nodes = readList(argument, compiling);
  if (nodes.length === 0) throw badSchema(compiling, 'a list of at least one schema', argument);
  return nodes.map((node, index) => compileAt(compiling, index, node));
}

function makeAllOf(argument: unknown, site: Site): Check {
  const checks = compileForms(argument, site);
  return (value, visit) => {
    let fits = true;
    for (const check of checks) if (!check(value, visit)) fits = false;
    return fits;
  };
}

function makeAnyOf(argument: unknown, site: Site): Check {
  const checks = compileForms(argument, site);
  const expected = describeForms(argument);
  return (value, visit) => {
    const tried: Visit[] = [];
    for (const check of checks) {
      const branch = branchVisit(visit);
      if (check(value, branch)) return true;
      tried.push(branch);
    }
    return objectToForms(value, visit, { tried, expected });
  };
}

function makeOneOf(argument: unknown, site: Site): Check {
  const checks = compileForms(argument, site);
  const expected = describeForms(argument);
  return (value, visit) => {
    const tried = checks.map(() => branchVisit(visit));
    const count = checks.filter((check, index) => check(value, tried[index] ?? branchVisit(visit))).length;
    if (count === 1) return true;
    if (count === 0) return objectToForms(value, visit, { tried, expected });
    return object(visit, `must fit exactly one of the ${checks.length} allowed forms, fits ${count}`);
  };
}

/** `a string or null`, where every form says its type. */
function describeForms(argument: unknown): string | undefined {
  const words = Array.isArray(argument) ? argument.map((node) => describeExpected(node)) : [];
  return words.includes(undefined) ? undefined : [...new Set(words)].join(' or ');
}

interface Forms {
  readonly tried: readonly Visit[];
  readonly expected: string | undefined;
}

/** The form that came closest is the one that was meant: its objections lie deepest, or are the fewest. */
function objectToForms(value: unknown, visit: Visit, { tried, expected }: Forms): false {
  const here = branchVisit(visit);
  object(here, '');
  const place = here.issues[0]?.path;
  const deeper = tried.filter(
    ({ issues }) => issues.length > 0 && issues.every(({ path }) => path !== place),
  );
  const [closest] = deeper.toSorted((one, other) => one.issues.length - other.issues.length);
  if (closest === undefined) {
    const form = expected === undefined ? `one of the ${tried.length} allowed forms` : expected;
    return object(visit, `must be ${form}, got ${showJson(value)}`);
  }
  visit.issues.push(...closest.issues.slice(0, maxIssues - visit.issues.length));
  return false;
}

function makeNot(argument: unknown, { compiling }: Site): Check {
  const check = compiling.compile(argument);
  return (value, visit) =>
    !check(value, branchVisit(visit)) ||
    object(visit, `must not be of the forbidden form, got ${showJson(value)}`);
}

function makeIf(argument: unknown, { node, compiling }: Site): Check | undefined {
  const { then: positive, else: negative } = node;
  const condition = compiling.compile(argument);
  const [whenTrue, whenFalse] = [positive ?? true, negative ?? true].map((branch) =>
    compiling.compile(branch),
  );
  if (whenTrue === undefined || whenFalse === undefined) return undefined;
  return (value, visit) => (condition(value, branchVisit(visit)) ? whenTrue : whenFalse)(value, visit);
}

function makeUnchecked(_argument: unknown, { compiling }: Site): undefined {
  const [name] = compiling.place.slice(-1);
  compiling.warnings.push(`"${name ?? ''}" is not checked in ${compiling.what}: write "$ref"`);
  return undefined;
}
