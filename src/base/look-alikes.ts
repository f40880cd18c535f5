// Letters of other alphabets that are drawn like Latin ones, and signs that are drawn like the separators of hosts, paths and options. A
// person who reads `раypal.com` cannot tell which letters it is made of, so whoever decides about a text is shown them.

/** Scripts with many letters that are drawn like Latin ones. Text of other scripts cannot be taken for Latin. */
const alike =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;

/** Those of them that are drawn like a Latin letter or a digit, in common fonts. */
const confusable =
  /[аАВвсСԁеЕЁёһНіІїЇјЈкКӏмМпоОрРԛԚѕЅтТуУүҮԝԜхХѵѴΑαΒΕεΖΗΙιϳΚκΜΝνΟοΡρϲΣσΤτΥυΧχγѠօսոհցՕՏᎪᎬᎻᏀᏃᏚᏔᏢꓐꓑꓓꓔꓖꓙꓚꓡꓢꓣꓦꓧꓪꓫꓬ]/u;

/** Letters and digits that Unicode itself calls a variant of an ASCII one, and letters of phonetic alphabets. */
const variant =
  /[\u0131\u017F\u0237\u0250-\u02AF\u1D00-\u1DBF\u2100-\u218F\u2460-\u24FF\uA720-\uA7FF\uFB00-\uFB06\uFF10-\uFF5A]|[\u{1D400}-\u{1D7FF}]/u;

/** Drawn like `.`, `/`, `\`, `:`, `-` or `@`. Between letters they make another host, path or option of what is read. */
const separators =
  /(?<=[A-Za-z0-9])[\u2024\u3002\uFF0E\uFF61\u2044\u2215\u29F8\uFF0F\u29F5\u2216\uFF3C\u02D0\u2236\uA789\uFF1A\u2010-\u2015\u2212\uFE63\uFF0D\uFF20](?=[A-Za-z0-9])/gu;

const anyForeign = /[^\0-\x7F]/;

/** The same text, in which each letter or sign that may be taken for another one is replaced by what `mark` makes of it. */
export function markLookAlikes(text: string, mark: (found: string) => string): string {
  if (!anyForeign.test(text)) return text;
  // In running text of such a script there are letters that cannot be mistaken, so that words without one are words.
  const isProse = Array.from(text).some((letter) => alike.test(letter) && !confusable.test(letter));
  return text
    .replaceAll(separators, mark)
    .replaceAll(/[\p{L}\p{N}\p{M}]+(?:[.\-_/:@]+[\p{L}\p{N}\p{M}]+)*/gu, (word) =>
      anyForeign.test(word) ? markWord(word, { isProse, mark }) : word,
    );
}

/** The letters and signs of a text that may be taken for others, each once; at most ten. */
export function lookAlikesIn(text: string): readonly string[] {
  const found = new Set<string>();
  markLookAlikes(text, (letter) => {
    if (found.size < maxNamed) found.add(letter);
    return letter;
  });
  return [...found];
}

const maxNamed = 10;

interface Marking {
  readonly isProse: boolean;
  readonly mark: (found: string) => string;
}

/** A word of two alphabets is marked; so is one of a single other alphabet that could be Latin throughout. */
function markWord(word: string, { isProse, mark }: Marking): string {
  const letters = Array.from(word);
  const hasLatin = /[A-Za-z]/.test(word);
  const foreign = letters.filter((letter) => alike.test(letter));
  const couldBeLatin = foreign.length > 1 && !isProse && foreign.every((letter) => confusable.test(letter));
  const isMixed = (hasLatin && foreign.length > 0) || couldBeLatin;
  const isVariant = letters.length > 1 && letters.every((letter) => variant.test(letter));
  return letters
    .map((letter) => {
      if (alike.test(letter)) return isMixed ? mark(letter) : letter;
      return variant.test(letter) && (hasLatin || isVariant) ? mark(letter) : letter;
    })
    .join('');
}
