// Table: options that make a program run another one, read its set-up from elsewhere, or write where it seems to read. It cannot
// be complete: whoever allows a command by its first words must know what that command can do. The sandbox is the boundary.

/**
 * The first argument from `from` on that makes a program run another one, if there is one. `words` begins with the program; what
 * stands before `from` was meant.
 */
export function findRunnerArgument(words: readonly string[], from: number): string | undefined {
  const program = programOf(words[0] ?? '');
  const named = words.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  if (wrappers.has(program)) {
    // `npx vitest` was allowed: what follows is for vitest.
    return named !== -1 && named < from ? findRunnerArgument(words.slice(named), from - named) : words[from];
  }
  const rows = [runners.get(program), runners.get(`${program} ${words[1] ?? ''}`)].filter(
    (row) => row !== undefined,
  );
  return words.find(
    (word, index) => index >= from && rows.some((row) => isRunning(row, word, index === named)),
  );
}

/** Says what an argument may not be. */
interface Runner {
  /** Without the dashes, with a space between them. A beginning of one counts as well, for many programs take it for the whole. */
  readonly long?: string;
  /** Letters of short options, alone or in a bundle. */
  readonly short?: string;
  /** Anything that fits. */
  readonly fits?: RegExp;
  /** The first argument that is no option is a script: anything that does not fit. */
  readonly script?: RegExp;
  /** Whatever comes is run, or is a program. */
  readonly any?: true;
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

function isRunning(runner: Runner, word: string, isFirst: boolean): boolean {
  const { long = '', short = '', fits, script, any } = runner;
  if (any === true || fits?.test(word) === true) return true;
  if (isFirst && script?.test(word) === false) return true;
  if (!word.startsWith('--')) return word.startsWith('-') && hasLetterOf(short, word);
  const [name = ''] = word.slice(2).split('=', 1);
  return name !== '' && ` ${long}`.includes(` ${name}`);
}

function hasLetterOf(letters: string, word: string): boolean {
  for (const letter of letters) if (word.includes(letter)) return true;
  return false;
}

/** The first argument that is no option is a program of its own. */
const wrappers: ReadonlySet<string> = new Set(['npx', 'bunx']);

/** Whatever they are given, they run it or it is a program. */
const runWhatever = [
  'awk gawk mawk nawk original-awk env xargs parallel eval exec command builtin source . trap',
  'sh bash dash ash ksh zsh fish busybox nohup timeout nice ionice setsid stdbuf watch script flock chrt taskset',
  'sudo doas su runuser setpriv chroot unshare nsenter bwrap strace ltrace gdb expect tclsh lua',
  'vi vim nvim view ex ed emacs nano crontab at batch ssh docker podman kubectl',
];

const npmOptions =
  'script-shell node-options prefix userconfig globalconfig init-module git editor viewer call shell location global';

const runners: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ...runWhatever.flatMap((names) => names.split(' ')).map((name): [string, Runner] => [name, { any: true }]),
  [
    'git',
    {
      long: [
        'exec-path config-env git-dir work-tree namespace super-prefix attr-source ext-diff textconv filters',
        'open-files-in-pager upload-pack receive-pack exec extcmd tool output config template separate-git-dir',
        'edit edit-description interactive remote global system file gpg-sign show-signature',
      ].join(' '),
      // -c and -C come before the subcommand; -O is of grep, -x of rebase and difftool.
      short: 'cCOx',
      // `ext::sh -c id` is a remote; `submodule foreach` and `bisect run` run what follows.
      fits: /::|^(?:foreach|run)$/,
    },
  ],
  ['git clone', { short: 'u' }],
  ['sort', { long: 'compress-program output files0-from temporary-directory', short: 'oT' }],
  ['split', { long: 'filter' }],
  ['rg', { long: 'pre pre-glob hostname-bin search-zip hyperlink-format', short: 'z' }],
  ['fd', { long: 'exec exec-batch', short: 'xX' }],
  ['find', { fits: /^-{1,2}(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/ }],
  [
    'tar',
    {
      long: 'checkpoint-action use-compress-program to-command info-script new-volume-script rsh-command rmt-command absolute-names files-from',
      short: 'IFPT',
      // `tar xIf` is the old way to write `tar -xIf`. An archive with a colon before any slash is on another machine, by a shell there.
      fits: /^[A-Za-z]*[IFPT][A-Za-z]*$|^[^/]*:/,
    },
  ],
  ['bsdtar', { long: 'use-compress-program', short: 'P' }],
  ['cpio', { long: 'rsh-command rmt-command file absolute-filenames', short: 'F' }],
  [
    'sed',
    {
      long: 'in-place expression file separate',
      short: 'iefs',
      // Prints, deletes, ends and replaces. `e` runs and `w` writes, and both may also stand at the end of an `s`.
      script: /^(?:[0-9]*(?:,(?:[0-9]+|\$))?[pdq]|s\/[^/\\]*\/[^/\\]*\/[gpI0-9]*)$/,
    },
  ],
  ['man', { long: 'pager html config-file preprocessor local-file', short: 'PHCplX' }],
  [
    'less',
    { long: 'lesskey-file lesskey-src lesskey-content log-file LOG-FILE', short: 'kKoO', fits: /^\+/ },
  ],
  ['scp', { fits: /^-/ }],
  ['sftp', { fits: /^-/ }],
  ['rsync', { long: 'rsh rsync-path files-from daemon config', short: 'e', fits: /:/ }],
  ['npm', { long: npmOptions, short: 'cC', fits: /^(?:exec|x)$/ }],
  ['pnpm', { long: `${npmOptions} dir`, short: 'cC', fits: /^(?:exec|dlx)$/ }],
  ['yarn', { long: 'cwd use-yarnrc script-shell', fits: /^(?:exec|dlx)$/ }],
  ['make', { long: 'file makefile directory eval include-dir', short: 'fCI', fits: /=/ }],
  [
    'node',
    {
      long: 'eval print require import loader experimental-loader env-file env-file-if-exists inspect inspect-brk openssl-config run experimental-config-file build-snapshot',
      short: 'epr',
      fits: /^-$/,
    },
  ],
  [
    'deno',
    {
      long: 'allow-all allow-run allow-ffi allow-scripts config import-map preload require env-file node-modules-dir',
      short: 'Acr',
      // A script may also come from elsewhere: `https://…`, `npm:…`, `jsr:…`, `data:…`.
      fits: /^(?:eval|repl|task|install|upgrade|x)$|^[a-z]+:|^-$/,
    },
  ],
  ['deno eval', { any: true }],
  [
    'bun',
    {
      long: 'eval print preload require import config cwd env-file shell',
      short: 'eprc',
      fits: /^(?:x|exec|repl|create|upgrade)$|^-$/,
    },
  ],
  ['python', { short: 'cmi', fits: /^-$/ }],
  ['python3', { short: 'cmi', fits: /^-$/ }],
  ['perl', { short: 'eEMmdiI', fits: /^-$/ }],
  ['ruby', { short: 'erIiC', fits: /^-$/ }],
  ['php', { long: 'run process-begin process-code process-end define php-ini', short: 'rBREdcz' }],
  ['cargo', { long: 'config manifest-path', short: 'C' }],
  ['go', { fits: /^-{1,2}(?:exec|toolexec|vettool|overlay|modfile|C|ldflags|gcflags)(?:$|=)/ }],
  // Its options may be written in any letter case; `@file` has more of them.
  ['tsc', { long: 'project build', short: 'pb', fits: /^@|^--?(?:p|b|project|build)$/i }],
  ['eslint', { long: 'config rulesdir parser plugin resolve-plugins-relative-to format', short: 'cf' }],
  ['prettier', { long: 'config plugin plugin-search-dir write', short: 'w' }],
  ['vitest', { long: 'config root dir environment reporter api ui', short: 'cr' }],
  ['jest', { long: 'config rootDir runner testRunner globalSetup reporters transform', short: 'c' }],
  ['pytest', { long: 'rootdir confcutdir override-ini pdbcls pdb trace', short: 'pco' }],
  ['curl', { long: 'config output output-dir remote-name proxy upload-file engine', short: 'KoOxT' }],
  ['wget', { long: 'execute config use-askpass output-document post-file', short: 'eOi' }],
  ['zip', { long: 'unzip-command test', short: 'T' }],
  ['tcpdump', { long: 'postrotate-command', short: 'zw' }],
  ['gcc', { fits: /^@|^-(?:B|wrapper|fplugin|specs)/ }],
  ['cc', { fits: /^@|^-(?:B|wrapper|fplugin|specs)/ }],
  // Shells that have these built in look into the name of a variable, and run what stands in its index.
  ['printf', { short: 'v' }],
  ['test', { short: 'vR' }],
]);
