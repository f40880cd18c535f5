// Table: what may follow the words of a rule that allows a command. Programs have options that run other programs, load code or write files,
// and new versions bring new ones, so that only what is known to be harmless is let through; the rest is asked about. The sandbox is the
// boundary: see `permission-input.ts`.

/** Whether everything from `from` on is known to be harmless. `words` begins with the program; what stands before `from` was meant. */
export function areHarmless(words: readonly string[], from: number): boolean {
  const rest = words.slice(from);
  if (rest.length === 0) return true;
  const [program = '', first = ''] = words;
  if (wrappers.has(program)) return from > 1 && areHarmless(words.slice(1), from - 1);
  // `git -c a=b status`: the value of an option of the rule.
  const named = words.findIndex(
    (word, index) => index > 0 && !word.startsWith('-') && (index >= from || !word.includes('=')),
  );
  // An option before the subcommand is one of the whole program: it must be meant.
  const isMeant = named === 1 || named < from;
  const byFirst = table.get(`${program} ${first}`);
  const bySubcommand = isMeant ? table.get(`${program} ${words[named] ?? ''}`) : undefined;
  const row = byFirst ?? bySubcommand ?? table.get(program);
  if (row === undefined) return false;
  const isNamed = bySubcommand !== undefined;
  const start = isNamed ? named + 1 : 1;
  const script =
    row.script === undefined ? -1 : words.findIndex((word, index) => index >= start && !word.startsWith('-'));
  return rest.every((word, index) => {
    // The subcommand itself may be the first of what follows the rule.
    if (isNamed && from + index === named) return true;
    return script === from + index ? row.script?.test(word) === true : isHarmless(row, word, rest[index - 1]);
  });
}

/** What may follow. */
interface Harmless {
  /** Options by their whole names, without the dashes, with a space between them. With a value or without. */
  readonly long?: string;
  /** Letters of short options, alone or in a bundle; numbers may follow. */
  readonly short?: string;
  /** What a word may be that is no option: an argument, or the value of an option. None where it is left out. */
  readonly words?: RegExp;
  /** What the first word may be that is no option, where it means something else than those after it. */
  readonly script?: RegExp;
  /** Single words that are written with one dash. */
  readonly single?: RegExp;
  /** An option whose value is the next word, and any text. */
  readonly takesText?: string;
}

/** The program after them is the one that counts. */
const wrappers: ReadonlySet<string> = new Set(['npx', 'bunx']);

function isHarmless(row: Harmless, word: string, before = ''): boolean {
  const { long = '', short = '', words, single, takesText } = row;
  if (single?.test(word) === true) return true;
  if (word.startsWith('--')) {
    const [name = '', ...value] = word.slice(2).split('=');
    if (!long.split(' ').includes(name) || name === '')
      return word === '--' && words !== undefined && before !== '--';
    return value.length === 0 || plainValue.test(value.join('='));
  }
  if (word.startsWith('-') && word !== '-') {
    const letters = /^-([A-Za-z]*)[0-9.,]*$/.exec(word)?.[1];
    return (
      letters !== undefined &&
      [...Array(letters.length).keys()].every((index) => short.includes(letters.charAt(index)))
    );
  }
  return words?.test(word) === true || (takesText !== undefined && before === takesText);
}

/** The value of an option: no address, no code, no place outside, no signature that a program is asked about. */
const plainValue = /^(?![/~])(?!.*(?:^|\/)\.\.(?:\/|$))(?!.*%G)[\w.,%+^~/@ -]*$/;

