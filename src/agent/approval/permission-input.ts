import { matchesGlob } from '../../base/glob.ts';
import type { Json } from '../../base/json.ts';
import { readPlainCommand } from '../../base/shell-words.ts';
import { areHarmless } from './command-arguments.ts';
import { mentionOf } from './command-mention.ts';
import { normalPath, pathEnds } from './path-text.ts';

/** A value that a condition names. */
export type Literal = string | number | boolean | null;

/**
 * What a value must be: exactly this; one of these; a text that fits a pattern with `*`; a number beyond a bound; a command that
 * begins with the words of one of these.
 *
 * A pattern is for names. It knows no hosts and no commands: `'git *'` also fits `'git status; rm -rf .'`, so never allow a shell by one. A
 * path that may be the same place in other words (`./src/x`, an absolute path, one with `..`) counts as not judged, and the file tools of a
 * workspace are judged by where the path really leads as well.
 *
 * `runs` is for commands. `'git status'` fits `git status --short`: the very words of the rule, and after them only arguments that are known to
 * be harmless. An `allow` holds for nothing else. A `deny` holds for the command in whatever dress: with options before its subcommand, by
 * another path of the program, in quotes, behind `sudo`, `env`, `sh -c` or an operator. A command that is not understood, and in which
 * nothing of what a `deny` names is plain to see, is asked about. It saves a person from being asked about what is plainly harmless, and
 * it is no boundary: `npm test` runs what is in a file, and a `deny` of `git push` does not see it in a script. The boundary is the
 * sandbox.
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
  | { readonly type: 'yes' }
  | { readonly type: 'no' }
  | {
      readonly type: 'unclear';
      readonly path: string;
      /** A command that is not understood, and in which nothing of what the rule names is plain to see: a person is asked. */
      readonly isAsked?: true;
    };

/** Judges an input by all conditions: one that fails decides, whatever the others say. */
export function judgeInput(pattern: InputPattern, input: Json): InputVerdict {
  let verdict: InputVerdict = { type: 'yes' };
  for (const [path, condition] of Object.entries(pattern)) {
    const judged = judgeAt(condition, path, input);
    if (judged === 'no') return { type: 'no' };
    if (judged === 'unclear' || (isCommand(condition) && isElsewhere(pattern, input)))
      verdict = { type: 'unclear', path };
    if (judged === 'not-understood' && verdict.type === 'yes')
      verdict = { type: 'unclear', path, isAsked: true };
  }
  return verdict;
}

function isCommand(condition: InputCondition): boolean {
  return isObject(condition) && 'runs' in condition;
}

/** Fields by which a tool takes where a command runs, and with which variables. */
const placeFields: ReadonlySet<string> = new Set(
  'folder directory dir cwd workdir workingdirectory env environment'.split(' '),
);

/** `npm test` in another folder is another command. A rule that means it says so by a condition of its own. */
function isElsewhere(pattern: InputPattern, input: Json): boolean {
  if (!isObject(input)) return false;
  return Object.entries(input).some(([name, value]) => {
    const isPlace = placeFields.has(name.toLowerCase().replaceAll(/[_-]/g, ''));
    return isPlace && !Object.hasOwn(pattern, name) && value !== null && value !== '' && value !== '.';
  });
}

type Judged = 'yes' | 'no' | 'unclear' | 'not-understood';

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
  if (matchesGlob(value, glob)) return 'yes';
  // `./src/x`, `src//x`, `/srv/project/src/x`, the folder `src` itself and, for some disks, `SRC/x` may be what `src/*` means: the text
  // alone does not say.
  const known = fold(glob);
  const ends = pathEnds(fold(normalPath(value)));
  return ends.some((end) => matchesGlob(end, known) || matchesGlob(`${end}/`, known)) ? 'unclear' : 'no';
}

/** Letters in one case and one form of Unicode. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** `src/../../secrets` begins with `src/` and lies elsewhere. */
function climbs(text: string): boolean {
  return text.includes('..') && /(?:^|[/\\])\.\.(?:$|[/\\])/.test(text);
}

function judgeCommand(named: readonly string[], value: Json): Judged {
  if (typeof value !== 'string') return 'unclear';
  const words = readPlainCommand(value);
  const judged = named.map((beginning) => judgeWords(beginning, { text: value, words }));
  if (judged.includes('yes')) return 'yes';
  if (judged.includes('unclear')) return 'unclear';
  return words === undefined || judged.includes('not-understood') ? 'not-understood' : 'no';
}

interface CommandText {
  readonly text: string;
  /** Of one plain command. */
  readonly words: readonly string[] | undefined;
}

/** What is in the rule itself was meant, so that only what comes after it is looked at. */
function judgeWords(beginning: string, { text, words }: CommandText): Judged {
  const wanted = readPlainCommand(beginning);
  if (wanted === undefined) return 'unclear';
  if (words !== undefined && wanted.every((word, index) => word === words[index]))
    return areHarmless(words, wanted.length) ? 'yes' : 'unclear';
  // `git -c a=b push` and `sudo git push` are a push all the same, which a rule that forbids it must not overlook.
  const mention = mentionOf(wanted, { text, plain: words });
  if (mention === 'yes') return 'unclear';
  return mention === 'unclear' ? 'not-understood' : 'no';
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
