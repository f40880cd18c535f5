import path from 'node:path';
import { isAddress } from '../start/store-place.ts';
import { isInside, realest } from './real-paths.ts';
import type { StateFolders } from './state-folders.ts';

/**
 * What of our own lies inside the workspace, as paths to protect: a user who works in the home folder must not have an agent that
 * can write the list of what is trusted.
 */
export async function ownPathsInside(
  workspace: string,
  { folders: { config, state }, storeFile }: { readonly folders: StateFolders; readonly storeFile: string },
): Promise<readonly string[]> {
  const folders = await patternsIn(workspace, config === undefined ? [state] : [config, state]);
  // A database is no file. The files beside one have its name and an ending.
  const stores = isAddress(storeFile) ? [] : await patternsIn(workspace, [storeFile]);
  return [
    ...folders.flatMap((inside) => (inside === '*' ? [inside] : [inside, `${inside}/**`])),
    ...stores.map((inside) => (inside === '*' ? inside : `${inside}*`)),
  ];
}

/** Of these, what is inside the workspace, as the tools name it; `*` where it is the workspace itself. */
async function patternsIn(workspace: string, files: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(files.map(realest));
  return real
    .filter((file) => isInside(file, workspace))
    .map((file) => path.relative(workspace, file).split(path.sep).join('/') || '*');
}
