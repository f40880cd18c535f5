import { canonicalStem, isFiller, wordsOf } from './words.ts';

/** Texts in quotation marks, without them. An apostrophe inside a word is none. */
export function quotedIn(text: string): readonly string[] {
  const pattern =
    /"([^"\n]{1,2000})"|“([^”\n]{1,2000})”|`([^`\n]{1,2000})`|(?<![\p{L}\p{N}])'([^'\n]{1,2000})'(?![\p{L}\p{N}])/gu;
  return [...text.matchAll(pattern)].map(
    (found) => found.slice(1).find((group) => group !== undefined) ?? '',
  );
}

/** The text without what stands in quotation marks. */
export function withoutQuotes(text: string): string {
  return quotedIn(text).reduce((rest, quoted) => rest.replace(quoted, ''), text);
}

const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** A number, and the words just before and after it. */
export interface FoundNumber {
  readonly value: number;
  readonly before: string;
  readonly after: string;
  readonly isMoney: boolean;
}

/** Every number that stands alone, also `two` and `$12.50`. */
export function numbersIn(text: string): readonly FoundNumber[] {
  const pattern =
    /(?:([\p{L}_]+)[\s:=#]*)?([$€£])?(?<![\p{L}\p{N}._-])(-?\d{1,15}(?:\.\d{1,10})?)(?![\p{L}\p{N}_/]|\.\d|-[\p{L}\d])(?:\s*([\p{L}]+))?/gu;
  const digits = [...text.matchAll(pattern)].map(([, before = '', sign, value = '', after = '']) => ({
    value: Number(value),
    before: before.toLowerCase(),
    after: after.toLowerCase(),
    isMoney: sign !== undefined || /^(?:dollars?|euros?|pounds?)$/i.test(after),
  }));
  if (digits.length > 0) return digits;
  const words = wordsOf(text);
  return words.flatMap((word, index) => {
    const value = numberWords.indexOf(word);
    if (value < 0) return [];
    return [{ value, before: words[index - 1] ?? '', after: words[index + 1] ?? '', isMoney: false }];
  });
}

const kinds = {
  url: /\bhttps?:\/\/[^\s"'<>`]{1,500}[^\s"'<>`.,;:!?)\]]/giu,
  email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/gu,
  date: /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]{4,12}Z?)?\b|\b(?:today|tomorrow|yesterday)\b/giu,
  path: /(?<![\w/.:@-])(?:~|\.{1,2})?\/?(?:[\w.@-]{1,100}\/){1,20}[\w.@-]{0,100}[\w@/-]|(?<![\w/.:@-])[\w-]{1,100}(?:\.[\w-]{1,50}){0,3}\.[a-z]\w{0,9}(?![\w/@])/giu,
  id: /(?<![\p{L}\p{N}._-])#?((?:[\p{L}_]{1,20}[-_]?)?\d[\p{L}\p{N}_-]{0,60})(?![\p{L}\p{N}])/gu,
} as const satisfies Record<string, RegExp>;

/** Texts of a certain look: addresses, paths, dates, ids. */
export function lookalikesIn(text: string, kind: keyof typeof kinds): readonly string[] {
  return [...text.matchAll(kinds[kind])].map((found) => found[1] ?? found[0]);
}

/** Names: words in capitals that do not begin the sentence, together where they stand together. */
export function namesIn(text: string): readonly string[] {
  const pattern =
    /(?<=[\p{L}\p{N},;:]['’]?\p{L}?\s+)\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*){0,4}/gu;
  return [...text.matchAll(pattern)].map(([name]) => name).filter((name) => !/^(?:I|I'm|I’m)$/.test(name));
}

const clauseEnd = String.raw`(?=\s+(?:in|at|for|to|from|of|on|with|near|by|as|into|called|named|using|than|please|today|tonight|tomorrow|yesterday|now|right now|and then|then)\b|[,;?!\n]|\.\s|\.$|$)`;

/** What follows one of these words, as far as the next one: `weather in New York for two days` gives `New York`. */
export function phraseAfter(text: string, prepositions: string): string | undefined {
  const pattern = new RegExp(
    String.raw`\b(?:${prepositions})\b:?\s+(?:the |a |an )?(\S[^,;?!\n]{0,200}?)${clauseEnd}`,
    'iu',
  );
  const found = pattern.exec(text)?.[1]?.trim();
  return found === undefined || found === '' || isFiller(found) ? undefined : found;
}

/** The value that stands behind its name: `order #17`, `order id: A-17`, `title "Hello"`. */
export function labelledValue(text: string, fieldName: string): string | undefined {
  const label = wordsOf(fieldName).filter((word) => !/^(?:id|number|name|value|key)$/.test(word));
  const names = label.length === 0 ? wordsOf(fieldName) : label;
  if (names.length === 0) return undefined;
  const stems = new Set(names.map(canonicalStem));
  const pattern =
    /([\p{L}]+)(?:\s+(?:id|number|name|no\.?))?\s*(?:\bis\b|\bof\b|=|:|#)?\s*(?:"([^"\n]{1,2000})"|'([^'\n]{1,2000})'|#?([\p{L}\p{N}][\p{L}\p{N}_./@:-]*))/uy;
  // Each word may be a label, so the search begins anew behind every one of them.
  for (const start of text.slice(0, 2000).matchAll(/(?<![\p{L}\p{N}])\p{L}/gu)) {
    pattern.lastIndex = start.index;
    const found = pattern.exec(text);
    if (found === null) continue;
    const [, word = '', double, single, bare] = found;
    if (!stems.has(canonicalStem(word))) continue;
    const value = double ?? single ?? bare?.replace(/[.:]+$/, '') ?? '';
    const isQuoted = bare === undefined;
    if (isQuoted || (value !== '' && !isFiller(value) && !isPlainWord(value))) return value;
  }
  return undefined;
}

/** Behind a name, a plain lower-case word is more often the rest of the sentence than a value. */
function isPlainWord(value: string): boolean {
  return /^\p{Ll}+$/u.test(value);
}
