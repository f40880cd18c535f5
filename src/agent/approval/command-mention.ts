import { areHarmless } from './command-arguments.ts';

// Whether a text that a shell would run may run a certain command. A rule that forbids one must see it behind options, wrappers, quotes and
// separators; where that is not certain, the answer is that it is unclear.

/** Whether the words of a command occur: as a command, in some other way, or not at all. */
export type Mention = 'yes' | 'unclear' | 'no';

/** How a command is mentioned in a text. `plain` holds the words of the text where it is one plain command. */
export function mentionOf(
  wanted: readonly string[],
  { text, plain }: { readonly text: string; readonly plain: readonly string[] | undefined },
): Mention {
  const words = looseWords(text).flatMap((word) => splitGit(word));
  const [program = '', ...rest] = wanted;
  const starts = words.flatMap((word, index) => (isProgram(word, program) ? [index] : []));
  const found = starts
    .slice(0, maxStarts)
    .map((start) => followOf(words.slice(start + 1, start + 1 + maxFollowing), wanted));
  const first = found.indexOf('yes');
  if (first === -1) {
    const isAttached = attachedWords(text, plain).some((word) => isProgram(word, program));
    // `xargs git` gets the rest from elsewhere.
    const isOpen = starts.length > 0 && rest.length > 0 && words.some((word) => fillers.has(baseName(word)));
    const isUnclear = found.includes('unclear') || isAttached || isOpen;
    return isUnclear || (plain !== undefined && mayHide(plain)) ? 'unclear' : 'no';
  }
  // `echo git push` says so and does nothing; `sudo git push` does it.
  const isRun = plain === undefined || starts[first] === 0 || runners.has(baseName(plain[0] ?? ''));
  return isRun ? 'yes' : 'unclear';
}

/** A plain command has fewer words. Of anything longer a person is asked in any case. */
const maxStarts = 64;
const maxFollowing = 512;

/** They add arguments of their own to the command that follows. */
const fillers: ReadonlySet<string> = new Set(['xargs', 'parallel']);

/** They run the command that follows, or a text as one. */
const runners: ReadonlySet<string> = new Set(
  [
    'env xargs parallel eval exec command builtin source . trap sh bash dash ash ksh zsh fish busybox nohup timeout nice',
    'ionice setsid stdbuf watch script flock chrt taskset time sudo doas su runuser setpriv chroot unshare nsenter bwrap',
    'strace ltrace gdb expect ssh docker podman kubectl npx bunx find git npm',
  ]
    .join(' ')
    .split(' '),
);

/** The words of a text without quotes, escapes and separators: what a shell might make of it, and more. */
function looseWords(text: string): readonly string[] {
  return text
    .slice(0, maxCharacters)
    .replaceAll(/\\\r?\n/g, '')
    .replaceAll(/\$\{?IFS\b[^}\s]*\}?/g, ' ')
    .replaceAll(/['"\\]/g, '')
    .split(/[\s;|&(){}`$<>=,!#]+/)
    .filter((word) => word !== '');
}

const maxCharacters = 100_000;

/** What stands directly after the letters of an option, as in `env -S'git push'`. */
function attachedWords(text: string, plain: readonly string[] | undefined): readonly string[] {
  const short = looseWords(text).filter((word) => /^-[A-Za-z]./.test(word));
  // With a space in it, it is a text, and the letters before may be several.
  const long = plain?.filter((word) => /^-[A-Za-z]\S* /.test(word)) ?? [];
  return [
    ...short.map((word) => word.slice(2)),
    ...long.flatMap((word) => [2, 3].flatMap((length) => looseWords(word.slice(length)).slice(0, 1))),
  ];
}

/** Programs that run code which they are given as an argument. */
const interpreters =
  /^(?:sh|bash|dash|ash|ksh|zsh|fish|eval|node|nodejs|deno|bun|python|pypy|perl|ruby|php|lua|[gmn]?awk|tclsh|expect|osascript|pwsh|powershell|cmd|n?vim?|ex|ed|emacs|gdb|make|r|rscript|julia|groovy|elixir|erl|guile)[-.\d]*$/;
/** Options that take code, alone, in a bundle or with the code attached. */
const takesCode = /^(?:-[A-Za-z]{0,3}[ceEprS]|--(?:eval|exec|print|command)|\/c$|eval$)/;
const codeCharacters = /[()"';|&<>!%#]/;

/** Whether one plain command runs a text in which a command may be hidden: `sh -c 'r$x' `, `node -e …`, `git -c alias.x=…`. */
function mayHide(plain: readonly string[]): boolean {
  if (areHarmless(plain, 1)) return false;
  // In quotes here, and expanded by the shell that the program may start.
  if (plain.some((word) => /[$`*?[\]{}\\]/.test(word))) return true;
  const [program = '', ...rest] = plain;
  if (baseName(program) === 'git' && isConfigured(rest)) return true;
  const isCode = (word: string): boolean => takesCode.test(word) || codeCharacters.test(word);
  return plain.some((word) => interpreters.test(baseName(word))) && rest.some(isCode);
}

