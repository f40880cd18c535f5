// Table: the small mistakes that programmers make, each with how it is mended.

/** What kind of mistake an edit supposes. */
export type EditKind =
  | 'boundary'
  | 'comparison'
  | 'arithmetic'
  | 'constant'
  | 'logic'
  | 'negation'
  | 'variable'
  | 'property'
  | 'method'
  | 'await'
  | 'return'
  | 'text'
  | 'order';

type Swap = readonly [string, EditKind];

/** A sign, and what may have been meant. */
export const signSwaps: ReadonlyMap<string, readonly Swap[]> = new Map<string, readonly Swap[]>([
  [
    '<',
    [
      ['<=', 'boundary'],
      ['>', 'comparison'],
      ['>=', 'comparison'],
    ],
  ],
  [
    '<=',
    [
      ['<', 'boundary'],
      ['>=', 'comparison'],
      ['>', 'comparison'],
    ],
  ],
  [
    '>',
    [
      ['>=', 'boundary'],
      ['<', 'comparison'],
      ['<=', 'comparison'],
    ],
  ],
  [
    '>=',
    [
      ['>', 'boundary'],
      ['<=', 'comparison'],
      ['<', 'comparison'],
    ],
  ],
  ['===', [['!==', 'comparison']]],
  ['!==', [['===', 'comparison']]],
  ['==', [['!=', 'comparison']]],
  ['!=', [['==', 'comparison']]],
  [
    '+',
    [
      ['-', 'arithmetic'],
      ['*', 'arithmetic'],
    ],
  ],
  ['-', [['+', 'arithmetic']]],
  [
    '*',
    [
      ['/', 'arithmetic'],
      ['+', 'arithmetic'],
    ],
  ],
  [
    '/',
    [
      ['*', 'arithmetic'],
      ['%', 'arithmetic'],
    ],
  ],
  ['%', [['/', 'arithmetic']]],
  ['**', [['*', 'arithmetic']]],
  [
    '+=',
    [
      ['-=', 'arithmetic'],
      ['=', 'arithmetic'],
    ],
  ],
  ['-=', [['+=', 'arithmetic']]],
  ['*=', [['/=', 'arithmetic']]],
  ['/=', [['*=', 'arithmetic']]],
  ['&&', [['||', 'logic']]],
  [
    '||',
    [
      ['&&', 'logic'],
      ['??', 'logic'],
    ],
  ],
  ['??', [['||', 'logic']]],
]);

const pairs = [
  'round floor ceil trunc',
  'min max',
  'startsWith endsWith',
  'push unshift',
  'pop shift',
  'toUpperCase toLowerCase',
  'some every',
  'indexOf lastIndexOf',
  'trimStart trimEnd trim',
  'padStart padEnd',
  'keys values entries',
  'find findLast',
] as const;

/** A method, and those that are taken for it. */
export const methodSwaps: ReadonlyMap<string, readonly string[]> = new Map(
  pairs.flatMap((pair) => {
    const names = pair.split(' ');
    return names.map((name) => [name, names.filter((other) => other !== name)] as const);
  }),
);

/** How likely a kind of mistake is behind a symptom; 1 where nothing is said. */
export const likelihoods = {
  promise: { await: 10, return: 3 },
  undefined: { return: 10, await: 4, property: 5, variable: 3, boundary: 3 },
  'not-a-number': { property: 7, variable: 5, await: 5, return: 4, boundary: 3, constant: 2 },
  truth: { comparison: 5, boundary: 5, negation: 5, logic: 4, method: 4, return: 3, constant: 2 },
  number: {
    arithmetic: 5,
    boundary: 5,
    constant: 4,
    method: 4,
    order: 4,
    variable: 3,
    comparison: 3,
    logic: 2,
  },
  text: { text: 8, method: 5, order: 3, boundary: 3, variable: 3, constant: 3, logic: 2, arithmetic: 1 },
  list: {
    boundary: 5,
    order: 5,
    comparison: 5,
    negation: 4,
    method: 4,
    arithmetic: 3,
    constant: 3,
    logic: 3,
    text: 3,
  },
  'exception-missing': { boundary: 5, comparison: 5, negation: 4, logic: 4, constant: 3 },
  'unknown-name': { variable: 9, property: 9, method: 6, await: 4 },
  exception: { boundary: 6, await: 5, variable: 4, property: 4, negation: 3, comparison: 3, logic: 3 },
  unclear: {},
} as const satisfies Record<string, Readonly<Partial<Record<EditKind, number>>>>;
