// Table: words of English that a check of sentences has to know.

/** Written in capitals or with signs by everybody; none of them is a code. */
export const abbreviations: ReadonlySet<string> = new Set(
  'AI API APIs CLI CPU DNS HTTP HTTPS I/O ID IDs IO IP JSON LLM OK PDF SQL TLS UI URL URLs USD UTC XML and/or e.g i.e'.split(
    ' ',
  ),
);

const units =
  'zero . two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
const ordinals = '. . . third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth';
const tens = '. . . thirty forty fifty sixty seventy eighty ninety';
/** They mean another number together with the word before them: only the word itself will do. */
const multipliers =
  'double triple half quarter dozen dozens hundred hundreds thousand thousands million millions billion billions';

/** Words for numbers. `one`, `once`, `first` and `second` mean too much besides. */
export const amountWords: ReadonlyMap<string, number> = new Map(
  [
    ...units.split(' ').map((word, value) => [word, value] as const),
    ...ordinals.split(' ').map((word, value) => [word, value] as const),
    ...tens.split(' ').map((word, value) => [word, value * 10] as const),
    ...multipliers.split(' ').map((word) => [word, Number.NaN] as const),
    ['twice', 2] as const,
    ['thrice', 3] as const,
  ].filter(([word]) => word !== '.'),
);

/** Words that stand beside `tool`, `model` and the like without being a name. */
export const besideNames: ReadonlySet<string> = new Set(
  `a about after again ai all also although always an and another answer answers any are as at available be became because been
  before began behind being big both broke but by call calls came can cannot chat chosen could couldn did didn different do does doesn done each
  either else embedded empty every external failing fails few final first for from gave get gets gives going good got had hadn has hasn have
  he here his how however i if in instead into is isn it its itself kept language large last later left less like long main many may me
  might more most much must my name names need needs neither never new next no nobody non none nor not nothing now of off often on
  once one only or other others our out own per person primary quite ran read remote result results run runs said same saying says
  second see sent several she should side single slow small so some soon still such text than that the their them then there these
  they this those threw through till to too took tools try under until up upon us use user uses using via was wasn we went were weren what
  when where whether which while who whole whose why will with within without won working works would wouldn wrong yet you your`.split(
    /\s+/u,
  ),
);