/** A name, a path inside, a revision: nothing with a scheme, nothing from outside, nothing that climbs. */
const inside = /^(?![/~-])(?!.*(?:^|\/)\.\.(?:\/|$))(?!.*::)[^\0=|;&$`<>]*$/;
const anyText = /^(?!-)/;
const testFile =
  /^(?![/~-])(?!.*\.\.)(?:[\w.@+-]+\/)*(?:[\w.@+-]*[._-](?:test|spec)[\w.-]*|(?:tests?|spec|__tests__)(?:\/[\w.@+-]+)*\/?)$/;

const testFileOrFolder = new RegExp(`${testFile.source}|^\\w[\\w-]*(?:/[\\w-]+)*/?$`);
/** `vitest init` installs packages. */
const notInit = new RegExp(`(?!^init$)${inside.source}`);
/** Nothing with `@`: pytest reads more arguments from such a file. */
const pythonTest = /^(?!.*\.\.)(?:tests?(?:\/[\w.-]+)*\/?|(?:[\w.-]+\/)*(?:test_[\w-]*|[\w-]+_test)\.py)$/;
const goPackage = /^(?![/~-])(?!.*(?:^|\/)\.\.(?:\/|$))[\w./|^$-]+$/;

const gitReading =
  'stat shortstat numstat name-only name-status oneline graph all decorate no-decorate cached staged color no-color ' +
  'format pretty since until after before author grep max-count reverse follow patch no-patch summary abbrev-commit date ' +
  'first-parent merges no-merges word-diff unified ignore-all-space no-ext-diff no-textconv diff-filter branches tags remotes';
const npmOptions = {
  long: 'silent if-present no-color quiet run coverage ci',
  short: 's',
  words: testFile,
} as const;
const reading = { words: anyText } as const;

const table: ReadonlyMap<string, Harmless> = new Map<string, Harmless>([
  [
    'git status',
    {
      long: 'short branch porcelain long untracked-files ignored show-stash ahead-behind no-ahead-behind',
      short: 'sbuz',
      words: inside,
    },
  ],
  ['git diff', { long: gitReading, short: 'pUwMzs', words: inside }],
  ['git log', { long: gitReading, short: 'pnLiEUwMs', words: inside, single: /^-\d+$/ }],
  ['git show', { long: gitReading, short: 'pUwMs', words: inside }],
  ['git blame', { long: 'line-porcelain porcelain date show-email', short: 'Lwes', words: inside }],
  [
    'git branch',
    { long: 'list all remotes show-current verbose no-color color merged no-merged contains', short: 'arv' },
  ],
  [
    'git ls-files',
    { long: 'cached others modified deleted exclude-standard stage', short: 'comdsz', words: inside },
  ],
  ['git rev-parse', { long: 'short abbrev-ref show-toplevel verify', words: inside }],
  [
    'git push',
    {
      long: 'set-upstream dry-run tags porcelain verbose quiet',
      short: 'unvq',
      // A remote by its name: with a slash it is a folder.
      script: /^(?![-.])[\w.-]+$/,
      words: /^(?![-/.])(?!.*\.\.)[\w./-]+$/,
    },
  ],
  ['git add', { long: 'all update verbose dry-run', short: 'Auvn', words: inside }],
  ['git commit', { long: 'message all quiet', short: 'maq', words: anyText }],
  [
    'ls',
    {
      long: 'all almost-all human-readable recursive reverse sort color directory',
      short: 'aAlhRrtS1dF',
      ...reading,
    },
  ],
  ['cat', { long: 'number show-all', short: 'nAbsetv', ...reading }],
  ['head', { long: 'lines bytes quiet', short: 'ncq', ...reading }],
  ['tail', { long: 'lines bytes quiet', short: 'ncq', ...reading }],
  ['wc', { long: 'lines words bytes chars', short: 'lwcm', ...reading }],
  [
    'grep',
    {
      long: 'recursive ignore-case line-number count files-with-matches word-regexp include exclude exclude-dir color no-messages max-count',
      short: 'rRinclwEFHhvoABCmsxq',
      ...reading,
    },
  ],
  [
    'rg',
    {
      long: 'line-number ignore-case smart-case files count files-with-matches type glob hidden no-heading color max-count fixed-strings word-regexp context',
      short: 'niSFlcwtgCABvm',
      ...reading,
    },
  ],
  ['sort', { long: 'numeric-sort reverse unique key ignore-case', short: 'nrukft', ...reading }],
  // Its second argument is a file that it writes.
  ['uniq', { short: 'cdui' }],
  ['echo', { short: 'neE', ...reading }],
  ['pwd', {}],
  ['which', reading],
  ['man', { words: /^[\w.+:-]+$/ }],
  ['stat', { short: 'cL', ...reading }],
  ['file', { short: 'bi', ...reading }],
  ['du', { long: 'human-readable summarize max-depth', short: 'hsd', ...reading }],
  [
    'find',
    {
      words: anyText,
      single:
        /^-(?:name|iname|type|maxdepth|mindepth|path|ipath|not|size|mtime|newer|print|print0|empty|o|a)$/,
    },
  ],
  // Prints, deletes lines from what it prints, ends and replaces. `e` runs and `w` writes.
  [
    'sed',
    {
      short: 'nE',
      script: /^(?:[0-9]*(?:,(?:[0-9]+|\$))?[pdq]|s\/[^/\\]*\/[^/\\]*\/[gpI0-9]*)$/,
      words: anyText,
    },
  ],
  // An archive with a colon before any slash is on another machine.
  [
    'tar',
    {
      long: 'list create extract file gzip verbose exclude',
      short: 'tcxfzvjJ',
      words: /^(?![/~-])(?!.*(?:^|\/)\.\.(?:\/|$))(?![^/]*:)/,
      // A first word without a dash is a bundle of options: `tar xCf / a.tar`.
      script: /^(?:[tcxfzvjJ]+|[\w-]+(?:\.[\w-]+)+|\.\/.*)$/,
    },
  ],
  ['npm test', npmOptions],
  // The name of the script, and what is given to it.
  ['npm run', { ...npmOptions, script: /^[\w:.-]+$/ }],
  ['npm ls', { long: 'all depth json long', words: /^[@\w./-]+$/ }],
  ['pnpm test', npmOptions],
  ['yarn test', npmOptions],
  [
    'node --test',
    {
      long: 'test test-only test-concurrency test-timeout test-name-pattern test-skip-pattern experimental-test-coverage',
      words: testFile,
      single: /^--test-reporter=(?:spec|tap|dot|junit|lcov)$/,
    },
  ],
  ['node --version', {}],
  ['node --check', { words: inside }],
  ['deno test', { long: 'filter quiet fail-fast parallel', words: testFileOrFolder }],
  [
    'bun test',
    { long: 'test-name-pattern bail timeout', short: 't', words: /^(?![/~-])(?!.*\.\.)[\w./ -]+$/ },
  ],
  ['tsc', { long: 'noEmit pretty skipLibCheck listFiles version strict' }],
  ['eslint', { long: 'quiet max-warnings cache no-color', words: inside }],
  ['prettier', { long: 'check list-different no-color', short: 'cl', words: inside }],
  [
    'vitest',
    { long: 'run silent coverage bail no-color testNamePattern', short: 't', script: notInit, words: inside },
  ],
  ['jest', { long: 'ci runInBand silent bail testNamePattern no-color', short: 'ti', words: inside }],
  [
    'pytest',
    {
      long: 'quiet verbose exitfirst lf last-failed maxfail durations',
      short: 'qvxks',
      words: pythonTest,
      takesText: '-k',
    },
  ],
  [
    'cargo test',
    {
      long: 'release all workspace quiet verbose lib bins nocapture no-fail-fast',
      short: 'qv',
      words: /^[\w:]+$/,
    },
  ],
  ['cargo check', { long: 'release all workspace quiet verbose', short: 'qv' }],
  ['cargo build', { long: 'release all workspace quiet verbose', short: 'qv' }],
  ['cargo clippy', { long: 'release all workspace quiet verbose', short: 'qv' }],
  [
    'go test',
    {
      words: goPackage,
      single: /^-{1,2}(?:v|run|race|short|cover|count|timeout|failfast)(?:=[\w.^$|]+)?$/,
    },
  ],
  ['go vet', { words: goPackage }],
  ['go build', { words: goPackage }],
]);
