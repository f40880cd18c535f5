import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { compileAt, readCount, readList, readNames, readPattern, readRecord } from './schema-compiling.ts';
import type { Compiling, Keyword, Pattern, Site } from './schema-compiling.ts';
import { describeExpected } from './schema-value-keywords.ts';
import { branchVisit, maxIssues, object, objectAt } from './schema-visit.ts';
import type { Check, Visit } from './schema-visit.ts';

/** What a schema says of objects. */
export const objectKeywords = {
  properties: makeProperties,
  patternProperties: makePatternProperties,
  additionalProperties: makeAdditional,
  unevaluatedProperties: makeUnevaluated,
  propertyNames: makePropertyNames,
  required: makeRequired,
  minProperties: (argument, site) => makeSize(argument, site, 'at least'),
  maxProperties: (argument, site) => makeSize(argument, site, 'at most'),
  dependentRequired: makeDependencies,
  dependentSchemas: makeDependencies,
  dependencies: makeDependencies,
} as const satisfies Readonly<Record<string, Keyword>>;

type Members = Readonly<Record<string, unknown>>;

/** A check of objects alone; other values are another keyword's matter. */
function objectCheck(check: (members: Members, visit: Visit) => boolean): Check {
  return (value, visit) => !isRecord(value) || check(value, visit);
}

interface MemberCheck {
  readonly name: string;
  readonly check: Check;
}

function checkMember(members: Members, { name, check }: MemberCheck, visit: Visit): boolean {
  visit.path.push(name);
  const fits = check(members[name], visit);
  visit.path.pop();
  return fits;
}

function makeProperties(argument: unknown, { compiling }: Site): Check {
  const known: MemberCheck[] = Object.entries(readRecord(argument, compiling)).map(([name, node]) => ({
    name,
    check: compileAt(compiling, name, node),
  }));
  return objectCheck((members, visit) => {
    let fits = true;
    for (const member of known) {
      // Own members only: `constructor` is in every object, and was not sent.
      if (Object.hasOwn(members, member.name) && !checkMember(members, member, visit)) fits = false;
    }
    return fits;
  });
}

interface PatternCheck extends Pattern {
  readonly check: Check;
}

function makePatternProperties(argument: unknown, { compiling }: Site): Check {
  const known = Object.entries(readRecord(argument, compiling)).flatMap(([source, node]): PatternCheck[] => {
    const pattern = readPattern(source, compiling);
    return pattern === undefined ? [] : [{ ...pattern, check: compileAt(compiling, source, node) }];
  });
  return objectCheck((members, visit) => {
    let fits = true;
    for (const name of Object.keys(members)) {
      for (const { check, ...pattern } of known) {
        if (matchesName(pattern, name) && !checkMember(members, { name, check }, visit)) fits = false;
      }
    }
    return fits;
  });
}

/** A name too long for its pattern is taken as matching, so that what is behind it is looked at. */
function matchesName({ expression, maxTextLength }: Pattern, name: string): boolean {
  return name.length > maxTextLength || expression.test(name);
}

function makeAdditional(argument: unknown, site: Site): Check | undefined {
  if (argument === true) return undefined;
  const { names, patterns } = knownMembers(site);
  const list = [...names];
  const check = argument === false ? undefined : site.compiling.compile(argument);
  return objectCheck((members, visit) => {
    let fits = true;
    for (const name of Object.keys(members)) {
      if (visit.issues.length >= maxIssues) return false;
      if (names.has(name) || patterns.some((pattern) => matchesName(pattern, name))) continue;
      const isLegal =
        check === undefined
          ? objectAt(visit, name, unknownMember(name, list))
          : checkMember(members, { name, check }, visit);
      if (!isLegal) fits = false;
    }
    return fits;
  });
}