/** `/usr/lib/git-core/git-push` is a program of its own, and a push all the same. */
function splitGit(word: string): readonly string[] {
  const name = baseName(word);
  return name.startsWith('git-') ? ['git', name.slice('git-'.length)] : [word];
}

/** Whether settings stand before the subcommand of git: an alias may be any command. */
function isConfigured(rest: readonly string[]): boolean {
  const subcommand = rest.findIndex(
    (word, index) => !word.startsWith('-') && !/^(?:-[Cc]|--[a-z-]+)$/.test(rest[index - 1] ?? ''),
  );
  const before = subcommand === -1 ? rest : rest.slice(0, subcommand);
  return before.some((word) => /^(?:-c|--config-env|--exec-path)/.test(word));
}

/** `python3.11` is a python, and `npx npm@10` runs npm. */
function isProgram(word: string, wanted: string): boolean {
  const name = baseName(word);
  const known = baseName(wanted);
  if (name === known || name.replace(/(?<=.)@.*$/, '') === known) return true;
  return name.startsWith(known) && /^[-.\d]+$/.test(name.slice(known.length));
}

/** Programs by their base names, as systems without letter case know them too. */
function baseName(word: string): string {
  return word
    .slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, '');
}

/** Whether the rest of the command follows, with nothing but options and their values in between. */
function followOf(words: readonly string[], [program = '', ...wanted]: readonly string[]): Mention {
  const flags = wanted.filter((word) => word.startsWith('-'));
  const names = wanted.filter((word) => !word.startsWith('-'));
  let next = 0;
  let isStraight = true;
  for (const [index, word] of words.entries()) {
    const name = names[next];
    if (name === undefined) break;
    if (word === name) next += 1;
    else if (mayMean(word, { program: baseName(program), name })) {
      next += 1;
      isStraight = false;
    } else if (
      !word.startsWith('-') &&
      words[index - 1]?.startsWith('-') !== true &&
      !isOptionPart(words, index)
    )
      isStraight = false;
  }
  if (next < names.length) return 'no';
  const hasFlags = flags.map((flag) => hasFlag(words, { program: baseName(program), flag }));
  if (hasFlags.includes('no')) return 'no';
  return isStraight && !hasFlags.includes('unclear') ? 'yes' : 'unclear';
}

/** Other names for the same: by program, what a rule names, and what it may be called besides. */
const otherNames: readonly (readonly [program: string, name: string, others: RegExp])[] = [
  ['npm', 'install', /^(?:add|isn\w+)$/],
  ['npm', 'uninstall', /^(?:rm|r|remove|unlink)$/],
  ['npm', 'run', /^(?:run-script|rum|urn)$/],
  ['npm', 'exec', /^x$/],
  ['npm', 'test', /^tst$/],
  ['npm', 'update', /^(?:upgrade|udpate)$/],
  ['git', 'push', /^(?:send-pack|http-push)$/],
  ['git', '--force', /^\+./],
];

function hasOtherName(word: string, { program, name }: { readonly program: string; readonly name: string }) {
  return otherNames.some(([of, known, others]) => of === program && known === name && others.test(word));
}

/** Whether a word may mean a name: in other letters, shortened (`npm pub`), attached to an option (`-XPOST`), or as another path. */
function mayMean(word: string, of: { readonly program: string; readonly name: string }): boolean {
  const [small, name] = [word.toLowerCase(), of.name.toLowerCase()];
  if (small === name || hasOtherName(word, of)) return true;
  if (/^-[A-Za-z]/.test(small)) return small.endsWith(name);
  if (/^[a-z]/.test(small) && name.startsWith(small)) return true;
  if (!/[./]/.test(name)) return false;
  const [place, known] = [placeOf(small), placeOf(name)];
  return place === known || (known !== '' && place.endsWith(`/${known}`));
}

/** A path without steps that lead nowhere. */
function placeOf(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** The value of `-c x=y` comes as two words, for `=` separates. */
function isOptionPart(words: readonly string[], index: number): boolean {
  return words[index - 2]?.startsWith('-') === true;
}

/** `-rf` may be written as `-fr`, as `-r -f`, in other letters, or in long names that are unknown here. */
function hasFlag(
  words: readonly string[],
  { program, flag }: { readonly program: string; readonly flag: string },
): Mention {
  if (words.includes(flag)) return 'yes';
  if (words.some((word) => hasOtherName(word, { program, name: flag }))) return 'unclear';
  if (flag.startsWith('--')) {
    const isShort = words.some(
      (word) =>
        /^-[A-Za-z]/.test(word) ||
        (word.startsWith('--') && (flag.startsWith(word) || word.startsWith(`${flag}-`))),
    );
    return isShort ? 'unclear' : 'no';
  }
  const letters = words.filter((word) => /^-[A-Za-z]+$/.test(word)).join('');
  if (hasLetters(letters, flag)) return 'yes';
  const isUnclear = words.some((word) => word.startsWith('--'));
  return isUnclear || hasLetters(letters.toLowerCase(), flag.toLowerCase()) ? 'unclear' : 'no';
}

function hasLetters(letters: string, flag: string): boolean {
  return [...Array(flag.length - 1).keys()].every((index) => letters.includes(flag.charAt(index + 1)));
}
