import { matchesGlob } from '../base/glob.ts';
import type { Json } from '../base/json.ts';
import { readPlainCommand } from '../base/shell-words.ts';
import { findRunnerArgument } from './command-runners.ts';

/** A value that a condition names. */
export type Literal = string | number | boolean | null;

/**
 * What a value must be: exactly this; one of these; a text that fits a pattern with `*`; a number beyond a bound; a command that
 * begins with the words of one of these.
 *
 * A pattern looks at the text and at nothing else: it knows no folders, no hosts and no commands. `'git *'` also fits
 * `'git status; rm -rf .'`, so never allow a shell by one. A text with a `..` segment counts as not judged.
 *
 * `runs` is for commands: `'git status'` fits `git status --short`, and neither `git -c x status` nor anything that is more than
 * one plain command. Whatever it does not understand, and an argument that is known to make a program run another one, counts as
 * not judged: an `allow` does not hold for it, an `ask` or a `deny` does. It saves a person from being asked about what is plainly
 * harmless. It is no boundary: `git status` itself obeys the configuration of the folder, `npm test` runs what stands in a file,
 * and a `deny` of `git push` does not see it in a script. The boundary is the sandbox.
 */
export type InputCondition =
  | Literal
  | readonly Literal[]
  | { readonly matches: string }
  | { readonly runs: readonly string[] }
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
  if ('runs' in condition) return judgeCommand(condition.runs, value);
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

function judgeCommand(allowed: readonly string[], value: Json): Judged {
  const words = typeof value === 'string' ? readPlainCommand(value) : undefined;
  if (words === undefined) return 'unclear';
  const judged = allowed.map((beginning) => judgeWords(beginning, words));
  if (judged.includes('yes')) return 'yes';
  return judged.includes('unclear') ? 'unclear' : 'no';
}

/** What stands in the rule itself was meant, so that only what comes after it is looked at. */
function judgeWords(beginning: string, words: readonly string[]): Judged {
  const wanted = readPlainCommand(beginning);
  if (wanted === undefined) return 'unclear';
  if (wanted[0] !== words[0]) return 'no';
  if (wanted.every((word, index) => word === words[index])) {
    return findRunnerArgument(words, wanted.length) === undefined ? 'yes' : 'unclear';
  }
  // `git -c a=b push` is a push all the same, which a rule that forbids `git push` must not overlook.
  return hasInOrder(words, wanted) && findRunnerArgument(words, 1) !== undefined ? 'unclear' : 'no';
}

function hasInOrder(words: readonly string[], wanted: readonly string[]): boolean {
  let found = 0;
  for (const word of words) if (word === wanted[found]) found += 1;
  return found === wanted.length;
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
