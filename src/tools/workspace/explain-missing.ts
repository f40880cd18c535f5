import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { nearestNames } from '../../base/nearest.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { errnoOf, fromSystem, showPath, workspaceError } from './workspace-error.ts';

interface Missing {
  readonly root: string;
  /** From the root. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** What is in a folder, given by its real path: none where it lies outside by now. */
  readonly namesIn: (folder: string) => Promise<readonly string[]>;
}

/**
 * Why a name leads to nothing, with the names that may have been meant. Of what lies outside it tells nothing, not even
 * whether it is there.
 */
export async function explainMissing(thrown: unknown, missing: Missing): Promise<Error> {
  const { root, name } = missing;
  const errno = errnoOf(thrown);
  if (errno !== 'ENOENT' && errno !== 'ENOTDIR') return fromSystem(thrown, name);
  const parts = name.split('/');
  let folder = root;
  for (const [index, part] of parts.entries()) {
    const next = path.join(folder, part);
    const real = await realpath(next).catch(() => undefined); // The first that fails is the one to explain.
    if (real === undefined) {
      const at = { shown: parts.slice(0, index), part, isLast: index === parts.length - 1 };
      return explainPart(thrown, { ...missing, folder, ...at });
    }
    if (real !== root && !real.startsWith(`${root}${path.sep}`)) return leadsOut(name);
    folder = real;
  }
  // It has appeared while we looked.
  return fromSystem(thrown, name);
}

interface MissingPart extends Missing {
  readonly folder: string;
  readonly shown: readonly string[];
  readonly part: string;
  readonly isLast: boolean;
}

async function explainPart(thrown: unknown, missing: MissingPart): Promise<Error> {
  const { name, kind, folder, shown, part, isLast } = missing;
  const link = await lstat(path.join(folder, part)).catch(() => undefined); // Absent: then it is no link.
  if (link?.isSymbolicLink() === true) return leadsOut(name);
  const names = await missing.namesIn(folder);
  const near = nearestNames(part, names).map((found) => [...shown, found].join('/'));
  const what = isLast ? kind : 'folder';
  const wanted = `no ${what} ${showPath([...shown, part].join('/'))}`;
  const there =
    near.length === 0
      ? '; list_files shows what is there'
      : `; there ${near.length === 1 ? 'is' : 'are'} ${near.map(showPath).join(', ')}`;
  return workspaceError('NOT_FOUND', `${wanted}${there}`, { causes: causesOf(thrown) });
}

function leadsOut(name: string): Error {
  const says = 'it is a link that leads to nothing inside the workspace';
  return workspaceError('PATH_OUTSIDE_WORKSPACE', `Cannot use ${showPath(name)}: ${says}`, {
    hint: 'Use a file that lies in the workspace itself.',
  });
}