function knownMembers({ node, compiling }: Site): {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly Pattern[];
} {
  const { properties, patternProperties } = node;
  // Their warnings are given where they stand.
  const silent: Compiling = { ...compiling, warnings: [] };
  const patterns = Object.keys(isRecord(patternProperties) ? patternProperties : {}).map(
    (source) => readPattern(source, silent) ?? anyName,
  );
  return { names: new Set(Object.keys(isRecord(properties) ? properties : {})), patterns };
}

/** Stands for a pattern that cannot be tried: nothing is refused for its sake. */
const anyName: Pattern = { expression: /(?:)/u, maxTextLength: Infinity };

const maxListedNames = 20;

function unknownMember(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(name, known);
  if (nearest !== undefined) return `is not a known field; did you mean "${nearest}"?`;
  if (known.length === 0) return 'is not a known field; none are allowed here';
  const more = known.length > maxListedNames ? ' …' : '';
  return `is not a known field; known are ${known.slice(0, maxListedNames).join(', ')}${more}`;
}

const applicators = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/** Without other schemas at the same place it says the same as `additionalProperties`. */
function makeUnevaluated(argument: unknown, site: Site): Check | undefined {
  const { node, compiling } = site;
  if (node['additionalProperties'] !== undefined || argument === true) return undefined;
  if (!applicators.some((name) => node[name] !== undefined)) return makeAdditional(argument, site);
  compiling.warnings.push(
    `"unevaluatedProperties" beside other schemas is not checked in ${compiling.what}: write "additionalProperties"`,
  );
  return undefined;
}

function makePropertyNames(argument: unknown, { compiling }: Site): Check {
  const check = compiling.compile(argument);
  return objectCheck((members, visit) => {
    let fits = true;
    for (const name of Object.keys(members)) {
      if (visit.issues.length >= maxIssues) return false;
      const inner = branchVisit(visit);
      if (check(name, inner)) continue;
      fits = objectAt(
        visit,
        name,
        `is not a legal name here: it ${inner.issues[0]?.message ?? 'does not fit'}`,
      );
    }
    return fits;
  });
}

function makeRequired(argument: unknown, { node, compiling }: Site): Check | undefined {
  if (typeof argument === 'boolean') return undefined; // Draft 3 had it as a flag; some generators still write it.
  const { properties } = node;
  const wanted = readNames(argument, compiling).map((name) => {
    const expected = describeExpected(isRecord(properties) ? properties[name] : undefined);
    return {
      name,
      message: `is required and missing${expected === undefined ? '' : `; it must be ${expected}`}`,
    };
  });
  return objectCheck((members, visit) => {
    let fits = true;
    for (const { name, message } of wanted) {
      if (!Object.hasOwn(members, name)) fits = objectAt(visit, name, message);
    }
    return fits;
  });
}

function makeSize(argument: unknown, { compiling }: Site, bound: 'at least' | 'at most'): Check {
  const limit = readCount(argument, compiling);
  return objectCheck((members, visit) => {
    const size = Object.keys(members).length;
    const isLegal = bound === 'at least' ? size >= limit : size <= limit;
    return isLegal || object(visit, `must have ${bound} ${limit} fields, has ${size}`);
  });
}

/** `{ card: ['billing'] }`, or a schema for the whole where the member is there. */
function makeDependencies(argument: unknown, { compiling }: Site): Check {
  const known: MemberCheck[] = Object.entries(readRecord(argument, compiling)).map(([name, wanted]) => ({
    name,
    check: Array.isArray(wanted)
      ? requireWith(name, readNames(readList(wanted, compiling), compiling))
      : compileAt(compiling, name, wanted),
  }));
  return objectCheck((members, visit) => {
    let fits = true;
    for (const { name, check } of known) {
      if (Object.hasOwn(members, name) && !check(members, visit)) fits = false;
    }
    return fits;
  });
}

function requireWith(name: string, wanted: readonly string[]): Check {
  return objectCheck((members, visit) => {
    let fits = true;
    for (const other of wanted) {
      if (!Object.hasOwn(members, other))
        fits = objectAt(visit, other, `is required where "${name}" is given`);
    }
    return fits;
  });
}
