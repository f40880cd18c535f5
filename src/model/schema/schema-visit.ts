import { boundText } from '../../base/text.ts';
import type { SchemaIssue } from '../tool.ts';

/** One walk of a value under a schema: where it is, what it has objected to, and how much it may still look at. */
export interface Visit {
  /** Pushed and popped while walking down. */
  readonly path: (string | number)[];
  readonly issues: SchemaIssue[];
  /** Shared by all branches of one walk. */
  readonly budget: { steps: number };
  /** References followed on the way here. */
  references: number;
}

/** Whether a value fits; what does not is written into the visit. */
export type Check = (value: unknown, visit: Visit) => boolean;

/** More than anybody, or any model, reads. */
export const maxIssues = 10;
const maxSteps = 1_000_000;
/** Words cost more than a look. */
const stepsPerIssue = 20;
const maxMessageCharacters = 200;

export function startVisit(): Visit {
  return { path: [], issues: [], budget: { steps: maxSteps }, references: 0 };
}

/** A visit of the same place whose objections do not count yet: one of several forms is being tried. */
export function branchVisit({ path, budget, references }: Visit): Visit {
  return { path, issues: [], budget, references };
}

/** Writes an objection down. Always `false`, so that a check can end with it. */
export function object(visit: Visit, message: string): false {
  if (visit.issues.length < maxIssues) {
    visit.budget.steps -= stepsPerIssue;
    visit.issues.push({ path: showPath(visit.path), message: boundText(message, maxMessageCharacters) });
  }
  return false;
}

/** The same for a member of the value at hand. */
export function objectAt(visit: Visit, key: string | number, message: string): false {
  visit.path.push(key);
  object(visit, message);
  visit.path.pop();
  return false;
}

const plainName = /^[A-Za-z_$][\w$]*$/;
const maxKeyCharacters = 60;
const maxPathKeys = 20;

/** `items[2].price`, with quotes where a name is none: `["odd name"]`. */
export function showPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path.slice(0, maxPathKeys)) {
    const name = typeof key === 'symbol' ? key.toString() : key;
    if (typeof name === 'number') text += `[${name}]`;
    else if (plainName.test(name)) text += `${text === '' ? '' : '.'}${boundText(name, maxKeyCharacters)}`;
    else text += `[${JSON.stringify(boundText(name, maxKeyCharacters))}]`;
  }
  return path.length > maxPathKeys ? `${text} …` : text;
}

const maxShownCharacters = 60;

/** A value as the end of a sentence: `the string "5"`, `an array of 3 items`. */
export function showJson(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `the string ${JSON.stringify(boundText(value, maxShownCharacters))}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return `an array of ${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'boolean' || value === null ? String(value) : `a ${typeof value}`;
}
