import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

// Where git looks besides `.git`. A file of that name names another folder, a worktree shares the folder of its repository, and the
// configuration names folders of hooks, further files and programs. Whoever may write one of them has git run what he likes.

const maxBytes = 256 * 1024;
const maxFiles = 20;

/** What git takes orders from because of one `.git`, as absolute paths; some may not be there. The `.git` itself is not among them. */
export async function gitPlaces(dotGit: string): Promise<readonly string[]> {
  const found = await stat(dotGit).catch(() => undefined);
  const folder = found?.isFile() === true ? await namedFolder(dotGit) : dotGit;
  if (folder === undefined) return [];
  const common = path.resolve(folder, (await readText(path.join(folder, 'commondir'))).trim());
  const shared = [...new Set([folder, common])].filter((place) => place !== dotGit);
  const configured = await configuredPlaces(path.dirname(dotGit), [
    path.join(common, 'config'),
    path.join(folder, 'config.worktree'),
    ...ownSettings(),
  ]);
  return [...shared, ...configured];
}

/** Whether the names of a folder make it a repository without `.git`: git believes it, and runs what its configuration says. */
export function isGitFolder(names: readonly string[]): boolean {
  const has = new Set(names.map((name) => name.toLowerCase()));
  return has.has('head') && ((has.has('objects') && has.has('refs')) || has.has('commondir'));
}

/** Names that make a folder one, together. */
export const gitFolderNames: readonly string[] = ['head', 'objects', 'refs', 'commondir'];

async function namedFolder(dotGit: string): Promise<string | undefined> {
  const [, named] = /^gitdir:[ \t]*(.+?)\s*$/m.exec(await readText(dotGit)) ?? [];
  return named === undefined ? undefined : path.resolve(path.dirname(dotGit), named);
}

/** The person's own settings, whose relative paths mean each repository. */
function ownSettings(): readonly string[] {
  try {
    return [path.join(homedir(), '.gitconfig'), path.join(homedir(), '.config', 'git', 'config')];
  } catch {
    // A user without an entry and without HOME has none.
    return [];
  }
}

/** Keys whose value is a program, or a line for a shell that begins with one. */
const programKey =
  /^(?:fsmonitor|sshcommand|pager|editor|askpass|gitproxy|external|textconv|command|clean|smudge|process|driver|helper|program|cmd)$/;

async function configuredPlaces(worktree: string, first: readonly string[]): Promise<readonly string[]> {
  const places: string[] = [];
  const files = [...first];
  // Grows while it is walked: a file may name others.
  for (const file of files) {
    if (files.length > maxFiles) break;
    for (const { section, key, value } of readSettings(await readText(file))) {
      if (section.startsWith('include') && key === 'path') {
        const included = toPath(value, path.dirname(file));
        places.push(included);
        files.push(included);
      }
      const isAlias = section.startsWith('alias') && value.startsWith('!');
      if (key === 'hookspath') places.push(toPath(value, worktree));
      if (programKey.test(key) || isAlias) places.push(...(await programsIn(value, worktree)));
    }
  }
  return places;
}

interface Setting {
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

/** As much of the syntax as names files: sections, keys and values without the quotes around them. */
function readSettings(text: string): readonly Setting[] {
  let section = '';
  return text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^\s*\[([^\]]*)\](.*)$/.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase().trim();
    const [, key, value = ''] =
      /^\s*([a-z][a-z0-9-]*)\s*=\s*(.*?)\s*$/i.exec(name === undefined ? line : rest) ?? [];
    if (key === undefined) return [];
    return [
      { section, key: key.toLowerCase(), value: value.replaceAll(/(?<!\\)"/g, '').replace(/\s[#;].*$/, '') },
    ];
  });
}

/** The words of a command line that are files of the worktree. */
async function programsIn(line: string, worktree: string): Promise<readonly string[]> {
  const words = line
    .replace(/^!/, '')
    .split(/[\s;|&()'"]+/)
    .filter((word) => /[./]/.test(word));
  const places = words.slice(0, maxFiles).map((word) => toPath(word, worktree));
  const isThere = await Promise.all(
    places.map((place) =>
      stat(place).then(
        (found) => found.isFile(),
        () => false,
      ),
    ),
  );
  return places.filter((_place, index) => isThere[index]);
}

function toPath(value: string, base: string): string {
  return path.resolve(
    base,
    value.replace(/^~\//, () => `${homedir()}/`),
  );
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    return size > maxBytes ? '' : await readFile(file, 'utf8');
  } catch {
    // It is not there or cannot be read, by git neither.
    return '';
  }
}
