// Whether a text that a shell would run may run a certain command. A rule that forbids one must see it behind options, wrappers, quotes and
// separators; where that cannot be told, the answer is that it is unclear.

/** Whether the words of a command occur: as a command, in some other way, or not at all. */
export type Mention = 'yes' | 'unclear' | 'no';

/** How a command is mentioned in a text. `plain` holds the words of the text where it is one plain command. */
export function mentionOf(
  wanted: readonly string[],
  { text, plain }: { readonly text: string; readonly plain: readonly string[] | undefined },
): Mention {
  const words = looseWords(text).flatMap((word) => splitGit(word));
  const starts = words.flatMap((word, index) => (isProgram(word, wanted[0] ?? '') ? [index] : []));
  if (starts.length === 0) return 'no';
  const found = starts.map((start) => followOf(words.slice(start + 1), wanted.slice(1)));
  if (!found.includes('yes')) return found.includes('unclear') ? 'unclear' : 'no';
  const first = found.indexOf('yes');
  // `echo git push` says so and does nothing; `sudo git push` does it.
  const isRun = plain === undefined || starts[first] === 0 || runners.has(baseName(plain[0] ?? ''));
  return isRun ? 'yes' : 'unclear';
}

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

/** `/usr/lib/git-core/git-push` is a program of its own, and a push all the same. */
function splitGit(word: string): readonly string[] {
  const name = baseName(word);
  return name.startsWith('git-') ? ['git', name.slice('git-'.length)] : [word];
}

function isProgram(word: string, wanted: string): boolean {
  return baseName(word) === baseName(wanted);
}

/** Programs by their base names, as systems without letter case know them too. */
function baseName(word: string): string {
  return word
    .slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, '');
}

/** Whether the rest of the command follows, with nothing but options and their values in between. */
function followOf(words: readonly string[], wanted: readonly string[]): Mention {
  const flags = wanted.filter((word) => word.startsWith('-'));
  const names = wanted.filter((word) => !word.startsWith('-'));
  let next = 0;
  let isStraight = true;
  for (const [index, word] of words.entries()) {
    if (next === names.length) break;
    if (word === names[next]) next += 1;
    else if (
      !word.startsWith('-') &&
      words[index - 1]?.startsWith('-') !== true &&
      !isOptionPart(words, index)
    )
      isStraight = false;
  }
  if (next < names.length) return 'no';
  const hasFlags = flags.map((flag) => hasFlag(words, flag));
  if (hasFlags.includes('no')) return 'no';
  return isStraight && !hasFlags.includes('unclear') ? 'yes' : 'unclear';
}

/** The value of `-c x=y` comes as two words, for `=` separates. */
function isOptionPart(words: readonly string[], index: number): boolean {
  return words[index - 2]?.startsWith('-') === true;
}

/** `-rf` may be written as `-fr`, as `-r -f`, or in long names that nobody here knows. */
function hasFlag(words: readonly string[], flag: string): Mention {
  if (words.includes(flag)) return 'yes';
  if (flag.startsWith('--')) {
    const isShort = words.some(
      (word) => /^-[A-Za-z]/.test(word) || (word.startsWith('--') && flag.startsWith(word)),
    );
    return isShort ? 'unclear' : 'no';
  }
  const letters = words.filter((word) => /^-[A-Za-z]+$/.test(word)).join('');
  const hasAll = [...Array(flag.length - 1).keys()].every((index) =>
    letters.includes(flag.charAt(index + 1)),
  );
  if (hasAll) return 'yes';
  return words.some((word) => word.startsWith('--')) ? 'unclear' : 'no';
}
