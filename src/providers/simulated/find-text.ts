import { findExpression } from './arithmetic.ts';
import { labelledValue, lookalikesIn, namesIn, phraseAfter, quotedIn } from './find-values.ts';
import type { Field } from './schema-shape.ts';
import { canonicalStem, isFiller, wordsOf } from './words.ts';

interface TextSearch {
  readonly field: Field;
  readonly used: ReadonlySet<string>;
  readonly toolStems: ReadonlySet<string>;
}

interface Sentence {
  readonly text: string;
  /** What was taken for another field already. */
  readonly used: ReadonlySet<string>;
  readonly toolStems: ReadonlySet<string>;
  readonly field: Field;
}

interface TextKind {
  /** Matches the words of the field's name. */
  readonly pattern: RegExp;
  /** Whether an optional field is filled as well: only where the look of the value leaves no doubt. */
  readonly isCertain: boolean;
  readonly find: (sentence: Sentence) => readonly (string | undefined)[];
}

const like =
  (kind: Parameters<typeof lookalikesIn>[1]) =>
  ({ text }: Sentence): readonly string[] =>
    lookalikesIn(text, kind);

const places = 'in|at|near|for|of|to|from';

/** What the name of a field says about the look of its value. The first row that matches is taken. */
const textKinds: readonly TextKind[] = [
  { pattern: /\b(?:url|uri|link|website|href)\b/, isCertain: true, find: like('url') },
  {
    pattern: /\b(?:email|mail|recipients?|to|cc)\b/,
    isCertain: true,
    find: ({ text, field }) => [...lookalikesIn(text, 'email'), ...(field.isRequired ? namesIn(text) : [])],
  },
  {
    pattern: /\b(?:path|paths|file|filename|dir|directory|folder|cwd)\b/,
    isCertain: true,
    find: ({ text, toolStems }) => [
      ...lookalikesIn(text, 'path'),
      ...quotedIn(text),
      // Whoever asks for a list of files and names no place means this one.
      toolStems.has('list') || toolStems.has('directory') ? '.' : undefined,
    ],
  },
  { pattern: /\b(?:date|day|when|since|until)\b/, isCertain: true, find: like('date') },
  {
    pattern: /\b(?:city|location|place|country|region|town|address|destination|where)\b/,
    isCertain: true,
    find: ({ text, toolStems }) => [
      ...quotedIn(text),
      capitalised(phraseAfter(text, places)),
      ...namesIn(text),
      leadingName(text, toolStems),
      phraseAfter(text, 'in|at|near'),
    ],
  },
  {
    pattern: /\b(?:expression|formula|equation|calculation|sum)\b/,
    isCertain: true,
    find: ({ text }) => [...quotedIn(text), findExpression(text)],
  },
  {
    pattern: /\b(?:id|ids|key|number|code|sku|ref|reference|ticket|invoice|account)\b/,
    isCertain: false,
    find: ({ text }) => [...lookalikesIn(text, 'id'), ...quotedIn(text)],
  },
  {
    pattern: /\b(?:name|person|user|customer|who|author)\b/,
    isCertain: false,
    find: ({ text }) => [...quotedIn(text), ...namesIn(text), phraseAfter(text, 'called|named')],
  },
  {
    pattern: /\b(?:query|q|search|terms?|keywords?|question|topic|pattern|prompt|input|task|goal)\b/,
    isCertain: false,
    find: ({ text, toolStems }) => [
      ...quotedIn(text),
      phraseAfter(text, 'for|about|on'),
      remainder(text, toolStems),
    ],
  },
];

/** What else a required text may be: a quotation, what is said after a colon, or the rest of the sentence. */
const anyText = ({ text, toolStems }: Sentence): readonly (string | undefined)[] => [
  ...quotedIn(text),
  /\b(?:saying|that says|that)\b:?\s+(\S[^\n]{0,500})/i.exec(text)?.[1],
  /:\s+(\S[^\n]{0,500})/.exec(text)?.[1],
  remainder(text, toolStems),
];

/** Finds the value of a text field, by its name first. */
export function findText(text: string, { field, used, toolStems }: TextSearch): string | undefined {
  const labelled = labelledValue(text, field.name);
  if (labelled !== undefined && !used.has(labelled)) return labelled;
  const name = wordsOf(field.name).join(' ');
  const kind = textKinds.find(({ pattern }) => pattern.test(name));
  if (!field.isRequired && kind?.isCertain !== true) return undefined;
  const rest = field.isRequired ? text : withoutPhrases(text, used);
  const found = (kind?.find ?? anyText)({ text: rest, used, toolStems, field });
  return found.find((value) => value !== undefined && value !== '' && !used.has(value));
}

/** What stands inside a phrase that was taken, as a file in a command, is no value of its own for something that nobody asked for. */
function withoutPhrases(text: string, used: ReadonlySet<string>): string {
  const phrases = [...used].filter((value) => /\s/.test(value));
  return phrases.reduce((rest, phrase) => {
    const quoted = quotationMarks.map(([open, close]) => `${open}${phrase}${close}`);
    return rest.replace([...quoted, phrase].find((part) => rest.includes(part)) ?? phrase, ' ');
  }, text);
}

const quotationMarks = [
  ['"', '"'],
  ['“', '”'],
  ['`', '`'],
  ["'", "'"],
] as const;

function capitalised(phrase: string | undefined): string | undefined {
  return phrase !== undefined && /^\p{Lu}/u.test(phrase) ? phrase : undefined;
}

/** The name in front of a fragment such as `London` or `Los Angeles in celsius`. */
function leadingName(text: string, toolStems: ReadonlySet<string>): string | undefined {
  const pattern = /^\W*(\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3})(?:\s+(?:in|at|for|with|as|on)\b|\W*$)/u;
  const name = pattern.exec(text)?.[1];
  const words = wordsOf(name ?? '');
  return words.some((word) => isFiller(word) || toolStems.has(canonicalStem(word))) ? undefined : name;
}

/** The sentence without the words in front that name the tool or say nothing. */
function remainder(text: string, toolStems: ReadonlySet<string>): string | undefined {
  const words = text.trim().split(/\s+/);
  const start = words.findIndex((word) => {
    const bare = wordsOf(word).join('');
    return (
      bare !== '' &&
      !isFiller(bare) &&
      !toolStems.has(canonicalStem(bare)) &&
      !/^(?:up|file|tool)$/.test(bare)
    );
  });
  if (start < 0) return undefined;
  const rest = words
    .slice(start)
    .join(' ')
    .replace(/[\s.?!,;]+$/u, '');
  return rest === '' ? undefined : rest;
}
