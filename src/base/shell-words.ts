/**
 * The words of one plain simple command, or nothing where a text is more than that or looks as if it might be. It knows a small
 * part of what shells know, and everything else gives nothing: operators, redirections, expansions, globs, braces, assignments,
 * escapes, comments, reserved words, anything but printable ASCII, more than one space between words. In the command word there
 * are no quotes either; elsewhere they must hold nothing that a shell would expand.
 *
 * @example readPlainCommand("git commit -m 'a b'"); // ['git', 'commit', '-m', 'a b']
 * @example readPlainCommand('git status; id'); // undefined
 */
export function readPlainCommand(text: string): readonly string[] | undefined {
  if (text.length > maxCharacters || !isPrintable.test(text)) return undefined;
  const words: string[] = [];
  for (let from = 0; words.length < maxWords;) {
    const end = endOfWord(text, from);
    if (end === undefined) return undefined;
    const word = text.slice(from, end);
    if (words.length === 0 && !isCommandWord(word)) return undefined;
    words.push(unquote(word));
    if (end === text.length) return words;
    from = end + 1;
  }
  return undefined;
}

const maxCharacters = 4096;
const maxWords = 64;

const isPrintable = /^[ -~]+$/;

/**
 * One word: plain characters and quoted pieces. Not at its beginning: `=` (a path for some shells) and `~` or `^` other than
 * after a letter or a digit, as in `HEAD~1`. In double quotes no `!`, for the history of some shells.
 */
const wordPattern = /(?!=)(?:[A-Za-z0-9_./:=,@%+-]|(?<=[A-Za-z0-9])[~^]+|'[^']*'|"[^"$`\\!]*")+(?= |$)/y;

function endOfWord(text: string, from: number): number | undefined {
  wordPattern.lastIndex = from;
  return wordPattern.test(text) ? wordPattern.lastIndex : undefined;
}

/** They begin something longer, or make the next word a command. */
const reserved: ReadonlySet<string> = new Set(
  'if then else elif fi for in do done while until case esac select function time coproc'.split(' '),
);

/** A `=` would make it an assignment. */
function isCommandWord(word: string): boolean {
  return /^[A-Za-z0-9_./][A-Za-z0-9_./+-]*$/.test(word) && !reserved.has(word);
}

function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"([^"]*)"/g,
    (_found, single?: string, double?: string) => single ?? double ?? '',
  );
}
