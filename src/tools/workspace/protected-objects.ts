import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isInside } from '../sandbox/clean-environment.ts';
import { gitFolderNames, isGitFolder } from '../sandbox/git-places.ts';
import { findProtected, placeBounds } from '../sandbox/protected-places.ts';
import { fold, protectedError } from './protected-paths.ts';
import type { Workspace } from './workspace.ts';

/**
 * Throws where a place may not be changed though its name says nothing: a protected name leads to it, git takes orders from it, or
 * Rerail itself runs from it. The workspace is looked through anew each time, since commands and people make links between calls.
 */
export async function refuseProtectedObject(workspace: Workspace, place: string): Promise<void> {
  await refuseGitFolder(workspace, place);
  const { objects, isCut } = await findProtected(workspace, { maxNames: placeBounds.namesLeft });
  const absolute = foldPath(path.join(workspace.root, place));
  for (const [object, why] of objects) {
    if (isInside(foldPath(object), absolute)) throw protectedError(place, why);
  }
  if (!isCut) return;
  throw protectedError(
    place,
    'the workspace has too many names to find out whether something protected leads to it',
  );
}

/** In any letter case and form, as the names of the table are compared. */
function foldPath(name: string): string {
  return name.split(/[/\\]/).map(fold).join('/');
}

/** A file that would make its folder, or one above, a repository without `.git`. */
async function refuseGitFolder({ root }: Workspace, place: string): Promise<void> {
  const parts = place.split('/');
  for (const [index, part] of parts.entries()) {
    if (!gitFolderNames.includes(part.toLowerCase())) continue;
    const folder = parts.slice(0, index).join('/');
    // A folder that is not there yet has no names.
    const names = await readdir(path.join(root, folder)).catch(() => []);
    if (!isGitFolder([...names, part])) continue;
    throw protectedError(
      place,
      'with it git would take the folder for a repository, and run and trust what is in it',
    );
  }
}
