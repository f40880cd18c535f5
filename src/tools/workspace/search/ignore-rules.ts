import { RerailError } from '../../../errors/rerail-error.ts';
import { readBounded, useInside } from '../confine.ts';
import { compileGlob, matchesName } from './glob-pattern.ts';
import type { Workspace } from '../workspace.ts';

/** Whether a path from the root is to be left out. */
export type Ignores = (path: string, isFolder: boolean) => boolean;

const maxRules = 300;
/** Of a rule and of all rules: each name is compared with every character of them. */
const maxRuleCharacters = 200;
const maxCharacters = 10_000;
const maxFileBytes = 256 * 1024;

/** The rules of the `.gitignore` at the root of the workspace. Where there is none, or none that may be read, there are no rules. */
export async function readIgnoreRules(workspace: Workspace, signal: AbortSignal): Promise<Ignores> {
  try {
    const file = { path: '.gitignore', kind: 'file' } as const;
    const { bytes } = await useInside(workspace, file, (opened) => readBounded(opened, maxFileBytes, signal));
    return parseIgnoreRules(bytes.toString('utf8'));
  } catch (error) {
    // It only keeps the list short: a file that is not there, a link to outside or a folder of that name says nothing.
    if (RerailError.isInstance(error)) return () => false;
    throw error;
  }
}

/**
 * Reads rules as git writes them: `name` and `name/` anywhere, `/name` and `a/name` from the root, `*`, `?`, `[…]`, `**`, and `!` to take
 * something back; the last rule that fits decides. What is below a folder that is left out is not looked at.
 */
export function parseIgnoreRules(text: string): Ignores {
  const rules = boundedLines(text)
    .map(readRule)
    .filter((rule) => rule !== undefined);
  return (path, isFolder) => {
    const deciding = rules.findLast((rule) => (isFolder || !rule.isForFolders) && rule.matches(path));
    return deciding !== undefined && !deciding.isTakenBack;
  };
}

/** The lines that hold rules, as far as they are read. */
function boundedLines(text: string): readonly string[] {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#') && line.length <= maxRuleCharacters)
    .slice(0, maxRules);
  let characters = 0;
  return lines.filter((line) => {
    characters += line.length;
    return characters <= maxCharacters;
  });
}

interface Rule {
  readonly matches: (path: string) => boolean;
  readonly isForFolders: boolean;
  readonly isTakenBack: boolean;
}

function readRule(line: string): Rule | undefined {
  const trimmed = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '');
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const isTakenBack = trimmed.startsWith('!');
  const signless = isTakenBack ? trimmed.slice(1) : trimmed;
  const isForFolders = signless.endsWith('/');
  const pattern = isForFolders ? signless.slice(0, -1) : signless;
  if (pattern === '' || pattern === '/') return undefined;
  const fromRoot = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const glob = compileGlob(fromRoot, { braces: false });
  // Git takes no notice of a rule that it cannot read either.
  if (glob.type === 'invalid') return undefined;
  return { matches: pattern.includes('/') ? glob.matches : matchesName(glob), isForFolders, isTakenBack };
}
