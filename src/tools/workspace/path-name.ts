import path from 'node:path';
import { showPath, workspaceError } from './workspace-error.ts';

const maxPathCharacters = 4096;
const maxPartBytes = 255;

/**
 * A path as somebody wrote it, as the path from the root with `/` between its parts; empty for the root itself. Throws where
 * it is plainly bad. What it lets through is only a name: where that leads is seen when it is opened.
 */
export function pathName(root: string, asked: string): string {
  const problem = spellingProblems.find(({ isFound }) => isFound(asked));
  if (problem !== undefined) throw refused(asked, problem.says);
  // Only Linux and macOS have absolute paths that hold nothing but `/`; those of Windows are refused above by their signs.
  const joined = path.posix.isAbsolute(asked) ? path.posix.normalize(asked) : path.posix.join(root, asked);
  const absolute = joined.length > 1 && joined.endsWith('/') ? joined.slice(0, -1) : joined;
  if (absolute === root) return '';
  // With the separator: a neighbour called `ws-evil` begins like `ws` and is not in it.
  if (!absolute.startsWith(`${root}/`)) throw refused(asked, 'it leads out of the workspace');
  const relative = absolute.slice(root.length + 1);
  for (const part of relative.split('/')) {
    if (/[. ]$/.test(part)) throw refused(asked, 'a part of it ends with a dot or a blank');
    if (Buffer.byteLength(part) > maxPartBytes) throw refused(asked, 'a part of it has more than 255 bytes');
  }
  return relative;
}

interface SpellingProblem {
  readonly isFound: (asked: string) => boolean;
  readonly says: string;
}

const spellingProblems: readonly SpellingProblem[] = [
  { isFound: (asked) => asked === '', says: 'it is empty; "." is the workspace itself' },
  { isFound: (asked) => asked.length > maxPathCharacters, says: 'it has more than 4,096 characters' },
  { isFound: (asked) => asked.includes('\0'), says: 'it holds a NUL character' },
  { isFound: (asked) => /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(asked), says: 'it holds a control character' },
  { isFound: (asked) => asked.includes('\\'), says: 'it holds a backslash; write "/" between the parts' },
  {
    isFound: (asked) => /%(2e|2f|5c|00|25)/i.test(asked),
    says: 'it is written with %; write the characters themselves',
  },
  {
    isFound: (asked) => asked.startsWith('~'),
    says: '"~" is not understood; for a file of that name write "./~"',
  },
  { isFound: (asked) => asked.startsWith('//'), says: 'it begins with two slashes' },
  {
    isFound: (asked) => /^[a-z][\w+.-]+:\//i.test(asked),
    says: 'it is an address and not a path',
  },
  {
    isFound: (asked) => process.platform === 'win32' && asked.includes(':'),
    says: 'it holds a colon; name it from the root of the workspace',
  },
];

function refused(asked: string, says: string): Error {
  return workspaceError('PATH_OUTSIDE_WORKSPACE', `Cannot use the path ${showPath(asked)}: ${says}`, {
    hint: 'Name the file by its path from the root of the workspace, such as src/app.ts.',
  });
}
