import { matchesGlob } from '../base/glob.ts';
import type { Json } from '../base/json.ts';

/** A value that a condition names. */
export type Literal = string | number | boolean | null;

/**
 * What a value must be: exactly this; one of these; a text that fits a pattern with `*`; a number beyond a bound.
 *
 * A pattern looks at the text and at nothing else: it knows no folders, no hosts and no commands. `'git *'` also fits
 * `'git status; rm -rf .'`, so never allow a shell by one. A text with a `..` segment counts as not judged.
 */
export type InputCondition =
  | Literal
  | readonly Literal[]
  | { readonly matches: string }
  | { readonly over?: number; readonly under?: number };

/** Conditions by dotted path, `order.cents`. All must hold. What is absent or null meets none, unless null is named. */
export type InputPattern = Readonly<Record<string, InputCondition>>;

/** Whether an input meets a pattern. `unclear`: the value at `path` is of a kind that the condition says nothing about. */
export type InputVerdict =
  { readonly type: 'yes' } | { readonly type: 'no' } | { readonly type: 'unclear'; readonly path: string };

/** Judges an input by all conditions: one that fails decides, whatever the others say. */
export function judgeInput(pattern: InputPattern, input: Json): InputVerdict {
  let verdict: InputVerdict = { type: 'yes' };
  for (const [path, condition] of Object.entries(pattern)) {
    const judged = judgeAt(condition, path, input);
    if (judged === 'no') return { type: 'no' };
    if (judged === 'unclear') verdict = { type: 'unclear', path };
  }
  return verdict;
}

type Judged = InputVerdict['type'];

function judgeAt(condition: InputCondition, path: string, input: Json): Judged {
  let value: Json = input;
  for (const name of path.split('.')) {
    if (value === null) return 'no';
    // A list has many values, and a text may be read as something else later: neither can be looked into from here.
    if (!isObject(value)) return 'unclear';
    if (!Object.hasOwn(value, name)) return 'no';
    value = value[name] ?? null;
  }
  return judgeValue(condition, value);
}

function judgeValue(condition: InputCondition, value: Json): Judged {
  if (isLiteral(condition)) return judgeLiterals([condition], value);
  if (isLiteralList(condition)) return judgeLiterals(condition, value);
  if (value === null) return 'no';
  if ('matches' in condition) return judgeText(condition.matches, value);
  if (typeof value !== 'number') return 'unclear';
  const { over = -Infinity, under = Infinity } = condition;
  return value > over && value < under ? 'yes' : 'no';
}

function judgeLiterals(literals: readonly Literal[], value: Json): Judged {
  if (!isLiteral(value)) return 'unclear';
  if (literals.includes(value)) return 'yes';
  // '5' is not 5, but a schema that coerces makes it so.
  return value === null || literals.some((literal) => typeof literal === typeof value) ? 'no' : 'unclear';
}

const maxTextCharacters = 100_000;

function judgeText(glob: string, value: Json): Judged {
  if (typeof value !== 'string' || value.length > maxTextCharacters || climbs(value)) return 'unclear';
  return matchesGlob(value, glob) ? 'yes' : 'no';
}

/** `src/../../secrets` begins with `src/` and lies elsewhere. */
function climbs(text: string): boolean {
  return text.includes('..') && /(?:^|[/\\])\.\.(?:$|[/\\])/.test(text);
}

function isLiteral(value: InputCondition | Json): value is Literal {
  return value === null || typeof value !== 'object';
}

function isLiteralList(condition: InputCondition): condition is readonly Literal[] {
  return Array.isArray(condition);
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
