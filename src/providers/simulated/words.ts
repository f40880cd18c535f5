/** Words that say nothing about what is wanted. */
const fillers: ReadonlySet<string> = new Set(
  `a an and are as at be but by can could did do does for from get give had has have how i if in is it its let
  make me my need no not of on or our out please s set so some t tell that the their them then there these they this to
  use using want was we what when where which who why will with would you your`.split(/\s+/),
);

/** Words that a person uses for the same thing. The first stands for all of them. */
const synonyms: ReadonlyMap<string, string> = new Map(
  [
    'read show open cat view display',
    'write save store',
    'search find look lookup grep query seek',
    'delete remove erase drop',
    'send mail email',
    'run execute shell bash',
    'calculate compute calculator math',
    'weather forecast temperature',
    'edit change modify replace',
    'charge pay payment',
    'fetch download retrieve',
    'translate translation translator',
    'directory folder dir',
  ].flatMap((group) => {
    const [first = '', ...others] = group.split(' ');
    return others.map((other) => [stem(other), stem(first)] as const);
  }),
);

/** The words of a text in lower case. Names such as `getOrder_id` fall into their parts. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').toLowerCase();
  return spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words that say something, without endings. */
export function plainStemsOf(text: string): readonly string[] {
  return wordsOf(text)
    .filter((word) => !isFiller(word))
    .map(stem);
}

/** The words that say something, without endings, one word for each group of synonyms. */
export function stemsOf(text: string): readonly string[] {
  return wordsOf(text)
    .filter((word) => !isFiller(word))
    .map(canonicalStem);
}

/** Whether a word says nothing about what is wanted. */
export function isFiller(word: string): boolean {
  return fillers.has(word.toLowerCase());
}

/** The word that stands for this one and its synonyms. */
export function canonicalStem(word: string): string {
  const bare = stem(word.toLowerCase());
  return synonyms.get(bare) ?? bare;
}

/** Takes off the commonest English endings, so that `refunds` and `refunding` meet `refund`. */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2);
  const singular = word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
  return singular.length > 3 && singular.endsWith('e') ? singular.slice(0, -1) : singular;
}
