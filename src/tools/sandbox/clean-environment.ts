import path from 'node:path';

/** What a command is told of the world: a few constants, never what this process was told. */
export interface EnvironmentOptions {
  readonly home: string;
  readonly temporary: string;
  /** Folders of programs besides the system's own. */
  readonly programs?: readonly string[];
}

/** The whole environment of a command. It holds nothing from ours, so there is no secret in it. */
export function cleanEnvironment({
  home,
  temporary,
  programs = [],
}: EnvironmentOptions): Readonly<Record<string, string>> {
  return {
    PATH: [...new Set([...programs, ...systemPrograms])].join(':'),
    HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(gitSettings.length),
    ...Object.fromEntries(
      gitSettings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Where programs of this process lie: absolute, and not in the workspace, where anybody may have put one. */
export function parentPrograms(root: string): readonly string[] {
  const all = (process.env['PATH'] ?? '').split(path.delimiter);
  return all.filter((folder) => path.isAbsolute(folder) && !isInside(root, folder));
}

/** Whether a path is the folder or lies in it, as it is written. */
export function isInside(folder: string, name: string): boolean {
  const relative = path.relative(folder, name);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

const systemPrograms = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * A program for differences can be named and not unnamed, so another one is: it is given a path and twice a file, its hash and its
 * mode, and for a path that is not merged nothing but the path.
 */
const plainDiff = [
  'f() { [ $# -ge 7 ] || { printf "* Unmerged path %s\\n" "$1"; exit 0; }',
  'a="a/$1"; b="b/$1"; printf "diff --git %s %s\\n" "$a" "$b"',
  '[ "$2" != /dev/null ] || a=/dev/null; [ "$5" != /dev/null ] || b=/dev/null',
  'diff -u -L "$a" -L "$b" "$2" "$5"; exit 0; }; f',
].join('; ');

/** What git would otherwise take from the repository, and run. Settings in the environment win over those in a file. */
const gitSettings = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['sequence.editor', 'false'],
  ['core.sshCommand', 'false'],
  ['core.askPass', 'false'],
  ['core.gitProxy', ''],
  ['core.alternateRefsCommand', 'true'],
  ['credential.helper', ''],
  ['diff.external', plainDiff],
  ['interactive.diffFilter', ''],
  ['gpg.program', 'false'],
  ['protocol.ext.allow', 'never'],
  // The workspace may belong to somebody else than whom the command runs as. What git fears of that is switched off above.
  ['safe.directory', '*'],
] as const;
