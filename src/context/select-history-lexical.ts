/**
 * Ranks texts by the words they share with a question: BM25, the classic of text search. A word counts the more the rarer it is
 * among the texts, and the less the longer the text that holds it.
 */

/** The score of each text, 0 where it shares no word with the query. */
export function scoreLexically(texts: readonly string[], query: string): readonly number[] {
  const wanted = new Set(wordsOf(query).slice(0, maxQueryWords));
  const documents = texts.map((text) => countWanted(wordsOf(text), wanted));
  const totalWords = documents.reduce((sum, { length }) => sum + length, 0);
  const averageLength = Math.max(1, totalWords / Math.max(1, documents.length));
  const rarity = new Map([...wanted].map((word) => [word, rarityOf(word, documents)]));
  return documents.map(({ counts, length }) => {
    const damping = saturation * (1 - lengthWeight + (lengthWeight * length) / averageLength);
    let score = 0;
    for (const [word, count] of counts) {
      score += ((rarity.get(word) ?? 0) * count * (saturation + 1)) / (count + damping);
    }
    return score;
  });
}

/**
 * The words of a text in any script, without letter case and accents. Scripts that put no space between words give their
 * letters and their pairs of letters instead.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text.normalize('NFKD').replaceAll(accents, '').toLowerCase().normalize('NFC');
  const words: string[] = [];
  for (const [run] of folded.matchAll(wordRuns)) {
    if (spaceless.test(run)) words.push(...pairsOf(run));
    else words.push(run);
  }
  return words;
}

// The usual values, from the literature.
const saturation = 1.2;
const lengthWeight = 0.75;
const maxQueryWords = 500;

const spacelessScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const spaceless = new RegExp(`[${spacelessScripts}]`, 'u');
const wordRuns = new RegExp(
  `[${spacelessScripts}]+|(?:(?![${spacelessScripts}])[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);
/** Only those of Latin, Greek and Cyrillic: elsewhere a mark is a vowel. */
const accents = /[\u0300-\u036f]/g;

function pairsOf(run: string): readonly string[] {
  const letters = Array.from(run);
  return letters.flatMap((letter, index) => {
    const next = letters[index + 1];
    return next === undefined ? [letter] : [letter, letter + next];
  });
}

interface Counted {
  readonly counts: ReadonlyMap<string, number>;
  /** In words. */
  readonly length: number;
}

function countWanted(words: readonly string[], wanted: ReadonlySet<string>): Counted {
  const counts = new Map<string, number>();
  for (const word of words) {
    if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return { counts, length: words.length };
}

function rarityOf(word: string, documents: readonly Counted[]): number {
  const holding = documents.reduce((sum, { counts }) => sum + (counts.has(word) ? 1 : 0), 0);
  return Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
}
